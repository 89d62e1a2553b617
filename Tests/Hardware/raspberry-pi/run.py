#!/usr/bin/env python3
"""Boots QEMU's Raspberry Pi 3B with `lodestone` inside and runs a shell script in it.

run.py [--script FILE] [--board FILE] [--out DIR] [--log GPSLOG] [--add PATH...] [--seconds LIMIT]

The script's output comes to the terminal, each line with the seconds since the start; what it leaves in
/report comes to --out; its exit code is this program's. Exit code 99: the rig itself failed, 98: out of time.

The Pi's PL011 is the receiver's port: a log goes in again and again, at its own pace. Its mini UART is the
control line. The guest writes lines on it:
    | TEXT          a line of the script's output
    + BASE64        a piece of the report, a gzipped tar
    = WORD ...      the state of the guest: up, ended, exit CODE MD5
    hello           a request; it is answered with one line. So is
    show LSM303DLHC-M field X Y Z      microtesla, in the sensor's frame
    show LSM303DLHC-M temperature T    degrees Celsius
    walk LSM303DLHC-M                  no more of it
Everything else is the kernel's word (it begins with "[") or an unknown request, answered with an error."""
import argparse
import base64
import datetime
import fcntl
import hashlib
import io
import os
import pathlib
import queue
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import termios
import threading
import time

from bench import Bench, Monitor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
GUEST = HERE / "guest"
BUILT = ROOT / ".build-arm64/guest"
LIMIT = 120
RIG_FAILED, OUT_OF_TIME = 99, 98


class RigError(Exception):
    pass


# -- what the guest boots ---------------------------------------------------------------------------------

def cpio(entries):
    """An initramfs of (name, mode, bytes), as the kernel reads it ("newc")."""
    out = io.BytesIO()
    for number, (name, mode, data) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        raw = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0)
        out.write(b"070701" + b"".join(b"%08X" % field for field in fields) + raw)
        out.write(b"\0" * (-out.tell() % 4))
        out.write(data)
        out.write(b"\0" * (-out.tell() % 4))
    return out.getvalue()


def tree(folder, place=""):
    for path in sorted(folder.rglob("*")):
        name = str(pathlib.PurePath(place) / path.relative_to(folder))
        if path.is_symlink():
            yield name, 0o120777, os.readlink(path).encode()
        elif path.is_dir():
            yield name, 0o040755, b""
        else:
            yield name, 0o100755, path.read_bytes()


def initramfs(boot, script, board, extras):
    entries = {}
    for folder in (boot / "base", BUILT):
        entries.update((name, (mode, data)) for name, mode, data in tree(folder))
    entries["rig"] = entries["root"] = (0o040755, b"")
    entries["init"] = (0o100755, (GUEST / "init.sh").read_bytes())
    entries["bin/rig"] = (0o100755, (GUEST / "rig.sh").read_bytes())
    entries["rig/board.yaml"] = (0o100644, board.read_bytes())
    entries["rig/script"] = (0o100755, script.read_bytes())
    for path in extras:
        name = f"root/{path.name}"
        if path.is_dir():
            entries[name] = (0o040755, b"")
            entries.update((inner, (mode, data)) for inner, mode, data in tree(path, name))
        else:
            entries[name] = (0o100755, path.read_bytes())
    # A folder must come before what is in it.
    return cpio((name, *entries[name]) for name in sorted(entries))


# -- the receiver -----------------------------------------------------------------------------------------

def sentence(body):
    total = 0
    for character in body.encode():
        total ^= character
    return f"${body}*{total:02X}\r\n".encode()


def standing_receiver():
    """A receiver that stands above Berlin with an open sky, an epoch a second, without end: as high as
    the pressure says that QEMU's DPS310 shows."""
    while True:
        now = datetime.datetime.now(datetime.timezone.utc)
        clock, day = now.strftime("%H%M%S.00"), now.strftime("%d%m%y")
        yield 1.0, (
            sentence(f"GPGGA,{clock},5230.9780,N,01322.6620,E,1,08,1.00,721.0,M,44.0,M,,")
            + sentence("GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,2.00,1.00,1.70")
            + sentence(f"GPRMC,{clock},A,5230.9780,N,01322.6620,E,0.00,,{day},,,A"))


