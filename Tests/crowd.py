#!/usr/bin/env python3
"""A crowd at a daemon that is killed again and again: crowd.py FOLDER [PHASES [SEED]], as root.

200 programs share one board: 150 are honest, 20 never run again after their start, 20 run a tenth of the time, 10 are killed and started
at random. A receiver (a gpsd of this script) takes the board into a circle and out of it, once a phase, and the daemon is killed (-9)
twice a phase at random moments. Each honest program must hear each crossing once and no other, get the answer to every question once it
can, and be back within a second of the daemon.

A phase takes 75 seconds, 10 phases with 20 kills a quarter of an hour.
"""
import collections
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(sys.argv[1]).resolve()
sys.argv[1] = str(FOLDER / "lodestone")

from checks import COMMAND, environment, expect, finish  # noqa: E402

PHASES = int(sys.argv[2]) if len(sys.argv) > 2 else 10
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
HONEST, DEAF, SLOW, MORTAL = 150, 20, 20, 10
USERS = list(range(2001, 2007))
CENTER, RADIUS, FAR = (53.0, 10.0), 100, 0.01
BUSY, QUIET = 35.0, 40.0
dice = random.Random(SEED)
scratch = tempfile.TemporaryDirectory()
path = pathlib.Path(scratch.name)
os.chmod(path, 0o755)
SOCKET = str(path / "s")


class Receiver:
    """A gpsd with one receiver, which is where `latitude` says."""

    def __init__(self):
        self.latitude = CENTER[0] + FAR
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        def send(record):
            connection.sendall((json.dumps(record) + "\r\n").encode())

        device = {"class": "DEVICE", "path": "/dev/ttyX", "driver": "NMEA0183", "activated": "2026-01-01T00:00:00.000Z", "cycle": 0.2}
        try:
            send({"class": "VERSION", "release": "3.25", "rev": "3.25", "proto_major": 3, "proto_minor": 15})
            send({"class": "DEVICES", "devices": [device]})
            while True:
                now = time.time()
                stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
                send({
                    "class": "TPV", "device": "/dev/ttyX", "mode": 3, "time": stamp, "lat": self.latitude, "lon": CENTER[1],
                    "altMSL": 12.0, "altHAE": 52.0, "epx": 2.0, "epy": 2.0, "eph": 3.0, "epv": 4.0, "speed": 0.0, "eps": 0.1})
                time.sleep(0.2)
        except OSError:
            connection.close()


