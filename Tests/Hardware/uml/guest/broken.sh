#!/bin/bash
# In the guest: what is wrong with the wiring fails, and the report names the cause and what mends it.
failures=0
suite() { # name, then what runs it
  local name=$1
  shift
  mkdir -p "/tmp/$name" && chmod 777 "/tmp/$name"
  if "$@" lodestone hil run --brief --board "/tmp/$name.yaml" --seconds 1.5 --report "/tmp/$name" >"/tmp/$name/output" 2>&1; then
    echo "WRONG   $name: passed"
    failures=$((failures + 1))
  fi
  cp -r "/tmp/$name" /report/
}
says() { # name, what its report must hold
  if grep -qF -- "$2" "/report/$1/report.json"; then
    echo "right   $1: $2"
  else
    echo "WRONG   $1: its report does not say '$2'"
    tail -n 8 "/tmp/$1/output"
    failures=$((failures + 1))
  fi
}

# A chip that is not there.
sed '/port: .dev.ttyS0/,$d; /chip: u-blox/d' "$LODESTONE_BOARD" >/tmp/missing.yaml
printf '  - {chip: DPS310, bus: /dev/i2c-0, address: 0x76}\n' >>/tmp/missing.yaml
suite missing
says missing "nobody answers at /dev/i2c-0:0x76"
says missing "check VIN, GND, SDA, SCL"

# Another chip than the file says.
sed 's/chip: BMP280/chip: DPS310/' "$LODESTONE_BOARD" >/tmp/wrong.yaml
suite wrong
says wrong "the board file says DPS310 at /dev/i2c-0:0x77, there is BMP280"
says wrong "chip: BMP280   # line"

# The line of another chip, which moves by itself; and one that does not move.
sed 's/line: GPIO17/line: GPIO99/; s/line: GPIO27/line: GPIO17/; s/line: GPIO99/line: GPIO27/' \
  "$LODESTONE_BOARD" >/tmp/crossed.yaml
suite crossed
says crossed "announced nothing: it is another chip's line"
says crossed "gpioinfo"
sim=/sys/kernel/config/gpio-sim/idle
mkdir -p $sim/bank0 && echo 4 >$sim/bank0/num_lines && echo idle >$sim/bank0/label && echo 1 >$sim/live
sed '0,/interrupt:.*/s//interrupt: {chip: idle, line: 2}/' "$LODESTONE_BOARD" >/tmp/silent.yaml
suite silent
says silent "0 edges on idle 2"
says silent "gpiomon"

# An address that a driver of the kernel has, on a board that wants our own.
sed 's/chip: LIS3MDL/&\n    driver: own/' "$LODESTONE_BOARD" >/tmp/busy.yaml
echo lis3mdl 0x1c >/sys/bus/i2c/devices/i2c-0/new_device
suite busy
says busy "a kernel driver (st-magn-i2c) owns this address"
says busy "/sys/bus/i2c/drivers/st-magn-i2c/unbind"
echo 0x1c >/sys/bus/i2c/devices/i2c-0/delete_device

# A user who may not.
cp "$LODESTONE_BOARD" /tmp/forbidden.yaml
chmod 644 /tmp/*.yaml
chmod 600 /dev/i2c-0
suite forbidden setpriv --reuid=65534 --regid=65534 --clear-groups env STATE_DIRECTORY=/tmp/forbidden
says forbidden "may not be opened by this user: permission denied"
says forbidden "usermod -aG i2c"
chmod 666 /dev/i2c-0

echo "== $failures wrong"
[ "$failures" -eq 0 ]
