#!/usr/bin/env python3
"""In the guest, with oracle.yaml and --exact: holds what the kernel's own drivers read against what the twins
were told to show, at five points of each range and at its ends, and on every channel.

A difference of more than one least significant bit of the reading is a defect of the twin until the datasheet
says that the kernel is wrong. The table is printed, and goes to /report/oracle.json."""
import glob
import json
import math
import os
import sys
import time

GRAVITY = 9.80665
# Seven points from one end of a range to the other; each axis has another one at a time, so that axes that
# are mixed up are seen, and each has every point once.
SHARES = [-1, -0.613, -0.271, 0.043, 0.337, 0.719, 1]


def read(path):
    with open(path) as file:
        return file.read().strip()


class Control:
    def __init__(self):
        self.line = os.open(os.environ["LODESTONE_RIG_CONTROL"], os.O_RDWR | os.O_NOCTTY)
        self.rest = b""

    def ask(self, request):
        os.write(self.line, request.encode() + b"\n")
        deadline = time.monotonic() + 5
        while b"\n" not in self.rest:
            if time.monotonic() > deadline:
                raise SystemExit("oracle: the rig does not answer")
            self.rest += os.read(self.line, 1000)
        answer, self.rest = self.rest.split(b"\n", 1)
        if answer != b"ok":
            raise SystemExit(f"oracle: {request}: {answer.decode()}")


class Channel:
    """One number that the kernel reads. `raw` channels have a scale; others come in the unit, with `digit` its
    least step. `allowed`: steps that it may differ by. `modulo`: what the kernel loses, see the DPS310."""

    def __init__(self, device, name, unit, factor, limits, digit=None, full=32767, sensitivity=None, step=1,
                 allowed=1, modulo=None):
        self.path = f"{device}/{name}"
        self.name, self.unit, self.factor, self.digit = name, unit, factor, digit
        if digit is None:
            self.digit = self.scale() * factor
        if sensitivity is not None:
            # The kernel's number is rounded: the datasheet's counts, if the kernel's are near them.
            if abs(self.digit / sensitivity - 1) > 0.002:
                raise SystemExit(f"oracle: {name}: the kernel's scale is {self.digit}, the datasheet's {sensitivity}")
            self.digit = sensitivity
        self.step, self.allowed, self.modulo = step, allowed, modulo
        low, high = limits
        # A range may be wider than the number that holds it.
        self.low = max(low, -full * self.digit) if full else low
        self.high = min(high, full * self.digit) if full else high
        self.worst, self.points, self.told = 0.0, 0, None

    def scale(self):
        # A scale stands at its axis, or once for all of them.
        for path in (f"{self.path}_scale", f"{self.path[:-2]}_scale"):
            if os.path.exists(path):
                return float(read(path))
        raise SystemExit(f"oracle: no scale for {self.path}")

    def value(self, index):
        share = SHARES[index % len(SHARES)]
        return (self.high + self.low) / 2 + share * (self.high - self.low) / 2

    def take(self):
        if os.path.exists(f"{self.path}_input"):
            found = float(read(f"{self.path}_input")) * self.factor
        else:
            found = int(read(f"{self.path}_raw")) * self.digit
        difference = found - self.told
        if self.modulo:
            difference = math.remainder(difference, self.modulo)
        steps = difference / (self.digit * self.step)
        self.points += 1
        if abs(steps) > abs(self.worst):
            self.worst = steps
        return found, steps


class Chip:
    """`quantities`: what the twin is shown and the channels that read it."""

    def __init__(self, name, driver, bus, address, quantities, rates=None):
        self.name, self.driver = name, driver
        adapter = f"/sys/bus/i2c/devices/i2c-{bus}"
        with open(f"{adapter}/new_device", "w") as file:
            file.write(f"{driver} 0x{address:02x}")
        self.devices = sorted(glob.glob(f"/sys/bus/i2c/devices/{bus}-{address:04x}/iio:device*"))
        if not self.devices:
            raise SystemExit(f"oracle: the kernel's {driver} does not take {name}; see dmesg")
        self.bound = os.path.basename(os.path.realpath(f"/sys/bus/i2c/devices/{bus}-{address:04x}/driver"))
        for device in self.devices:
            for name, rate in (rates or {}).items():
                if os.path.exists(f"{device}/{name}"):
                    with open(f"{device}/{name}", "w") as file:
                        file.write(rate)
        self.quantities = [(quantity, [self.channel(*channel, **details) for channel, details in channels])
                           for quantity, channels in quantities]

    def channel(self, name, *more, **details):
        device = next((device for device in self.devices
                       if any(os.path.exists(f"{device}/{name}_{kind}") for kind in ("raw", "input"))), None)
        if device is None:
            raise SystemExit(f"oracle: the kernel has no {name} of {self.name}")
        return Channel(device, name, *more, **details)

    def show(self, control, point):
        for quantity, channels in self.quantities:
            for place, channel in enumerate(channels):
                channel.told = channel.value(point + 2 * place)
            control.ask(f"show {self.name} {quantity} " + " ".join(f"{channel.told:.9g}" for channel in channels))


def axes(name, unit, factor, limit, **details):
    return [((f"{name}_{axis}", unit, factor, (-limit, limit)), details) for axis in "xyz"]


