#!/usr/bin/env python3
"""In the guest, with oracle.yaml and --exact: holds what the kernel's own drivers read against what the
twins were told to show, at five points of each range and at its ends, and on every channel.

A difference of more than one least significant bit of the reading is a defect of the twin until the datasheet
says that the kernel is wrong. The table has a line for every chip that Lodestone knows, with or without a driver in
this kernel; it is printed, and goes to /report/oracle.json."""
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import time

from kernel_iio import SHARES, Chip, Control, Refusal, write

GRAVITY = 9.80665
# The chips of the catalogue that no driver in this kernel takes; a test holds both lists against the catalogue.
NO_DRIVER = ["BMM350", "IST8310", "MMC5603", "MMC5983MA", "QMC5883L", "QMC5883P", "QMC6310", "ICM20948", "QMI8658", "SPA06"]
# What is no chip on a bus of the kernel's.
RECEIVERS = ["GNSS", "u-blox", "NMEA", "gpsd"]


def axes(name, unit, factor, limits, **details):
    """Three channels; `limits` is one number for all of them, or one each."""
    mirrored = details.pop("mirrored", None)
    limits = [limits] * 3 if isinstance(limits, (int, float)) else limits
    return [((f"{name}_{axis}", unit, factor, (-limit, limit)), {**details, "sign": -1 if axis == mirrored else 1})
            for axis, limit in zip("xyz", limits)]


def number(name, unit, factor, low, high, digit=None, **details):
    return [((name, unit, factor, (low, high), digit, None), details)]


def field(limits, **details):
    return ("field", axes("in_magn", "µT", 100, limits, **details))


def force(limit, **details):
    return ("acceleration", axes("in_accel", "m/s²", 1, limit * GRAVITY, **details))


def turning(limit, **details):
    return ("rate", axes("in_anglvel", "rad/s", 1, math.radians(limit), **details))


def warmth(digit=None, low=-40, high=85, **details):
    return ("temperature", number("in_temp", "°C", 0.001, low, high, digit, **details))


def pressure(low, high, digit=None, **details):
    return ("pressure", number("in_pressure", "Pa", 1000, low, high, digit, **details))


def rate(value):
    return {"sampling_frequency": value}


def magnetometers():
    yield ("HMC5883L", "hmc5883l", [field(130, full=2047, sensitivity=100 / 1090, mistaken=0.01)])
    # 12 bits; beyond -2048...2047 it says that it overflows.
    yield ("LSM303DLHC-M", "lsm303dlhc_magn", [field(130, full=2047)], rate("75"))
    # Its own axes are left-handed, and the kernel leaves them so.
    yield ("LIS2MDL", "lis2mdl", [field(4915, mirrored="z")], rate("100"))
    # The kernel's scale is 146 microgauss, without the decimals: 0.1 % less than the 6842 counts a gauss of the
    # datasheet (DocID024204 rev. 6, table 3).
    yield ("LIS3MDL", "lis3mdl", [field(400, sensitivity=100 / 6842)], rate("80"))
    yield ("LSM9DS1-M", "lsm9ds1_magn", [field(400, sensitivity=0.014, mistaken=146 / 140)], rate("80"))
    # A count of the converter is 0.36 microtesla by the twin's trim.
    yield ("BMM150", "bmm150_magn", [field([1300, 1300, 2500], full=None, step=5.8)])
    yield ("RM3100", "rm3100", [field(800, full=None, sensitivity=1 / 75)])
    yield ("AK8963", "ak8963", [field(2450)])
    yield ("AK09916", "ak09916", [field(2450, sensitivity=0.15, mistaken=0.5)])
    yield ("AK09918", "ak09918", [field(2450, sensitivity=0.15, mistaken=0.5)])


