#!/usr/bin/env bash
# Runs the programs of Examples/ on their simulated walk, all at once: examples.sh FOLDER [daemon], where they are built.
# Each opens a board of its own, or all share a daemon's. Each has to say what it is for within two minutes, and is ended then.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$1
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
export STATE_DIRECTORY="$state"
if [ "${2-}" = daemon ]; then
  export LODESTONE_SOCKET=$state/socket
  "$bin/lodestone" serve --board Examples/walk.yaml --socket "$LODESTONE_SOCKET" >"$state/daemon.lines" 2>&1 &
  daemon=$!
  trap 'kill "$daemon" 2>/dev/null; wait "$daemon"; rm -rf "$state"' EXIT
  for _ in $(seq 100); do
    if grep -q '^serving' "$state/daemon.lines"; then break; fi
    sleep 0.1
  done
else
  export LODESTONE_BOARD=Examples/walk.yaml
fi

# says NAME COUNT PATTERN [ARGUMENT]: COUNT lines that fit.
says() {
  local name=$1 count=$2 pattern=$3 running heard=0
  stdbuf -oL "$bin/$name" ${4:+"$4"} >"$state/$name.lines" 2>"$state/$name.errors" &
  running=$!
  for _ in $(seq 240); do
    heard=$(grep -cE "$pattern" "$state/$name.lines" || true)
    if [ "$heard" -ge "$count" ] || ! kill -0 "$running" 2>/dev/null; then break; fi
    sleep 0.5
  done
  kill "$running" 2>/dev/null || true
  wait "$running" 2>/dev/null || true
  # A delegate that does not hear what it has started is said so.
  if [ "$heard" -lt "$count" ] || grep -q '^lodestone: ' "$state/$name.errors"; then
    echo "FAILED  $name said:"
    cat "$state/$name.lines" "$state/$name.errors"
    return 1
  fi
  echo "$name: $(grep -E "$pattern" "$state/$name.lines" | tail -n 1)"
}

says compass 5 '^[NESW]{1,2} [0-9]+ \+- [0-9]+' & all=($!)
says altimeter 3 '^[+-][0-9.]+ m  [0-9.]+ hPa$' & all+=($!)
says hiking-logger 3 '^[0-9T:-]+Z,[0-9.]+,[0-9.]+,.*[1-9][0-9.]*$' & all+=($!)
says trip-recorder 3 '^[1-9][0-9]* m  [0-9.]+ m/s  heading [0-9]+ $' & all+=($!)
says route-map 3 '^[0-9]+ places, [1-9][0-9]* degrees are up, in way.svg$' "$state/way.svg" & all+=($!)
says geofence 1 '^left$' 20 & all+=($!)
failed=0
for one in "${all[@]}"; do wait "$one" || failed=1; done
exit "$failed"
