#!/usr/bin/env python3
"""Receivers' logs at the command line: decode and track.

usage: command-line-logs.py LODESTONE
"""
import csv
import json
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import time
import xml.etree.ElementTree

from checks import COMMAND, expect, finish
from command_line import folder, path, run, says

TRACK_POINT = "{http://www.topografix.com/GPX/1/1}trkpt"


def sentence(content):
    total = 0
    for byte in content.encode():
        total ^= byte
    return f"${content}*{total:02X}\r\n"


# Twenty epochs that end just before the 180th meridian, and one behind it.
LOG = "".join(
    sentence(f"GPRMC,1234{second:02},A,4807.{second:03},N,17959.{900 + 4 * second},E,1.5,90,221126,,")
    + sentence(f"GPGGA,1234{second:02},4807.{second:03},N,17959.{900 + 4 * second},E,1,08,0.9,545.4,M,46.9,M,,")
    + sentence("GPGSA,A,3,07,30,,,,,,,,,,,1.5,0.9,1.2")
    + sentence("GPGSV,1,1,02,07,71,123,45,30,20,360,30")
    for second in range(20))
LOG += sentence("GPRMC,123420,A,4807.020,N,17959.980,W,1.5,90,221126,,")


def no_logs():
    says("a log that is not there", ["decode", "/nope"], 66, "/nope: no such file")
    says("a folder for a log", ["decode", folder], 66, "is a directory")
    says("no message in three bytes", ["decode", "text"], 65, "in 3 bytes")
    (path / "empty").write_text("")
    says("no message in nothing", ["decode", "--format", "csv", "empty"], 65, "in 0 bytes of empty")
    says("a format that is none", ["decode", "--format", "kml", "text"], 64, "kml")
    says("a track of three bytes", ["track", "text"], 65, "in 3 bytes of text")
    says("a track of a folder", ["track", folder], 66, "is a directory")


def decoded():
    result = run("decode", "log", "/nope", "text", "log")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = [line["kind"] for line in lines]
    expect(
        "of several files those that can be read come out, the others are named",
        result.returncode == 66 and kinds.count("location") == 42 and kinds.count("sky") == 40
        and [line["sequence"] for line in lines] == list(range(82))
        and "/nope: no such file" in result.stderr and "in 3 bytes of text" in result.stderr, result.stderr)
    sky = next(line for line in lines if line["kind"] == "sky")
    expect(
        "a line has the satellites in view",
        sky["used"] == 2 and sky["inView"][0] == {
            "system": "GPS", "number": 7, "elevation": 71, "azimuth": 123, "carrierToNoise": 45, "used": True},
        sky)
    piped = subprocess.run([COMMAND, "decode", "-"], input=LOG.encode(), capture_output=True).stdout
    expect("standard input is a file like any other", piped.decode() == run("decode", "log").stdout)
    result = run("decode", "--format", "gpx", "log", "/nope", "log")
    root = xml.etree.ElementTree.fromstring(result.stdout)
    expect(
        "a track a file, well formed whatever else is missing",
        result.returncode == 66 and [len(list(track.iter(TRACK_POINT))) for track in root] == [21, 21]
        and root[0][0].text == "log", result.stdout[:300])
    says("no position in a track", ["decode", "--format", "gpx", "lost"], 1, "no position in 1 epoch")
    result = run("decode", "--format", "csv", "log", "lost")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    expect(
        "a table, a row an epoch",
        result.returncode == 0 and len(rows) == 22 and rows[3]["time_utc"] == "2026-11-22T12:34:03.000Z"
        and rows[3]["altitude_msl_m"] == "545.4" and rows[21]["latitude_deg"] == "", result.stdout[:300])
    with open("/dev/full", "w") as full:
        result = subprocess.run([COMMAND, "decode", path / "log"], stdout=full, stderr=subprocess.PIPE, text=True)
    expect(
        "a full disk is an error", result.returncode == 1
        and result.stderr == "lodestone: cannot write to standard output: No space left on device (28)\n", result.stderr)


