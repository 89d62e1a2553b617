#!/usr/bin/env bash
# Checks that every command reports a full disk at once and ends with a non-zero exit code: full-disk.sh LODESTONE.
# Runs side by side in less than 20 s, without special rights; /dev/full stands for the disk.
set -uo pipefail
[ $# -eq 1 ] && [ -x "$1" ] || { echo "usage: full-disk.sh LODESTONE" >&2; exit 64; }
lodestone=$(realpath "$1")
boards=$(cd "$(dirname "$0")/../Boards" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
for name in $(compgen -e LODESTONE); do unset "$name"; done
export STATE_DIRECTORY=$folder/state
seconds=15
words='lodestone: cannot write to standard output: No space left on device (28)'

# result NAME STATUS DETAIL: one line each, also in a file, since the checks run in subshells.
result() {
  if [ "$2" -eq 0 ]; then echo "ok      $1"; else echo "FAILED  $1: $3"; fi | tee -a results
}

# full ARGUMENTS...: with its output on a full disk, a command ends with 1 and one line on standard error.
full() {
  local name="$*" code=0 errors
  errors=$(timeout "$seconds" "$lodestone" "$@" 2>&1 >/dev/full) || code=$?
  [ "$code" -eq 1 ] && [ "$(grep -cFx "$words" <<<"$errors")" -eq 1 ]
  result "$name" $? "exit code $code: $errors"
}

# A limit of the file size stands for a recording's disk, since it can be raised while the recording runs.
limited() {
  trap '' XFSZ
  ulimit -S -f 40
  exec "$lodestone" record --board simulated "$@"
}
ends_at_once() {
  local begun=$SECONDS
  (limited --seconds 14 filled) >/dev/null 2>filled.txt
  [ $? -eq 74 ] && grep -q 'the recording ended early: filled: file too large' filled.txt && [ $((SECONDS - begun)) -le 7 ]
  result "record on a disk that gets full ends at once" $? "$((SECONDS - begun)) s: $(cat filled.txt)"
}
goes_on() {
  (limited --keep-trying --seconds 5 patient) >/dev/null 2>patient.txt &
  local process=$! code
  for _ in $(seq 80); do grep -q 'trying again' patient.txt && break; sleep 0.05; done
  grep -q 'patient: file too large: trying again every second; [0-9]* bytes of the recording are lost so far' patient.txt
  result "record --keep-trying reports it" $? "$(cat patient.txt)"
  prlimit --pid "$process" --fsize=unlimited:
  wait "$process"
  code=$?
  [ $code -eq 74 ] && grep -q 'patient can be written again' patient.txt \
    && grep -q 'patient lacks [0-9]* bytes, which could not be written' patient.txt && [ "$(stat -c %s patient)" -gt 41000 ]
  result "and goes on when there is room, and ends with 74" $? "$code: $(cat patient.txt)"
  "$lodestone" replay patient >replayed.txt 2>patient.txt
  code=$?
  [ $code -eq 65 ] && [ "$(grep -c '^lodestone-trace' patient)" -eq 2 ] \
    && grep -q 'patient holds 2 runs: what happened between them was not recorded' patient.txt \
    && [ "$(grep -c '"kind":"heading"' replayed.txt)" -gt 100 ]
  result "and both of its runs replay, with 65 for the gap" $? "$code: $(cat patient.txt)"
}
# The same for a series of recordings and for a log: NAME FILES ARGUMENTS...
series_goes_on() {
  local name=$1 files=$2
  shift 2
  (
    trap '' XFSZ
    ulimit -S -f 40
    exec "$lodestone" "$@" --board simulated --seconds 7
  ) >/dev/null 2>"$name.txt" &
  local process=$! code
  for _ in $(seq 120); do grep -q 'trying again' "$name.txt" && break; sleep 0.05; done
  grep -q 'file too large: trying again every second; [0-9]* bytes of the [a-z]* are lost so far' "$name.txt"
  result "$name reports a full disk" $? "$(cat "$name.txt")"
  prlimit --pid "$process" --fsize=unlimited:
  wait "$process"
  code=$?
  [ $code -eq 74 ] && grep -q 'can be written again' "$name.txt" && [ "$(compgen -G "$name-*Z*" | wc -l)" -eq "$files" ] \
    && [ "$(cat "$name"-*Z* | wc -c)" -gt 45000 ]
  result "and goes on when there is room, and ends with 74" $? "$code: $(ls -l "$name"-*Z*) $(cat "$name.txt")"
}
# Each run of a recording is a separate file; a log goes on behind the end of the line that was cut off.
recordings_go_on() {
  series_goes_on series 2 record --rotate 1d series
  "$lodestone" replay "$(compgen -G 'series-*Z' | sort | tail -n 1)" >series.lines 2>series.txt
  [ $? -eq 0 ] && grep -q '"kind":"heading"' series.lines
  result "and the last recording replays" $? "$(cat series.txt)"
}
log_goes_on() {
  series_goes_on log 1 monitor --format json --rotate 1d --output log.jsonl
  [ "$(grep -vc '^{.*}$' log-*Z.jsonl)" -le 1 ] && [ "$(tail -n 1 log-*Z.jsonl | grep -c '^{.*}$')" -eq 1 ]
  result "and one line of the log is cut off" $? "$(grep -v '^{.*}$' log-*Z.jsonl)"
}
# The summary's reader goes away at once.
unread() {
  "$lodestone" record --board simulated --seconds 3 --keep-trying unread 2>unread.txt | head -n 1 >first.txt
  local code=${PIPESTATUS[0]}
  "$lodestone" replay unread >unread.lines 2>>unread.txt
  [ "$code" -eq 0 ] && [ -s first.txt ] && [ "$(grep -c '"kind":"heading"' unread.lines)" -gt 40 ]
  result "record --keep-trying outlives the reader of its summary" $? "$code: $(cat unread.txt)"
}
# A folder that is gone stands for a disk that has no room for another file. SIGHUP may be ignored here (nohup), which a shell
# cannot take back.
unrotated() {
  mkdir rotated
  env --default-signal=HUP "$lodestone" record --board simulated --seconds 60 --keep-trying rotated/drive \
    >unrotated.out 2>unrotated.txt &
  local process=$! code
  for _ in $(seq 200); do [ -s rotated/drive ] && break; sleep 0.05; done
  mv rotated moved
  kill -HUP "$process"
  # The recording goes on with another head.
  for _ in $(seq 200); do [ "$(grep -c '^lodestone-trace' moved/drive)" -eq 2 ] && break; sleep 0.05; done
  local begun=$SECONDS
  kill "$process"
  wait "$process"
  code=$?
  [ $code -eq 74 ] && grep -q 'the recording goes on in the file that was moved away' unrotated.txt \
    && [ "$(grep -c '^lodestone-trace' moved/drive)" -eq 2 ] && [ $((SECONDS - begun)) -le 20 ]
  result "and a rotation that cannot make its file" $? "$code: $(cat unrotated.txt)"
}
no_disk() {
  timeout "$seconds" "$lodestone" record --board simulated --seconds 2 /dev/full >/dev/null 2>none.txt
  [ $? -eq 74 ] && grep -q 'no space left' none.txt
  result "record on a full disk" $? "$(cat none.txt)"
}
closed() {
  "$lodestone" record --board simulated --seconds 1 closed >&- 2>closed.txt
  [ "$(head -c 16 closed)" = "lodestone-trace " ] && ! grep -q '^heading' closed
  result "without a standard output nothing is printed into another file" $? "$(head -c 300 closed)"
}

# A log, a table, a recording and records to read.
python3 - <<'PYTHON'
import math

def sentence(content):
    total = 0
    for byte in content.encode():
        total ^= byte
    return f"${content}*{total:02X}\r\n"

with open("log", "w") as log:
    for second in range(30):
        log.write(sentence(f"GPRMC,1234{second:02},A,4807.{second:03},N,01131.{second:03},E,1.5,90,221126,,"))
        log.write(sentence(f"GPGGA,1234{second:02},4807.{second:03},N,01131.{second:03},E,1,08,0.9,545.4,M,46.9,M,,"))
with open("field.csv", "w") as table:
    table.write("mx,my,mz\n")
    for k in range(400):
        z = 1 - (2 * k + 1) / 400
        x, y = ((1 - z * z) ** 0.5 * f(k * 2.399963) for f in (math.cos, math.sin))
        table.write(f"{48 * x + 30:.3f},{48 * y - 20:.3f},{48 * z + 10:.3f}\n")
PYTHON
# The simulated board makes its records where there is a state folder; its way has a fix after eight seconds.
timeout "$seconds" "$lodestone" record --board simulated --seconds 10 trace >record.txt 2>&1
cp "$folder"/state/simulated/*/calibrations/*.json one.json 2>/dev/null
[ -s trace ] && [ -s one.json ]
result "something to read" $? "$(cat record.txt)"

for arguments in --help --version "help calibrate" "calibrate fit --help" "--generate-completion-script bash" \
  "declination 52 13" "declination 52 13 --format json" "authorization show" \
  "decode log" "decode --format gpx log" "decode --format csv log" "decode --format nmea log" \
  "track log" "track --format geojson log" "track --format svg log" \
  "calibrate fit field.csv" "calibrate fit --format text field.csv"; do
  # shellcheck disable=SC2086 # words
  full $arguments &
done
for arguments in "replay trace" "replay --smooth trace" "track trace" \
  "altitude show --board $boards/gy-87-hmc5883l.yaml" "altitude show --format json --board $boards/gy-87-hmc5883l.yaml" \
  "altitude set 500 --board $boards/gy-87-hmc5883l.yaml" "doctor --board simulated" \
  "calibrate list --board simulated" "calibrate list --format json --board simulated" "calibrate show --board simulated" \
  "calibrate show --format json --board simulated" "calibrate export --board simulated" "calibrate report --board simulated" \
  "calibrate lock --board simulated" "calibrate import one.json --board simulated --force"; do
  # shellcheck disable=SC2086 # words
  full $arguments &
done
for arguments in "monitor" "monitor --format json" "gnss --format json" "record kept" "map --port 0" "scan" \
  "calibrate gyro --yes --format json" "calibrate magnetometer --yes --format json --force"; do
  # shellcheck disable=SC2086 # words
  full $arguments --board simulated &
done
ends_at_once &
goes_on &
recordings_go_on &
log_goes_on &
unread &
unrotated &
no_disk &
closed &
wait

# A reader that closes its end of a pipe needs no message; an output that is closed is an error.
(sleep 0.3; "$lodestone" declination 52 13 2>errors.txt; echo $? >code.txt) | true
[ ! -s errors.txt ] && [ "$(cat code.txt)" -eq $((128 + 13)) ]
result "a reader that goes away ends it quietly" $? "$(cat code.txt errors.txt)"
(trap '' PIPE; sleep 0.3; "$lodestone" declination 52 13 2>errors.txt; echo $? >code.txt) | true
[ ! -s errors.txt ] && [ "$(cat code.txt)" -eq 0 ]
result "and where SIGPIPE is ignored" $? "$(cat code.txt errors.txt)"
errors=$("$lodestone" declination 52 13 2>&1 >&-)
[ $? -eq 1 ] && grep -q 'Bad file descriptor (9)' <<<"$errors"
result "an output that is closed" $? "$errors"

failed=$(grep -c '^FAILED' results)
echo "full disk: $([ "$failed" -eq 0 ] && echo passed || echo "FAILED ($failed)") in $SECONDS s"
exit $((failed > 0))
