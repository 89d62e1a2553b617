# In the guest: the hardware suite, on the board file of this rig. QEMU's field is zero at first, and no
# field on earth is.
rig show LSM303DLHC-M field 17.32 10 44 || exit 1
exec lodestone hil run --board /rig/board.yaml --rig "$LODESTONE_RIG_CONTROL" --seconds 6 \
  --scenario /root/raspberry-pi.yaml --report /report
