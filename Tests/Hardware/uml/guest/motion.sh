#!/bin/bash
# In the guest: the faults of gyro and receiver, beside the others to save time.
exec lodestone hil run --brief --board "$LODESTONE_BOARD" --rig "$LODESTONE_RIG_CONTROL" --seconds 3 \
  --scenario /rig/faults-motion.yaml --report /report
