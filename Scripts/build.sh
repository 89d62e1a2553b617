#!/usr/bin/env bash
# The one optimised build of this project: build.sh [ARGUMENT...], arguments as of `swift build`; with --bin, prints the
# folder of its programs. Tests, the command, benchmarks of it and the rigs share it, so that nothing is compiled twice.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "${1:-}" != --bin ] || set -- --show-bin-path
exec swift build -c release -Xswiftc -enable-testing "$@"
