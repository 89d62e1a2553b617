#!/usr/bin/env python3
"""The protocols of `lodestone serve`, held against their real peers: outputs.py FOLDER, where Scripts/build.sh has put the programs

gpsd: gpspipe, cgps and a client by hand. NMEA 0183: gpsd itself, which reads our sentences over TCP and UDP. Reports that are not to be trusted, and
who may not know the place."""
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

FOLDER = pathlib.Path(sys.argv[1]).resolve()
sys.argv[1] = str(FOLDER / "lodestone")

from checks import COMMAND, environment, expect, finish  # noqa: E402
from command_line import folder, path  # noqa: E402

GPSPIPE, GPSD, CGPS = shutil.which("gpspipe"), shutil.which("gpsd") or "/usr/sbin/gpsd", shutil.which("cgps")
begin = time.monotonic()


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as end:
        end.bind(("127.0.0.1", 0))
        return end.getsockname()[1]


@contextlib.contextmanager
def daemon(outputs, board="simulated", rules=None, extra=""):
    """A daemon with outputs, and the lines that it has said."""
    configuration = path / "serve.yaml"
    configuration.write_text(f"schema: 1\n{extra}outputs:\n" + "".join(f"  - {output}\n" for output in outputs))
    process = subprocess.Popen(
        [COMMAND, "serve", "--configuration", str(configuration), "--board", board, "--socket", str(path / "s")], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(STATE_DIRECTORY=str(path / "state")))
    said = [process.stdout.readline()]
    for _ in range(1 + len(outputs)):
        said.append(process.stdout.readline())
    expect("the daemon serves its outputs", "serving" in said[0] and all(re.search(r" (at|waits for) (udp://)?127\.0\.0\.1:", line) for line in said[2:]), said)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        expect("and ends with 0", process.wait(10) == 0, process.returncode)


