#!/usr/bin/env bash
# The checks that wait for a board's own time, side by side, since the processors have next to nothing to do in them:
# real-time.sh FOLDER, where Scripts/build.sh has put the programs.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 lodestone=$1/lodestone
. "$here/table.sh"

part 1 "command line: boards" "$here/command-line-boards.py" "$lodestone"
part 2 "command line: logs" "$here/command-line-logs.py" "$lodestone"
part 3 "command line: recordings" "$here/command-line-recordings.py" "$lodestone"
part 4 "command line: calibrate" "$here/command-line-calibrate.py" "$lodestone"
part 5 "command line: records" "$here/command-line-records.py" "$lodestone"
part 6 "hil run at a terminal" "$here/hil-manners.py" "$lodestone"
part 7 "calibrating by hand" "$here/calibrate-by-hand.py" "$lodestone"
part 8 "calibrating a vessel" "$here/calibrate-vessel.py" "$lodestone"
part 9 "a log to a CoreLocation program" "$here/play-log.py" "$bin/facade-program"
part 10 "the examples" "$here/examples.sh" "$bin"
part 11 "gpsd killed, begun, silent" "$here/with-gpsd.py" "$lodestone"
part 12 "chips unplugged in a monitor" "$here/monitor-unplug.py" "$lodestone"
part 13 "command line: series of files" "$here/command-line-series.py" "$lodestone"
part 14 "the daemon, its programs, systemd" "$here/daemon.py" "$bin"
part 15 "the stream of JSON lines" "$here/stream.py" "$bin"
part 16 "the stream in Python" "$here/python-client.py" "$bin"
part 18 "the examples, through a daemon" "$here/examples.sh" "$bin" daemon
part 19 "corrections from casters" "$here/ntrip.py" "$lodestone"
part 20 "a receiver on the network" "$here/network-receiver.py" "$lodestone"
part 21 "a receiver's time to chrony" "$here/time-to-chrony.py" "$lodestone"
part 17 "programs, map, recording, calibration" "$here/together.py" "$bin"

parts=({1..21})
for number in "${parts[@]}"; do run "$number" & done
wait
again "${parts[@]}"
show "${parts[@]}"
finish