def log_receiver(path):
    """A log, again and again: (seconds until the next part, bytes). NMEA at its own times of day, anything
    else at 9600 baud."""
    data = path.read_bytes()
    parts, now = [], None
    for line in data.splitlines(keepends=True):
        if line.startswith(b"#"):
            continue
        fields, stamp = line.split(b","), None
        if line.startswith(b"$") and fields[0][3:6] in (b"GGA", b"RMC", b"GNS", b"ZDA") and len(fields) > 1:
            try:
                text = fields[1].decode()
                stamp = int(text[:2]) * 3600 + int(text[2:4]) * 60 + float(text[4:])
            except ValueError:
                stamp = None
        if stamp is not None and stamp != now:
            if now is not None:
                parts[-1][0] = min(max(stamp - now, 0.05), 10)
            now = stamp
            parts.append([1.0, b""])
        if not parts:
            parts.append([0.05, b""])
        parts[-1][1] += line
    if now is None:
        parts = [[0.1, data[start:start + 96]] for start in range(0, len(data), 96)]
    if not parts:
        raise RigError(f"{path} is empty")
    while True:
        yield from parts


class Receiver:
    """Sends when the time has come. What finds the port full is lost, as on a wire: nobody listens."""

    def __init__(self, link, parts):
        self.link, self.parts, self.due, self.lost = link, parts, None, 0

    def step(self, now):
        if self.due is None:
            self.due = now
        while now >= self.due:
            pause, data = next(self.parts)
            self.due += pause
            waiting = struct.unpack("i", fcntl.ioctl(self.link, termios.TIOCOUTQ, b"\0" * 4))[0]
            if waiting:
                self.lost += 1
                continue
            try:
                self.link.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                self.lost += 1


# -- the run ----------------------------------------------------------------------------------------------

class Run:
    def __init__(self, out, bench, receiver, control, process, limit):
        self.out, self.bench, self.receiver = out, bench, receiver
        self.control, self.process = control, process
        self.begin = time.monotonic()
        self.limit = limit
        self.arrived = queue.Queue()
        self.report = []
        self.is_up = False
        self.code = None

    def say(self, text):
        print(f"{time.monotonic() - self.begin:6.2f} {text}", flush=True)

    def drain(self):
        """Takes from the control line whatever comes: QEMU stands still, its monitor too, while a byte of
        the guest's has no place to go."""
        try:
            while data := self.control.recv(65536):
                self.arrived.put(data)
        except OSError:
            pass
        self.arrived.put(b"")

    def loop(self):
        threading.Thread(target=self.drain, daemon=True).start()
        rest = b""
        while self.code is None:
            now = time.monotonic()
            if now > self.begin + self.limit:
                self.say(f"rig: out of time after {self.limit:.0f} s")
                return OUT_OF_TIME
            if self.is_up:
                self.receiver.step(now)
                self.bench.step(now)
            try:
                data = self.arrived.get(timeout=0.02)
            except queue.Empty:
                continue
            if not data:
                raise RigError(f"QEMU has ended with {self.process.wait(10)}")
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.take(line.rstrip(b"\r").decode(errors="replace"))
            if len(rest) > 1 << 20:
                raise RigError("a line without end")
        return self.code

    def take(self, line):
        mark, text = line[:1], line[2:]
        if mark == "|":
            self.say(text)
        elif mark == "+":
            self.report.append(text)
        elif mark == "=":
            self.state(text.split())
        elif not line or not line[0].isalpha():
            # The UART's set-up leaves a few bytes that are no text.
            if line.isascii() and line:
                self.say(f"guest: {line}")
            if "Kernel panic" in line:
                raise RigError("the guest's kernel panicked")
        elif not self.is_up:
            self.say(f"guest: {line}")
        else:
            answer = self.bench.answer(line)
            self.say(f"rig: {line} -> {answer}")
            self.control.sendall(answer.encode() + b"\n")

    def state(self, words):
        if words[0] == "exit":
            self.unpack(words[2])
            self.code = int(words[1])
            return
        if words[0] == "up":
            self.is_up = True
        self.say(f"rig: guest {words[0]}, its clock says {words[1]} s")

    def unpack(self, digest):
        data = base64.b64decode("".join(self.report))
        if hashlib.md5(data).hexdigest() != digest:
            raise RigError("the report arrived damaged")
        if self.out is None:
            return
        self.out.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(data)) as report:
            for member in report:
                target = (self.out / member.name).resolve()
                # Python 3.11 has no filter for this on every machine.
                if not target.is_relative_to(self.out.resolve()):
                    raise RigError(f"the report wants to leave its folder: {member.name}")
                if member.isdir():
                    target.mkdir(parents=True, exist_ok=True)
                elif member.isfile():
                    target.write_bytes(report.extractfile(member).read())


