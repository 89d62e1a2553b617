#!/bin/bash
# In the guest: the whole hardware suite, with the commands that a person would try, and the faults of magnetometer
# and barometer.
exec lodestone hil run --board "$LODESTONE_BOARD" --rig "$LODESTONE_RIG_CONTROL" --seconds 3 \
  --scenario /rig/faults.yaml --report /report
