#!/usr/bin/env bash
# Cross-builds all products for aarch64 with Debian 13's Swift 6.0.3, warnings being errors: .build-arm64/release/lodestone
# and the others, with the Swift runtime inside them, and .build-arm64/guest, the command with the libraries it needs.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. Scripts/debian-root.sh
. Tests/Hardware/raspberry-pi/parts.sh

binary=.build-arm64/release/lodestone
# Entering the root and asking SwiftPM takes seconds; file times answer at once.
if [ -e "$binary" ] && [ -e .build-arm64/guest/lib/ld-linux-aarch64.so.1 ] && [ -z "$(find Sources Tests/Rig Package.swift Scripts/debian-root.sh \
  Tests/Hardware/raspberry-pi/{build,parts}.sh -newer "$binary" -print -quit)" ]; then
  exit 0
fi
root=$(floor_root)
sysroot=$(pi_sysroot)

mkdir -p .build-arm64
place=/mnt/arm64
resources=$place/usr/libexec/swift/lib/swift_static
# -sdk and -resource-dir stand here again: the driver asks the compiler for its paths before it has read the
# "sdk" above, and finds the host's modules.
cat >.build-arm64/destination.json <<JSON
{
  "version": 1,
  "sdk": "$place",
  "toolchain-bin-dir": "/usr/libexec/swift/bin",
  "target": "aarch64-unknown-linux-gnu",
  "dynamic-library-extension": "so",
  "extra-cc-flags": ["--sysroot=$place", "--gcc-toolchain=$place/usr", "-fPIC"],
  "extra-swiftc-flags": [
    "-sdk", "$place", "-resource-dir", "$resources", "-use-ld=lld",
    "-Xclang-linker", "--sysroot=$place", "-Xclang-linker", "-B$place/usr/lib/aarch64-linux-gnu",
    "-Xclang-linker", "--gcc-toolchain=$place/usr",
    "-Xcc", "--sysroot=$place", "-Xcc", "--gcc-toolchain=$place/usr"
  ],
  "extra-cpp-flags": ["-lstdc++"]
}
JSON
in_root "$root" 'swift build --disable-sandbox --scratch-path .build-arm64 --destination .build-arm64/destination.json \
  -c release --static-swift-stdlib -Xlinker --strip-all -Xswiftc -warnings-as-errors' "$sysroot" "$place" 2>&1 |
  { grep -v 'Could not read SDKSettings.json' || true; }
# An unchanged program is not linked again, and would look old.
touch "$binary"

# What the guest needs to run it: the libraries it names, those that they name, and the loader.
guest=.build-arm64/guest
rm -rf "$guest"
mkdir -p "$guest"/{bin,lib}
cp "$binary" "$guest/bin/"
waiting=("$binary")
while [ "${#waiting[@]}" -gt 0 ]; do
  file=${waiting[0]}
  waiting=("${waiting[@]:1}")
  for name in $(pi_tool "$root" readelf -dW "$file" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p') ld-linux-aarch64.so.1; do
    [ ! -e "$guest/lib/$name" ] || continue
    cp -L "$sysroot/usr/lib/aarch64-linux-gnu/$name" "$guest/lib/$name"
    waiting+=("$guest/lib/$name")
  done
done
