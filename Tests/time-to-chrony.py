#!/usr/bin/env python3
"""A receiver's time to chrony: time-to-chrony.py PATH-TO-LODESTONE

A pseudo terminal plays a receiver whose messages begin 80 ms after each second of this machine's clock. With `time: {chrony: PATH}`
a datagram a second must come to a socket of this process, which is held against Python's own view of the structure (PEP 3118
types, native byte order). Then chronyd itself, where it is installed (CHRONYD or the PATH; as root, with -x: it sets no
clock), must reach the source and measure an offset near zero. Takes about half a minute of real time."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import tty

from checks import COMMAND, environment, expect, finish

# struct timeval (two longs), double, four ints: chrony.conf(5), refclock SOCK; refclock_sock.c.
SAMPLE = struct.Struct("@lldiiii")
MAGIC = 0x534F434B
LATENCY = 0.08


def sentence(body):
    total = 0
    for byte in body.encode():
        total ^= byte
    return f"${body}*{total:02X}\r\n"


class Receiver:
    """Sends RMC and GGA of each second, so late as receivers are."""

    def __init__(self):
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.port = os.ttyname(slave)
        self.slave, self.is_on, self.status, self.kind = slave, True, "A", 1
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        second = int(time.time()) + 1
        while self.is_on:
            time.sleep(max(0, second + LATENCY - time.time()))
            now = time.gmtime(second)
            clock, place = time.strftime("%H%M%S.00", now), "5230.0000,N,01323.0000,E"
            date, mode = time.strftime("%d%m%y", now), "A" if self.kind == 1 else "E"
            text = (sentence(f"GPRMC,{clock},{self.status},{place},0.0,0.0,{date},,,{mode}")
                    + sentence(f"GPGGA,{clock},{place},{self.kind},09,0.9,34.0,M,40.0,M,,"))
            os.write(self.master, text.encode())
            second += 1


def board(folder, name, port, path):
    file = pathlib.Path(folder) / f"{name}.yaml"
    file.write_text(f"schema: 1\nname: {name}\nsensors:\n"
                    f"  - {{chip: NMEA, port: {port}, baudRate: 9600, rate: 1, time: {{chrony: {path}}}}}\n")
    return str(file)


def monitor(path, seconds, folder, lines):
    process = subprocess.Popen([COMMAND, "monitor", "--board", path, "--format", "json", "--seconds", str(seconds)],
                               env=environment(STATE_DIRECTORY=folder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    reader = threading.Thread(target=lambda: lines.extend(json.loads(line) for line in process.stdout))
    reader.start()
    return process, reader


def datagrams(folder):
    """The bytes, with Python as the other side."""
    receiver, lines, samples = Receiver(), [], []
    path = os.path.join(folder, "time.sock")
    file = board(folder, "boat", receiver.port, path)
    done = subprocess.run([COMMAND, "doctor", "--board", file], env=environment(STATE_DIRECTORY=folder), capture_output=True, text=True)
    expect("the doctor says that chrony does not listen", done.returncode == 1 and "refclock SOCK " + path in done.stdout, done.stdout)
    process, reader = monitor(file, 16, folder, lines)
    time.sleep(5)
    here = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    here.bind(path)
    here.settimeout(0.2)
    end = time.monotonic() + 13
    while time.monotonic() < end:
        try:
            data = here.recv(256)
            samples.append((time.time(), data))
        except TimeoutError:
            pass
        if len(samples) == 5:
            # Dead reckoning sets no clock.
            receiver.kind = 6
    reader.join(timeout=30)
    process.kill()
    process.wait()
    receiver.is_on = False
    expect("a datagram a second, and none of an estimated position", 5 <= len(samples) <= 7, len(samples))
    expect("each has the length of the structure", all(len(data) == SAMPLE.size == 40 for _, data in samples), samples)
    read = [(when, *SAMPLE.unpack(data)) for when, data in samples if len(data) == SAMPLE.size]
    expect("with its magic number, whole seconds, no leap second", all(row[4:] == (0, 0, 0, MAGIC) for row in read), read)
    expect("the time of the measurement is a moment ago", all(-0.01 < when - (sec + usec / 1e6) < 1 for when, sec, usec, *_ in read), read)
    offsets = [row[3] for row in read]
    expect("and the offset of a right clock is near zero", all(abs(offset) < 0.05 for offset in offsets), offsets, offsets)
    chrony = [row["chrony"][0] for row in lines if row["kind"] == "sensor" and "chrony" in row]
    expect("lines of the sensor have the state", chrony and all(words.startswith("time of its messages") for words in chrony), chrony)
    notes = [row["message"] for row in lines if row["kind"] == "error" and "chrony" in row.get("message", "")]
    expect("nobody at the socket is said once, and so is its beginning", len(notes) == 2 and "nobody listens there" in notes[0]
           and "takes it" in notes[1], notes)


def chronyd(folder):
    """chronyd itself, which sets no clock."""
    # Scripts/prepare.sh oracles unpacks it there, where it sets no clock of this machine.
    unpacked = pathlib.Path(os.environ.get("LODESTONE_CACHE", pathlib.Path.home() / ".cache/lodestone"), "peers/programs")
    where = f"{os.environ['PATH']}:/usr/sbin:{unpacked}"
    program, client = os.environ.get("CHRONYD") or shutil.which("chronyd", path=where), shutil.which("chronyc", path=where)
    if not program or not client or os.geteuid() != 0:
        print("time-to-chrony: chronyd is not asked: it is not installed (apt-get install chrony), or this is not root")
        return
    path, control = os.path.join(folder, "refclock.sock"), os.path.join(folder, "chronyd.sock")
    configuration = pathlib.Path(folder) / "chrony.conf"
    configuration.write_text(f"refclock SOCK {path} refid GNSS delay 0.2 poll 2\nbindcmdaddress {control}\ncmdport 0\nport 0\n"
                             f"pidfile {folder}/chronyd.pid\nuser root\n")
    log = open(os.path.join(folder, "chronyd.log"), "w+")
    daemon = subprocess.Popen([program, "-d", "-x", "-F", "0", "-f", str(configuration)], stdout=log, stderr=log)
    receiver = Receiver()
    try:
        time.sleep(1)
        file = board(folder, "clock", receiver.port, path)
        done = subprocess.run([COMMAND, "doctor", "--board", file], env=environment(STATE_DIRECTORY=folder), capture_output=True, text=True)
        expect("the doctor sees chrony's socket", "goes to chrony at " + path in done.stdout, done.stdout)
        shown = subprocess.Popen([COMMAND, "gnss", "--board", file, "--seconds", "20"], env=environment(STATE_DIRECTORY=folder),
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        source = []
        end = time.monotonic() + 19
        while time.monotonic() < end:
            time.sleep(1)
            done = subprocess.run([client, "-h", control, "-c", "sources"], capture_output=True, text=True)
            rows = [line.split(",") for line in done.stdout.splitlines() if ",GNSS," in line]
            # Mode, state, name, stratum, poll, reach, seconds since, adjusted offset, measured offset, error.
            if rows and int(rows[0][5], 8) and rows[0][1] == "*":
                source = rows[0]
        page = shown.communicate(timeout=30)[0]
    finally:
        receiver.is_on = False
        daemon.terminate()
        daemon.wait(timeout=10)
    log.seek(0)
    expect("chrony reaches the source, and selects it", source, f"{done.stdout} {done.stderr} {log.read()[-2000:]}",
           source[5:] if source else "")
    expect("its offset is near zero", source and abs(float(source[7])) < 0.05, source)
    expect("gnss says that chrony takes the time",
           f"time of its messages given to chrony at {path}" in " ".join(page.split()), page[-1500:])


def main():
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        with concurrent.futures.ThreadPoolExecutor() as both:
            # An exception of either is one of the check.
            for part in [both.submit(datagrams, one), both.submit(chronyd, two)]:
                part.result()
    finish("time-to-chrony", time.monotonic() - begin)


main()
