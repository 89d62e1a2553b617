#!/usr/bin/env bash
# Everything that this rig can say, and how long it took. Reports go to the folder that is named, by default
# .build/raspberry-pi-report.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../../.build/raspberry-pi-report}
mkdir -p "$out"
. "$here/../../table.sh"

part 1 "kernel, QEMU, cross-build" "$here/run.py" --build
part 2 "the suite" "$here/run.py" --script "$here/guest/suite.sh" --add "$here/../scenarios/raspberry-pi.yaml" \
  --out "$out"
run 1
show 1
run 2
again 2
show 2
finish
