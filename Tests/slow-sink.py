#!/usr/bin/env python3
"""A recording whose sink pauses: what do the sensors do meanwhile?

usage: Tests/slow-sink.py LODESTONE [--seconds 12] [--pause 6]

Two recordings of the simulated board run side by side into pipes. One reader pauses, the other does not. While it pauses, the
longest time between two steps of a bus, by the board's own clock, may be 20 ms longer than in the other recording, or than
before and after the pause. (How long a bus rests depends on when its chips were started: 178 ms in one run, 250 in another.)
Exit code 1 where it is longer, where a step is missing, or where the recording does not replay.

A virtual machine may stand still for a quarter of a second at any time. So a rest that is too long is measured again, up to
three times in all: a sink that holds up a bus does so every time.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time


def reader(pipe, kept, pause, paused):
    with open(pipe, "rb", buffering=0) as source:
        start, has_paused = time.monotonic(), False
        while True:
            if pause and not has_paused and time.monotonic() - start > 3:
                begin = time.monotonic()
                time.sleep(pause)
                paused.append((begin, time.monotonic()))
                has_paused = True
            data = source.read(4096)
            if not data:
                return
            kept.append(data)


def gaps(trace, paused):
    """The longest rest of each worker between two steps once all have begun, in seconds: outside of a span, and within."""
    times, worker, waits = {}, None, False
    for line in trace.decode(errors="replace").split("\n"):
        words = line.split()
        if not words:
            continue
        if words[0] == "s":
            worker, waits = words[1], True
        elif words[0] == "t" and waits:
            waits = False
            times.setdefault(worker, []).append(int(words[1]) / 1e9)
    begin = max(moments[0] for moments in times.values()) + 1.5
    result = {}
    for worker, moments in times.items():
        later = [moment for moment in moments if moment >= begin]
        outside, within = 0.0, 0.0
        for a, b in zip(later, later[1:]):
            if paused and b > paused[0] and a < paused[1]:
                within = max(within, b - a)
            else:
                outside = max(outside, b - a)
        result[worker] = (outside, within)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lodestone")
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--pause", type=float, default=6)
    words = parser.parse_args()
    # What else the machine does is not to be measured.
    first = ["chrt", "-f", "50"] if shutil.which("chrt") else []
    if first and subprocess.run([*first, "true"], capture_output=True).returncode != 0:
        first = []
    failed = False

    def expect(what, holds, why=""):
        nonlocal failed
        failed = failed or not holds
        print(("ok      " if holds else "FAILED  ") + what + (f": {why}" if why else ""), flush=True)

    def record(folder):
        """Both recordings, by name, and when the one reader paused, on the clock of the recordings (CLOCK_MONOTONIC)."""
        runs, paused = [], []
        for name, pause in (("steady", 0), ("slow", words.pause)):
            pipe = os.path.join(folder, name + ".pipe")
            os.mkfifo(pipe)
            kept = []
            thread = threading.Thread(target=reader, args=(pipe, kept, pause, paused), daemon=True)
            thread.start()
            process = subprocess.Popen(
                [*first, words.lodestone, "record", "--board", "simulated", "--seconds", str(words.seconds), pipe],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            runs.append((name, kept, thread, process))
        traces = {}
        for name, kept, thread, process in runs:
            try:
                _, errors = process.communicate(timeout=words.seconds + 30)
            except subprocess.TimeoutExpired:
                process.kill()
                _, errors = process.communicate()
                expect(f"the {name} recording ends", False, errors)
            thread.join(timeout=10)
            traces[name] = b"".join(kept)
            expect(f"the {name} recording says nothing of a loss", process.returncode == 0 and "missing" not in errors, errors.strip().split("\n")[-1])
        return traces, paused[0] if paused else None

    rounds = 3
    for attempt in range(1, rounds + 1):
        with tempfile.TemporaryDirectory() as folder:
            traces, paused = record(folder)
        steady, slow = gaps(traces["steady"], None), gaps(traces["slow"], paused)
        expect("the reader has paused", paused is not None)
        found = []
        for worker in sorted(steady):
            before, within = slow.get(worker, (0.0, float("inf")))
            usual = max(before, steady[worker][0])
            found.append((
                f"bus {worker} goes on while the sink stands still", 0 < within < usual + 0.020,
                f"longest rest {within * 1000:.1f} ms, else {usual * 1000:.1f} ms"))
        if failed or attempt == rounds or all(holds for _, holds, _ in found):
            break
        for what, holds, why in found:
            if not holds:
                print(f"again   {what}: {why}", flush=True)
    for line in found:
        expect(*line)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "slow.trace")
        with open(path, "wb") as file:
            file.write(traces["slow"])
        replayed = subprocess.run([words.lodestone, "replay", path], capture_output=True, text=True, timeout=120)
        expect("it replays", replayed.returncode == 0 and len(replayed.stdout) > 100_000, replayed.stderr.strip())
    return 1 if failed else 0


sys.exit(main())
