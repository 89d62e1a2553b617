#!/bin/bash
# In the guest: faults by chance, by the scenario that run.py was given as /rig/random.yaml.
exec lodestone hil run --brief --board "$LODESTONE_BOARD" --rig "$LODESTONE_RIG_CONTROL" --seconds 1 \
  --scenario /rig/random.yaml --report /report
