#!/usr/bin/env python3
"""What a daemon costs and adds: bench-daemon.py FOLDER, where Scripts/build.sh has put the programs.

Programs on the simulated board get every heading (80 a second), in one process and through a daemon: the time from the sample to the
delegate, and the share of a core that the daemon takes with no program, with 1, 11 and 101, and with 1,000 readers of the stream that
wait for news of sensors.
"""
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
scratch = tempfile.TemporaryDirectory()
path = pathlib.Path(scratch.name)
SOCKET = str(path / "s")
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("LODESTONE")}
IDLE = 1_000
# Of one user the daemon takes 256 connections unless its configuration says more.
CONFIGURATION = path / "serve.yaml"
CONFIGURATION.write_text(
    f"schema: 1\nboard: simulated\nsocket: {SOCKET}\nconnections: {{total: {IDLE + 200}, perUser: {IDLE + 200}}}\n")
TICK = os.sysconf("SC_CLK_TCK")


def program(seconds=None, **environment):
    """A program that gets every heading until it is killed; with a time, its lags in milliseconds."""
    output = subprocess.PIPE if seconds else subprocess.DEVNULL
    process = subprocess.Popen(
        ["stdbuf", "-oL", FOLDER / "facade-program", "run-loop", "1000000"], stdout=output, stderr=subprocess.DEVNULL, text=True,
        cwd=path, env={**CLEAN, "STATE_DIRECTORY": str(path / "own"), **environment})
    if not seconds:
        return process
    time.sleep(2)
    begin = cpu(process.pid)
    end = time.time() + seconds
    lags = []
    for line in process.stdout:
        words = line.split()
        if words and words[0] == "heading":
            lags.append(1_000 * (float(words[4]) - float(words[3])))
            if time.time() > end:
                break
    used = cpu(process.pid) - begin
    process.kill()
    process.wait()
    # Those that stood in the pipe at the beginning are as good as the others: each says its own time.
    return sorted(lags), 100 * used / (seconds + 2)


def cpu(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(process):
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def share(process, seconds):
    begin, start = cpu(process), time.monotonic()
    time.sleep(seconds)
    return 100 * (cpu(process) - begin) / (time.monotonic() - start)


def told(name, lags):
    def at(part):
        return lags[min(len(lags) - 1, int(part * len(lags)))]

    print(f"{name}: {len(lags)} headings, median {statistics.median(lags):.2f} ms, 99 % {at(0.99):.2f}, worst {lags[-1]:.2f}", flush=True)
    return statistics.median(lags), at(0.99)


own, used = program(SECONDS, LODESTONE_BOARD="simulated")
first = told("in one process", own)
print(f"  it takes {used:.2f} % of a core")
daemon = subprocess.Popen(
    [FOLDER / "lodestone", "serve", "--configuration", CONFIGURATION], stdout=subprocess.PIPE, text=True, cwd=path,
    env={**CLEAN, "STATE_DIRECTORY": str(path / "state")})
try:
    daemon.stdout.readline()
    # What only the start needed is given back a second after it, and a board's within ten seconds after it was opened.
    time.sleep(2)
    print(f"a daemon that nobody asks: {share(daemon.pid, 3):.2f} % of a core, {memory(daemon.pid):.0f} MB")
    through, used = program(SECONDS, LODESTONE_SOCKET=SOCKET)
    second = told("through the daemon", through)
    print(f"  the program takes {used:.2f} % of a core; added: {second[0] - first[0]:.2f} ms in the median, {second[1] - first[1]:.2f} at 99 %")
    shares = {}
    crowd = []
    for count in (1, 11, 101):
        while len(crowd) < count:
            crowd.append(program(LODESTONE_SOCKET=SOCKET))
        time.sleep(3)
        shares[count] = share(daemon.pid, SECONDS)
        print(f"{count} programs at 80 headings a second: {shares[count]:.2f} % of a core, {memory(daemon.pid):.0f} MB", flush=True)
    print(f"  a program more: {(shares[101] - shares[1]) / 100:.3f} % of a core")
    crowded, _ = program(SECONDS, LODESTONE_SOCKET=SOCKET)
    told("one of 102 (the machine has all of them to run)", crowded)
    for process in crowd:
        process.kill()
        process.wait()
    time.sleep(1)
    idle = []
    for _ in range(IDLE):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(str(path / "stream.sock"))
        connection.sendall(b'{"subscribe":["sensor"]}\n')
        # The greeting, and that the request was taken.
        while b'"subscription"' not in (line := connection.recv(65_536)):
            if not line:
                sys.exit("a reader was sent away")
        idle.append(connection)
    time.sleep(5)
    print(f"{len(idle)} readers that wait: {share(daemon.pid, 5):.2f} % of a core, {memory(daemon.pid):.0f} MB")
finally:
    daemon.kill()
    daemon.wait()
