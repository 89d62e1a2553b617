#!/usr/bin/env bash
# Everything that must hold before a change lands.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/prepare.sh

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }
strict=(-Xswiftc -warnings-as-errors)
# As `make test` has built it: with other flags everything would be compiled once more.
optimised=(-c release "${strict[@]}" -Xswiftc -enable-testing)

step "lint"
swift format lint --strict --parallel -r Sources Tests Examples Package.swift \
  Benchmarks/Sources Benchmarks/Tests Benchmarks/Package.swift Fuzz/Sources Fuzz/Package.swift

step "the geoid's table is what its script makes"
Scripts/make-geoid.py --check

step "C shim against libgpiod 1 and 2"
Scripts/check-gpiod.sh

step "release build without warnings, all tests"
make test

step "debug build without warnings"
swift build "${strict[@]}"

step "every symbol of the SDK is public, and has its test"
Tests/inventory.py "$(swift build --show-bin-path)"

step "every public symbol is documented, every listing of an article compiles, every link leads somewhere"
Tests/documented.py "$(swift build --show-bin-path)"
Tests/listings.py "$(swift build --show-bin-path)"
# A toolchain without docc says so, and that is all.
Scripts/docs.sh "$(swift build --show-bin-path)" || [ $? -eq 69 ]

step "the benchmarks' own tests"
swift test -c release --package-path Benchmarks "${strict[@]}"

step "receiver logs against gpsd"
lodestone=$(swift build "${optimised[@]}" --show-bin-path)/lodestone
Tests/decode-share.py "$lodestone" --least 99 | tail -n 2

step "the command's manners, calibrations, gpsd, chips unplugged, the examples: side by side"
Tests/real-time.sh "$lodestone" "$(swift build --show-bin-path)"

step "strangers, full and slow disks, other users"
Tests/hostile.sh "$lodestone"

step "starts and stops from many threads, not optimised, under the address sanitizer"
Tests/storm.sh 20 unoptimised

step "every promise of the API has its test"
Tests/rows.py | grep -E '^(FAILED|[0-9])'

step "the map's page in a browser"
Tests/map-page.py "$lodestone" | tail -n 1

step "a monitor that is stopped and goes on"
Tests/stopped.py "$lodestone"

step "the products with the oldest compiler"
Scripts/floor-compiler.sh

step "done"
