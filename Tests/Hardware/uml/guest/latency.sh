#!/bin/bash
# In the guest: 10,000 edges of a line of gpio-sim, each passed on from the twin's own, to a delegate;
# before and after them 2,000 by the bare path, on a line of its own. The chip is at 0x1c, 28.
set -euo pipefail
bank=/sys/kernel/config/gpio-sim/rig/bank0
mkdir -p $bank/line0
echo 2 >$bank/num_lines
echo edge-sim >$bank/label
echo DRDY >$bank/line0/name
echo 1 >/sys/kernel/config/gpio-sim/rig/live
lines=/sys/devices/platform/$(cat /sys/kernel/config/gpio-sim/rig/dev_name)/$(cat $bank/chip_name)
twin=$(for chip in /sys/bus/gpio/devices/gpiochip*; do
  [ "$(readlink "$chip" | grep -c virtio)" -eq 0 ] || basename "$chip"; done)
sed 's/chip: virtio1, line: GPIO17/chip: edge-sim, line: DRDY/' /rig/board.yaml >/run/edge.yaml
export LODESTONE_BOARD=/run/edge.yaml
exec edge-latency "$twin" 0 "$(cat $bank/chip_name)" "$lines" /dev/i2c-0 28 "${EDGES:-10000}" /report/latency.json
