#!/usr/bin/env bash
# The one optimised build of this project: build.sh [ARGUMENT...], arguments as of `swift build`; with --bin, prints the
# folder of its programs; with --tests, builds all programs and the tests. The command, tests, benchmarks of it and the rigs
# share it, so that nothing is compiled twice.
#
# The tests are built by their product's name: `--build-tests` puts -enable-testing at another place of the compiler's
# arguments, and a later build of a program then compiles everything once more.
set -euo pipefail
cd "$(dirname "$0")/.."
build() { swift build -c release -Xswiftc -enable-testing "$@"; }
case ${1:-} in
--bin) build --show-bin-path ;;
--tests) build && build --product LodestonePackageTests ;;
*) build "$@" ;;
esac
