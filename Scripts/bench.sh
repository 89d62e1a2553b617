#!/usr/bin/env bash
# Share of one core and resident memory of `lodestone monitor` on the simulated board at full rates
# (magnetometer 100 Hz asked, 155 Hz given; IMU 208 Hz; barometer 25 Hz; receiver 10 Hz), over 20 s.
set -euo pipefail
cd "$(dirname "$0")/.."
Scripts/build.sh --product lodestone
lodestone=$(Scripts/build.sh --bin)/lodestone
board=$(mktemp --suffix .yaml)
trap 'rm -f "$board"' EXIT
# The project's simulated board with the rates raised.
sed -e 's/rate: 80$/rate: 100/' -e 's/rate: 5$/rate: 10/' Boards/simulated.yaml >"$board"
python3 - "$lodestone" "$board" <<'PYTHON'
import resource, subprocess, sys, time
start = time.monotonic()
lines = subprocess.run([sys.argv[1], "monitor", "--board", sys.argv[2], "--seconds", "20", "--format", "json"],
                       capture_output=True, text=True, check=True).stdout.splitlines()
wall = time.monotonic() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
share = 100 * (used.ru_utime + used.ru_stime) / wall
print(f"{len(lines)} lines in {wall:.1f} s, {share:.1f} % of one core, {used.ru_maxrss / 1024:.0f} MiB resident")
PYTHON