def number(name, unit, factor, low, high, digit, **details):
    return [((name, unit, factor, (low, high), digit, None), details)]


def chips():
    rate = lambda value: {"sampling_frequency": value}
    temperature = ("temperature", number("in_temp", "°C", 0.001, -40, 85, 0.01))
    # The kernel's scale is 146 microgauss, without the decimals: 0.1 % less than the 6842 counts a gauss of the
    # datasheet (DocID024204 rev. 6, table 3).
    yield Chip("LIS3MDL", "lis3mdl", 0, 0x1c,
               [("field", axes("in_magn", "µT", 100, 400, sensitivity=100 / 6842))], rate("80"))
    # 12 bits; beyond -2048...2047 it says that it overflows.
    yield Chip("LSM303DLHC-M", "lsm303dlhc_magn", 0, 0x1e,
               [("field", axes("in_magn", "µT", 100, 130, full=2047))], rate("75"))
    # Not the kernel's 1600 Hz: it exists in low-power mode only (DocID018771, CTRL_REG1_A), which is not set.
    # Without HR, which the kernel does not set, 10 of the 12 bits are measured: steps of 4.
    yield Chip("LSM303DLHC-A", "lsm303dlhc_accel", 0, 0x19,
               [("acceleration", axes("in_accel", "m/s²", 1, 2 * GRAVITY, full=2047, step=4))], rate("400"))
    # A reading wakes the gyro, waits for three periods and lets it sleep again: only at a slow rate is that
    # longer than the 70 ms that the gyro needs (AN5272, turn-on time).
    yield Chip("LSM6DSOX", "lsm6dsox", 0, 0x6a, [
        ("acceleration", axes("in_accel", "m/s²", 1, 2 * GRAVITY)),
        ("rate", axes("in_anglvel", "rad/s", 1, math.radians(250)))], rate("12.5"))
    # What a reading of the Bosch chips resolves is a count of the converter; in pascals and percent that depends
    # on the trim: the datasheets' figures (BST-BMP280-DS001, table 2; BST-BME280-DS002, tables 2 and 3).
    # The kernel divides by 256 where the datasheet shifts (section 3.11.3, "(t_fine * 5 + 128) >> 8"): below zero
    # that rounds up by a digit of 0.01 degrees, on top of half a digit and half a count.
    bosch = ("temperature", number("in_temp", "°C", 0.001, -40, 85, 0.01, allowed=1.5))
    yield Chip("BMP280", "bmp280", 0, 0x76,
               [bosch, ("pressure", number("in_pressure", "Pa", 1000, 30000, 110000, 0.16))])
    yield Chip("BME280", "bme280", 1, 0x76,
               [bosch, ("pressure", number("in_pressure", "Pa", 1000, 30000, 110000, 0.18)),
                ("humidity", number("in_humidityrelative", "%", 0.001, 0, 100, 0.008))])
    # The kernel multiplies p^3 by c30 in 64 bits, as the datasheet's coefficients and scale factor (section
    # 4.9.1) do not allow: beyond about 62 to 100 kPa the product loses multiples of 2^64, which are 128 Pa
    # after the division by 524288^3. Of three terms the remainder is lost in the same way: 3 Pa.
    # At its own rate of 1 Hz a pressure would be compensated with the temperature of another moment.
    yield Chip("DPS310", "dps310", 0, 0x77,
               [temperature, ("pressure", number("in_pressure", "Pa", 1000, 30000, 120000, 1, modulo=128, allowed=3))],
               {"in_temp_sampling_frequency": "16", "in_pressure_sampling_frequency": "16"})


def main():
    control = Control()
    found = list(chips())
    for point in range(len(SHARES)):
        for chip in found:
            chip.show(control, point)
        time.sleep(0.5)
        for chip in found:
            for _, channels in chip.quantities:
                for channel in channels:
                    value, steps = channel.take()
                    if abs(steps) > channel.allowed + 1e-6:
                        print(f"  {chip.name} {channel.name}: told {channel.told:.6g}, read {value:.6g} {channel.unit}")
    rows, wrong = [], 0
    print(f"{'chip':13} {'driver':16} {'channel':20} {'points':>6} {'difference':>10}  unit")
    for chip in found:
        for _, channels in chip.quantities:
            for channel in channels:
                is_right = abs(channel.worst) <= channel.allowed + 1e-6
                wrong += not is_right
                rows.append({"chip": chip.name, "driver": chip.bound, "channel": channel.name, "points": channel.points,
                             "largestDifferenceLSB": round(channel.worst, 4),
                             "largestDifference": channel.worst * channel.digit * channel.step, "unit": channel.unit,
                             "lsb": channel.digit * channel.step, "allowedLSB": channel.allowed, "right": is_right})
                print(f"{chip.name:13} {chip.bound:16} {channel.name:20} {channel.points:6} {channel.worst:+6.2f} LSB "
                      f"= {channel.worst * channel.digit * channel.step:+.5f} {channel.unit}{'' if is_right else '   WRONG'}")
    with open("/report/oracle.json", "w") as file:
        json.dump(rows, file, indent=1)
    print(f"{len(rows)} channels, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
