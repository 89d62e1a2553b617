# In the guest: what a person would try first, and whether it is right. Fields are of a board in Berlin that
# lies on its back: 20 uT to the north, 44 down, so that at heading H the chip sees 20 cos H, -20 sin H, 44.
failures=0
expect() { # what, value, wanted, tolerance
  if awk -v v="$2" -v w="$3" -v t="$4" 'BEGIN { exit !(v != "" && v - w <= t && w - v <= t) }'; then
    echo "right   $1: $2"
  else
    echo "WRONG   $1: ${2:-nothing}, wanted $3 +- $4"
    failures=$((failures + 1))
  fi
}
newest() { # kind, key: the key's value in the newest line of that kind
  tail -n 200 /report/monitor.json | grep "\"kind\":\"$1\"" | tail -n 1 | sed -nE "s/.*\"$2\":(-?[0-9.e+-]+).*/\1/p"
}

echo "== scan"
lodestone scan
echo "== doctor"
lodestone doctor --board /rig/board.yaml || failures=$((failures + 1))
# With all checks on, the same chip is a problem, and the way out is no nonsense.
sed '/constant:/d; /identity:/d' /rig/board.yaml >/root/strict.yaml
lodestone doctor --board /root/strict.yaml >/root/strict.txt && failures=$((failures + 1))
grep -A 1 "says DPS310 at /dev/i2c-1:0x77, there is a chip that is not known" /root/strict.txt |
  grep "mend: lodestone scan" || { echo "WRONG   doctor on a strict board file"; failures=$((failures + 1)); }
echo "== monitor"
rig show LSM303DLHC-M field 17.32 10 44 || failures=$((failures + 1))
lodestone monitor --board /rig/board.yaml --seconds 10 --format json >/report/monitor.json &
sleep 4
expect "heading, degrees" "$(newest heading magneticHeading)" 330 1.5
rig show LSM303DLHC-M field 10 17.32 44
sleep 2
expect "heading, degrees" "$(newest heading magneticHeading)" 300 1.5
rig show LSM303DLHC-M field 19.70 3.47 44
sleep 2
expect "heading, degrees" "$(newest heading magneticHeading)" 350 1.5
expect "pressure, kPa" "$(newest altitude pressure)" 92.946 0.001
expect "latitude" "$(newest location latitude)" 52.516300 0.00001
expect "longitude" "$(newest location longitude)" 13.377700 0.00001
wait
for chip in LSM303DLHC-M DPS310 NMEA; do
  expect "bus errors of $chip" "$(grep "\"chip\":\"$chip\"" /report/monitor.json | tail -n 1 | sed -nE 's/.*"busErrors":([0-9]+).*/\1/p')" 0 0
done
echo "== $(wc -l </report/monitor.json) lines, $failures wrong"
[ "$failures" -eq 0 ]
