#!/usr/bin/env bash
# Everything that must hold before a change lands.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/prepare.sh

# Each step is announced when it begins; at the end stands what each has cost, in seconds.
costs=() began=0 current=
step() {
  [ -z "$current" ] || costs+=("$(printf '%5d  %s' $((SECONDS - began)) "$current")")
  current=$1 began=$SECONDS
  printf '\n== %s (%ss)\n' "$1" "$SECONDS"
}
strict=(-Xswiftc -warnings-as-errors)

step "lint"
Scripts/check-commits.sh
swift format lint --strict --parallel -r Sources Tests Examples Package.swift \
  Benchmarks/Sources Benchmarks/Tests Benchmarks/Package.swift Fuzz/Sources Fuzz/Package.swift

step "the geoid's table is what its script makes, every planted fault stands in the sources"
Scripts/make-geoid.py --check
Tests/mutants.py check

step "C shim against libgpiod 1 and 2"
Scripts/check-gpiod.sh

# One optimised build for everything. Warnings are errors here and not in its flags: a newer compiler that a user has
# may warn of other things.
step "release build without warnings"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() { Scripts/build.sh --tests 2>&1 | tee "$log"; }
# What an earlier build has left may be in the way of this one. A warning is said again by the next build.
build || { rm -rf .build && build; }
if grep 'warning: ' "$log"; then
  rm -rf .build
  exit 1
fi
release=$(Scripts/build.sh --bin)

step "all tests"
make test

step "the facades' tests once more, with the services behind a daemon's socket"
LODESTONE_TEST_WAY=daemon Scripts/build.sh --test --filter '^(CoreLocation|CoreMotion|MapKit)Tests\.'

step "every symbol of the SDK is public as the inventory declares it, and has its test"
Tests/inventory-faults.py
Tests/inventory.py "$release"

step "every public symbol is documented, every listing of an article compiles, every link leads somewhere"
Tests/documented.py "$release"
Tests/listings.py "$release"
# A toolchain without docc says so, and that is all.
Scripts/docs.sh "$release" || [ $? -eq 69 ]

step "the benchmarks' own tests"
# A plan that SwiftPM has kept knows nothing of files that were added to the package above.
swift test -c release --disable-build-manifest-caching --package-path Benchmarks "${strict[@]}"

step "receiver logs against gpsd"
Tests/decode-share.py "$release/lodestone" --least 99 | tail -n 2

step "the command's manners, calibrations, gpsd, chips unplugged, the examples: side by side"
Tests/real-time.sh "$release"

step "the protocols of a daemon to their peers: side by side"
Tests/peers/all.py "$release"

step "one drive with faults, all peers at once"
"$(Tests/peers/setup.sh)/bin/python" Tests/peers/drive.py "$release"

step "strangers, full and slow disks, other users"
Tests/hostile.sh "$release/lodestone"

step "starts and stops from many threads, not optimised, under the address sanitizer"
Tests/storm.sh 20 unoptimised

step "every promise of the API has its test"
Tests/rows.py | grep -E '^(FAILED|[0-9])'

step "the map's page in a browser"
Tests/map-page.py "$release/lodestone" | tail -n 1

step "a monitor that is stopped and goes on"
Tests/stopped.py "$release/lodestone"

step "the products with the oldest compiler"
Scripts/floor-compiler.sh

step "done"
printf '%s\n' "${costs[@]}"
