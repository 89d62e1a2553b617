#!/usr/bin/env bash
# Builds the products with Swift 6.0.3, the oldest compiler that boards have (Debian 13's swiftlang), as users build
# them: its optimiser has died on what its debug build takes.
#
# On x86-64 they are built for aarch64, which most boards are and the emulated Raspberry Pi runs, so that this and
# `make hil-pi` are one build; it needs root. Where the machine's own Swift is that one, it is used. Elsewhere Debian
# 13's packages are unpacked, not installed, into a cache folder, and run there in a mount namespace (needs root).
set -euo pipefail
cd "$(dirname "$0")/.."
. Scripts/debian-root.sh

if [ "$(uname -m)" = x86_64 ] && [ "$(id -u)" = 0 ]; then
  exec Tests/Hardware/raspberry-pi/build.sh
fi
if swift --version 2>&1 | grep -q 'Swift version 6\.0\.'; then
  exec swift build -c release -Xswiftc -warnings-as-errors
fi
root=$(floor_root)
in_root "$root" 'swift --version 2>&1 | head -n 1 &&
  swift build -c release --disable-sandbox --scratch-path .build-floor -Xswiftc -warnings-as-errors'
