#!/usr/bin/env bash
# The one optimised build of this project. Tests, the command, benchmarks of it and the rigs share it, so that nothing is
# compiled twice.
#
#   build.sh [ARGUMENT...]            builds; arguments as of `swift build`
#   build.sh --bin                    prints the folder of its programs
#   build.sh --tests [ARGUMENT...]    builds all programs, and the tests
#   build.sh --test [ARGUMENT...]     runs the tests that were built; arguments as of `swift test`
#
# The tests are built by their product's name: `--build-tests` puts -enable-testing at another place of the compiler's
# arguments, and a later build of a program then compiles everything once more.
set -euo pipefail
cd "$(dirname "$0")/.."
flags=(-c release -Xswiftc -enable-testing)
case ${1:-} in
--bin) swift build "${flags[@]}" --show-bin-path ;;
--tests) swift build "${flags[@]}" "${@:2}" && swift build "${flags[@]}" "${@:2}" --product LodestonePackageTests ;;
--test) swift test --skip-build "${flags[@]}" "${@:2}" ;;
*) swift build "${flags[@]}" "$@" ;;
esac
