#!/bin/bash
# In the guest: the hardware suite on whatever board it is, without scenarios. A magnetometer behind another chip's
# bypass must not be seen before that chip was started, and from then on it must.
answers() { lodestone scan | grep -qE "^ *$1  "; }
hidden=$(awk '$2 == "chip:" { chip = $3 } $1 == "address:" { address = $2 }
  $1 == "address:" && chip ~ /^AK(8963|09916)$/ || $1 == "behind:" { print address }' "$LODESTONE_BOARD")

for address in $hidden; do
  if answers "$address"; then echo "failed  $address answers before the bypass to it was opened" && exit 1; fi
done
lodestone hil run --brief --board "$LODESTONE_BOARD" --seconds 2 --report /report
result=$?
for address in $hidden; do
  if ! answers "$address"; then echo "failed  $address does not answer though the bypass to it was opened" && exit 1; fi
  echo "right   $address answers since the bypass to it was opened, not before"
done
exit $result