class Program:
    """A program with an executable of its own, so that the daemon knows it again."""

    def __init__(self, number, name):
        self.user = USERS[number % len(USERS)]
        self.executable = path / f"{name}-{number}"
        os.link(path / "program", self.executable)
        self.lines = []
        self.start()

    def start(self):
        home = path / f"home-{self.user}"
        home.mkdir(exist_ok=True)
        os.chown(home, self.user, self.user)
        self.process = subprocess.Popen(
            [self.executable, str(CENTER[0]), str(CENTER[1]), str(RADIUS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, cwd=home, user=self.user, group=self.user, extra_groups=[],
            env=environment(LODESTONE_SOCKET=SOCKET, HOME=str(home)))
        threading.Thread(target=self.read, args=(self.process.stdout,), daemon=True).start()

    def read(self, output):
        for line in output:
            when, _, what = line.rstrip().partition(" ")
            self.lines.append((float(when), what))

    def heard(self, *words):
        return [(when, what) for when, what in self.lines if what.split()[0] in words]


class Daemon:
    def __init__(self):
        self.starts = []
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--board", str(path / "board.yaml"), "--socket", SOCKET], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, cwd=path, env=environment(STATE_DIRECTORY=str(path / "state")))
        said = self.process.stdout.readline()
        if "serving" not in said:
            expect("the daemon serves", False, said)
            finish("crowd.py")
        # What it says later is read, so that it never waits.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.starts.append(time.monotonic())

    def kill(self):
        self.process.kill()
        self.process.wait()
        time.sleep(dice.uniform(0, 0.3))
        self.start()

    def memory(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0


def mind(slow, mortal, stop):
    """Lets slow programs run a tenth of the time, and mortal ones die."""
    while not stop.is_set():
        for program in slow:
            program.process.send_signal(signal.SIGCONT)
        stop.wait(0.1)
        for program in slow:
            program.process.send_signal(signal.SIGSTOP)
        stop.wait(0.9)
        if dice.random() < 0.3:
            program = dice.choice(mortal)
            program.process.kill()
            program.process.wait()
            program.start()


if os.geteuid() != 0:
    sys.exit("crowd.py runs programs of several users: as root")
receiver = Receiver()
(path / "board.yaml").write_text(
    f"schema: 1\nname: Crowd\nsensors:\n  - {{chip: gpsd, host: 'localhost:{receiver.port}'}}\n")
(path / "program").write_bytes((FOLDER / "crowd-program").read_bytes())
os.chmod(path / "program", 0o755)
begin = time.monotonic()
daemon = Daemon()
honest = [Program(number, "honest") for number in range(HONEST)]
deaf = [Program(number, "deaf") for number in range(DEAF)]
slow = [Program(number, "slow") for number in range(SLOW)]
mortal = [Program(number, "mortal") for number in range(MORTAL)]
ready = time.monotonic() + 120
while time.monotonic() < ready and not all(program.heard("location") for program in honest):
    time.sleep(0.5)
expect("all honest programs get positions", all(program.heard("location") for program in honest))
time.sleep(30)
for program in deaf:
    program.process.send_signal(signal.SIGSTOP)
for program in honest:
    program.lines.clear()
stop = threading.Event()
threading.Thread(target=mind, args=(slow, mortal, stop), daemon=True).start()
kills = 0
first = daemon.memory()
for phase in range(PHASES):
    receiver.latitude = CENTER[0] + (0 if phase % 2 == 0 else FAR)
    start = time.monotonic()
    moments = sorted(dice.uniform(0, BUSY) for _ in range(2))
    if moments[1] - moments[0] < 3:
        moments[1] = moments[0] + 3
    for moment in moments:
        time.sleep(max(0, start + moment - time.monotonic()))
        daemon.kill()
        kills += 1
    time.sleep(max(0, start + BUSY + QUIET - time.monotonic()))
    print(f"phase {phase + 1}: {daemon.memory():.0f} MB", flush=True)
stop.set()
wanted = ["entered" if phase % 2 == 0 else "left" for phase in range(PHASES)]
wrong = {}
for program in honest:
    crossings = [what for _, what in program.heard("entered", "left")]
    if crossings != wanted:
        wrong[program.executable.name] = crossings
expect(f"each of {HONEST} programs hears each of {PHASES} crossings once, through {kills} kills", not wrong, dict(list(wrong.items())[:5]))
unwatched = [program.executable.name for program in honest if program.heard("unwatched")]
expect("no region was given up", not unwatched, unwatched)
late = collections.Counter()
worst = 0.0
for began in daemon.starts[1:]:
    for program in honest:
        back = next((when for when, what in program.lines if when > began and what == "location"), None)
        delay = 99.0 if back is None else back - began
        worst = max(worst, delay)
        late[delay <= 1] += 1
expect("all have positions again within a second", not late[False], dict(late), f"{worst:.2f} s at worst")
silent = []
for program in honest:
    answers = [when for when, what in program.lines if what.startswith("state")]
    gaps = [after - before for before, after in zip(answers, answers[1:])]
    if len(answers) < 0.8 * PHASES * (BUSY + QUIET) or max(gaps, default=99) > 5:
        silent.append((program.executable.name, len(answers), max(gaps, default=99)))
expect("questions are answered all the time", not silent, silent[:5])
expect("the daemon stays small", daemon.memory() < 150, daemon.memory(), f"{first:.0f} MB, {daemon.memory():.0f} MB at the end")
for program in honest + deaf + slow + mortal:
    program.process.kill()
    program.process.wait()
daemon.process.kill()
daemon.process.wait()
finish("crowd.py", time.monotonic() - begin)
