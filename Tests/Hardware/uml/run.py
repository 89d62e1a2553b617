#!/usr/bin/env python3
"""Boots User-Mode Linux with the twins of a board behind its bus, lines and port, and runs a script in it.

run.py [--script FILE] [--out DIR] [--board FILE] [--add FILE...] [--exact] [--awake] [--seconds LIMIT]

The script's output comes to the terminal, each line with the seconds since the start; what it leaves in
/report comes to --out; its exit code is this program's. Exit code 99: the rig itself failed, 98: out of time.

In the guest: the host's files read-only below a layer of memory, `lodestone` and `rig REQUEST` on the path,
LODESTONE_BOARD and STATE_DIRECTORY set, the control line of twin-server (CONTRIBUTING.md) at the tty that
LODESTONE_RIG_CONTROL names. It needs no privileges once everything is built."""
import argparse
import collections
import hashlib
import os
import pathlib
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
GUEST = HERE / "guest"
ROOT = HERE.parents[2]
BINARIES = ROOT / ".build/release"
# What the guest has of them: all but twin-server, which is the host's.
IN_GUEST = ("lodestone", "edge-latency", "beacon-listener", "facade-program", "altimeter")
PRODUCTS = ("twin-server", *IN_GUEST)
LIMIT = 120
RIG_FAILED, OUT_OF_TIME = 99, 98
# The guest's kernel and its programs are processes that wait for one another at every system call. On one
# processor that is a switch; on two each waits for the other to wake up: three times as long. The twins have
# the others.
PROCESSOR = max(os.sched_getaffinity(0))


class RigError(Exception):
    pass


# -- what is built ----------------------------------------------------------------------------------------

def fingerprint():
    """Of the sources and of what was made from them. SwiftPM takes seconds a product to say that nothing is
    to be done, and cannot say it to somebody who may not write."""
    digest = hashlib.md5()
    files = [ROOT / "Package.swift", ROOT / "Package.resolved"]
    for folder in ("Sources", "Tests/Rig", "Examples"):
        files += sorted(path for path in (ROOT / folder).rglob("*") if path.is_file())
    for path in files + [BINARIES / product for product in PRODUCTS]:
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes() if path.exists() else b"-")
    return digest.hexdigest()


def build():
    stamp = ROOT / ".build/uml-rig"
    if stamp.exists() and stamp.read_text() == fingerprint():
        return
    for product in PRODUCTS:
        subprocess.run([ROOT / "Scripts/build.sh", "--product", product], check=True,
                       stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=1800)
    stamp.write_text(fingerprint())


