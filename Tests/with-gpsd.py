#!/usr/bin/env python3
"""`chip: gpsd` against gpsd itself: with-gpsd.py PATH-TO-LODESTONE [LOG]

gpsfake feeds a receiver's log to a gpsd on a port of its own. `lodestone monitor` must tell positions that gpsd
tells as well, say within two seconds that gpsd was killed, be back within five seconds of its return, say that a
receiver fell silent, and replay to what was told live. Takes half a minute of real time."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = pathlib.Path(os.environ.get("LODESTONE_SHARED", ROOT.parent / "shared")) / "data/gps/gpsd"
FAKE = shutil.which("gpsfake")
FIRST, GONE, SECOND, SILENT = 8.0, 5.0, 8.0, 6.0


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Gpsd:
    """gpsfake with its gpsd, in a process group of their own."""

    def __init__(self, port, log):
        command = [FAKE, "-n", "-q", "-c", "0.03", "-P", str(port), str(log)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def send(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        self.send(signal.SIGKILL)
        self.process.wait()

    def silence(self):
        # gpsfake alone: gpsd lives and hears nothing more.
        os.kill(self.process.pid, signal.SIGSTOP)


def told(port, positions, stop):
    """What gpsd tells another client, of the same reports."""
    while not stop.is_set():
        try:
            with socket.create_connection(("localhost", port), timeout=1) as client:
                client.sendall(b'?WATCH={"enable":true,"json":true};\n')
                for line in client.makefile("rb"):
                    report = json.loads(line)
                    if report.get("class") == "TPV" and report.get("mode", 0) >= 2 and "lat" in report:
                        positions.add((round(report["lat"], 7), round(report["lon"], 7)))
        except (OSError, ValueError):
            time.sleep(0.1)


def main():
    log = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else LOGS / "gr601-w.log"
    if not FAKE or not shutil.which("gpsd", path=os.environ["PATH"] + ":/usr/sbin"):
        print("with-gpsd: skipped, gpsd and gpsfake are not installed (apt-get install gpsd gpsd-clients)")
        return
    if not log.is_file():
        print(f"with-gpsd: skipped, {log} is not there")
        return
    port, positions, stop, lines, broken = free_port(), set(), threading.Event(), [], []
    with tempfile.TemporaryDirectory() as folder:
        board = pathlib.Path(folder) / "board.yaml"
        board.write_text(f"schema: 1\nname: gpsd\nsensors:\n  - {{chip: gpsd, host: 'localhost:{port}'}}\n")
        trace = pathlib.Path(folder) / "run.trace"
        environment = dict(os.environ, STATE_DIRECTORY=folder)
        seconds = FIRST + GONE + SECOND + SILENT + 4
        gpsd = Gpsd(port, log)
        witness = threading.Thread(target=told, args=(port, positions, stop), daemon=True)
        witness.start()
        begin = time.monotonic()
        monitor = subprocess.Popen([sys.argv[1], "monitor", "--board", str(board), "--format", "json", "--seconds", str(seconds)],
                                   env=environment, stdout=subprocess.PIPE, text=True)
        reader = threading.Thread(target=lambda: lines.extend((time.monotonic() - begin, json.loads(line)) for line in monitor.stdout))
        reader.start()
        recorder = subprocess.Popen([sys.argv[1], "record", str(trace), "--board", str(board), "--seconds", str(FIRST + GONE + SECOND)],
                                    env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(FIRST)
            killed = time.monotonic() - begin
            gpsd.kill()
            time.sleep(GONE)
            back = time.monotonic() - begin
            gpsd = Gpsd(port, log)
            time.sleep(SECOND)
            silent = time.monotonic() - begin
            gpsd.silence()
            time.sleep(SILENT)
        finally:
            gpsd.send(signal.SIGCONT)
            gpsd.kill()
            stop.set()
        reader.join(timeout=20)
        monitor.kill()
        recorder.wait(timeout=20)
        replay = subprocess.run([sys.argv[1], "replay", str(trace)], env=environment, capture_output=True, text=True)

    def locations(rows):
        return [(round(row["latitude"], 7), round(row["longitude"], 7)) for row in rows
                if row["kind"] == "location" and "latitude" in row]

    def states(since, until):
        return [(when, row["state"], row.get("reason", "")) for when, row in lines
                if row["kind"] == "sensor" and since <= when <= until]

    heard = locations(row for _, row in lines)
    strange = [place for place in heard if place not in positions]
    lost = next((row for row in states(killed, back) if row[1] == "failed"), None)
    again = next((row for row in states(back, silent) if row[1] == "running"), None)
    quiet = next((row for row in states(silent, silent + SILENT) if row[1] == "failed"), None)
    replayed = locations(json.loads(line) for line in replay.stdout.splitlines())
    print(f"with-gpsd: {log.name}: {len(heard)} locations, {len(strange)} that gpsd did not tell; "
          f"killed: said after {lost[0] - killed if lost else float('inf'):.2f} s ({lost[2] if lost else 'never'}); "
          f"back {again[0] - back if again else float('inf'):.2f} s after its start; "
          f"silent: said after {quiet[0] - silent if quiet else float('inf'):.2f} s ({quiet[2] if quiet else 'never'}); "
          f"{len(replayed)} locations replayed")
    if len(heard) < 8:
        broken.append(f"only {len(heard)} locations")
    # The witness may connect a moment later than the monitor.
    if len(strange) > 2:
        broken.append(f"positions that gpsd did not tell: {strange[:3]}")
    if not lost or lost[0] - killed > 2 or "no connection" not in lost[2]:
        broken.append("the loss of gpsd was not said")
    # gpsfake and gpsd take about two seconds to start.
    if not again or again[0] - back > 7:
        broken.append("not back after gpsd's return")
    if not quiet or quiet[0] - silent > 3:
        broken.append("the silence was not said")
    if replay.returncode != 0 or len(replayed) < 5 or any(place not in positions for place in replayed[2:]):
        broken.append(f"the recording does not replay: {replay.stderr.strip()[:200]}")
    if broken:
        sys.exit("broken: " + "; ".join(broken))


main()
