#!/usr/bin/env python3
"""The guided calibration in a real terminal, the simulated board turned by a hand that follows the words on the screen.

usage: calibrate-by-hand.py LODESTONE [--screens FILE]

Everything goes side by side in real time, about two minutes: a run to the end, one with a magnet that comes near,
one that is given up with q in a wide window, one that a signal ends, and two without a terminal.
"""
import json
import math
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

import checks
from checks import COMMAND, expect, finish
from guided_hand import Hand

SCREENS = sys.argv[sys.argv.index("--screens") + 1] if "--screens" in sys.argv else None
BOARD = (pathlib.Path(__file__).resolve().parents[1] / "Boards" / "simulated-hand.yaml").read_text()
CONTROL = "/tmp/lodestone-hand"
assert CONTROL in BOARD


def environment(state, **more):
    env = {k: v for k, v in checks.environment().items() if k not in ("NO_COLOR", "TMUX")}
    return {**env, "STATE_DIRECTORY": str(state), "LC_ALL": "C.UTF-8", **more}


class Bench:
    """A board of its own, with its state, and a terminal in front of it."""

    def __init__(self, name, columns=80, rows=24, **env):
        self.name = name
        self.path = path / name
        self.path.mkdir()
        self.state = self.path / "state"
        self.board = self.path / "board.yaml"
        self.control = str(self.path / "hand")
        self.board.write_text(BOARD.replace(CONTROL, self.control))
        self.columns, self.rows = columns, rows
        self.env = environment(self.state, **env)

    def tmux(self, *words):
        return subprocess.run(
            ["tmux", "-S", str(self.path / "tmux"), "-f", "/dev/null", *words], capture_output=True, text=True,
            env=self.env, timeout=30).stdout

    def spoil(self):
        """A record in use that is wrong: the board's own, and iron that came later."""
        record = dict(simulated, offset=[a + b for a, b in zip(simulated["offset"], (14, -9, 6))], method="ellipsoid")
        file = self.state / "simulated" / "Simulated_board__in_a_hand" / "calibrations" / "LIS3MDL@_dev_i2c-1_0x1c.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(record))
        return record

    def begin(self, *arguments):
        self.tmux("new-session", "-d", "-x", str(self.columns), "-y", str(self.rows), "sh")
        self.say(f"stty -g > {shlex.quote(str(self.path / 'before'))}")
        words = [COMMAND, "calibrate", "magnetometer", "--board", str(self.board), *arguments]
        self.say(f"clear; {shlex.join(words)}; echo $? > {shlex.quote(str(self.path / 'code'))}")
        self.since = time.monotonic()

    def say(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def press(self, key):
        self.tmux("send-keys", key)

    def screen(self):
        return self.tmux("capture-pane", "-p").split("\n")

    def process(self):
        """The command's number: the shell's only child."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        return int(pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])

    def code(self):
        file = self.path / "code"
        text = file.read_text().strip() if file.exists() else ""
        return int(text) if text else None

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while self.code() is None and time.monotonic() < end:
            time.sleep(0.1)
        return self.code()

    def is_restored(self):
        after = self.path / "after"
        self.say(f"stty -g > {shlex.quote(str(after))}")
        end = time.monotonic() + 10
        while not (after.exists() and after.read_text().strip()) and time.monotonic() < end:
            time.sleep(0.1)
        flags = self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").strip()
        same = after.exists() and after.read_text() == (self.path / "before").read_text()
        return same and flags == "0 1"

    def end(self):
        self.tmux("kill-server")

    def record(self):
        found = list((self.state / "simulated" / "Simulated_board__in_a_hand" / "calibrations").glob("LIS3MDL*.json"))
        return json.loads(found[0].read_text()) if len(found) == 1 else {}

    def samples(self):
        found = list((self.state / "simulated" / "Simulated_board__in_a_hand" / "calibrations" / "samples").glob("*.csv"))
        return found[0].read_text().splitlines() if found else []


# The heading error that a record leaves, from the board's own iron: none of these figures comes from the code under test.

def product(m, v):
    return [sum(a * b for a, b in zip(row, v)) for row in m]


def transposed(m):
    return [list(column) for column in zip(*m)]


def inverse(m):
    (a, b, c), (d, e, f), (g, h, i) = m
    cofactors = [
        [e * i - f * h, c * h - b * i, b * f - c * e], [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d]]
    determinant = a * cofactors[0][0] + b * cofactors[1][0] + c * cofactors[2][0]
    return [[value / determinant for value in row] for row in cofactors]


def record_of_truth():
    """The record that a simulated board gives itself."""
    bench = Bench("truth")
    subprocess.run(
        [COMMAND, "monitor", "--board", str(bench.board), "--seconds", "1", "--format", "json"], capture_output=True,
        env=bench.env, timeout=60)
    return bench.record()


def truth_of_iron(record):
    """What the chip makes of a field: gain and offset, with what its own specimen adds to the board's iron."""
    # The simulated board's own record is off by a tenth of a microtesla, on purpose.
    offset = [a - b for a, b in zip(record["offset"], (0.1, -0.1, 0.1))]
    return inverse(record["matrix"]), offset


def heading_error(record, iron, field):
    """Root mean square over 36 level headings, degrees; `field` is the earth's here, east, north, up."""
    gain, offset = iron
    names = re.search(r"chip: LIS3MDL.*?mount: \[(.*?)\]", BOARD, re.S).group(1).split(",")
    mount = [[(1 if n.strip()[0] == "+" else -1) * (n.strip()[1] == axis) for axis in "xyz"] for n in names]
    level, up = math.hypot(field[0], field[1]), field[2]
    squares = 0
    for heading in range(0, 360, 10):
        angle = math.radians(heading)
        body = [-level * math.sin(angle), level * math.cos(angle), up]
        raw = [a + b for a, b in zip(product(gain, product(transposed(mount), body)), offset)]
        corrected = product(record["matrix"], [a - b for a, b in zip(raw, record["offset"])])
        right, ahead, _ = product(mount, corrected)
        error = (math.degrees(math.atan2(-right, ahead)) - heading + 180) % 360 - 180
        squares += error * error
    return math.sqrt(squares / 36)


def to_the_end(name, seed, magnet=None, **env):
    bench = Bench(name, **env)
    try:
        spoilt = bench.spoil()
        bench.begin()
        hand = Hand(bench, seed)
        field = json.loads(hand.ask("truth"))["field"]
        seconds = hand.follow(200, magnet)
        code = bench.wait(5)
        time.sleep(0.5)
        last = "\n".join(line.rstrip() for line in bench.screen()).rstrip()
        expect(f"{name}: it ends by itself", code == 0, last)
        expect(f"{name}: within about two minutes ({seconds:.0f} s, {len(hand.seen)} poses)", seconds < 140, hand.seen)
        record = bench.record()
        expect(f"{name}: the record is saved, score {record.get('score')}", (record.get("score") or 0) >= 80, record)
        expect(f"{name}: coverage {record.get('coverage')}", (record.get("coverage") or 0) >= 0.7, record)
        error = heading_error(record, iron, field) if record else 180
        before = heading_error(spoilt, iron, field)
        expect(f"{name}: its true heading error is {error:.2f} deg (was {before:.1f})", error <= 1 < before, record)
        told = re.search(r"heading error +before ([0-9.]+) deg, after ([0-9.]+) deg", last)
        # All attitudes count for what is told, the level ones for what is true.
        near = told and before / 2 < float(told[1]) < 2 * before and float(told[2]) <= 1
        expect(f"{name}: before and after are told", near, last)
        expect(f"{name}: the samples are kept", len(bench.samples()) > 300, len(bench.samples()))
        expect(f"{name}: no line is longer than the screen", hand.longest <= 80, hand.longest)
        expect(f"{name}: the terminal is as it was", bench.is_restored(), bench.screen())
        return hand, last
    finally:
        bench.end()


def good():
    hand, last = to_the_end("followed", 1)
    if SCREENS:
        count = len(hand.screens)
        chosen = [hand.screens[int(share * (count - 1))] for share in (0.15, 0.75)] + [last]
        pathlib.Path(SCREENS).write_text(f"\n{'=' * 80}\n".join(screen.rstrip() for screen in chosen) + "\n")


def magnet():
    hand, _ = to_the_end("magnet", 2, magnet=(25, 2, (60, 40, -50)), LC_ALL="C", NO_COLOR="1")
    expect(
        "magnet: the screen warns of it", any("magnetic" in warning for warning in hand.warnings), hand.warnings)
    expect("magnet: plain ASCII without UTF-8", all(screen.isascii() for screen in hand.screens), hand.screens[-1:])


def quits():
    bench = Bench("given up", 132, 40)
    try:
        bench.begin()
        hand = Hand(bench, 3)
        thread = threading.Timer(9, lambda: bench.press("q"))
        thread.start()
        hand.follow(40)
        expect("given up: q ends it with code 1", bench.wait(5) == 1, bench.screen())
        expect("given up: nothing is saved", bench.record().get("method") == "simulated", bench.record())
        expect("given up: 80 columns are enough of a wide one", hand.longest <= 80, hand.longest)
        expect("given up: the terminal is as it was", bench.is_restored(), bench.screen())
    finally:
        bench.end()


def stopped():
    for key, name, code in (("C-c", "Ctrl-C", 130), (None, "SIGTERM", 143)):
        bench = Bench(name)
        try:
            bench.begin()
            hand = Hand(bench, 4)
            end = time.monotonic() + 20
            while hand.look() is None and time.monotonic() < end:
                time.sleep(0.2)
            if key:
                bench.press(key)
            else:
                os.kill(bench.process(), signal.SIGTERM)
            expect(f"{name}: ends it with code {code}", bench.wait(10) == code, (bench.code(), bench.screen()))
            expect(f"{name}: nothing is saved", bench.record().get("method") == "simulated", bench.record())
            expect(f"{name}: the terminal is as it was", bench.is_restored(), bench.screen())
        finally:
            bench.end()


def without_a_terminal():
    bench = Bench("pipe")

    def run(*arguments):
        return subprocess.run(
            [COMMAND, "calibrate", "magnetometer", "--board", str(bench.board), *arguments], capture_output=True,
            text=True, env=bench.env, stdin=subprocess.DEVNULL, timeout=60)

    result = run("--yes", "--format", "json", "--seconds", "10")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    expect("pipe: a board that lies still is refused", result.returncode == 1, result)
    expect("pipe: progress, then the answer",
           [line["kind"] for line in lines] == ["progress"] * (len(lines) - 1) + ["calibration"], result.stdout)
    expect("pipe: a line a second", 9 <= len(lines) <= 14, len(lines))
    expect("pipe: it says why", lines[-1].get("accepted") is False and lines[-1].get("reason"), lines[-1])
    expect("pipe: the old record stays", bench.record().get("method") == "simulated", bench.record())
    result = run()
    expect("pipe: nobody is at the keyboard", result.returncode == 64 and "--yes" in result.stderr, result)
    subprocess.run([COMMAND, "calibrate", "lock", "--board", str(bench.board)], env=bench.env, capture_output=True)
    result = run("--yes", "--format", "json")
    expect("pipe: a locked record is left alone", result.returncode == 1 and "locked" in result.stdout, result)


with tempfile.TemporaryDirectory(prefix="hand-") as name:
    path = pathlib.Path(name)
    simulated = record_of_truth()
    iron = truth_of_iron(simulated)

    def guarded(work):
        try:
            work()
        except Exception as error:
            expect(f"{work.__name__}: goes through", False, repr(error))

    threads = [
        threading.Thread(target=guarded, args=(work,)) for work in (good, magnet, quits, stopped, without_a_terminal)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

finish("calibrating by hand")