def run(command, seconds):
    """What a program prints within a time."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(TERM="xterm"))
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


def reports(text):
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            pass
    return found


def watch(port, *wanted, seconds=40, options=("-w",)):
    """What gpspipe prints until reports of every wanted kind have come: chips wake up with the first client, and a receiver takes its
    time to a fix."""
    process = subprocess.Popen(
        [GPSPIPE, *options, f"127.0.0.1:{port}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment())
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    found = []
    for line in process.stdout:
        found += reports(line)
        if all(any(is_wanted(report) for report in found) for is_wanted in wanted):
            break
    timer.cancel()
    process.kill()
    process.wait(10)
    return found


def is_fix(report):
    return report["class"] == "TPV" and report.get("mode", 0) > 1


def is_attitude(key):
    return lambda report: report["class"] == "ATT" and key in report


def is_sky(report):
    return report["class"] == "SKY" and bool(report.get("satellites"))


def status():
    result = subprocess.run(
        [COMMAND, "serve", "--status", "--socket", str(path / "s"), "--format", "json"], capture_output=True, text=True, timeout=20,
        env=environment())
    return json.loads(result.stdout)


def gpsd():
    port = free_port()
    with daemon([f"{{protocol: gpsd, port: {port}, positions: exact}}"]):
        found = watch(port, is_fix, is_sky, is_attitude("mheading"))
        kinds = {report["class"] for report in found}
        expect("gpspipe -w gets every kind of report", kinds >= {"VERSION", "DEVICES", "WATCH", "TPV", "SKY", "ATT"}, (kinds, found[:5]), kinds)
        fixes = [report for report in found if is_fix(report)]
        expect("with positions and their accuracy", fixes and all(
            report["eph"] > 0 and -90 <= report["lat"] <= 90 and report["status"] >= 1 for report in fixes), fixes[:1], fixes[:1])
        attitudes = [report for report in found if report["class"] == "ATT" and "mheading" in report]
        expect("and headings with theirs", attitudes and all(
            0 <= report["mheading"] < 360 and report["headingAccuracy"] > 0 for report in attitudes), found[-3:], attitudes[:1])
        skies = [report for report in found if report["class"] == "SKY"]
        expect("and satellites", any(report.get("satellites") for report in skies), skies[:1])
        sentences = run([GPSPIPE, "-r", "-n", "30", f"127.0.0.1:{port}"], 20)
        expect("gpspipe -r gets sentences", re.search(r"^\$..GGA,.*\*[0-9A-F]{2}", sentences, re.M), sentences[:500])
        if CGPS and shutil.which("script"):
            shown = run(["script", "-qec", f"{CGPS} -s 127.0.0.1:{port}", "/dev/null"], 6)
            expect("cgps shows a fix", re.search(r"3D|2D", shown) and "Latitude" in shown, shown[-300:])
        entry = status()["outputs"][0]
        expect("the status counts", entry["name"] == "gpsd" and entry["sent"] > 50, entry, entry)


def sentences(transport):
    """gpsd reads what we send, and tells the same position as we tell it ourselves."""
    kind = socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM
    port, own, theirs = free_port(kind), free_port(), free_port()
    line = f"{{protocol: nmea0183, transport: {transport}, address: 127.0.0.1, port: {port}, positions: exact}}"
    with daemon([line, f"{{protocol: gpsd, port: {own}, positions: exact}}"]):
        reader = subprocess.Popen(
            [GPSD, "-N", "-n", "-S", str(theirs), f"{transport}://127.0.0.1:{port}"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=environment())
        try:
            # It listens a moment after it was started.
            for _ in range(50):
                with socket.socket() as end:
                    if end.connect_ex(("127.0.0.1", theirs)) == 0:
                        break
                time.sleep(0.1)
            read = watch(theirs, is_fix, is_attitude("heading"))
            said = watch(own, is_fix)
        finally:
            reader.terminate()
            reader.wait(10)

        def fixes(found):
            return [report for report in found if is_fix(report)]
        expect(f"gpsd has a fix by our sentences over {transport}", fixes(read), read[:4])
        if fixes(read) and fixes(said):
            north = (fixes(read)[-1]["lat"] - fixes(said)[-1]["lat"]) * 111_200
            east = (fixes(read)[-1]["lon"] - fixes(said)[-1]["lon"]) * 111_200 * math.cos(math.radians(fixes(said)[-1]["lat"]))
            expect("at the same place", math.hypot(north, east) < 50, (north, east), f"{math.hypot(north, east):.1f} m")
        headings = [report for report in read if report["class"] == "ATT" and "heading" in report]
        expect("and a heading", headings, [report for report in read if report["class"] == "ATT"][:2], headings[:1])


def withheld():
    """Where the owner names no positions, nothing tells the place."""
    port, second = free_port(), free_port()
    with daemon([f"{{protocol: gpsd, port: {port}}}", f"{{protocol: nmea0183, port: {second}}}"]):
        found = watch(port, is_fix, seconds=12)
        expect("without 'positions' no TPV has a place", not any("lat" in report or report.get("mode", 1) > 1 for report in found), found[-3:])
        expect("no true heading", not any("heading" in report for report in found if report["class"] == "ATT"), found[-3:])
        expect("and there is a magnetic one", any("mheading" in report for report in found), found[-3:])
        with socket.create_connection(("127.0.0.1", second), 5) as end:
            end.settimeout(5)
            text = b""
            while text.count(b"\n") < 60:
                text += end.recv(65_536)
        lines = text.decode().splitlines()
        expect("and no sentence has one", not any(re.search(r",\d{4,5}\.\d+,[NSEW],", line) for line in lines), lines[:5])


def mistakes():
    """Addresses that cannot be listened at."""
    for entry, words in [
            ("{protocol: gpsd, address: 192.0.2.7}", "192.0.2.7"),
            ("{protocol: gpsd, address: localhost}", "numeric address")]:
        configuration = path / "wrong.yaml"
        configuration.write_text(f"schema: 1\noutputs:\n  - {entry}\n")
        result = subprocess.run(
            [COMMAND, "serve", "--configuration", str(configuration), "--board", "simulated", "--socket", str(path / "s")],
            capture_output=True, text=True, timeout=20, env=environment(STATE_DIRECTORY=str(path / "state")))
        expect(f"{entry} is an error in words", result.returncode == 78 and words in result.stderr and "wrong.yaml:3:" in result.stderr,
               (result.returncode, result.stderr))


def taken():
    """A port that another program has, and gives back."""
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        end.listen()
        port, second = end.getsockname()[1], free_port()
        third = socket.create_server(("127.0.0.1", 0))
        page = third.getsockname()[1]
        with daemon(
                [f"{{protocol: gpsd, port: {port}}}", f"{{protocol: nmea0183, port: {second}}}"],
                extra=f"web: {{address: 127.0.0.1, port: {page}}}\n"):
            report = status()["outputs"][0]
            expect("a port that another program has is a problem in the status", "another program has the port" in report.get("problem", ""), report)
            with socket.create_connection(("127.0.0.1", second), 5) as other:
                other.settimeout(20)
                expect("and all else is served", other.recv(100).startswith(b"$"))
            until = time.monotonic() + 10
            # The page comes last.
            while (web := status()["outputs"][-1])["name"] != "web" and time.monotonic() < until:
                time.sleep(0.2)
            expect("the page's port is waited for as well", web["name"] == "web" and "another program has the port" in web.get("problem", ""), web)
            end.close()
            third.close()
            until = time.monotonic() + 40
            while "problem" in report and time.monotonic() < until:
                time.sleep(0.5)
                report = status()["outputs"][0]
            expect("it is opened once it is free", "problem" not in report, report)
            expect("and answers", any(found["class"] == "VERSION" for found in watch(port, lambda found: found["class"] == "VERSION", seconds=10)))
            while "web" in [output["name"] for output in status()["outputs"]] and time.monotonic() < until:
                time.sleep(0.5)
            with socket.create_connection(("127.0.0.1", page), 5) as other:
                other.settimeout(5)
                other.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                expect("and the page is served once its port is free", other.recv(100).startswith(b"HTTP/1.1 "))


if GPSPIPE is None or not os.access(GPSD, os.X_OK):
    sys.exit("outputs.py needs gpsd and gpsd-clients: Scripts/prepare.sh oracles")
gpsd()
sentences("tcp")
sentences("udp")
withheld()
mistakes()
taken()
finish("outputs", time.monotonic() - begin)