def interrupted():
    os.mkfifo(path / "live")
    live = subprocess.Popen(
        [COMMAND, "decode", "--format", "gpx", "live"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
        bufsize=0)
    with open(path / "live", "w") as receiver:
        receiver.write(LOG)
        receiver.flush()
        # It is interrupted once it has read the whole log: the last epoch ends with the log.
        beginning, deadline = b"", time.monotonic() + 10
        while beginning.count(b"</trkpt>") < 20 and time.monotonic() < deadline:
            if select.select([live.stdout], [], [], 0.1)[0]:
                beginning += os.read(live.stdout.fileno(), 65536)
        live.send_signal(signal.SIGINT)
        rest, _ = live.communicate(timeout=10)
    root = xml.etree.ElementTree.fromstring(beginning + rest)
    silent = subprocess.Popen([COMMAND, "decode", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # When it waits for its input it has installed its signal handlers.
    deadline = time.monotonic() + 10
    while "poll" not in pathlib.Path(f"/proc/{silent.pid}/wchan").read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    silent.send_signal(signal.SIGINT)
    silent.communicate(timeout=10)
    expect("a receiver that says nothing is interrupted like any other", silent.returncode == 0, silent.returncode)
    expect(
        "a track that is interrupted is whole",
        live.returncode == 0 and len(list(root.iter(TRACK_POINT))) == 21, f"{live.returncode} {rest[-200:]}")


def read_by_gpsd():
    """gpsd reads the sentences that are written: each place within a millionth of a degree, at its time."""
    if not shutil.which("gpsdecode"):
        print("skipped: gpsdecode is missing (Debian: apt-get install gpsd-clients)")
        return
    written = run("decode", "--format", "nmea", "log").stdout
    reports = subprocess.run(["gpsdecode"], input=written.encode(), capture_output=True).stdout
    tpvs = [json.loads(line) for line in reports.splitlines() if b'"TPV"' in line]
    told = {tpv["time"][11:19]: tpv for tpv in tpvs if tpv.get("mode", 0) >= 2}
    lines = [json.loads(line) for line in run("decode", "log").stdout.splitlines()]
    ours = [line for line in lines if line["kind"] == "location"][:20]
    expect(
        "gpsd reads the sentences",
        sum(
            line["time"][11:19] in told
            and abs(told[line["time"][11:19]]["lat"] - line["latitude"]) < 1e-6
            and abs(told[line["time"][11:19]]["lon"] - line["longitude"]) < 1e-6 for line in ours) >= 18,
        reports[:300])


def tracks():
    result = run("track", "--format", "geojson", "log")
    features = json.loads(result.stdout)["features"]
    shapes = [feature["geometry"]["coordinates"] for feature in features]
    expect(
        "a track is cut at the date line",
        result.returncode == 0 and [len(shape) for shape in shapes] == [21, 2]
        and shapes[0][-1][0] == 180 and shapes[1][0][0] == -180 and shapes[0][0][2] == 592.3
        and len(features[0]["properties"]["coordinateProperties"]["times"]) == 21, result.stdout[:300])
    says("a track without a position", ["track", "lost"], 1, "there is no position in it")
    result = run("track", "--format", "svg", "log")
    picture = xml.etree.ElementTree.fromstring(result.stdout)
    expect(
        "a track is a picture that stands by itself",
        result.returncode == 0 and picture.tag == "{http://www.w3.org/2000/svg}svg"
        and ">start 2026-11-22 12:34:00 UTC<" in result.stdout
        and not any(name.endswith("href") for e in picture.iter() for name in e.attrib), result.stderr)
    (path / "table.csv").write_text(
        "time,latitude,longitude\n2026-11-22 12:00:00+00:00,48.1,11.5\n2026-11-22 12:00:01+00:00,48.2,11.5\n")
    result = run("track", "--format", "geojson", "table.csv")
    expect(
        "a table is a track",
        result.returncode == 0
        and json.loads(result.stdout)["features"][0]["geometry"]["coordinates"] == [[11.5, 48.1], [11.5, 48.2]],
        result.stdout[:300] + result.stderr)
    (path / "broken.csv").write_text("latitude,longitude\n48.1,east\n")
    says("a table with a mistake", ["track", "broken.csv"], 65, "broken.csv:2: east is no number")
    says("a picture of a size that is none", ["track", "--format", "svg", "--size", "5x5", "log"], 64, "--size")
    says("a map that is not there", ["track", "--format", "svg", "--tiles", "/nope", "log"], 66, "/nope: no such file")
    says("dark lines of text", ["track", "--dark", "log"], 64, "--format svg or png")
    if shutil.which("rsvg-convert"):
        image = subprocess.run(
            [COMMAND, "track", "--format", "png", "--size", "300x200", "--scale", "2", "log"], capture_output=True,
            cwd=folder).stdout
        size = struct.unpack(">II", image[16:24])
        expect("a picture of pixels has the size that was asked for", size == (600, 400), image[:30])
        says(
            "a program that is missing is named", ["track", "--format", "png", "log"], 78, "apt-get install librsvg2-bin",
            PATH="/nope")
    else:
        print("skipped: rsvg-convert is missing (Debian: apt-get install librsvg2-bin)")


(path / "text").write_text("abc")
(path / "log").write_text(LOG)
(path / "lost").write_text(sentence("GPRMC,123400,V,,,,,,,221126,,"))
for part in [no_logs, decoded, interrupted, read_by_gpsd, tracks]:
    part()
finish("command line, logs")
