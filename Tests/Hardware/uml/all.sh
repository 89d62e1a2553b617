#!/usr/bin/env bash
# Everything that this rig can say, and how long it took. Reports go to the folder that is named, by default
# .build/uml-report.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../../.build/uml-report}
mkdir -p "$out"
table=() failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A part's output is kept and shown when it is over: several run at once.
run_part() { # number, name, command...
  local number=$1 name=$2 begin=$EPOCHREALTIME result=right
  shift 2
  "$@" >"$work/$number.log" 2>&1 || result="WRONG ($?)"
  awk -v n="$name" -v r="$result" -v b="$begin" -v e="$EPOCHREALTIME" \
    'BEGIN { printf "%-32s %-12s %6.1f s", n, r, e - b }' >"$work/$number.line"
}

show() { # number...
  for number in "$@"; do
    local line
    line=$(cat "$work/$number.line")
    printf '\n== %s\n' "$line"
    cat "$work/$number.log"
    table+=("$line")
    [[ $line == *WRONG* ]] && failures=$((failures + 1))
  done
}

run_part 1 "kernel" "$here/setup.sh"
run_part 2 "build" "$here/run.py" --build
show 1 2
# Times are measured with the processors to itself; a neighbour's work is tried again, three times at most.
for attempt in 1 2 3; do
  run_part 3 "from an edge to the delegate" "$here/run.py" --script "$here/latency.sh" \
    --board "$here/latency.yaml" --awake --out "$out/latency"
  grep -q right "$work/3.line" && break
done
show 3
# The others wait most of their time, each on a board of its own.
run_part 4 "scan, doctor, monitor" "$here/run.py" --out "$out/tour" &
run_part 5 "the suite, every fault" "$here/run.py" --script "$here/suite.sh" --out "$out/suite" &
run_part 9 "the receiver's faults" "$here/run.py" --script "$here/receiver.sh" --out "$out/receiver" &
run_part 6 "ten faults by chance" "$here/run.py" --script "$here/random.sh" --out "$out/random" &
run_part 7 "what is wired wrongly" "$here/run.py" --script "$here/broken.sh" --out "$out/broken" &
run_part 8 "the kernel as oracle" "$here/run.py" --script "$here/oracle.py" --board "$here/oracle.yaml" --exact \
  --out "$out/oracle" &
wait
show 4 5 9 6 7 8

printf '\n'
printf '%s\n' "${table[@]}"
exit $((failures > 0))
