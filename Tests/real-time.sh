#!/usr/bin/env bash
# The checks that wait for a board's own time, side by side, since the processors have next to nothing to do in them:
# real-time.sh FOLDER, where Scripts/build.sh has put the programs.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 lodestone=$1/lodestone
. "$here/table.sh"

part 1 "the command's manners" "$here/command-line.py" "$lodestone"
part 2 "hil run at a terminal" "$here/hil-manners.py" "$lodestone"
part 3 "calibrating by hand" "$here/calibrate-by-hand.py" "$lodestone"
part 4 "calibrating a vessel" "$here/calibrate-vessel.py" "$lodestone"
part 5 "a log to a CoreLocation program" "$here/play-log.py" "$bin/facade-program"
part 6 "the examples" "$here/examples.sh" "$bin"
part 7 "gpsd killed, begun, silent" "$here/with-gpsd.py" "$lodestone"
part 8 "chips unplugged in a monitor" "$here/monitor-unplug.py" "$lodestone"

for number in 1 2 3 4 5 6 7 8; do run "$number" & done
wait
again 1 2 3 4 5 6 7 8
show 1 2 3 4 5 6 7 8
finish
