#!/usr/bin/env python3
"""A soak of `lodestone serve` with faults and 100 clients that come and go: soak.py FOLDER [MINUTES [SEED [LEAK]]].

The daemon owns the simulated board and serves 100 clients at any time: programs that use Core Location, readers of the stream (prompt,
slow, and some that never read), commands, and strangers that send no valid request. Each lives from 5 s to 3 minutes. Chips fail at
random in every way that the board's control socket offers, and now and then SIGHUP makes the daemon read its rules again.

Once a second the memory (RssAnon in /proc), the descriptors, the threads and the processor time of the daemon are read. At regular
checkpoints the faults end, all clients leave, and after a pause these figures are taken from the idle daemon. From checkpoint to
checkpoint they must not grow, and neither must the memory with 100 clients.

MINUTES is 30 by default. LEAK plants a leak, and the soak must then fail: `connection` leaves one more connection open at each
checkpoint; `memory` and `threads` compile a library that runs in the daemon, which takes twice the memory that may be lost, or begins
a thread every 10 s. SOAK_SAMPLES names a file for the figures of every second (CSV).
"""
import collections
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(sys.argv[1]).resolve()
sys.argv[1] = str(FOLDER / "lodestone")

from checks import COMMAND, environment, expect, finish  # noqa: E402
from soak_clients import SORTS, Fleet, Reader, between  # noqa: E402

MINUTES = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
LEAK = sys.argv[4] if len(sys.argv) > 4 else None
CLIENTS = sum(SORTS.values())
# Seconds: before the first checkpoint, between two, without faults before each, and from the last client's end to the figures. A worker
# of libdispatch ends after 5 s without work.
WARM_UP, PHASE = max(60.0, MINUTES * 10), min(300.0, max(60.0, MINUTES * 5))
CALM, PAUSE = 20.0, 12.0
# The idle daemon has 7 threads of its own here, and 2 to 4 workers for the programs whose regions outlive them.
MOST_THREADS = 16
# The memory may grow by so many megabytes from the second checkpoint to the last, and by so many per hour besides. The arenas of malloc
# reach their highest marks late: a daemon whose live allocations stayed the same (4450, counted) took 1.6 MB in the last 7 minutes of a
# soak of 10, and 0.6 MB in the last 23 of one of 30. There a leak of 6 MB per hour, or 600 bytes per client, is beyond the bound.
MOST_NOISE, MOST_GROWTH = 2.0, 2.0

REGISTERS = ["noAnswer", "timeout", "shortRead", "wrongIdentity", "brownOut", "stuckData", "stuckLow", "overflow", "disturbed",
             "slow", "bitFlip"]
RECEIVER = ["noAnswer", "timeout", "shortRead", "brownOut", "stuckLow", "disturbed", "silent", "garbage", "noPulse"]
FAULTS = {"LIS3MDL": REGISTERS, "LSM6DSOX": REGISTERS, "BMP280": REGISTERS, "u-blox": RECEIVER}

