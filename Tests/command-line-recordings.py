#!/usr/bin/env python3
"""Recordings at the command line: record and replay.

usage: command-line-recordings.py LODESTONE
"""
import fcntl
import json
import os
import select
import signal
import subprocess
import termios
import time
import xml.etree.ElementTree

from checks import COMMAND, expect, finish
from command_line import SIMULATED, folder, path, run, says


def files():
    (path / "text").write_text("abc")
    says("no recording", ["replay", "text"], 65, "no recording of lodestone")
    (path / "good").write_text("kept")
    run("record", "--force", "--board", "/nope.yaml", "good")
    expect("a failed start keeps an earlier recording", (path / "good").read_text() == "kept")
    says(
        "a recording that is there already", ["record", "--board", "simulated", "--seconds", "1", "good"], 64,
        "--force writes over it")

    # Links, pipes and devices are written into, never replaced.
    (path / "target").write_text("")
    (path / "link").symlink_to("target")
    run("record", "--board", "simulated", "--seconds", "1", "link")
    expect(
        "a recording goes through a link",
        (path / "link").is_symlink() and (path / "target").stat().st_size > 1000)
    os.mkfifo(path / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, cwd=folder)
    run("record", "--board", "simulated", "--seconds", "1", "pipe")
    expect("a recording goes into a pipe", len(reader.communicate(timeout=10)[0]) > 1000)
    says("a full disk", ["record", "--board", "simulated", "--seconds", "1", "/dev/full"], 74, "no space left")
    expect("a device stays one", not os.path.isfile("/dev/full"))


def started(*arguments, ignored=()):
    """Starts a command and waits for its first line. Returns its process, which ignores the signals `ignored` from the start."""
    def ignore():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    process = subprocess.Popen(
        [COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, preexec_fn=ignore)
    process.stdout.readline()
    return process


def signals():
    # Signals that were ignored at the start stay ignored; the others end the command.
    for what in [["monitor"], ["record", "--force", "ignored"]]:
        process = started(*what, "--board", "simulated", "--seconds", "20", ignored=[signal.SIGHUP, signal.SIGINT])
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        expect(f"{what[0]} under nohup, in the background", process.poll() is None, process.poll())
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=10)
        expect("and SIGTERM ends it", process.returncode == 0, errors)
    expect("with its recording whole", run("replay", "ignored").returncode == 0)


def rotation():
    """Log rotation: the file is moved away, and the recording goes on in a new one that can be replayed by itself."""
    process = started("record", "--board", "simulated", "--seconds", "20", "rotating")

    def hang_up():
        process.send_signal(signal.SIGHUP)
        return process.stderr.readline() if select.select([process.stderr], [], [], 5)[0] else ""

    said = hang_up()
    expect("SIGHUP without a move changes nothing", process.poll() is None and "has not been moved" in said, said)
    time.sleep(0.5)
    os.rename(path / "rotating", path / "rotating.1")
    (path / "rotating").write_text("precious")
    said = hang_up()
    expect("another file of the name is not written over", "is another file" in said, said)
    (path / "rotating").unlink()
    said = hang_up()
    expect("the old file is closed", "bytes in rotating, which was moved away: a new file begins" in said, said)
    for _ in range(100):
        if (path / "rotating").exists() and (path / "rotating").stat().st_size > 20_000:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=10)
    expect("and the new one goes on", process.returncode == 0 and "bytes in rotating\n" in errors, errors)
    for name in ["rotating.1", "rotating"]:
        result = run("replay", name)
        headings = [line for line in result.stdout.splitlines() if '"kind":"heading"' in line]
        expect(f"{name} can be replayed by itself", result.returncode == 0 and len(headings) > 5, result.stderr)

    # A stop that comes together with a rotation is neither lost nor fatal, in either order.
    for both in [(signal.SIGHUP, signal.SIGTERM), (signal.SIGTERM, signal.SIGHUP)] * 3:
        process = started("record", "--board", "simulated", "--seconds", "60", "--force", "stopped")
        os.replace(path / "stopped", path / "stopped.1")
        for number in both:
            process.send_signal(number)
        output, errors = process.communicate(timeout=20)
        expect(f"a recording that gets {both[0].name} and {both[1].name}", process.returncode == 0, errors)


