#!/bin/bash
# In the guest: every fault of the receiver.
exec lodestone hil run --brief --board "$LODESTONE_BOARD" --rig "$LODESTONE_RIG_CONTROL" --seconds 3 \
  --scenario /rig/receiver.yaml --report /report
