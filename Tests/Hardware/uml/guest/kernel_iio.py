"""In the guest: chips that the kernel's own drivers read (IIO), and the control line that says what they are to show.

oracle.py uses it. Both are in /rig: oracle.py as `script`, this module under its own name."""
import errno
import glob
import math
import os
import re
import select
import struct
import time

# Seven points from one end of a range to the other. The axes have different ones at the same time, so that swapped axes
# are seen, and each axis has every point once.
SHARES = [-1, -0.613, -0.271, 0.043, 0.337, 0.719, 1]


def read(path):
    with open(path) as file:
        return file.read().strip()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Refusal(Exception):
    """Why a chip cannot be compared."""


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


class Frames:
    """The buffer of a device with three axes, which a timer triggers. A driver that lets its chip sleep after each number
    that is read singly keeps it awake for this."""

    def __init__(self, device):
        trigger = f"/sys/kernel/config/iio/triggers/hrtimer/{os.path.basename(device)}"
        os.mkdir(trigger)
        for path in glob.glob("/sys/bus/iio/devices/trigger*"):
            if read(f"{path}/name") == os.path.basename(trigger):
                write(f"{path}/sampling_frequency", "50")
        write(f"{device}/trigger/current_trigger", os.path.basename(trigger))
        for path in glob.glob(f"{device}/scan_elements/*_en"):
            write(path, "0" if "timestamp" in path else "1")
        write(f"{device}/buffer/enable", "1")
        self.file = os.open(f"/dev/{os.path.basename(device)}", os.O_RDONLY | os.O_NONBLOCK)

    def newest(self):
        """X, Y and Z of a frame that comes from now on: what does not fit any more is left out, not what is old."""
        while select.select([self.file], [], [], 0)[0]:
            os.read(self.file, 4096)
        if not select.select([self.file], [], [], 2)[0]:
            raise OSError(errno.ETIMEDOUT, "no frame comes")
        return struct.unpack("<hhh", os.read(self.file, 6))


class Channel:
    """One number that the kernel reads. `raw` channels have a scale; others come in the unit, with `digit` its
    least step. `sensitivity`: the unit in a count as the datasheet has it, and `mistaken`: how many times that the
    kernel's scale is where it is wrong. `allowed`: steps that it may differ by. `modulo`: what the kernel loses, see
    the DPS310. `frames`: where its numbers come from if not one by one."""

    def __init__(self, device, name, unit, factor, limits, digit=None, full=32767, sensitivity=None, mistaken=1, step=1,
                 allowed=1, modulo=None, sign=1, frames=None):
        self.path, self.frames = f"{device}/{name}", frames
        self.name, self.unit, self.factor, self.digit = name, unit, factor, digit
        self.offset = 0.0
        if digit is None:
            self.digit = self.number("scale") * factor
            self.offset = self.number("offset", 0.0)
        if sensitivity is not None:
            # The kernel's number is rounded: the datasheet's counts, if the kernel's are near them.
            if abs(self.digit / (sensitivity * mistaken) - 1) > 0.0026:
                raise Refusal(f"{self.path}: the kernel's scale is {self.digit}, the datasheet's {sensitivity}")
            self.digit = sensitivity
        self.step, self.allowed, self.modulo, self.sign = step, allowed, modulo, sign
        low, high = limits
        # A range may be wider than the number that holds it.
        self.low = max(low, -full * self.digit) if full else low
        self.high = min(high, full * self.digit) if full else high
        self.worst, self.points, self.told, self.failure = 0.0, 0, None, None

    def number(self, what, otherwise=None):
        # A scale stands at its axis, or once for all of them.
        for path in (f"{self.path}_{what}", f"{self.path[:-2]}_{what}"):
            if os.path.exists(path):
                return float(read(path))
        if otherwise is None:
            raise Refusal(f"no {what} for {self.path}")
        return otherwise

    def value(self, index):
        share = SHARES[index % len(SHARES)]
        return (self.high + self.low) / 2 + share * (self.high - self.low) / 2

    def take(self):
        if self.frames:
            found = (self.frames.newest()["xyz".index(self.name[-1])] + self.offset) * self.digit
        elif os.path.exists(f"{self.path}_input"):
            found = float(read(f"{self.path}_input")) * self.factor
        else:
            found = (int(read(f"{self.path}_raw")) + self.offset) * self.digit
        difference = self.sign * found - self.told
        if self.modulo:
            difference = math.remainder(difference, self.modulo)
        steps = difference / (self.digit * self.step)
        self.points += 1
        if abs(steps) > abs(self.worst):
            self.worst = steps
        return found, steps


def places():
    """Where each chip of the board file is: bus number and address."""
    found = re.findall(r"\{chip: ([^,]+), bus: /dev/i2c-(\d+), address: (0x[0-9a-f]+)", read("/rig/board.yaml"))
    return {name: (int(bus), int(address, 16)) for name, bus, address in found}


PLACES = places()


class Chip:
    """`quantities`: what the twin is shown and the channels that read it. `driver`: by what name the kernel takes the
    chip; None where the device tree has said it."""

    def __init__(self, name, driver, quantities, rates=None):
        self.name = name
        bus, address = PLACES[name]
        place = f"/sys/bus/i2c/devices/{bus}-{address:04x}"
        self.removal = None
        if driver:
            write(f"/sys/bus/i2c/devices/i2c-{bus}/new_device", f"{driver} 0x{address:02x}")
            self.removal = f"/sys/bus/i2c/devices/i2c-{bus}/delete_device", f"0x{address:02x}"
        self.devices = sorted(glob.glob(f"{place}/iio:device*"))
        if not self.devices:
            raise Refusal(f"the kernel's {driver or 'device tree'} does not take it")
        self.names = [read(f"{device}/name") for device in self.devices]
        self.bound = os.path.basename(os.path.realpath(f"{place}/driver"))
        for attribute, rate in (rates or {}).items():
            paths = [f"{device}/{attribute}" for device in self.devices if os.path.exists(f"{device}/{attribute}")]
            if not paths:
                raise Refusal(f"the kernel has no {attribute} of it")
            for path in paths:
                write(path, rate)
        self.frames = {}
        self.quantities = [(quantity, [self.channel(*channel, **details) for channel, details in channels])
                           for quantity, channels in quantities]

    def channel(self, name, *more, **details):
        device = next((device for device in self.devices
                       if any(os.path.exists(f"{device}/{name}_{kind}") for kind in ("raw", "input"))), None)
        if device is None:
            raise Refusal(f"the kernel has no {name} of it")
        if details.pop("buffered", False):
            if device not in self.frames:
                self.frames[device] = Frames(device)
            details["frames"] = self.frames[device]
        return Channel(device, name, *more, **details)

    @property
    def channels(self):
        return [channel for _, channels in self.quantities for channel in channels]

    def show(self, control, point):
        for quantity, channels in self.quantities:
            for place, channel in enumerate(channels):
                channel.told = channel.value(point + 2 * place)
            control.ask(f"show {self.name} {quantity} " + " ".join(f"{channel.told:.9g}" for channel in channels))

    def take(self):
        """Reads every channel; says what is wrong, a line each."""
        lines = []
        for channel in self.channels:
            try:
                value, steps = channel.take()
            except OSError as error:
                channel.failure = error.strerror
                lines.append(f"  {self.name} {channel.name}: told {channel.told:.6g}: {error.strerror}")
                continue
            if abs(steps) > channel.allowed + 1e-6:
                lines.append(f"  {self.name} {channel.name}: told {channel.told:.6g}, read {value:.6g} {channel.unit}, "
                             f"{steps:+.2f} LSB")
        return lines