def hanging_up():
    """A terminal that hangs up ends a recording, unless nohup keeps it."""
    for what, ignored in [("a terminal that hangs up ends a recording", False), ("but not under nohup", True)]:
        master, terminal = os.openpty()

        def controlled():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if ignored:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)

        process = subprocess.Popen(
            [COMMAND, "record", "--force", "--board", "simulated", "--seconds", "20", "hung"], stdin=terminal,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, preexec_fn=controlled)
        os.close(terminal)
        process.stdout.readline()
        os.close(master)
        try:
            process.wait(timeout=2 if ignored else 8)
        except subprocess.TimeoutExpired:
            pass
        expect(what, process.poll() == (None if ignored else 0), process.poll())
        process.terminate()
        process.communicate(timeout=10)
        expect("and it is whole", process.returncode == 0 and run("replay", "hung").returncode == 0)


def replayed(*arguments):
    """Replays a recording. Returns the result, its lines, and those that are headings."""
    result = run("replay", *arguments)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return result, lines, [line for line in lines if line["kind"] == "heading"]


def replays():
    # A replay prints the lines of a monitor.
    result, lines, headings = replayed("target")
    expect(
        "replayed lines carry time, counted from the start",
        result.returncode == 0 and len(headings) > 20 and all("time" in line for line in lines)
        and 0 <= headings[0]["monotonic"] < 1, result.stderr)
    # The receiver is found and configured within eight seconds.
    run("record", "--force", "--board", "simulated", "--seconds", "11", "target")
    _, lines, plain = replayed("target")
    places = [line for line in lines if line["kind"] == "location" and "latitude" in line]
    features = json.loads(run("track", "--format", "geojson", "target").stdout)["features"]
    points = [
        point for feature in features for point in (
            [feature["geometry"]["coordinates"]] if feature["geometry"]["type"] == "Point"
            else feature["geometry"]["coordinates"])]
    expect(
        "a recording's track has the places of its replay",
        len(places) > 3 and [point[:2] for point in points] == [[line["longitude"], line["latitude"]] for line in places],
        f"{places[:2]} {points[:2]}")
    root = xml.etree.ElementTree.fromstring(run("track", "target").stdout)
    accuracies = [float(e.text) for e in root.iter("{urn:lodestone:gpx:1}horizontalAccuracy")]
    expect("and its accuracies", accuracies == [line["horizontalAccuracy"] for line in places], accuracies[:3])
    result, _, headings = replayed("--smooth", "target")
    expect(
        "smoothed headings stand where the others stood",
        result.returncode == 0 and [line["monotonic"] for line in headings] == [line["monotonic"] for line in plain]
        and headings[0]["magneticHeading"] != plain[0]["magneticHeading"], result.stderr)
    gyro = SIMULATED[SIMULATED.index("  - chip: LSM6DSOX"):SIMULATED.index("  - chip: BMP280")]
    (path / "gyroless.yaml").write_text("level: true\n" + SIMULATED.replace(gyro, ""))
    run("record", "--board", "gyroless.yaml", "--seconds", "1", "gyroless")
    says("nothing to smooth", ["replay", "--smooth", "gyroless"], 1, "nothing to smooth: no gyro")
    cut = (path / "target").read_bytes()
    # It ends in the middle of a step: behind its first line.
    (path / "cut").write_bytes(cut[: cut.index(b"\n", cut.rindex(b"\ns ", 0, len(cut) * 2 // 3) + 1) + 1])
    result = run("replay", "cut")
    expect("a recording that was cut off says so", result.returncode == 0 and "cut off" in result.stderr)


for part in [files, signals, rotation, hanging_up, replays]:
    part()
finish("command line, recordings")