def inertial():
    # Not the kernel's 1600 Hz: it exists in low-power mode only (DocID018771, CTRL_REG1_A), which is not set.
    # Without HR, which the kernel does not set, 10 of the 12 bits are measured: steps of 4.
    yield ("LSM303DLHC-A", "lsm303dlhc_accel", [force(2, full=2047, step=4)], rate("400"))
    yield ("LIS3DH", "lis3dh", [force(2, full=2047, step=4)], rate("400"))
    # A reading wakes the gyro, waits for three periods and lets it sleep again: only at a slow rate is that
    # longer than the 70 ms that the gyro needs (AN5272, turn-on time).
    for name, driver in [("LSM6DSOX", "lsm6dsox"), ("LSM6DSO", "lsm6dso"), ("LSM6DS3", "lsm6ds3"),
                         ("LSM6DS33", "lsm6ds3"), ("LSM6DS3TR-C", "lsm6ds3tr-c"), ("LSM6DSL", "lsm6dsl"),
                         ("ISM330DHCX", "ism330dhcx")]:
        yield (name, driver, [force(2), turning(250)], rate("12.5"))
    # Shown is a right-handed frame; the chip's own is left-handed, and the kernel leaves it so. Its gyro's slowest rate is
    # 14.9 Hz, three periods of which are less than the 250 ms that it takes to wake up: its numbers come by the buffer.
    yield ("LSM9DS1-AG", "lsm9ds1-imu", [
        force(2, mirrored="x"), turning(245, mirrored="x", sensitivity=math.radians(8.75e-3), buffered=True)])
    yield ("MPU6050", "mpu6050", [force(2, sensitivity=GRAVITY / 16384), turning(2000, sensitivity=math.radians(1 / 16.4)),
                                      warmth()])
    yield ("MPU6500", "mpu6500", [force(2, sensitivity=GRAVITY / 16384), turning(2000, sensitivity=math.radians(1 / 16.4)),
                                      warmth()])
    yield ("MPU9250", "mpu6500", [force(2, sensitivity=GRAVITY / 16384), turning(2000, sensitivity=math.radians(1 / 16.4)),
                                      warmth()])
    yield ("ICM42688P", None, [force(16, sensitivity=GRAVITY / 2048), turning(2000, sensitivity=math.radians(1 / 16.4)),
                               warmth()], rate("200"))
    yield ("BMI160", "bmi160", [force(2, sensitivity=GRAVITY / 16384), turning(2000, sensitivity=math.radians(1 / 16.4))])


def barometers():
    # What a reading of the Bosch chips resolves is a count of the converter; in pascals and percent that depends
    # on the trim: the datasheets' figures (BST-BMP280-DS001, table 2; BST-BME280-DS002, tables 2 and 3).
    # The kernel divides by 256 where the datasheet shifts (section 3.11.3, "(t_fine * 5 + 128) >> 8"): below zero
    # that rounds up by a digit of 0.01 degrees, on top of half a digit and half a count.
    bosch = warmth(0.01, allowed=1.5)
    yield ("BMP180", "bmp180", [warmth(0.1, allowed=1.5), pressure(30000, 110000, 1)])
    yield ("BMP280", "bmp280", [bosch, pressure(30000, 110000, 0.16)])
    yield ("BME280", "bme280", [bosch, pressure(30000, 110000, 0.18),
                                    ("humidity", number("in_humidityrelative", "%", 0.001, 0, 100, 0.008))])
    # The kernel multiplies p^3 by c30 in 64 bits, as the datasheet's coefficients and scale factor (section
    # 4.9.1) do not allow: beyond about 62 to 100 kPa the product loses multiples of 2^64, which are 128 Pa
    # after the division by 524288^3. Of three terms the remainder is lost in the same way: 3 Pa.
    # At its own rate of 1 Hz a pressure would be compensated with the temperature of another moment.
    for name in ["DPS310", "DPS368", "SPL06"]:
        yield (name, "dps310", [warmth(0.01), pressure(30000, 120000, 1, modulo=128, allowed=3)],
                   {"in_temp_sampling_frequency": "16", "in_pressure_sampling_frequency": "16"})
    # At its own 50 Hz the filter that the driver switches on, of 4, would take 52 conversions to come within 0.01 Pa of the
    # next pressure. It is switched off by 0: the driver lists 1, and takes what it lists less one. Without it the converter
    # has 18 bits of the pressure and 16 of the temperature, 0.66 Pa and 0.005 degrees (BST-BMP388-DS001, 3.4.1). Hundredths
    # of a degree are cut off, not rounded, in Bosch's whole numbers too: a digit on top of half a count.
    for name in ["BMP388", "BMP390"]:
        yield (name, "bmp380", [warmth(0.01, allowed=1.3), pressure(30000, 125000, 0.66)],
                   {"filter_low_pass_3db_frequency": "0"})
    yield ("BMP581", "bmp580", [warmth(1 / 65536), pressure(30000, 125000, 1 / 64)])
    # No humidity: the twin does not measure it (Lodestone has no use for it), says so by the number that stands for a
    # conversion that was skipped, and the driver refuses that (EINVAL). Bosch's whole numbers, which are the driver's, divide
    # by one of 16 bits (par_p1, of the twin 35395: 3.1 Pa at 110 kPa) and double what has been divided (2 Pa). Their
    # p^3 par_p10 has 32 bits, too few above 106 kPa with a par_p10 of 30: that loses 2^32, which 2^21 divides.
    yield ("BME680", "bme680", [bosch, pressure(30000, 110000, 1, modulo=2048, allowed=5.1)])
    yield ("MS5611", "ms5611", [warmth(0.01), pressure(30000, 110000, 1)])
    yield ("MS5607", "ms5607", [warmth(0.01), pressure(30000, 110000, 1)])
    yield ("LPS22HB", "lps22hb", [warmth(), pressure(26000, 126000, sensitivity=100 / 4096)], rate("75"))
    yield ("LPS22HH", "lps22hh", [warmth(), pressure(26000, 126000, sensitivity=100 / 4096)], rate("200"))
    # 480 counts a degree in 16 bits, zero at 42.5.
    yield ("LPS25HB", "lps25h", [warmth(low=-25), pressure(26000, 126000, sensitivity=100 / 4096)], rate("25"))
    yield ("LPS28DFW", "lps22df", [warmth(), pressure(26000, 126000, sensitivity=100 / 4096)], rate("200"))


