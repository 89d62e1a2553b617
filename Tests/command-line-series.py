#!/usr/bin/env python3
"""Series of files at the command line: record and monitor for weeks, and what reads their files.

usage: command-line-series.py LODESTONE
"""
import functools
import gzip
import json
import operator
import os
import re
import signal
import subprocess
import time

from checks import COMMAND, environment, expect, finish
from command_line import folder, path, run, says

NAME = re.compile(r"-\d{8}T\d{6}Z")


def files(stem):
    """The names of the files of a series, in order."""
    return sorted(name for name in os.listdir(path) if re.match(re.escape(stem) + NAME.pattern, name))


def content(name):
    data = (path / name).read_bytes()
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode()


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def started(*arguments):
    return subprocess.Popen(
        [COMMAND, *arguments, "--board", "simulated"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        cwd=folder, env=environment())


def options():
    for arguments, text in [
        (["record", "--rotate", "100", "a"], "--rotate"),
        (["record", "--keep", "3", "a"], "go with --rotate"),
        (["record", "--rotate", "1h", "--keep", "0", "a"], "--keep takes"),
        (["record", "--rotate", "1h", "a.gz"], "does not end in .gz"),
        (["monitor", "--output", "a"], "go with --format json"),
        (["monitor", "--format", "json", "--rotate", "1h"], "goes with --output"),
        (["monitor", "--format", "json", "--every", "0"], "--every takes"),
        (["monitor", "--format", "json", "--kinds", "heading,weather"],
         "'weather' is no kind of line. The kinds are heading, location, altitude, absoluteAltitude, sensor, error"),
    ]:
        says(" ".join(arguments), [*arguments, "--board", "simulated", "--seconds", "1"], 64, text)


def recordings():
    # About 36 kB come in a second.
    result = run(
        "record", "--board", "simulated", "--seconds", "14", "--rotate", "64k", "--keep", "2", "--compress", "drive.trace",
        seconds=60)
    names = files("drive")
    expect("a recording rotates by its size", result.returncode == 0 and result.stderr.count("a new file begins") >= 3,
           result.stderr)
    expect("two finished files are kept, and the newest", len(names) == 3, names)
    # The last one that was finished may have been so at the very end.
    expect("finished files are compressed", [name.endswith(".gz") for name in names[::2]] == [True, False], names)
    for name in names:
        replay = run("replay", name)
        headings = replay.stdout.count('"kind":"heading"')
        # The newest may have begun at the very end.
        expect(
            f"{name} can be replayed by itself", replay.returncode == 0 and (headings > 2 or name == names[-1]),
            (headings, replay.stderr[-300:]))
    before = set(files("drive"))
    (path / "drive-20200101T000000Z.trace.bak").write_text("kept")
    (path / "drive-20200101T000000Z.trace").symlink_to("drive-20200101T000000Z.trace.bak")
    process = started("record", "--rotate", "1d", "--keep", "2", "--compress", "drive.trace")
    wait_for(lambda: len(set(files("drive")) - before) > 2)
    process.send_signal(signal.SIGHUP)
    line = process.stderr.readline()
    expect("SIGHUP begins the next file of a series", "a new file begins" in line, line)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    expect("and the command ends well", process.returncode == 0, errors)
    kept = [name for name in files("drive") if not name.startswith("drive-2020")]
    expect("a restart goes on with the series, and counts its older files", len(kept) in (3, 4), kept)
    expect(
        "what is not of the series stays",
        (path / "drive-20200101T000000Z.trace").is_symlink() and (path / "drive-20200101T000000Z.trace.bak").exists())


def logs():
    result = run(
        "monitor", "--board", "simulated", "--format", "json", "--seconds", "12", "--output", "log.jsonl", "--rotate", "3s",
        "--compress", seconds=60)
    names = files("log")
    expect("a log rotates by its age", result.returncode == 0 and len(names) >= 4, (names, result.stderr))
    expect("and prints nothing", result.stdout == "", result.stdout[:200])
    lines = [json.loads(line) for name in names for line in content(name).splitlines()]
    expect(
        "no line is missing between its files", [line["sequence"] for line in lines] == list(range(len(lines))), len(lines))
    places = [line for line in lines if line["kind"] == "location" and "latitude" in line]
    whole = "".join(content(name) for name in names)
    (path / "whole.jsonl").write_text(whole + '{"v":1,"kind":"loc')
    (path / "whole.jsonl.gz").write_bytes(gzip.compress(whole.encode()))
    for name, said in [("whole.jsonl", "1 damaged or cut off"), ("whole.jsonl.gz", "")]:
        track = run("track", "--format", "csv", name)
        rows = track.stdout.splitlines()[1:]
        expect(
            f"the track of {name} has its positions",
            track.returncode == 0 and said in track.stderr and len(rows) == len(places) > 3
            and float(rows[0].split(",")[4]) == places[0]["latitude"], track.stderr)
    feature = json.loads(run("track", "--format", "geojson", "whole.jsonl").stdout)["features"][0]
    accuracies = feature["properties"]["coordinateProperties"]["horizontalAccuracies"]
    expect("and their accuracies", accuracies[0] == places[0]["horizontalAccuracy"], accuracies[:3])

    # One file, by logrotate.
    process = started("monitor", "--format", "json", "--output", "one.jsonl")
    wait_for(lambda: (path / "one.jsonl").exists() and (path / "one.jsonl").stat().st_size > 1000)
    os.rename(path / "one.jsonl", path / "one.jsonl.1")
    process.send_signal(signal.SIGHUP)
    wait_for(lambda: (path / "one.jsonl").exists() and (path / "one.jsonl").stat().st_size > 1000)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    lines = [json.loads(line) for name in ["one.jsonl.1", "one.jsonl"] for line in content(name).splitlines()]
    expect(
        "SIGHUP begins a new file after the old one was moved away, and no line is missing",
        process.returncode == 0 and [line["sequence"] for line in lines] == list(range(len(lines))), errors)
    with open(path / "one.jsonl", "a") as log:
        log.write('{"v":1,"kin')
    result = run("monitor", "--board", "simulated", "--format", "json", "--seconds", "1", "--output", "one.jsonl")
    expect(
        "a restart continues the file behind the line that was cut off",
        result.returncode == 0 and '{"v":1,"kin\n{"v":1,"sequence":0' in content("one.jsonl"), result.stderr)
    expect("that only its owner can read", (path / "one.jsonl").stat().st_mode & 0o777 == 0o600)


def choices():
    result = run(
        "monitor", "--board", "simulated", "--format", "json", "--seconds", "11", "--every", "2", "--kinds",
        "heading,location,sensor")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = {line["kind"] for line in lines}
    expect("only the kinds that are named come out", kinds == {"heading", "location", "sensor"}, kinds)
    headings = [line for line in lines if line["kind"] == "heading"]
    expect("a heading comes every two seconds", 5 <= len(headings) <= 20, len(headings))
    skipped = sum(line.get("skipped", 0) for line in headings)
    expect("and says how many it stands for", skipped > 60, skipped)
    first = next(line for line in lines if line["kind"] == "location" and "latitude" in line)
    expect("the first position is not held back", first.get("skipped", 0) == 0, first)
    expect("sequence has no gap", [line["sequence"] for line in lines] == list(range(len(lines))))


def compressed():
    sentence = "GPRMC,123400,A,4807.038,N,01131.000,E,1.5,90,221126,,"
    check = functools.reduce(operator.xor, sentence.encode())
    (path / "log.nmea").write_text(f"${sentence}*{check:02X}\r\n")
    plain = run("decode", "log.nmea")
    (path / "log.nmea.gz").write_bytes(gzip.compress((path / "log.nmea").read_bytes()))
    packed = run("decode", "log.nmea.gz")
    expect("decode reads a compressed log", plain.stdout and packed.stdout == plain.stdout, packed.stderr)
    with open(path / "log.nmea.gz", "rb") as log:
        redirected = subprocess.run([COMMAND, "decode", "-"], stdin=log, capture_output=True, text=True, timeout=30)
    expect("and one that standard input is", redirected.stdout == plain.stdout, redirected.stderr)
    piped = subprocess.run(
        [COMMAND, "decode", "-"], input=gzip.compress(b"x"), capture_output=True, timeout=30)
    expect("a compressed pipe is an error that says what to do", piped.returncode == 65 and b"gzip -dc" in piped.stderr, piped.stderr)
    # 100 MB of zeros.
    (path / "bomb.gz").write_bytes(gzip.compress(bytes(100 << 20)))
    for command in ["decode", "replay", "track"]:
        result = run(command, "bomb.gz")
        expect(f"{command} refuses what grows beyond all measure", result.returncode == 65 and len(result.stderr) < 1000,
               (result.returncode, result.stderr[:300]))


options()
recordings()
logs()
choices()
compressed()
finish("series")
