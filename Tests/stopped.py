#!/usr/bin/env python3
"""A monitor that is stopped and goes on: stopped.py PATH-TO-LODESTONE [SECONDS]

A receiver at a pseudo terminal goes on speaking while the monitor is stopped, by Ctrl-Z's signal and by the one that
cannot be caught, as the freezer's. Afterwards every location has the moment at which it was said, as told by the
receiver's clock, however late it was read, and none is said to be missing."""
import datetime
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tty

TOLERANCE = 0.3


def sentence(body):
    total = 0
    for byte in body.encode():
        total ^= byte
    return f"${body}*{total:02X}\r\n".encode()


def epoch(seconds, count):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    hour, day, latitude = f"{moment:%H%M%S}.00", f"{moment:%d%m%y}", f"52{30 + count * 0.01:07.4f}"
    return (sentence(f"GPRMC,{hour},A,{latitude},N,01300.0000,E,10.0,000.0,{day},,,A")
            + sentence(f"GPGGA,{hour},{latitude},N,01300.0000,E,1,08,1.0,40.0,M,40.0,M,,"))


def run(program, stop, pause):
    controller, port = pty.openpty()
    tty.setraw(port)
    os.set_blocking(controller, False)
    with tempfile.TemporaryDirectory() as folder:
        board = pathlib.Path(folder) / "board.yaml"
        board.write_text(f"schema: 1\nname: Stopped\nsensors:\n  - {{chip: NMEA, port: {os.ttyname(port)}, baudRate: 9600}}\n")
        monitor = subprocess.Popen(
            [program, "monitor", "--board", board, "--format", "json", "--seconds", "1000"],
            env=dict(os.environ, STATE_DIRECTORY=folder), stdout=subprocess.PIPE, text=True)
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(map(json.loads, monitor.stdout)))
        reader.start()
        start = int(time.time()) + 1
        for count in range(pause + 9):
            time.sleep(max(0, start + count - time.time()))
            if count == 5:
                monitor.send_signal(stop)
            if count == 5 + pause:
                monitor.send_signal(signal.SIGCONT)
            os.write(controller, epoch(start + count, count))
        time.sleep(0.5)
        monitor.kill()
        reader.join()
        os.close(controller)
        os.close(port)
    locations = [line for line in lines if line["kind"] == "location" and "latitude" in line]
    # What the two clocks are apart is a constant of the machine.
    offsets = [line["monotonic"] - datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()
               for line in locations]
    errors = [line for line in lines if line["kind"] == "error"]
    spread = max(offsets) - min(offsets) if offsets else float("inf")
    print(f"{stop.name} for {pause} s: {len(locations)} locations of {pause + 9} epochs, their moments within {spread * 1000:.0f} ms "
          f"of the receiver's, {len(errors)} errors")
    return len(locations) >= pause + 7 and spread < TOLERANCE and not errors


def main():
    pause = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    good = [run(sys.argv[1], stop, pause) for stop in (signal.SIGTSTP, signal.SIGSTOP)]
    sys.exit(0 if all(good) else "stopped: a location has the wrong moment, or is missing")


main()
