#!/usr/bin/env bash
# Everything that this rig can say, and how long it took. Reports go to the folder that is named, by default
# .build/uml-report.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../../.build/uml-report}
mkdir -p "$out"
table=() failures=0

part() { # name, command...
  local name=$1 begin=$EPOCHREALTIME result=right
  shift
  printf '\n== %s\n' "$name"
  "$@" || { result="WRONG ($?)"; failures=$((failures + 1)); }
  table+=("$(awk -v n="$name" -v r="$result" -v b="$begin" -v e="$EPOCHREALTIME" 'BEGIN { printf "%-32s %-12s %6.1f s", n, r, e - b }')")
}

part "kernel" "$here/setup.sh"
part "build" "$here/run.py" --build
part "scan, doctor, monitor" "$here/run.py" --out "$out/tour"
part "the suite, every fault" "$here/run.py" --script "$here/suite.sh" --out "$out/suite"
part "what is wired wrongly" "$here/run.py" --script "$here/broken.sh" --out "$out/broken"
part "the kernel as oracle" "$here/run.py" --script "$here/oracle.py" --board "$here/oracle.yaml" --exact --out "$out/oracle"
part "from an edge to the delegate" "$here/run.py" --script "$here/latency.sh" --board "$here/latency.yaml" --awake --out "$out/latency"

printf '\n'
printf '%s\n' "${table[@]}"
exit $((failures > 0))
