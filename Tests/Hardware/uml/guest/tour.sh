#!/bin/bash
# In the guest: what a person would try first, and whether it is right by what twin-server says is so.
failures=0
expect() { # what, value, wanted, tolerance
  if awk -v v="$2" -v w="$3" -v t="$4" 'BEGIN { exit !(v != "" && w != "" && v - w <= t && w - v <= t) }'; then
    echo "right   $1: $2"
  else
    echo "WRONG   $1: ${2:-nothing}, wanted ${3:-nothing} +- $4"
    failures=$((failures + 1))
  fi
}
newest() { # kind, key: the key's value in the newest line of that kind
  grep "\"kind\":\"$1\"" /report/monitor.json | tail -n 1 | sed -nE "s/.*\"$2\":(-?[0-9.e+-]+).*/\1/p"
}
truth() { sed -nE "s/.*\"$1\":(-?[0-9.e+-]+).*/\1/p" <<<"$truth"; }

echo "== scan"
lodestone scan | tee /report/scan.txt
for chip in LIS3MDL LSM6DSOX BMP280; do
  grep -q "$chip" /report/scan.txt || { echo "WRONG   scan does not find $chip"; failures=$((failures + 1)); }
done
echo "== doctor"
lodestone doctor --board /rig/board.yaml || failures=$((failures + 1))
echo "== monitor"
lodestone monitor --board /rig/board.yaml --seconds 6 --format json >/report/monitor.json || failures=$((failures + 1))
truth=$(rig truth)
expect "heading, degrees" "$(newest heading magneticHeading)" "$(truth magneticHeading)" 3
expect "pressure, kPa" "$(newest altitude pressure)" "$(awk "BEGIN { print $(truth pressure) / 1000 }")" 0.15
expect "latitude" "$(newest location latitude)" "$(truth latitude)" 0.0001
expect "longitude" "$(newest location longitude)" "$(truth longitude)" 0.0002
for chip in LIS3MDL LSM6DSOX BMP280 u-blox; do
  expect "bus errors of $chip" "$(grep "\"chip\":\"$chip\"" /report/monitor.json | tail -n 1 | sed -nE 's/.*"busErrors":([0-9]+).*/\1/p')" 0 0
done
echo "== what chips are shown"
lodestone hil run --brief --board /rig/board.yaml --rig "$LODESTONE_RIG_CONTROL" --seconds 1 \
  --scenario /rig/shown.yaml --report /report/shown || failures=$((failures + 1))
echo "== $(wc -l </report/monitor.json) lines, $failures wrong"
[ "$failures" -eq 0 ]