# A library for LD_PRELOAD that leaks BYTES every 10 s, or a thread if that is 0.
LEAKS = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *stay(void *none) { for (;;) pause(); }
static void *leak(void *none) {
  for (pthread_t thread;; sleep(10))
    if (BYTES > 0) for (int left = BYTES; left > 0; left -= 128) memset(malloc(128), 1, 128);
    else pthread_create(&thread, 0, stay, 0);
}
__attribute__((constructor)) static void begin(void) { pthread_t thread; pthread_create(&thread, 0, leak, 0); }
"""

dice = random.Random(SEED)
scratch = tempfile.TemporaryDirectory()
path = pathlib.Path(scratch.name)
SOCKET, STREAM, CONTROL = (str(path / name) for name in ("s", "stream.sock", "control"))


class Control:
    """The control socket of the simulated board."""

    def __init__(self):
        self.socket = None
        self.refused = []
        self.count = 0

    def ask(self, request):
        if self.socket is None:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(5)
            self.socket.connect(CONTROL)
        self.socket.sendall(request.encode() + b"\n")
        answer = self.socket.recv(4_096)
        if answer != b"ok\n":
            self.refused.append(f"{request}: {answer.decode().strip()}")

    def fail(self):
        chip = dice.choice(list(FAULTS))
        fault = dice.choice(FAULTS[chip])
        detail = {"slow": f" {dice.randint(1, 200)}", "bitFlip": f" {dice.randrange(128)} {1 << dice.randrange(8)}"}.get(fault, "")
        self.ask(f"fault {chip} {fault} {between(dice, 0.5, 20):.1f}{detail}")
        self.count += 1

    def mend(self):
        for chip in FAULTS:
            self.ask(f"mend {chip}")


def library():
    """The environment of a daemon with a planted leak."""
    if LEAK not in ("memory", "threads"):
        return {}
    # Between the second checkpoint and the last, twice what may be lost.
    hours = max(60 * MINUTES - WARM_UP - PHASE, PHASE) / 3_600
    each = int(2 * (MOST_NOISE + MOST_GROWTH * hours) * 1_048_576 / (360 * hours)) if LEAK == "memory" else 0
    (path / "leak.c").write_text(LEAKS.replace("BYTES", str(each)))
    compiler = shutil.which("cc") or shutil.which("clang") or sys.exit("a planted leak needs a C compiler")
    subprocess.run([compiler, "-shared", "-fPIC", "-pthread", "-o", path / "leak.so", path / "leak.c"], check=True, timeout=60)
    return {"LD_PRELOAD": str(path / "leak.so")}


class Daemon:
    def __init__(self):
        self.log = path / "daemon.log"
        self.samples = []
        self.reloads, self.next_reload, self.next_sample, self.next_fault = 0, time.monotonic() + 10, 0.0, time.monotonic() + 10
        command = [COMMAND, "serve", "--board", path / "board.yaml", "--socket", SOCKET, "--configuration", path / "serve.yaml"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=path,
                env=environment(STATE_DIRECTORY=str(path / "state"), HOME=str(path), **library()))
        self.proc = pathlib.Path(f"/proc/{self.process.pid}")
        deadline = time.monotonic() + 20
        while "lines of JSON for everybody" not in self.log.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)

    def live(self, until, most, faults_until=0.0):
        """Serves up to `most` clients until a time, and samples the daemon once a second."""
        while (now := time.monotonic()) < until:
            fleet.live(now, most)
            if now >= self.next_sample:
                self.next_sample = now + 1
                self.sample(now)
            if self.next_fault <= now < faults_until and os.path.exists(CONTROL):
                self.next_fault = now + between(dice, 1, 15)
                control.fail()
            if most > 0 and now >= self.next_reload:
                self.next_reload = now + dice.uniform(5, 40)
                self.process.send_signal(signal.SIGHUP)
                self.reloads += 1
            if self.process.poll() is not None:
                raise RuntimeError(f"the daemon has ended with {self.process.returncode}: {self.log.read_text()[-500:]}")

    def sample(self, now):
        fields = dict(line.split(":", 1) for line in (self.proc / "status").read_text().splitlines())
        times = (self.proc / "stat").read_text().rsplit(")", 1)[1].split()
        cpu = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
        rss, anon = (int(fields[key].split()[0]) / 1024 for key in ("VmRSS", "RssAnon"))
        self.samples.append((now, rss, anon, len(os.listdir(self.proc / "fd")), int(fields["Threads"]), cpu, len(fleet.clients)))

    def descriptors(self):
        """Counts the descriptors by what they refer to."""
        found = collections.Counter()
        for entry in os.listdir(self.proc / "fd"):
            try:
                found[re.sub(r"\d+", "N", os.readlink(self.proc / "fd" / entry))] += 1
            except FileNotFoundError:
                pass
        return found

    def status(self):
        result = subprocess.run(
            [COMMAND, "serve", "--status", "--format", "json"], capture_output=True, text=True, timeout=20, cwd=path,
            env=environment(LODESTONE_SOCKET=SOCKET, HOME=str(path)))
        return json.loads(result.stdout) if result.returncode == 0 else {"connections": result.stderr}


def checkpoint(number, began):
    """Runs a phase with clients and faults, and takes the figures of the idle daemon after it."""
    start, first = time.monotonic(), len(daemon.samples)
    length = (WARM_UP if number == 1 else PHASE) - PAUSE
    watch = fleet.watch()
    daemon.live(start + length - CALM, CLIENTS, start + length - CALM)
    control.mend()
    daemon.live(start + length, CLIENTS)
    busy = daemon.samples[first:]
    broken.extend(
        f"{chip} at checkpoint {number}: {watch.states.get(chip)}" for chip in FAULTS if watch.states.get(chip, "?")[0] != "running")
    fleet.leave()
    if LEAK == "connection":
        leaked.append(Reader(fleet, "deaf", ["altitude"], rate=0.01, life=math.inf))
    # The command that asks is one of the connections.
    deadline = time.monotonic() + 10
    while (status := daemon.status())["connections"] != 1 and time.monotonic() < deadline:
        daemon.live(time.monotonic() + 0.5, 0)
    programs = status.get("programs", [])
    if status["connections"] != 1:
        staying.append((number, status["connections"], [one for one in programs if "process" in one], status.get("readers")))
    daemon.live(time.monotonic() + PAUSE, 0)
    idle = daemon.samples[-3:]
    settled = [sample for sample in busy if sample[0] >= start + length / 2]
    row = {
        "at": time.monotonic(), "rss": idle[-1][1], "anon": statistics.median(sample[2] for sample in idle), "fds": idle[-1][3],
        "threads": max(sample[4] for sample in idle), "kinds": daemon.descriptors(),
        "busy": statistics.median(sample[2] for sample in settled), "busyRss": max(sample[1] for sample in busy),
        "busyFds": max(sample[3] for sample in busy), "busyThreads": max(sample[4] for sample in busy),
        "cpu": 100 * (busy[-1][5] - busy[0][5]) / (busy[-1][0] - busy[0][0])}
    rows.append(row)
    away = sum("process" not in one for one in programs)
    print(
        f"{(row['at'] - began) / 60:5.1f} min, {fleet.number} clients so far, {away} programs away; idle: RSS {row['rss']:.1f} MB, "
        f"anonymous {row['anon']:.2f} MB, {row['fds']} descriptors, {row['threads']} threads; busy: RSS up to {row['busyRss']:.1f} MB, "
        f"anonymous {row['busy']:.2f} MB, {row['busyFds']} descriptors, {row['busyThreads']} threads, {row['cpu']:.1f} % of a core",
        flush=True)


def growth(key):
    """The growth from the second checkpoint to the last along the line that fits best: megabytes, and megabytes per hour."""
    times = [row["at"] / 3_600 for row in rows[1:]]
    slope = statistics.linear_regression(times, [row[key] for row in rows[1:]]).slope
    return slope * (times[-1] - times[0]), slope


def judge():
    fds = [row["fds"] for row in rows]
    more = [dict(row["kinds"] - rows[0]["kinds"]) for row in rows if row["fds"] != fds[0]]
    expect("the idle daemon has the same descriptors at each checkpoint", len(set(fds)) == 1, (fds, more[:2]), fds)
    threads = [row["threads"] for row in rows]
    expect(f"the idle daemon has {MOST_THREADS} threads at most", max(threads) <= MOST_THREADS, threads, threads)
    hours = (rows[-1]["at"] - rows[1]["at"]) / 3_600
    most = MOST_NOISE + MOST_GROWTH * hours
    for key, when in (("anon", "the idle daemon's memory"), ("busy", f"the memory with {CLIENTS} clients")):
        grown, slope = growth(key)
        expect(
            f"{when} does not grow", grown < most, [round(row[key], 2) for row in rows],
            f"{grown:+.2f} MB in {60 * hours:.0f} min, {slope:+.1f} MB per hour; bound {most:.2f} MB")
    expect("no connection stays when its client has gone", not staying, staying)
    expect("all sensors run again after the faults", not broken, broken, f"{control.count} faults")
    expect("every client that reads hears something", not fleet.unheard, fleet.unheard)
    expect("the board takes every fault", not control.refused, control.refused[:5])
    # Programs run until they are ended; facade-program ends by itself when it is a minute old, with 1.
    death = "(crowd|named): exit code|exit code -|SIGTERM ignored|too long"
    died = [f"{what}: {count}" for what, count in fleet.endings.items() if re.search(death, what)]
    expect("no client dies or hangs", not died, died)
    said = daemon.log.read_text()
    expect("SIGHUP makes the daemon read its rules again", said.count("read again") > daemon.reloads / 2, said[-500:], daemon.reloads)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
# The daemon would inherit a SIGHUP that is ignored, as `nohup` arranges, but not one that is handled.
isIgnored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
signal.signal(signal.SIGHUP, lambda *_: None if isIgnored else sys.exit(1))
board = (pathlib.Path(__file__).resolve().parent.parent / "Boards/simulated.yaml").read_text()
board = board.replace("baudRate: 38400\n", "baudRate: 38400\n    pps: {chip: simulated, line: GPIO18}\n")
(path / "board.yaml").write_text(f"{board}\n  control: {CONTROL}\n")
with socket.create_server(("127.0.0.1", 0)) as probe:
    network = probe.getsockname()
(path / "serve.yaml").write_text(f"schema: 1\ntcp: {{port: {network[1]}, positions: reduced}}\n")
rows, staying, broken, leaked = [], [], [], []
begin = time.monotonic()
fleet = Fleet(dice, FOLDER, path, network)
daemon, control = Daemon(), Control()
try:
    number = 0
    while number < 3 or time.monotonic() + PHASE / 2 < begin + 60 * MINUTES:
        number += 1
        checkpoint(number, begin)
    judge()
    print(f"clients: {dict(fleet.counts)}\nendings: {dict(fleet.endings)}")
    daemon.process.terminate()
    expect("SIGTERM ends the daemon with 0", daemon.process.wait(10) == 0, daemon.process.returncode)
finally:
    fleet.leave()
    if daemon.process.poll() is None:
        daemon.process.kill()
        daemon.process.wait(10)
    if "SOAK_SAMPLES" in os.environ:
        text = "\n".join(",".join(f"{value:.2f}" for value in row) for row in daemon.samples)
        pathlib.Path(os.environ["SOAK_SAMPLES"]).write_text(f"time,rss,anon,descriptors,threads,cpu,clients\n{text}\n")
finish("soak.py", time.monotonic() - begin)
