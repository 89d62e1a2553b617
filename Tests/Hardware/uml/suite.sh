#!/bin/bash
# In the guest: the hardware suite with every fault, and faults by chance (LODESTONE_FAULTS of them, from the
# seed LODESTONE_SEED).
exec lodestone hil run --board "$LODESTONE_BOARD" --rig "$LODESTONE_RIG_CONTROL" --seconds 5 \
  --scenario /rig/faults.yaml --scenario /rig/random.yaml --report /report
