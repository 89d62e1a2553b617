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
expect() { # what, value, wanted, tolerance
  if awk -v v="$2" -v w="$3" -v t="$4" 'BEGIN { d = v - w; if (d > 180) d -= 360; exit !(v != "" && d <= t && -d <= t) }'; then
    echo "right   $1: $2"
  else
    wrong "$1: ${2:-nothing}, wanted $3 +- $4"
  fi
}
newest() { # file, kind, key: the key's value in the newest line of that kind
  grep "\"kind\":\"$2\"" "$1" | tail -n 1 | sed -nE "s/.*\"$3\":(-?[0-9.e+-]+).*/\1/p"
}
suite() { # scenario; 2: nothing failed, and self-tests were skipped
  lodestone hil run --brief --board /rig/board.yaml --rig "$LODESTONE_RIG_CONTROL" --seconds 1 \
    --scenario "/rig/$1.yaml" --report "/report/$1" >"/report/$1.txt" 2>&1
  [ $? -eq 2 ] || { wrong "$1"; cat "/report/$1.txt"; }
  grep "is shown" "/report/$1.txt"
}
monitor() { # name, seconds: what is shown comes out, with a heading
  lodestone monitor --board /rig/board.yaml --seconds "$2" --format json >"/report/$1.json" 2>"/report/$1.txt"
}

# Our own record is not the chip's here: what is read is what is shown.
rm -rf "$STATE_DIRECTORY"/calibrations
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
rig show LIS3MDL field 20 0 -44 >/dev/null
rig show LSM6DSOX acceleration 0 0 9.80665 >/dev/null
rig show BMP280 pressure 95000 >/dev/null
monitor polled 4
# The kernel's scale is 0.1 % less than the datasheet's: 3 counts at 44 microtesla.
expect "x, microtesla" "$(newest /report/polled.json heading x)" 20 0.035
expect "y, microtesla" "$(newest /report/polled.json heading y)" 0 0.015
expect "z, microtesla" "$(newest /report/polled.json heading z)" -44 0.06
expect "heading, degrees" "$(newest /report/polled.json heading magneticHeading)" 270 0.1
expect "pressure, kPa" "$(newest /report/polled.json altitude pressure)" 95 0.0002

echo "== by buffers, which timers trigger"
timers=/sys/kernel/config/iio/triggers/hrtimer
mkdir $timers/field $timers/motion
for trigger in /sys/bus/iio/devices/trigger*; do
  case $(cat "$trigger/name") in field) echo 80 ;; *) echo 104 ;; esac >"$trigger/sampling_frequency"
done
for device in /sys/bus/iio/devices/iio:device*; do
  case $(cat "$device/name") in
    lis3mdl) echo field >"$device/trigger/current_trigger" ;;
    lsm6dsox*) echo motion >"$device/trigger/current_trigger" ;;
  esac
done
rig walk LIS3MDL >/dev/null && rig walk LSM6DSOX >/dev/null
suite kernel-buffered
rig show LIS3MDL field 0 20 -44 >/dev/null
rig show LSM6DSOX acceleration 0 0 9.80665 >/dev/null
rig show LSM6DSOX rate 0 0 0 >/dev/null
monitor buffered 3
expect "heading, degrees" "$(newest /report/buffered.json heading magneticHeading)" 0 0.3
says /report/buffered.json "LIS3MDL at /dev/i2c-0:0x1c is read through the kernel's driver st-magn-i2c (iio:device0, lis3mdl), its buffer at 80.0 Hz"
says /report/buffered.json "iio:device2, lsm6dsox_accel), its buffer at 104.0 Hz"

echo "== unbound while it runs"
monitor unbound 5 &
sleep 2
echo 0-001c >/sys/bus/i2c/drivers/st-magn-i2c/unbind
wait $!
case $(grep '"chip":"LIS3MDL"' /report/unbound.json | tail -n 1) in
  *'"state":"running"'*) echo "right   our own driver goes on" ;;
  *) wrong "after unbinding: $(grep '"chip":"LIS3MDL"' /report/unbound.json | tail -n 1)" ;;
esac
echo "== $failures wrong"
[ "$failures" -eq 0 ]