def kernel():
    text = subprocess.run([HERE / "setup.sh"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          check=True, timeout=2400).stdout
    return pathlib.Path(re.match(r"kernel (\S+) ", text)[1])


# -- the board --------------------------------------------------------------------------------------------

# What the twins of a board file for hardware live through: they lie still.
STILL = """
simulation:
  seed: 1
  start: {latitude: 52.5163, longitude: 13.3777, altitude: 36}
  heading: 40
  hardIron: [18.0, -31.0, 12.0]
  legs:
    - {seconds: 600, fix: true}
"""


def rig_board(text):
    """The board file as it is, if it is one of this rig. One for a Raspberry Pi, as in Boards/: its bus, port and lines
    become the guest's, its chips twins that lie still."""
    if "\nsimulation:" in text:
        return text
    text = text.replace("/dev/i2c-1", "/dev/i2c-0").replace("/dev/serial0", "/dev/ttyS0")
    label = f"virtio{len(places(text)[0])}"
    return re.sub(r"(interrupt: {chip: )pinctrl-[a-z0-9]+,", rf"\g<1>{label},", text) + STILL


def guest_board(text):
    """The board file without its last section, which is the twins'."""
    before, mark, after = text.partition("\nsimulation:")
    if not mark:
        raise RigError("the board file has no simulation section")
    if re.search(r"^[^\s#]", after.partition("\n")[2], re.MULTILINE):
        raise RigError("the simulation must be the board file's last section")
    return before + "\n"


def places(text):
    """Its buses and its serial port, as the guest's kernel names them."""
    without = re.sub(r"#.*", "", text)
    buses = sorted(set(re.findall(r"/dev/i2c-\d+", without)))
    if buses != [f"/dev/i2c-{number}" for number in range(len(buses))]:
        raise RigError(f"the guest's buses are /dev/i2c-0 and so on, not {', '.join(buses)}")
    ports = set(re.findall(r"^\s*(?:-\s*)?port:\s*(\S+)", without, re.MULTILINE))
    if not ports <= {"/dev/ttyS0"}:
        raise RigError("the guest has one port, /dev/ttyS0")
    return buses, sorted(ports)


# -- the run ----------------------------------------------------------------------------------------------

def processor_seconds():
    """Of everybody on this machine, and of what this program has started and waited for."""
    numbers = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    user, nice, system, _, _, interrupt, soft, stolen = numbers
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = (user + nice + system + interrupt + soft + stolen) / os.sysconf("SC_CLK_TCK")
    return busy, children.ru_utime + children.ru_stime


class Run:
    def __init__(self, limit):
        self.before = processor_seconds()
        self.begin = time.monotonic()
        self.deadline = self.begin + limit
        self.limit = limit
        self.lines = queue.Queue()
        self.started = []

    def say(self, text):
        print(f"{time.monotonic() - self.begin:6.2f} {text}", flush=True)

    def start(self, name, command, **more):
        """A program in a process group of its own, whose lines come as (name, text); None at its end."""
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True, **more)
        self.started.append(process)

        def read():
            for line in process.stdout:
                self.lines.put((name, line.decode(errors="replace").rstrip("\r\n")))
            self.lines.put((name, None))
        threading.Thread(target=read, daemon=True).start()
        return process

    def next(self):
        try:
            return self.lines.get(timeout=max(0, self.deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None

    def end(self):
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                pass
            # The kernel's processes are processes here too.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait(5)
        # What is late here may be late because of others.
        everybody, own = (after - before for after, before in zip(processor_seconds(), self.before))
        share = max(0, everybody - own) / max(0.1, time.monotonic() - self.begin)
        self.say(f"rig: others used {100 * share:.0f} % of a processor meanwhile")

    def keep_awake(self):
        """Gives the twins' processors something to do that everything else comes before. A processor of a virtual
        machine that falls asleep between two transfers takes as long to wake up as a transfer."""
        for processor in os.sched_getaffinity(0) - {PROCESSOR}:
            self.start("idle", ["chrt", "-i", "0", "taskset", "-c", processor, sys.executable, "-c", "while True: pass"])

    def twins(self, scratch, board, exact, tree):
        """Starts them; gives what the kernel is to be told of them. The first bus may be in a device tree."""
        buses, ports = places(board)
        file = scratch / "twins.yaml"
        file.write_text(board)
        command = [BINARIES / "twin-server", "--board", file, "--state", scratch / "guest/state",
                   "--gpio", scratch / "lines", "--control", scratch / "control", "--patience", "20"]
        devices = [f"dtb={tree}"] if tree else []
        for number, bus in enumerate(buses):
            command += ["--bus", f"{bus}={scratch}/bus{number}"]
            if number > 0 or not tree:
                devices.append(f"virtio_uml.device={scratch}/bus{number}:34")
        devices.append(f"virtio_uml.device={scratch}/lines:41")
        for port in ports:
            command += ["--serial", f"{port}={scratch}/receiver"]
        devices.append(f"ssl0=tty:{scratch}/receiver" if ports else "ssl0=null")
        devices.append(f"ssl1=tty:{scratch}/control")
        others = sorted(os.sched_getaffinity(0) - {PROCESSOR}) or [PROCESSOR]
        self.start("twins", ["taskset", "-c", ",".join(map(str, others))] + command + ["--exact"] * exact)
        while True:
            name, line = self.next()
            if line is None:
                raise RigError("twin-server ended before it was ready")
            if line == "ready":
                return devices
            if line.split(" ")[0] not in ("bus", "gpio", "serial", "control"):
                self.say(f"twins: {line}")

    def guest(self, scratch, linux, devices):
        left = max(1, self.deadline - time.monotonic() - 2)
        environment = {"PATH": os.environ["PATH"], "HOME": str(scratch), "TMPDIR": "/dev/shm"}
        process = self.start("guest", [
            "taskset", "-c", PROCESSOR, linux, "mem=512M", "rootfstype=hostfs", "rootflags=/", "ro", f"init={scratch}/guest/init.sh",
            "con=null", "con0=fd:0,fd:1", "quiet", "panic=-1", f"uml_dir={scratch}/uml/", *devices,
            f"rig={scratch}", f"seconds={left:.0f}"], env=environment, cwd=scratch)
        code = None
        # The last lines of the kernel itself.
        heard = collections.deque(maxlen=6)
        while True:
            name, line = self.next()
            if line is None:
                if name != "guest":
                    continue
                if code is None:
                    said = "; ".join(heard) or "nothing"
                    raise RigError(f"the guest ended without an exit code ({process.wait(5)}); it said: {said}")
                # What timeout(1) says in the guest.
                return OUT_OF_TIME if code == 124 else code
            if name == "twins":
                self.say(f"twins: {line}")
            elif line.startswith("| ") or line == "|":
                self.say(line[2:])
            elif line.startswith("= exit "):
                code = int(line.split()[2])
                self.say(f"rig: exit code {code}, the guest's clock says {line.split()[3]} s")
            elif line.startswith("= up "):
                self.say(f"rig: guest up, its clock says {line.split()[2]} s")
            elif code is None and line.strip():
                self.say(f"guest: {line}")
                heard.append(line.strip())


def fill(scratch, options, board):
    """What the guest sees at /rig: copies, for the host's folders may be out of its sight."""
    guest = scratch / "guest"
    for folder in (guest / "state", scratch / "report", scratch / "uml"):
        folder.mkdir(parents=True)
    for path in [*GUEST.iterdir(), *(HERE.parent / "scenarios").iterdir()]:
        if path.suffix in (".py", ".sh", ".yaml"):
            shutil.copy(path, guest / path.name)
    for path in options.add:
        shutil.copy(path, guest / path.name)
    shutil.copy(GUEST / "init.sh", guest / "init.sh")
    shutil.copy(GUEST / "rig.sh", guest / "rig")
    shutil.copy(options.script, guest / "script")
    for product in IN_GUEST:
        shutil.copy(BINARIES / product, guest / product)
    for name in ("init.sh", "rig", "script"):
        (guest / name).chmod(0o755)
    (guest / "board.yaml").write_text(guest_board(board))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", type=pathlib.Path, default=GUEST / "tour.sh", help="run in the guest, by its #! line")
    parser.add_argument("--out", type=pathlib.Path, help="where the guest's /report goes")
    parser.add_argument("--board", type=pathlib.Path, default=HERE / "board.yaml", 
                        help="with a simulation section, or one of Boards/")
    parser.add_argument("--add", type=pathlib.Path, action="append", default=[], help="into the guest's /rig")
    parser.add_argument("--exact", action="store_true", help="chips without noise, bias and drift")
    parser.add_argument("--seconds", type=float, default=LIMIT, help="deadline, builds not counted")
    parser.add_argument("--awake", action="store_true", help="for latencies: keep the processors from sleeping")
    parser.add_argument("--build", action="store_true", help="build what is missing, run nothing")
    options = parser.parse_args()
    try:
        linux = kernel()
        build()
        if options.build:
            return 0
        with tempfile.TemporaryDirectory(prefix="lodestone-uml-") as name:
            scratch = pathlib.Path(name)
            if " " in name:
                raise RigError("the folder for temporary files has a blank in its name")
            board = rig_board(options.board.read_text())
            tree = linux.parent / f"{options.board.stem}.dtb" if options.board.with_suffix(".dts").exists() else None
            fill(scratch, options, board)
            run = Run(options.seconds)
            try:
                if options.awake:
                    run.keep_awake()
                code = run.guest(scratch, linux, run.twins(scratch, board, options.exact, tree))
            except TimeoutError:
                run.say(f"rig: out of time after {options.seconds:.0f} s")
                code = OUT_OF_TIME
            finally:
                run.end()
                if options.out:
                    shutil.copytree(scratch / "report", options.out, dirs_exist_ok=True)
            return code
    except (RigError, OSError, subprocess.SubprocessError) as error:
        print(f"uml: {error}", file=sys.stderr)
        return RIG_FAILED


if __name__ == "__main__":
    sys.exit(main())
