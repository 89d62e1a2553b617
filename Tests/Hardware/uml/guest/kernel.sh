#!/bin/bash
# In the guest, with kernel.yaml and --exact: drivers of the kernel own all chips, and lodestone runs on them.
failures=0
wrong() {
  echo "WRONG   $*"
  failures=$((failures + 1))
}
says() { # file, what it must hold
  if grep -qF -- "$2" "$1"; then echo "right   $2"; else wrong "$1 does not say '$2'"; fi
}
suite() { # scenario; 2: nothing failed, and self-tests were skipped
  lodestone hil run --brief --board /rig/board.yaml --rig "$LODESTONE_RIG_CONTROL" --seconds 1 \
    --scenario "/rig/$1.yaml" --report "/report/$1"
  [ $? -eq 2 ] || wrong "$1"
}

bus=/sys/bus/i2c/devices/i2c-0
for chip in "lis3mdl 0x1c" "lsm6dsox 0x6a" "bmp280 0x77"; do echo "$chip" >$bus/new_device; done

echo "== scan and doctor name the kernel's drivers"
lodestone scan >/report/scan.txt || wrong "scan"
says /report/scan.txt "0x1c  the kernel's driver st-magn-i2c (iio:device0, lis3mdl) owns it: lodestone uses it through IIO"
says /report/scan.txt "LSM6DSOX, likely"
lodestone doctor --board /rig/board.yaml >/report/doctor.txt || wrong "doctor"
says /report/doctor.txt "BMP280: the kernel's driver bmp280 (iio:device3, bmp280) owns /dev/i2c-0:0x77 and is used through IIO"

echo "== polled"
suite kernel-polled

echo "== by buffers, which a timer triggers"
mkdir /sys/kernel/config/iio/triggers/hrtimer/timer
for trigger in /sys/bus/iio/devices/trigger*; do echo 104 >"$trigger/sampling_frequency"; done
for device in /sys/bus/iio/devices/iio:device[012]; do echo timer >"$device/trigger/current_trigger"; done
suite kernel-buffered

echo "== unbound and bound again while it runs"
lodestone monitor --board /rig/board.yaml --seconds 6 --format json >/report/monitor.json 2>/report/monitor.txt &
sleep 2
echo 0-001c >/sys/bus/i2c/drivers/st-magn-i2c/unbind
wait $!
says /report/monitor.txt "its buffer at"
last=$(grep '"chip":"LIS3MDL"' /report/monitor.json | tail -n 1)
case $last in
  *'"state":"running"'*) echo "right   without the kernel's driver our own goes on" ;;
  *) wrong "after unbinding: $last" ;;
esac
echo "== $failures wrong"
[ "$failures" -eq 0 ]
