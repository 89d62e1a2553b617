#!/usr/bin/env python3
"""What `realtime` in serve.yaml buys: bench-realtime.py FOLDER [SECONDS], where Scripts/build.sh has put the programs.

A daemon serves the simulated board, without real-time threads and with them, on a machine that has nothing else to do and on one with
four busy processes per core. Printed are the samples that each chip has missed, and the time from a sample to the line of its heading. The
reader itself has a real-time priority, which takes root.
"""
import collections
import contextlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(sys.argv[1]).resolve()
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
WARM_UP = 3.0
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("LODESTONE")}
CHIPS = ["magnetometer", "gyro", "barometer"]


@contextlib.contextmanager
def daemon(priority, path):
    (path / "serve.yaml").write_text("schema: 1\n" + (f"realtime: {priority}\n" if priority else ""))
    process = subprocess.Popen(
        [FOLDER / "lodestone", "serve", "--board", "simulated", "--socket", path / "s", "--configuration", path / "serve.yaml"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**CLEAN, "STATE_DIRECTORY": str(path / "state")})
    try:
        if (line := process.stdout.readline()) and not line.startswith("serving"):
            sys.exit(f"no real-time priority here: {line.strip()}")
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def busy(count):
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def listen(path):
    """The times of each chip's samples, and the delays of headings in milliseconds."""
    samples, delays = collections.defaultdict(list), []
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path / "stream.sock"))
        connection.sendall(b'{"subscribe":["sample","heading"]}\n')
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
        begin = time.monotonic() + WARM_UP
        for text in connection.makefile():
            now = time.monotonic()
            if now > begin + SECONDS:
                break
            line = json.loads(text)
            if now < begin or "monotonic" not in line:
                continue
            if line["kind"] == "sample":
                samples[line["sensor"]].append(line["monotonic"])
            elif line["kind"] == "heading":
                delays.append(1_000 * (now - line["monotonic"]))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return samples, sorted(delays)


for count in (0, 4 * os.cpu_count()):
    for priority in (None, 20):
        with tempfile.TemporaryDirectory() as scratch, daemon(priority, pathlib.Path(scratch)), busy(count):
            samples, delays = listen(pathlib.Path(scratch))
        told = []
        for index, times in sorted(samples.items()):
            gaps = [after - before for before, after in zip(sorted(times), sorted(times)[1:])]
            usual = statistics.median(gaps)
            missed = sum(round(gap / usual) - 1 for gap in gaps if gap > 1.5 * usual)
            told.append(f"{CHIPS[index]} {missed} of {len(times) + missed} missed, longest gap {1_000 * max(gaps):.0f} ms")
        print(f"realtime: {priority or 'none'}, {count} busy processes: " + "; ".join(told)
              + f"; headings after {statistics.median(delays):.1f} ms in the median, {delays[int(0.99 * len(delays))]:.1f} at 99 %",
              flush=True)