def later():
    """Those for whom another must have gone: bmp280 gives the memory of every BMP58x the same name, which the kernel takes
    once."""
    yield ("BMP585", "bmp580", [warmth(1 / 65536), pressure(30000, 125000, 1 / 64)])


def row(chip, channel):
    size = channel.digit * channel.step
    is_right = channel.failure is None and abs(channel.worst) <= channel.allowed + 1e-6
    return {"chip": chip.name, "driver": chip.bound, "names": chip.names, "channel": channel.name, "points": channel.points,
            "largestDifferenceLSB": round(channel.worst, 4), "largestDifference": channel.worst * size,
            "unit": channel.unit, "lsb": size, "allowedLSB": channel.allowed, "failure": channel.failure, "right": is_right}


def compare(control, chips):
    """Gives the chips that were read, and a line for each that the kernel did not take."""
    found, lost = [], []
    for chip in chips:
        try:
            found.append(Chip(*chip))
        except (Refusal, OSError) as error:
            lost.append(f"{chip[0]:13} {error}")
    # Most of a reading is waiting, each for a chip of its own.
    with concurrent.futures.ThreadPoolExecutor(max(1, len(found))) as readers:
        for point in range(len(SHARES)):
            for chip in found:
                chip.show(control, point)
            # A chip that was just started has its first conversion, and a temperature for it, later.
            time.sleep(0.5 if point else 3)
            for lines in readers.map(Chip.take, found):
                for line in lines:
                    print(line)
    return found, lost


def main():
    control = Control()
    found, lost = compare(control, [*magnetometers(), *inertial(), *barometers()])
    for chip in found:
        if chip.name == "BMP581":
            write(*chip.removal)
    more, refused = compare(control, later())
    found, lost = found + more, lost + refused
    rows = [row(chip, channel) for chip in found for channel in chip.channels]
    print(f"{'chip':13} {'driver':16} {'channel':20} {'points':>6} {'difference':>10}  unit")
    for entry in rows:
        print(f"{entry['chip']:13} {entry['driver']:16} {entry['channel']:20} {entry['points']:6} "
              f"{entry['largestDifferenceLSB']:+6.2f} LSB = {entry['largestDifference']:+.5f} {entry['unit']}"
              f"{'' if entry['right'] else '   WRONG'}")
    for line in lost:
        print(f"{line}   WRONG")
    kernel = f"Linux {os.uname().release.split('-')[0]}"
    for name in NO_DRIVER:
        print(f"{name:13} {kernel} has no driver")
    for name in RECEIVERS:
        print(f"{name:13} no chip of a bus")
    with open("/report/oracle.json", "w") as file:
        json.dump({"kernel": kernel, "channels": rows, "withoutDriver": NO_DRIVER, "receivers": RECEIVERS}, file, indent=1)
    wrong = sum(not entry["right"] for entry in rows) + len(lost)
    print(f"{len(rows)} channels of {len(found)} chips, {wrong} wrong")
    if wrong:
        subprocess.run("dmesg >/report/dmesg.txt", shell=True, timeout=10)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