def parts():
    """The folders that setup.sh made."""
    text = subprocess.run([HERE / "setup.sh"], stdout=subprocess.PIPE, text=True, check=True, timeout=900).stdout
    return {name: pathlib.Path(path) for name, path in (line.split(" ", 1) for line in text.splitlines())}


def emulate(options, folders, scratch):
    image = scratch / "initramfs"
    image.write_bytes(initramfs(folders["boot"], options.script, options.board, options.add))
    links = {name: socket.socketpair() for name in ("receiver", "control", "monitor")}
    tools = folders["tools"]
    command = [
        tools / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", tools / "usr/lib/x86_64-linux-gnu",
        tools / "usr/bin/qemu-system-aarch64", "-L", tools / "usr/share/qemu",
        # One thread: the machine has four cores, of which the guest uses one.
        "-M", "raspi3b", "-accel", "tcg,thread=single", "-display", "none", "-nodefaults", "-no-reboot",
        "-kernel", folders["boot"] / "kernel", "-dtb", folders["boot"] / "board.dtb", "-initrd", image,
        "-append", f"console=ttyS1,115200 loglevel=3 panic=-1 maxcpus=1 rig.time={int(time.time())}",
        "-device", "lsm303dlhc_mag,id=mag,bus=i2c-bus.1,address=0x1e",
        "-device", "dps310,id=barometer,bus=i2c-bus.1,address=0x77",
    ]
    for name, (_, theirs) in links.items():
        command += ["-chardev", f"socket,id={name},fd={theirs.fileno()}"]
    # The first serial port is the PL011, the second the mini UART.
    command += ["-serial", "chardev:receiver", "-serial", "chardev:control", "-mon", "chardev=monitor,mode=control"]
    process = subprocess.Popen(
        [str(word) for word in command], stdin=subprocess.DEVNULL,
        pass_fds=[theirs.fileno() for _, theirs in links.values()])
    try:
        for _, theirs in links.values():
            theirs.close()
        monitor = Monitor(links["monitor"][0])
        receiver = Receiver(
            links["receiver"][0], log_receiver(options.log) if options.log else standing_receiver())
        run = Run(options.out, Bench(monitor), receiver, links["control"][0], process, options.seconds)
        code = run.loop()
        run.say(f"rig: exit code {code}; {receiver.lost} parts of the log found nobody listening")
        return code
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", type=pathlib.Path, default=GUEST / "tour.sh", help="run in the guest by sh")
    parser.add_argument("--board", type=pathlib.Path, default=HERE / "board.yaml", help="the guest's /rig/board.yaml")
    parser.add_argument("--out", type=pathlib.Path, help="where the guest's /report goes")
    parser.add_argument("--log", type=pathlib.Path, help="a receiver's log; else a receiver that stands still")
    parser.add_argument("--add", type=pathlib.Path, action="append", default=[], help="into the guest's /root")
    parser.add_argument("--seconds", type=float, default=LIMIT, help="deadline, at most 120")
    parser.add_argument("--build", action="store_true", help="build what is missing, run nothing")
    options = parser.parse_args()
    options.seconds = min(options.seconds, LIMIT)
    try:
        folders = parts()
        subprocess.run([HERE / "build.sh"], check=True, timeout=1800, stdout=sys.stderr)
        if options.build:
            return 0
        with tempfile.TemporaryDirectory() as scratch:
            return emulate(options, folders, pathlib.Path(scratch))
    except (RigError, OSError, subprocess.SubprocessError) as error:
        print(f"raspberry-pi: {error}", file=sys.stderr)
        return RIG_FAILED


if __name__ == "__main__":
    sys.exit(main())
