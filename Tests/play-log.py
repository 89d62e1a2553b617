#!/usr/bin/env python3
"""Plays a receiver's log through a pseudo terminal, at its own pace, to a program that knows only
CoreLocation: play-log.py PATH-TO-FACADE-PROGRAM [LOG...]

The bytes of an epoch go out together and the next epoch follows when its time of day says so. Every
position that the delegate is told must be one of those that gpsd prints for the log, in its order, and
must arrive within a second of its epoch's last byte."""
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import threading
import time
import tty

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = pathlib.Path(os.environ.get("LODESTONE_SHARED", ROOT.parent / "shared")) / "data/gps/gpsd"
DEFAULT = ["gr601-w.log", "nl402u.log"]


def epochs(data):
    """The log as (seconds of the day or None, bytes), cut where the time of day changes."""
    parts, now = [], None
    for line in data.splitlines(keepends=True):
        if line.startswith(b"#"):
            continue
        fields = line.split(b",")
        stamp = None
        if fields[0][3:6] in (b"GGA", b"RMC", b"GNS", b"ZDA") and len(fields[1]) >= 6:
            text = fields[1].decode()
            stamp = int(text[:2]) * 3600 + int(text[2:4]) * 60 + float(text[4:])
        if stamp is not None and stamp != now:
            now = stamp
            parts.append([stamp, b""])
        if not parts:
            parts.append([None, b""])
        parts[-1][1] += line
    return parts


def play(program, log):
    told = [json.loads(line) for line in log.with_name(log.name + ".chk").read_text(errors="replace").splitlines()
            if line.startswith('{"class":"TPV"')]
    expected = [(row["lat"], row["lon"]) for row in told if row.get("mode", 0) >= 2 and "lat" in row]
    parts = epochs(log.read_bytes())
    controller, port = pty.openpty()
    tty.setraw(port)
    with tempfile.TemporaryDirectory() as folder:
        board = pathlib.Path(folder) / "board.yaml"
        board.write_text(f"schema: 1\nname: Log\nsensors:\n  - {{chip: NMEA, port: {os.ttyname(port)}, baudRate: 9600}}\n")
        environment = dict(os.environ, LODESTONE_BOARD=str(board), STATE_DIRECTORY=folder)
        listener = subprocess.Popen([program, "run-loop", "1000"], env=environment, stdout=subprocess.PIPE, text=True)
        lines = []
        reader = threading.Thread(target=lambda: lines.extend((time.time(), line.split()) for line in listener.stdout))
        reader.start()
        time.sleep(1)
        sent, previous = [], None
        for stamp, data in parts:
            if previous is not None and stamp is not None:
                time.sleep(min(max(stamp - previous, 0), 10))
            previous = stamp if stamp is not None else previous
            # Before: the answer may be here before this goes on.
            sent.append(time.time())
            os.write(controller, data)
        time.sleep(1.5)
        listener.kill()
        reader.join()
    heard = [(when, float(row[1]), float(row[2])) for when, row in lines if row[0] == "location"]
    late, position = 0.0, 0
    for when, latitude, longitude in heard:
        late = max(late, min(when - moment for moment in sent if moment <= when))
        while position < len(expected) and max(abs(latitude - expected[position][0]), abs(longitude - expected[position][1])) > 1e-6:
            position += 1
        if position == len(expected):
            return f"{log.name}: {latitude} {longitude} is none of gpsd's positions"
    print(f"{log.name}: {len(parts)} epochs over {sent[-1] - sent[0]:.1f} s, {len(heard)} locations heard, all gpsd's, at most {late * 1000:.0f} ms after their epoch")
    if len(heard) < 0.8 * len(parts):
        return f"{log.name}: only {len(heard)} locations of {len(parts)} epochs"
    if late > 1:
        return f"{log.name}: a location came {late:.2f} s late"
    return None


def main():
    if not LOGS.is_dir():
        print(f"play-log: skipped, {LOGS} is not there")
        return
    broken = [play(sys.argv[1], LOGS / name) for name in sys.argv[2:] or DEFAULT]
    broken = [text for text in broken if text]
    if broken:
        sys.exit("broken: " + "; ".join(broken))


main()
