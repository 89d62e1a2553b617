#!/usr/bin/env python3
"""The command's manners: exit codes, messages, and what it does to files that are given to it.

usage: command-line.py LODESTONE
"""
import csv
import fcntl
import json
import math
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import xml.etree.ElementTree

COMMAND = os.path.abspath(sys.argv[1])
failures = []
# A shell starts background jobs with SIGINT ignored, and children inherit that.
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def run(*arguments, seconds=30, **environment):
    # No board but the one that a case names, whatever this machine has.
    env = {k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}
    env.update(environment)
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, timeout=seconds, env=env, cwd=folder)


def expect(what, holds, detail=""):
    print(("ok      " if holds else "FAILED  ") + what)
    if not holds:
        failures.append(f"{what}: {detail}")


def says(what, arguments, code, text, **environment):
    result = run(*arguments, **environment)
    output = result.stdout + result.stderr
    expect(what, result.returncode == code and text in output, f"{result.returncode}: {output[-300:]}")


with tempfile.TemporaryDirectory() as name:
    folder = name
    path = pathlib.Path(folder)

    # Files that cannot be used.
    locked = path / "locked.yaml"
    locked.write_text("schema: 1\n")
    locked.chmod(0)
    if os.geteuid() != 0:
        says("a board file that this user may not read", ["monitor", "--board", "locked.yaml"], 77, "permission denied")
    begun = time.monotonic()
    (path / "many.yaml").write_text(
        "schema: 1\nname: many\nsensors:\n" + "".join(
            f"  - {{chip: NMEA, port: /dev/ttyUSB{k}}}\n" for k in range(400_000)))
    says("a board of 400,000 chips", ["monitor", "--board", "many.yaml"], 78, "longer than 1048576 bytes")
    (path / "many.yaml").write_text(
        "schema: 1\nname: many\nsensors:\n" + "".join(
            f"  - {{chip: NMEA, port: /dev/ttyUSB{k}}}\n" for k in range(20_000)))
    says("a board of 20,000", ["monitor", "--board", "many.yaml"], 78, "many.yaml:3: 'sensors' has 20000 chips; a board has 256")
    expect("both are refused within 5 s", time.monotonic() - begun < 5, time.monotonic() - begun)
    (path / "configuration").mkdir()
    (path / "configuration" / "A.COF").mkdir()
    (path / "configuration" / "B.COF").write_bytes(b"\xff\xfe")
    os.mkfifo(path / "configuration" / "C.COF")
    result = run("declination", "52", "13", "--date", "2026.5", CONFIGURATION_DIRECTORY=str(path / "configuration"))
    expect(
        "models that cannot be read are named in a sentence each", result.returncode == 0
        and result.stderr.splitlines() == [
            f"lodestone: the magnetic model is not used: {path}/configuration/{name}.COF: {why}" for name, why in [
                ("A", "it is not a regular file"), ("B", "it is not UTF-8 text"), ("C", "it is not a regular file")]],
        result.stderr)

    # Far from the project's folder the simulated board is there all the same.
    says("the simulated board is everywhere", ["monitor", "--board", "simulated", "--seconds", "1"], 0, "heading")
    says("a board that is not there", ["monitor", "--board", "boat"], 78, "no board called 'boat'")
    says("a board by half its name", ["monitor", "--board", "GY271"], 78, "there is gy-271-hmc5883l, gy-271-qmc5883l;")
    says("a board file that is not there", ["monitor", "--board", "/nope.yaml"], 78, "there is no such file")
    says("a folder for a board file", ["doctor", "--board", folder], 1, "is a folder")
    says("--truth without json", ["monitor", "--board", "simulated", "--truth"], 64, "--format json")
    rules = path / "authorization.yaml"
    rules.write_text("schema: 1\nrules:\n  - {executable: /usr/bin/boat, authorization: always, accuracy: reduced}\n")
    asked = {"LODESTONE_AUTHORIZATION": str(rules), "STATE_DIRECTORY": str(path / "decisions")}
    says("the owner's rules", ["authorization"], 0, "/usr/bin/boat: always, reduced accuracy", **asked)
    says("forgetting what was not decided", ["authorization", "forget", "boat"], 1, "nothing was decided about 'boat'", **asked)
    rules.write_text("schema: 1\nrules: []\nrule: 3\n")
    says("a mistake in the rules", ["authorization"], 78, "authorization.yaml:3", **asked)
    says("no board is opened with it", ["monitor", "--board", "simulated"], 78, "authorization.yaml:3", **asked)
    rules.write_text("schema: 1\nrules:\n  - {user: nobody-of-this-name, authorization: denied}\n")
    says("a rule for nobody", ["authorization"], 78, "authorization.yaml:3: there is no user", **asked)
    rules.unlink()
    says("rules that are named and missing", ["authorization"], 78, "LODESTONE_AUTHORIZATION names it", **asked)
    rules.write_text("schema: 1\nrules: []\nrule: 3\n")
    says("the doctor knows of it", ["doctor", "--board", "simulated"], 1, "authorization.yaml:3", **asked)
    says("a negative time", ["monitor", "--board", "simulated", "--seconds", "-3"], 64, "above zero")
    says("a log that is not there", ["decode", "/nope"], 66, "/nope: no such file")
    says("a folder for a log", ["decode", folder], 66, "is a directory")
    says("a date that is none", ["declination", "52", "13", "--date", "2026-02-30"], 64, "2026-02-30")
    says("a latitude beyond the pole", ["declination", "95", "13"], 64, "latitude must be")

    says("the receiver for a negative time", ["gnss", "--board", "simulated", "--seconds", "-3"], 64, "above zero")
    says("a receiver that has said no satellites yet", ["gnss", "--board", "simulated", "--seconds", "4"], 0, "no satellites said")
    result = run("gnss", "--board", "simulated", "--seconds", "15", "--format", "json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    skies = [line for line in lines if line["kind"] == "sky"]
    expect(
        "satellites and receiver as lines",
        result.returncode == 0 and skies and len(skies[-1]["inView"]) == 20 and skies[-1]["used"] >= 2
        and any(line.get("protocol") == "UBX (CFG-VALSET)" for line in lines if line["kind"] == "sensor"),
        f"{result.returncode} {result.stdout[-300:]} {result.stderr}")

    (path / "text").write_text("abc")
    says("no message in three bytes", ["decode", "text"], 65, "in 3 bytes")
    (path / "empty").write_text("")
    says("no message in nothing", ["decode", "--format", "csv", "empty"], 65, "in 0 bytes of empty")
    says("a format that is none", ["decode", "--format", "kml", "text"], 64, "kml")
    says("a track of three bytes", ["track", "text"], 65, "in 3 bytes of text")
    says("a track of a folder", ["track", folder], 66, "is a directory")

    def sentence(content):
        total = 0
        for byte in content.encode():
            total ^= byte
        return f"${content}*{total:02X}\r\n"

    log = "".join(
        sentence(f"GPRMC,1234{second:02},A,4807.{second:03},N,17959.{900 + 4 * second},E,1.5,90,221126,,")
        + sentence(f"GPGGA,1234{second:02},4807.{second:03},N,17959.{900 + 4 * second},E,1,08,0.9,545.4,M,46.9,M,,")
        + sentence("GPGSA,A,3,07,30,,,,,,,,,,,1.5,0.9,1.2")
        + sentence("GPGSV,1,1,02,07,71,123,45,30,20,360,30")
        for second in range(20))
    log += sentence("GPRMC,123420,A,4807.020,N,17959.980,W,1.5,90,221126,,")
    (path / "log").write_text(log)
    (path / "lost").write_text(sentence("GPRMC,123400,V,,,,,,,221126,,"))
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
    piped = subprocess.run([COMMAND, "decode", "-"], input=log.encode(), capture_output=True).stdout
    expect("standard input is a file like any other", piped.decode() == run("decode", "log").stdout)
    result = run("decode", "--format", "gpx", "log", "/nope", "log")
    spaces = "{http://www.topografix.com/GPX/1/1}"
    root = xml.etree.ElementTree.fromstring(result.stdout)
    expect(
        "a track a file, well formed whatever else is missing",
        result.returncode == 66 and [len(list(track.iter(spaces + "trkpt"))) for track in root] == [21, 21]
        and root[0][0].text == "log", result.stdout[:300])
    os.mkfifo(path / "live")
    live = subprocess.Popen(
        [COMMAND, "decode", "--format", "gpx", "live"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
        bufsize=0)
    with open(path / "live", "w") as receiver:
        receiver.write(log)
        receiver.flush()
        # It is interrupted once it has read all of it: the last epoch ends with the log.
        beginning, deadline = b"", time.monotonic() + 10
        while beginning.count(b"</trkpt>") < 20 and time.monotonic() < deadline:
            if select.select([live.stdout], [], [], 0.1)[0]:
                beginning += os.read(live.stdout.fileno(), 65536)
        live.send_signal(signal.SIGINT)
        rest, _ = live.communicate(timeout=10)
    root = xml.etree.ElementTree.fromstring(beginning + rest)
    silent = subprocess.Popen([COMMAND, "decode", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # It waits for its input once it has handlers for signals.
    deadline = time.monotonic() + 10
    while "poll" not in pathlib.Path(f"/proc/{silent.pid}/wchan").read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    silent.send_signal(signal.SIGINT)
    silent.communicate(timeout=10)
    expect("a receiver that says nothing is interrupted like any other", silent.returncode == 0, silent.returncode)
    expect(
        "a track that is interrupted is whole",
        live.returncode == 0 and len(list(root.iter(spaces + "trkpt"))) == 21, f"{live.returncode} {rest[-200:]}")
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
    if shutil.which("gpsdecode"):
        # gpsd reads what we write: each place within a millionth of a degree, at its time.
        written = run("decode", "--format", "nmea", "log").stdout
        reports = subprocess.run(["gpsdecode"], input=written.encode(), capture_output=True).stdout
        tpvs = [json.loads(line) for line in reports.splitlines() if b'"TPV"' in line]
        told = {tpv["time"][11:19]: tpv for tpv in tpvs if tpv.get("mode", 0) >= 2}
        ours = [line for line in lines if line["kind"] == "location"][:20]
        expect(
            "gpsd reads the sentences",
            sum(
                line["time"][11:19] in told
                and abs(told[line["time"][11:19]]["lat"] - line["latitude"]) < 1e-6
                and abs(told[line["time"][11:19]]["lon"] - line["longitude"]) < 1e-6 for line in ours) >= 18,
            reports[:300])
    else:
        print("skipped: gpsdecode is missing (Debian: apt-get install gpsd-clients)")

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
        result.returncode == 0 and picture.tag == "{http://www.w3.org/2000/svg}svg" and ">start 2026-11-22 12:34:00 UTC<" in result.stdout
        and not any(name.endswith("href") for e in picture.iter() for name in e.attrib), result.stderr)
    (path / "table.csv").write_text("time,latitude,longitude\n2026-11-22 12:00:00+00:00,48.1,11.5\n2026-11-22 12:00:01+00:00,48.2,11.5\n")
    result = run("track", "--format", "geojson", "table.csv")
    expect(
        "a table is a track",
        result.returncode == 0 and json.loads(result.stdout)["features"][0]["geometry"]["coordinates"] == [[11.5, 48.1], [11.5, 48.2]],
        result.stdout[:300] + result.stderr)
    (path / "broken.csv").write_text("latitude,longitude\n48.1,east\n")
    says("a table with a mistake", ["track", "broken.csv"], 65, "broken.csv:2: east is no number")
    says("a picture of a size that is none", ["track", "--format", "svg", "--size", "5x5", "log"], 64, "--size")
    says("a map that is not there", ["track", "--format", "svg", "--tiles", "/nope", "log"], 66, "/nope: no such file")
    says("dark lines of text", ["track", "--dark", "log"], 64, "--format svg or png")
    if shutil.which("rsvg-convert"):
        image = subprocess.run(
            [COMMAND, "track", "--format", "png", "--size", "300x200", "--scale", "2", "log"], capture_output=True, cwd=folder).stdout
        expect("a picture of pixels has the size that was asked for", struct.unpack(">II", image[16:24]) == (600, 400), image[:30])
        says("a program that is missing is named", ["track", "--format", "png", "log"], 78, "apt-get install librsvg2-bin", PATH="/nope")
    else:
        print("skipped: rsvg-convert is missing (Debian: apt-get install librsvg2-bin)")
    says("no recording", ["replay", "text"], 65, "no recording of lodestone")

    # A slip in the board's name costs no recording.
    (path / "good").write_text("kept")
    run("record", "--force", "--board", "/nope.yaml", "good")
    expect("a failed start keeps an earlier recording", (path / "good").read_text() == "kept")
    says(
        "a recording that is there already", ["record", "--board", "simulated", "--seconds", "1", "good"], 64,
        "--force writes over it")

    # What is no regular file is written into, never replaced.
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

    # Signals that were ignored at the start stay ignored; the others end the command.
    def started(*arguments, ignored=()):
        def ignore():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)

        process = subprocess.Popen(
            [COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, preexec_fn=ignore)
        process.stdout.readline()
        return process

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
    # Log rotation: the file is moved away, and a new one begins that can be replayed by itself.
    process = started("record", "--board", "simulated", "--seconds", "20", "rotating")
    process.send_signal(signal.SIGHUP)
    said = process.stderr.readline() if select.select([process.stderr], [], [], 5)[0] else ""
    expect("SIGHUP without a move changes nothing", process.poll() is None and "has not been moved" in said, said)
    time.sleep(0.5)
    os.rename(path / "rotating", path / "rotating.1")
    (path / "rotating").write_text("precious")
    process.send_signal(signal.SIGHUP)
    said = process.stderr.readline() if select.select([process.stderr], [], [], 5)[0] else ""
    expect("another file of the name is not written over", "is another file" in said, said)
    (path / "rotating").unlink()
    process.send_signal(signal.SIGHUP)
    said = process.stderr.readline() if select.select([process.stderr], [], [], 5)[0] else ""
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

    # A stop that comes with a rotation is neither lost nor fatal, whichever is first.
    for both in [(signal.SIGHUP, signal.SIGTERM), (signal.SIGTERM, signal.SIGHUP)] * 3:
        process = started("record", "--board", "simulated", "--seconds", "60", "--force", "stopped")
        os.replace(path / "stopped", path / "stopped.1")
        for number in both:
            process.send_signal(number)
        output, errors = process.communicate(timeout=20)
        expect(f"a recording that gets {both[0].name} and {both[1].name}", process.returncode == 0, errors)
    # A terminal that hangs up ends a recording, as long as nohup does not keep it.
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

    # A replay's lines are a monitor's.
    result = run("replay", "target")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    headings = [line for line in lines if line["kind"] == "heading"]
    expect(
        "replayed lines carry time, counted from the start",
        result.returncode == 0 and len(headings) > 20 and all("time" in line for line in lines)
        and 0 <= headings[0]["monotonic"] < 1, result.stderr)
    plain = headings
    # Its receiver is found and configured within eight seconds.
    run("record", "--force", "--board", "simulated", "--seconds", "11", "target")
    result = run("replay", "target")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    plain = [line for line in lines if line["kind"] == "heading"]
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
    result = run("replay", "--smooth", "target")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    headings = [line for line in lines if line["kind"] == "heading"]
    expect(
        "smoothed headings stand where the others stood",
        result.returncode == 0 and [line["monotonic"] for line in headings] == [line["monotonic"] for line in plain]
        and headings[0]["magneticHeading"] != plain[0]["magneticHeading"], result.stderr)
    simulated = (pathlib.Path(__file__).resolve().parents[1] / "Boards" / "simulated.yaml").read_text()
    gyro = simulated[simulated.index("  - chip: LSM6DSOX"):simulated.index("  - chip: BMP280")]
    (path / "gyroless.yaml").write_text("level: true\n" + simulated.replace(gyro, ""))
    run("record", "--board", "gyroless.yaml", "--seconds", "1", "gyroless")
    says("nothing to smooth", ["replay", "--smooth", "gyroless"], 1, "nothing to smooth: no gyro")
    cut = (path / "target").read_bytes()
    # In the middle of a step: behind its first line.
    (path / "cut").write_bytes(cut[: cut.index(b"\n", cut.rindex(b"\ns ", 0, len(cut) * 2 // 3) + 1) + 1])
    result = run("replay", "cut")
    expect("a recording that was cut off says so", result.returncode == 0 and "cut off" in result.stderr)

    # Wires that lead nowhere.
    (path / "bare.yaml").write_text(
        "schema: 1\nname: bare\nsensors:\n  - {chip: LIS3MDL, bus: /dev/i2c-99, address: 0x1c}\n")
    result = run("monitor", "--board", "bare.yaml", "--seconds", "1.5")
    expect(
        "a board without an answer ends in failure, and says so once",
        result.returncode == 1 and result.stdout.count("\nsensor ") == 1, result.stdout)
    says("a board without a receiver", ["gnss", "--board", "bare.yaml", "--seconds", "1"], 1, "no receiver")
    says("a magnetometer alone", ["doctor", "--board", "bare.yaml"], 1, "level: true")
    says("a missing bus", ["doctor", "--board", "bare.yaml"], 1, "/dev/i2c-99 does not exist")
    says(
        "a state folder that cannot be", ["doctor", "--board", "simulated"], 1, "cannot be written",
        STATE_DIRECTORY="/proc/nope")
    says(
        "a state folder that is none", ["monitor", "--board", "simulated", "--seconds", "1"], 74, "/dev/null",
        STATE_DIRECTORY="/dev/null")

    # Records of the machine.
    (path / "boat.yaml").write_text(
        "schema: 1\nname: boat\nlevel: true\nsensors:\n  - {chip: LIS3MDL, bus: /dev/i2c-99, address: 0x1c}\n")
    says(
        "a board that is not calibrated", ["doctor", "--board", "boat.yaml"], 1,
        "lodestone calibrate magnetometer --board boat.yaml",
        STATE_DIRECTORY=folder)
    (path / "calibrations").mkdir()
    (path / "calibrations" / "my.json").write_text("{}")
    says(
        "a record that nobody uses", ["doctor", "--board", "boat.yaml"], 1, "belongs to no chip",
        STATE_DIRECTORY=folder)
    (path / "calibrations" / "LIS3MDL@_dev_i2c-99_0x1c.json").write_text("{}")
    says(
        "a damaged record", ["doctor", "--board", "boat.yaml"], 1, "'schema' is missing",
        STATE_DIRECTORY=folder)

    # Calibrating at rest, and looking after what is stored.
    legs = simulated.index("  legs:\n") + len("  legs:\n")
    (path / "still.yaml").write_text(simulated[:legs] + "    - {seconds: 60, fix: false}\n")
    (path / "turning.yaml").write_text(simulated[:legs] + "    - {seconds: 60, turn: 2400, fix: false}\n")
    kept = {"STATE_DIRECTORY": str(path / "kept")}

    def calibrate(*arguments, board="still.yaml"):
        result = run("calibrate", *arguments, "--board", board, **kept)
        lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        return result, [line for line in lines if line.get("kind") != "progress"]

    at_rest = ("--yes", "--format", "json", "--seconds", "3")
    result, lines = calibrate("gyro", *at_rest)
    expect(
        "a gyro at rest", result.returncode == 0 and lines[0]["accepted"] and lines[0]["saved"]
        and lines[0]["v"] == 1 and lines[0]["kind"] == "calibration" and lines[0]["record"] == "gyro"
        and os.path.isfile(lines[0]["file"]) and result.stderr == "", result.stderr)
    expect(
        "a program hears how far it is", result.stdout.startswith('{"v":1,"kind":"progress","seconds":1.'),
        result.stdout)
    result, lines = calibrate("level", *at_rest)
    expect(
        "a board at rest", result.returncode == 0 and lines[0]["tilt"] < 2 and lines[0]["method"] == "onePosition",
        result.stderr)
    result = run(
        "calibrate", "gyro", "--yes", "--seconds", "3", "--board", "still.yaml", STATE_DIRECTORY=str(path / "words"))
    expect(
        "and in words", result.returncode == 0 and "saved: /" in result.stdout
        and "held still for 2 of 3 s" in result.stderr, result.stdout + result.stderr)
    for what in ["gyro", "level"]:
        result, lines = calibrate(what, *at_rest, board="turning.yaml")
        expect(
            f"{what} on a board that turns", result.returncode == 1 and not lines[0]["accepted"]
            and "deg" in lines[0]["reason"], result.stdout + result.stderr)
        result, lines = calibrate(what, *at_rest, board="boat.yaml")
        expect(
            f"{what} on a board without the chip", result.returncode == 1
            and ("accelerometer" in lines[0]["reason"] or "gyro" in lines[0]["reason"]), result.stdout)
    for what in [["gyro"], ["level"], ["mount"], ["planar"], ["heading", "75"], ["deviation"], ["course"]]:
        begun = time.monotonic()
        says(
            f"nobody at the keyboard, {what[0]}", ["calibrate", *what, "--board", "still.yaml"], 64,
            "nobody is at the keyboard")
        expect("which is said at once", time.monotonic() - begun < 3)
    # The simulated board sets off after four seconds: what to take instead is said, and does.
    hand = (pathlib.Path(__file__).resolve().parents[1] / "Boards" / "simulated-hand.yaml").read_text()
    (path / "hand.yaml").write_text(hand.replace("/tmp/lodestone-hand", str(path / "hand")))
    for what, more in [("level", ()), ("gyro", ("--format", "json"))]:
        says(
            f"{what} on the simulated board", ["calibrate", what, "--yes", "--seconds", "8", *more, "--board", "simulated"],
            1, "a simulated board goes the way of its file")
        says(
            f"{what} on the one that lies still",
            ["calibrate", what, "--yes", "--seconds", "5", "--board", "hand.yaml"], 0, "not kept")
    result = run("calibrate", "level", "--yes", "--board", "hand.yaml")
    expect(
        "that nothing is kept is said before the work", result.stdout.startswith("a simulated board: nothing is kept"),
        result.stdout)
    # A terminal does not have to break words.
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    process = subprocess.Popen(
        [COMMAND, "calibrate", "level", "--yes", "--seconds", "8", "--board", "simulated"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=terminal, cwd=folder)
    os.close(terminal)
    said = b""
    try:
        while piece := os.read(master, 4096):
            said += piece
    except OSError:
        pass
    os.close(master)
    refusal = said.decode().replace("\r", "")
    refusal = refusal[refusal.find("Error: "):].rstrip("\n").split("\n")
    expect(
        "a long refusal is broken between words", process.wait() == 1 and len(refusal) > 2
        and max(map(len, refusal)) <= 60 and "a simulated board goes the way of its file" in " ".join(refusal),
        refusal)
    says(
        "a vehicle without a receiver", ["calibrate", "mount", "--vehicle", "--yes", "--board", "hand.yaml"], 1,
        "this board has no receiver")
    says("two positions by nobody", ["calibrate", "level", "--two-positions", "--yes"], 64, "not with --yes")
    # At a terminal: a question a position. A compass tells that nobody has turned it in between.
    def two_positions(board):
        master, terminal = os.openpty()
        process = subprocess.Popen(
            [COMMAND, "calibrate", "level", "--two-positions", "--seconds", "2", "--board", board],
            stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
            env={**{k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}, **kept})
        os.close(terminal)
        asked = ""
        for line in process.stderr:
            asked += line
            if "Press Return" in line:
                os.write(master, b"\n")
        output = process.stdout.read()
        os.close(master)
        return process.wait(timeout=30), asked, output

    blind = re.sub(r"  - chip: LIS3MDL\n(    .*\n)+", "", (path / "still.yaml").read_text())
    (path / "blind.yaml").write_text(blind)
    code, asked, output = two_positions("blind.yaml")
    expect(
        "two positions at a terminal", code == 0 and asked.count("Press Return") == 2 and "twoPositions" in output
        and "deg from level" in output, asked + output)
    code, asked, output = two_positions("still.yaml")
    expect(
        "two positions that are one", code == 1 and "was not turned by half" in " ".join(asked.split()), asked + output)
    # The end of input, Ctrl-D at a terminal, is no Return, and neither is a "q".
    for what, key, words in [
        (what, *end) for what in ["mount", "level"]
        for end in [(b"\x04", b"nobody answers; what was stored stays"), (b"q\n", b"given up; what was stored stays")]]:
        master, terminal = os.openpty()
        process = subprocess.Popen(
            [COMMAND, "calibrate", what, "--board", "still.yaml"], stdin=terminal, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, cwd=folder,
            env={**{k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}, **kept})
        os.close(terminal)
        said = b""
        while b"Return" not in said:
            said += os.read(process.stderr.fileno(), 4096) or b"Return at the end of its words"
        os.write(master, key)
        try:
            said += process.communicate(timeout=8)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said += b" and no end"
        os.close(master)
        expect(
            f"{key} ends {what}", process.wait() == 1 and words in said, repr(said))
    # What is neither yes nor no saves nothing: it is asked again.
    master, terminal = os.openpty()
    process = subprocess.Popen(
        [COMMAND, "calibrate", "heading", "40", "--latitude", "52.5163", "--longitude", "13.3777", "--seconds", "2",
         "--board", "still.yaml"],
        stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")},
             "STATE_DIRECTORY": str(path / "asked")})
    os.close(terminal)
    said = b""
    for answer in [b"quit\n", b"ls -l\n", b"n\n"]:
        while not said.endswith((b"[Y/n] ", b"[y/N] ")):
            said += os.read(process.stderr.fileno(), 4096) or b" and an end [Y/n] "
        said += b"\n"
        os.write(master, answer)
    output, more = process.communicate(timeout=20)
    os.close(master)
    expect(
        "an answer that is none", said.count(b"/") >= 3 and b"not saved" in output and b"saved: " not in output,
        repr(said + output + more))
    # A hand speaks to one board.
    process = subprocess.Popen(
        [COMMAND, "monitor", "--board", "hand.yaml", "--seconds", "20"], stdout=subprocess.PIPE, text=True, cwd=folder)
    process.stdout.readline()
    says("a second program on one control line", ["monitor", "--board", "hand.yaml", "--seconds", "1"], 74, "another program")
    expect("and the first one keeps it", (path / "hand").is_socket())
    process.terminate()
    process.communicate(timeout=20)
    # A swing: what is no heading is said to be none.
    process = subprocess.Popen(
        [COMMAND, "calibrate", "deviation", "--yes", "--board", "still.yaml"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}, **kept})
    output, errors = process.communicate("banana\n400\nq\n", timeout=30)
    expect(
        "an answer that is no heading",
        "'banana' is no heading: a number from 0 to 360" in output and "'400' is no heading" in output
        and output.count("turn to N") == 3, output + errors)
    # Ctrl-C: while a board is listened to, at a question, and at a question after that.
    def interrupted(what, arguments, text, number, presses=0):
        master, terminal = os.openpty()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}
        process = subprocess.Popen(
            [COMMAND, "calibrate", *arguments, "--board", "still.yaml"], stdin=terminal, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, cwd=folder, env={**environment, **kept})
        os.close(terminal)
        said, end = b"", time.monotonic() + 20
        while time.monotonic() < end:
            if not select.select([process.stderr], [], [], 0.2)[0]:
                continue
            piece = os.read(process.stderr.fileno(), 4096)
            if not piece:
                break
            said += piece
            for _ in range(piece.count(b"Press Return") if presses > 0 else 0):
                presses -= 1
                os.write(master, b"\n")
            if text in said and presses <= 0:
                process.send_signal(number)
                text = b"\0 never"
        code = process.wait(timeout=20)
        os.close(master)
        expect(what, code == 128 + number and said.count(b"interrupted; what was stored stays") == 1, f"{code}: {said[-300:]}")

    at_the_desk = ["level", "--two-positions", "--seconds", "2"]
    interrupted("Ctrl-C at rest", ["gyro", "--yes"], b"held still for 1", signal.SIGINT)
    interrupted("Ctrl-C while a turn is watched", ["planar", "--yes"], b"1 s  N[", signal.SIGINT)
    interrupted("a stop at a question", at_the_desk, b"Press Return", signal.SIGTERM)
    interrupted("Ctrl-C at a question after a run", at_the_desk, b"half a turn", signal.SIGINT, presses=1)
    interrupted(
        "Ctrl-C at a question before saving",
        ["heading", "40", "--latitude", "52.5163", "--longitude", "13.3777", "--seconds", "2"], b"[Y/n]", signal.SIGINT)

    result, lines = calibrate("list", "--format", "json")
    expect(
        "all records are listed", result.returncode == 0
        and sorted(line["kind"] for line in lines) == ["gyro", "level", "magnetometer"], result.stdout)
    result, _ = calibrate("list")
    expect(
        "the list fits a terminal",
        result.stdout.count("\n") == 4 and max(map(len, result.stdout.splitlines())) <= 80
        and result.stdout.split()[:6] == ["chip", "place", "kind", "method", "result", "made"], result.stdout)

    result, _ = calibrate("lock", "--kind", "gyro")
    expect("a record is locked", result.returncode == 0 and "is locked" in result.stdout, result.stderr)
    result, lines = calibrate("gyro", *at_rest)
    expect(
        "a locked record stays, and how to unlock it is said of this board", result.returncode == 1
        and "is locked. Unlock it (lodestone calibrate unlock --board still.yaml " in lines[0]["reason"],
        result.stdout + result.stderr)
    calibrate("lock", "--kind", "magnetometer")
    begun = time.monotonic()
    result, lines = calibrate("planar", "--yes", "--format", "json")
    expect(
        "a locked record is met at once", result.returncode == 1 and "locked" in lines[0]["reason"]
        and lines[0]["saved"] is False and time.monotonic() - begun < 5, result.stdout + result.stderr)
    stored = next(pathlib.Path(kept["STATE_DIRECTORY"]).rglob("LIS3MDL@*.json"))
    locked = stored.read_text()
    stored.write_text(locked.replace('"schema" : 1', '"schema" : 7'))
    begun = time.monotonic()
    result, lines = calibrate("planar", "--yes", "--format", "json")
    expect(
        "a newer version's too", result.returncode == 1 and "locked" in lines[0]["reason"]
        and lines[0]["saved"] is False and time.monotonic() - begun < 5, result.stdout + result.stderr)
    stored.write_text(locked)
    calibrate("unlock", "--kind", "magnetometer")
    result, _ = calibrate("gyro", "--yes", "--seconds", "3")
    expect(
        "in words too", result.returncode == 1 and "unlock --board still.yaml" in result.stderr, result.stderr)
    result, lines = calibrate("gyro", *at_rest, "--force")
    expect("unless --force says otherwise", result.returncode == 0 and not lines[0]["locked"], result.stderr)
    result, lines = calibrate("rollback", "lsm6dsox", "--kind", "gyro", "--format", "json")
    expect("the record before comes back", result.returncode == 0 and lines[0]["kind"] == "gyro", result.stderr)
    result, _ = calibrate("rollback", "--forward", "LSM6DSOX", "--kind", "gyro")
    expect("and forward again", result.returncode == 0 and "in use is now" in result.stdout, result.stderr)
    result, _ = calibrate("rollback", "--forward", "LSM6DSOX", "--kind", "gyro")
    expect("no further than the newest", result.returncode == 1 and "is the newest" in result.stderr, result.stderr)
    calibrate("rollback", "LSM6DSOX", "--kind", "gyro")
    result, _ = calibrate("rollback", "LSM6DSOX", "--kind", "gyro")
    expect("no further than there is", result.returncode == 1 and "no earlier record" in result.stderr, result.stderr)
    result, _ = calibrate("show", "LSM6DSOX")
    expect("a chip with two records is asked for", result.returncode == 64 and "which one?" in result.stderr)
    result, lines = calibrate("show", "LSM6DSOX", "--kind", "gyro", "--format", "json")
    expect(
        "one record with its history",
        result.returncode == 0 and [line["inUse"] for line in lines] == [True, False, False], result.stdout)

    calibrate("export", "--output", "all.json")
    calibrate("export", "LIS3MDL", "--output", "one.json")
    expect(
        "all records in one file", len(json.loads((path / "all.json").read_text())["records"]) == 3
        and json.loads((path / "one.json").read_text())["chip"] == "LIS3MDL")
    result, _ = calibrate("export", "--output", "one.json")
    expect(
        "an export that is there already", result.returncode == 64 and "--force writes over it" in result.stderr
        and json.loads((path / "one.json").read_text())["chip"] == "LIS3MDL", result.stderr)
    moved = (path / "still.yaml").read_text().replace("/dev/i2c-1", "/dev/i2c-3")
    (path / "moved.yaml").write_text(moved)
    other = {"STATE_DIRECTORY": str(path / "other")}
    for file in ["all.json", "one.json"]:
        says(
            f"a record of another place, {file}", ["calibrate", "import", file, "--board", "moved.yaml"], 1,
            "refused: the record is of the", **other)
    expect("a refused import leaves nothing", not list((path / "other").rglob("*.json")))
    says(
        "given to another chip all the same",
        ["calibrate", "import", "one.json", "--board", "moved.yaml", "--as-chip", "LIS3MDL"], 0,
        "LIS3MDL at /dev/i2c-3:0x1c", **other)
    says(
        "to a chip that is not there",
        ["calibrate", "import", "one.json", "--board", "moved.yaml", "--as-chip", "LSM303DLHC-M@/dev/i2c-3:0x1e"],
        1, "has no LSM303DLHC-M", **other)
    says("where they belong", ["calibrate", "import", "all.json", "--board", "still.yaml"], 0, "gyro LSM6DSOX", **other)
    says("what is no record", ["calibrate", "import", "text", "--board", "still.yaml"], 65, "this is not JSON", **other)
    says(
        "a file without end", ["calibrate", "import", "/dev/zero", "--board", "still.yaml"], 65, "longer than 4194304",
        **other)
    # What a file says steers no terminal.
    (path / "escape.json").write_text(json.dumps({"schema": 1, "kind": "\x1b]0;taken\x07\x9b2J"}))
    result = run("calibrate", "import", "escape.json", "--board", "still.yaml", **other)
    said = result.stdout + result.stderr
    expect(
        "an escape sequence in a record's kind", result.returncode == 65
        and not any(c in said for c in "\x1b\x07\x9b"), repr(said))
    one = json.loads((path / "one.json").read_text())
    one["board"] = "\x1b[2Jboat"
    (path / "escape.json").write_text(json.dumps(one))
    says("and in its board's name", ["calibrate", "import", "escape.json", "--board", "still.yaml"], 65, "no name", **other)
    (path / "escape.yaml").write_text(
        (path / "still.yaml").read_text().replace("name: Simulated board", 'name: "a\\e[2Jboat"'))
    says("a control character in a board's name", ["monitor", "--board", "escape.yaml"], 78, "control character")

    records = path / "kept" / "simulated" / "Simulated_board" / "calibrations"
    (records / "LSM6DSOX@_dev_i2c-1_0x6a.gyro.json").write_text('{"schema":1,"kind":"gy')
    says("a doctor sees a simulated board's records", ["doctor", "--board", "still.yaml"], 1, "cannot be used", **kept)
    result, _ = calibrate("list")
    expect(
        "a damaged record is named and the one before is offered",
        result.returncode == 0 and "LSM6DSOX@_dev_i2c-1_0x6a.gyro.json is not used: not a calibration record" in result.stdout
        and "calibrate rollback --board still.yaml LSM6DSOX@/dev/i2c-1:0x6a --kind gyro" in result.stdout
        and result.stderr == "", result.stdout + result.stderr)
    # Commands that only read change nothing, not even a damaged file.
    def state():
        return {
            str(file.relative_to(path)): (file.stat().st_mtime_ns, file.stat().st_ino, file.read_bytes())
            for file in sorted((path / "kept").rglob("*")) if file.is_file()}

    before = state()
    for what in [["list"], ["list", "--format", "json"], ["show", "LSM6DSOX", "--kind", "gyro"], ["export"], ["report"]]:
        result = run("calibrate", *what, "--board", "still.yaml", **kept)
        expect(f"calibrate {' '.join(what)} changes nothing", result.returncode == 0 and state() == before, result.stderr)
    for what in ["altitude", "authorization", "doctor"]:
        run(what, *(["--board", "still.yaml"] if what != "authorization" else []), **kept)
        expect(f"{what} changes nothing", state() == before)
    result, _ = calibrate("rollback", "LSM6DSOX", "--kind", "gyro")
    expect(
        "and comes back, and the damaged one is put aside", result.returncode == 0 and "in use is now" in result.stdout
        and len(list(records.glob("*.corrupt-*"))) == 1, result.stderr)
    # All of it as a page.
    result, _ = calibrate("report")
    expect(
        "a report goes into a pipe",
        result.returncode == 0 and result.stdout.startswith("<!DOCTYPE html>")
        and result.stdout.endswith("</html>\n") and "Gyro by LSM6DSOX" in result.stdout, result.stderr)
    page = result.stdout
    (path / "page.html").write_text("x" * 1_000_000)
    result, _ = calibrate("report", "--output", "page.html")
    expect(
        "a report replaces the one before",
        result.returncode == 0 and abs(len((path / "page.html").read_text()) - len(page)) < 10, result.stderr)
    result, _ = calibrate("report", "--output", "nowhere/page.html")
    expect("a report into no folder", result.returncode == 74 and "no such file" in result.stderr, result.stderr)
    result, _ = calibrate("report", "--output", "/dev/full")
    expect("a report on a full disk", result.returncode == 74 and "no space left" in result.stderr, result.stderr)
    says(
        "a report of nothing", ["calibrate", "report"], 1, "no board is named or found",
        STATE_DIRECTORY=str(path / "none"))
    result = run("calibrate", "gyro", "--yes", "--seconds", "3", "--format", "json", "--board", "still.yaml")
    line = json.loads(result.stdout.splitlines()[-1] if result.stdout else "{}")
    expect(
        "and names no file", result.returncode == 0 and line["accepted"] and line["saved"] is False
        and "file" not in line, result.stdout + result.stderr)
    says("a simulated board keeps nothing", ["calibrate", "list", "--board", "simulated"], 78, "STATE_DIRECTORY")
    # How the chips sit: only with an accelerometer, only by what was seen, and by name.
    boards = pathlib.Path(__file__).resolve().parents[1] / "Boards"
    says(
        "no mount without an accelerometer", ["calibrate", "mount", "--yes", "--board", str(boards / "lis3mdl-level.yaml")],
        1, "no accelerometer")
    # A program is told so by an object.
    lone = (boards / "lis3mdl-level.yaml").read_text()
    (path / "lone.yaml").write_text("\n".join(row for row in lone.split("\n") if not row.startswith("level:")))
    for command in [["mount"], ["heading", "90"], ["course"]]:
        result = run("calibrate", *command, "--yes", "--format", "json", "--board", "lone.yaml")
        line = json.loads(result.stdout or "{}")
        expect(
            f"no {command[0]} without an accelerometer, as JSON",
            result.returncode == 1 and line.get("reason") and not line.get("accepted") and not line.get("sure"),
            result.stdout + result.stderr)
    says("no time for a mount", ["calibrate", "mount", "--board", "simulated", "--seconds", "1"], 64, "from 5 to 300")
    says(
        "no mount from a board that nobody handles",
        ["calibrate", "mount", "--yes", "--board", "simulated", "--seconds", "6"], 1, "not found: ")
    handled = run("calibrate", "mount", "--yes", "--format", "json", "--board", str(boards / "simulated-handling.yaml"), seconds=120)
    lines = [json.loads(line) for line in handled.stdout.splitlines()]
    mounts = [line for line in lines if line["kind"] == "mount"]
    expect(
        "the mounts of a board that is handled as asked",
        handled.returncode == 0 and len(mounts) == 2 and all(line["sure"] and not line["differs"] for line in mounts)
        and sum(line["kind"] == "progress" for line in lines) > 20, handled.stdout[-600:] + handled.stderr)
    print("        " + ", ".join(f"{line['chip']} {line['mount']} margin {line['margin']}" for line in mounts if line["sure"]))
    # A fit prints its object in every case in which there is a file.
    log = pathlib.Path(__file__).parent / "MagnetometerLogsTests/Replay/px4_rotation_gauss.csv"
    result = run("calibrate", "fit", str(log))
    found = json.loads(result.stdout or "{}")
    expect(
        "a fit of a real log",
        result.returncode == (0 if found.get("accepted") else 65)
        and all(abs(a - b) < 0.01 for a, b in zip(found["hardIron"], (-0.18, 0.05, -0.58)))
        and len(found["softIron"]) == 3
        and {"fieldStrength", "residualPercent", "coverage", "score", "reason"} <= found.keys(),
        result.stdout + result.stderr)
    # What a calibration has kept is known by its header: microtesla, behind a column of time.
    rows = ["# record of 2026-11-21T12:00:00Z, ellipsoid, 400 samples", "t,mx,my,mz,ax,ay,az"]
    for k in range(400):
        z = 1 - (2 * k + 1) / 400
        x, y = ((1 - z * z) ** 0.5 * f(k * 2.399963) for f in (math.cos, math.sin))
        rows.append(f"{k / 10},{48 * x + 30:.3f},{48 * y - 20:.3f},{48 * z + 10:.3f},,,")
    (path / "kept.csv").write_text("\n".join(rows) + "\n")
    for what, more in [("by itself", []), ("by its columns too", ["--columns", "2-4"])]:
        result = run("calibrate", "fit", "kept.csv", *more)
        found = json.loads(result.stdout or "{}")
        expect(
            f"a fit of kept samples, {what}",
            result.returncode == 0 and all(abs(a - b) < 0.1 for a, b in zip(found["hardIron"], (30, -20, 10)))
            and found["skippedLines"] == 0 and ("microtesla" in found["assumed"]) == (not more), result.stdout)
    # Somebody else's table: the header says where the field is, and --columns comes before it.
    (path / "table.csv").write_text("\n".join(["Time [s],Mag_X (uT),Mag_Y (uT),Mag_Z (uT)", *(row[:-3] for row in rows[2:])]))
    for what, more, words in [
        ("by its header", [], "columns 2,3,4, as the header says"), ("by columns", ["--columns", "2-4"], "z up"),
    ]:
        result = run("calibrate", "fit", "table.csv", *more)
        found = json.loads(result.stdout or "{}")
        expect(
            f"a fit of a table, {what}",
            result.returncode == 0 and all(abs(a - b) < 0.1 for a, b in zip(found["hardIron"], (30, -20, 10)))
            and words in found["assumed"] and ("header" in found["assumed"]) == (not more), result.stdout)
    (path / "few.txt").write_text("x y z\n1 2 3\n1 2\n1 nan 3\n")
    result = run("calibrate", "fit", "few.txt")
    found = json.loads(result.stdout or "{}")
    expect(
        "a fit of too little",
        result.returncode == 65 and found.get("accepted") is False and "too few" in found["reason"]
        and found["skippedLines"] == 2 and found["firstSkippedLine"] == 3,
        result.stdout + result.stderr)
    (path / "empty.csv").write_text("")
    says("a fit of nothing", ["calibrate", "fit", "empty.csv"], 65, '"reason":"the file is empty"')
    says("a fit of a file that is not there", ["calibrate", "fit", "/nope"], 66, "/nope: no such file")
    # Every key is there whatever becomes of the fit, and the exit code tells which.
    keys = {"hardIron", "softIron", "fieldStrength", "residualPercent", "coverage", "score", "accepted", "reason"}
    flat = "\n".join(f"{k},{k * 7 % 11},{k * 5 % 13}" for k in range(60))
    for what, content, code, word in [
        ("nothing", "", 65, "empty"), ("too little", "1,2,3\n", 65, "too few"), ("one point", "1,2,3\n" * 99, 65, "never changed"),
        ("words", "hello\n", 65, "no line holds numbers"), ("an accelerometer", "ax,ay,az\n" + flat, 65, "--columns"),
        ("times for a field", "\n".join(f"{1574436000000000 + k},1,2" for k in range(60)), 65, "beyond 1e12"), (None, "", 66, "no such"),
    ]:
        (path / "keys.csv").write_text(content)
        result = run("calibrate", "fit", "keys.csv" if what else "/nope", "--yes", "--format", "json")
        found = json.loads(result.stdout or "{}")
        expect(
            f"all keys of a fit of {what}",
            result.returncode == code and keys <= found.keys() and found["accepted"] is False and word in found["reason"]
            and found["hardIron"] is None and found["score"] == 0 and found["coverage"] == 0, result.stdout + result.stderr)
    says("a fit for people", ["calibrate", "fit", "kept.csv", "--format", "text"], 0, "hard iron")
    for what, strength, code, word in [
        ("itself", "48", 0, "brings the field to it"), ("nanotesla", "48000", 65, "nanotesla"), ("another place", "72", 65, "72 was given"),
    ]:
        says(f"a strength of {what}", ["calibrate", "fit", "kept.csv", "--field-strength", strength], code, word)
    # Two recordings that were joined: the hard iron of either is told, and nothing is accepted.
    field = [row.split(",")[1:4] for row in rows[2:]]
    order = [k * 157 % 400 for k in range(400)]
    shifted = [",".join(str(float(v) + d) for v, d in zip(field[k], (12, 0, 0))) for k in order]
    (path / "joined.csv").write_text("\n".join([",".join(field[k]) for k in order] + shifted) + "\n")
    says("iron that was changed", ["calibrate", "fit", "joined.csv"], 65, '"ironChange":"step"')
    says("iron that was changed, in words", ["calibrate", "fit", "joined.csv", "--format", "text"], 65, "Record again")
    # Gravity, angular rates and field without a header: the field is found by what it is, gravity is no field.
    def columns(k):
        x, y, z = (float(v) - o for v, o in zip(field[k], (30, -20, 10)))
        return [9.81 * v / 48 for v in (y, z, x)], [math.sin(k * s) for s in (5, 7, 11)], [float(v) for v in field[k]]
    for what, parts, code, words in [
        ("all", (0, 1, 2), 0, "field in columns 7,8,9"), ("gravity and rates", (0, 1), 65, "--columns"), ("gravity", (0,), 65, "gravity"),
    ]:
        lines = [",".join(f"{v:.4f}" for part in parts for v in columns(k)[part]) for k in range(400)]
        (path / "bare.csv").write_text("\n".join(lines) + "\n")
        says(f"columns without a header: {what}", ["calibrate", "fit", "bare.csv"], code, words)
    (path / "weak.csv").write_text("\n".join(",".join(f"{v}e-300" for v in row) for row in field) + "\n")
    says("numbers that are no field", ["calibrate", "fit", "weak.csv"], 65, "no magnetometer's field is so weak")
    says("columns that are none", ["calibrate", "fit", "few.txt", "--columns", "2-3"], 64, "--columns")
    says("no field", ["calibrate", "fit", "few.txt", "--field-strength", "-5"], 64, "above zero")

for failure in failures:
    print(failure, file=sys.stderr)
print(f"command line: {'FAILED' if failures else 'passed'}")
sys.exit(1 if failures else 0)
