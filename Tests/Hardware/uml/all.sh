#!/usr/bin/env bash
# Everything that this rig can say, and how long it took. Reports go to the folder that is named, by default
# .build/uml-report.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../../.build/uml-report}
mkdir -p "$out"
. "$here/../../table.sh"

part 1 "kernel" "$here/setup.sh"
part 2 "build" "$here/run.py" --build
part 3 "from an edge to the delegate" "$here/latency.sh" "$out/latency"
part 4 "scan, doctor, monitor" "$here/run.py" --out "$out/tour"
part 5 "the suite, with faults" "$here/run.py" --script "$here/guest/suite.sh" --out "$out/suite"
part 6 "faults of gyro and receiver" "$here/run.py" --script "$here/guest/motion.sh" --out "$out/motion"
# Ten sequences, in halves: together they would be the longest part.
part 7 "fault sequences, seed 1" "$here/faults.sh" 1 5 "$out/faults-1"
part 8 "fault sequences, seed 2" "$here/faults.sh" 2 5 "$out/faults-2"
part 9 "what is wired wrongly" "$here/run.py" --script "$here/guest/broken.sh" --out "$out/broken"
part 10 "the kernel as oracle" "$here/run.py" --script "$here/guest/oracle.py" --board "$here/oracle.yaml" --exact \
  --out "$out/oracle"
part 11 "through the kernel's drivers" "$here/run.py" --script "$here/guest/kernel.sh" --board "$here/kernel.yaml" --exact \
  --out "$out/kernel"
part 12 "every board file" "$here/boards.sh" "$out/boards"
part 13 "beacons through bluetoothd" "$here/run.py" --script "$here/guest/bluetooth.py" --seconds 130 --out "$out/bluetooth"
part 14 "faults through the daemon" "$here/run.py" --script "$here/guest/daemon.py" --out "$out/daemon"
part 15 "NMEA 2000 on a virtual CAN bus" "$here/run.py" --script "$here/guest/vcan.py" --out "$out/vcan"

run 1
run 2
show 1 2
# Each of the others would try to build once more.
[ "$failures" -eq 0 ] || finish
# Times are measured with the processors to itself.
run 3
show 3
# The others wait most of their time, each on a board of its own; all guests share one processor, which has room for
# three. The one with bluetoothd does little but wait.
for together in "4 5 6" "7 8 14" "9 10 11" "13 15"; do
  for number in $together; do run "$number" & done
  wait
done
again 4 5 6 7 8 9 10 11 13 14 15
show 4 5 6 7 8 9 10 11 13 14 15
# It has guests of its own side by side, and tries again by itself.
run 12
show 12
finish
