#!/usr/bin/env bash
# Everything that this rig can say, and how long it took. Reports go to the folder that is named, by default
# .build/uml-report.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../../.build/uml-report}
mkdir -p "$out"
. "$here/table.sh"

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
run_part 5 "the suite, with faults" "$here/run.py" --script "$here/suite.sh" --out "$out/suite" &
run_part 9 "faults of gyro and receiver" "$here/run.py" --script "$here/motion.sh" --out "$out/motion" &
# Ten sequences, in halves: together they would be the longest part.
run_part 6 "fault sequences, seed 1" "$here/faults.sh" 1 5 "$out/faults-1" &
run_part 10 "fault sequences, seed 2" "$here/faults.sh" 2 5 "$out/faults-2" &
run_part 7 "what is wired wrongly" "$here/run.py" --script "$here/broken.sh" --out "$out/broken" &
run_part 8 "the kernel as oracle" "$here/run.py" --script "$here/oracle.py" --board "$here/oracle.yaml" --exact \
  --out "$out/oracle" &
wait
show 4 5 9 6 10 7 8

end
