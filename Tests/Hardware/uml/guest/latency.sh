#!/bin/bash
# In the guest: 10,000 edges of a line of gpio-sim, each passed on from the twin's own, to a delegate.
set -euo pipefail
bank=/sys/kernel/config/gpio-sim/rig/bank0
mkdir -p $bank/line0
echo 1 >$bank/num_lines
echo edge-sim >$bank/label
echo DRDY >$bank/line0/name
echo 1 >/sys/kernel/config/gpio-sim/rig/live
pull=/sys/devices/platform/$(cat /sys/kernel/config/gpio-sim/rig/dev_name)/$(cat $bank/chip_name)/sim_gpio0/pull
twin=$(for chip in /sys/bus/gpio/devices/gpiochip*; do
  [ "$(readlink "$chip" | grep -c virtio)" -eq 0 ] || basename "$chip"; done)
sed 's/chip: virtio1, line: GPIO17/chip: edge-sim, line: DRDY/' /rig/board.yaml >/run/edge.yaml
export LODESTONE_BOARD=/run/edge.yaml
exec edge-latency "$twin" 0 "$pull" "${EDGES:-10000}" /report/latency.json
