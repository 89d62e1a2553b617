#!/usr/bin/env python3
"""Calibration records at the command line: list, lock, roll back, export, import, report; and fits of samples.

usage: command-line-records.py LODESTONE
"""
import json
import math
import pathlib
import time

from checks import expect, finish
from command_line import AT_REST, KEPT, calibrate, path, run, says, write_still_board

RECORDS = path / "kept" / "simulated" / "Simulated_board" / "calibrations"
# Where records are imported to.
OTHER = {"STATE_DIRECTORY": str(path / "other")}


def listed():
    result, lines = calibrate("list", "--format", "json")
    expect(
        "all records are listed", result.returncode == 0
        and sorted(line["kind"] for line in lines) == ["gyro", "level", "magnetometer"], result.stdout)
    result, _ = calibrate("list")
    expect(
        "the list fits a terminal",
        result.stdout.count("\n") == 4 and max(map(len, result.stdout.splitlines())) <= 80
        and result.stdout.split()[:6] == ["chip", "place", "kind", "method", "result", "made"], result.stdout)


def locked():
    result, _ = calibrate("lock", "--kind", "gyro")
    expect("a record is locked", result.returncode == 0 and "is locked" in result.stdout, result.stderr)
    result, lines = calibrate("gyro", *AT_REST)
    expect(
        "a locked record stays, and how to unlock it is said of this board", result.returncode == 1
        and "is locked. Unlock it (lodestone calibrate unlock --board still.yaml " in lines[0]["reason"],
        result.stdout + result.stderr)
    calibrate("lock", "--kind", "magnetometer")
    stored = next(path.joinpath("kept").rglob("LIS3MDL@*.json"))
    text = stored.read_text()
    for what, content in [
        ("a locked record is met at once", text), ("a newer version's too", text.replace('"schema" : 1', '"schema" : 7')),
    ]:
        stored.write_text(content)
        begun = time.monotonic()
        result, lines = calibrate("planar", "--yes", "--format", "json")
        expect(
            what, result.returncode == 1 and "locked" in lines[0]["reason"]
            and lines[0]["saved"] is False and time.monotonic() - begun < 5, result.stdout + result.stderr)
    stored.write_text(text)
    calibrate("unlock", "--kind", "magnetometer")
    result, _ = calibrate("gyro", "--yes", "--seconds", "3")
    expect(
        "in words too", result.returncode == 1 and "unlock --board still.yaml" in result.stderr, result.stderr)
    result, lines = calibrate("gyro", *AT_REST, "--force")
    expect("unless --force says otherwise", result.returncode == 0 and not lines[0]["locked"], result.stderr)


def history():
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


def moved():
    """Records that are exported and imported."""
    calibrate("export", "--output", "all.json")
    calibrate("export", "LIS3MDL", "--output", "one.json")
    expect(
        "all records in one file", len(json.loads((path / "all.json").read_text())["records"]) == 3
        and json.loads((path / "one.json").read_text())["chip"] == "LIS3MDL")
    result, _ = calibrate("export", "--output", "one.json")
    expect(
        "an export that is there already", result.returncode == 64 and "--force writes over it" in result.stderr
        and json.loads((path / "one.json").read_text())["chip"] == "LIS3MDL", result.stderr)
    (path / "moved.yaml").write_text((path / "still.yaml").read_text().replace("/dev/i2c-1", "/dev/i2c-3"))
    for file in ["all.json", "one.json"]:
        says(
            f"a record of another place, {file}", ["calibrate", "import", file, "--board", "moved.yaml"], 1,
            "refused: the record is of the", **OTHER)
    expect("a refused import leaves nothing", not list((path / "other").rglob("*.json")))
    says(
        "given to another chip all the same",
        ["calibrate", "import", "one.json", "--board", "moved.yaml", "--as-chip", "LIS3MDL"], 0,
        "LIS3MDL at /dev/i2c-3:0x1c", **OTHER)
    says(
        "to a chip that is not there",
        ["calibrate", "import", "one.json", "--board", "moved.yaml", "--as-chip", "LSM303DLHC-M@/dev/i2c-3:0x1e"],
        1, "has no LSM303DLHC-M", **OTHER)
    says("where they belong", ["calibrate", "import", "all.json", "--board", "still.yaml"], 0, "gyro LSM6DSOX", **OTHER)
    (path / "text").write_text("abc")
    says("what is no record", ["calibrate", "import", "text", "--board", "still.yaml"], 65, "this is not JSON", **OTHER)
    says(
        "a file without end", ["calibrate", "import", "/dev/zero", "--board", "still.yaml"], 65, "longer than 4194304",
        **OTHER)


def escape_sequences():
    # Text of a file does not control the terminal.
    (path / "escape.json").write_text(json.dumps({"schema": 1, "kind": "\x1b]0;taken\x07\x9b2J"}))
    result = run("calibrate", "import", "escape.json", "--board", "still.yaml", **OTHER)
    said = result.stdout + result.stderr
    expect(
        "an escape sequence in a record's kind", result.returncode == 65
        and not any(c in said for c in "\x1b\x07\x9b"), repr(said))
    one = json.loads((path / "one.json").read_text())
    one["board"] = "\x1b[2Jboat"
    (path / "escape.json").write_text(json.dumps(one))
    says("and in its board's name", ["calibrate", "import", "escape.json", "--board", "still.yaml"], 65, "no name", **OTHER)
    (path / "escape.yaml").write_text(
        (path / "still.yaml").read_text().replace("name: Simulated board", 'name: "a\\e[2Jboat"'))
    says("a control character in a board's name", ["monitor", "--board", "escape.yaml"], 78, "control character")


def state():
    return {
        str(file.relative_to(path)): (file.stat().st_mtime_ns, file.stat().st_ino, file.read_bytes())
        for file in sorted((path / "kept").rglob("*")) if file.is_file()}


def damaged():
    (RECORDS / "LSM6DSOX@_dev_i2c-1_0x6a.gyro.json").write_text('{"schema":1,"kind":"gy')
    says("a doctor sees a simulated board's records", ["doctor", "--board", "still.yaml"], 1, "cannot be used", **KEPT)
    result, _ = calibrate("list")
    expect(
        "a damaged record is named and the one before is offered",
        result.returncode == 0 and "LSM6DSOX@_dev_i2c-1_0x6a.gyro.json is not used: not a calibration record" in result.stdout
        and "calibrate rollback --board still.yaml LSM6DSOX@/dev/i2c-1:0x6a --kind gyro" in result.stdout
        and result.stderr == "", result.stdout + result.stderr)
    # Commands that only read change nothing, not even a damaged file.
    before = state()
    for what in [["list"], ["list", "--format", "json"], ["show", "LSM6DSOX", "--kind", "gyro"], ["export"], ["report"]]:
        result = run("calibrate", *what, "--board", "still.yaml", **KEPT)
        expect(f"calibrate {' '.join(what)} changes nothing", result.returncode == 0 and state() == before, result.stderr)
    for what in ["altitude", "authorization", "doctor"]:
        run(what, *(["--board", "still.yaml"] if what != "authorization" else []), **KEPT)
        expect(f"{what} changes nothing", state() == before)
    result, _ = calibrate("rollback", "LSM6DSOX", "--kind", "gyro")
    expect(
        "and comes back, and the damaged one is put aside", result.returncode == 0 and "in use is now" in result.stdout
        and len(list(RECORDS.glob("*.corrupt-*"))) == 1, result.stderr)


def reports():
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


def not_kept():
    result = run("calibrate", "gyro", "--yes", "--seconds", "3", "--format", "json", "--board", "still.yaml")
    line = json.loads(result.stdout.splitlines()[-1] if result.stdout else "{}")
    expect(
        "and names no file", result.returncode == 0 and line["accepted"] and line["saved"] is False
        and "file" not in line, result.stdout + result.stderr)
    says("a simulated board keeps nothing", ["calibrate", "list", "--board", "simulated"], 78, "STATE_DIRECTORY")


def fit(*arguments):
    """Fits samples. Returns the result and the object that is printed whenever there is a file."""
    result = run("calibrate", "fit", *arguments)
    return result, json.loads(result.stdout or "{}")


def are_near(values, expected, limit):
    return all(abs(a - b) < limit for a, b in zip(values, expected))


def sphere():
    """400 samples of a field of 48 microtesla around a hard iron of (30, -20, 10): x, y and z as texts."""
    samples = []
    for k in range(400):
        z = 1 - (2 * k + 1) / 400
        x, y = ((1 - z * z) ** 0.5 * f(k * 2.399963) for f in (math.cos, math.sin))
        samples.append([f"{48 * x + 30:.3f}", f"{48 * y - 20:.3f}", f"{48 * z + 10:.3f}"])
    return samples


def fits(field):
    result, found = fit(str(pathlib.Path(__file__).parent / "MagnetometerLogsTests/Replay/px4_rotation_gauss.csv"))
    expect(
        "a fit of a real log",
        result.returncode == (0 if found.get("accepted") else 65) and are_near(found["hardIron"], (-0.18, 0.05, -0.58), 0.01)
        and len(found["softIron"]) == 3
        and {"fieldStrength", "residualPercent", "coverage", "score", "reason"} <= found.keys(),
        result.stdout + result.stderr)
    # Samples that a calibration has kept are known by their header: microtesla, after a column of times.
    rows = [",".join([str(k / 10), *field[k]]) for k in range(400)]
    (path / "kept.csv").write_text("\n".join([
        "# record of 2026-11-21T12:00:00Z, ellipsoid, 400 samples", "t,mx,my,mz,ax,ay,az",
        *(row + ",,," for row in rows)]) + "\n")
    for what, more in [("by itself", []), ("by its columns too", ["--columns", "2-4"])]:
        result, found = fit("kept.csv", *more)
        expect(
            f"a fit of kept samples, {what}",
            result.returncode == 0 and are_near(found["hardIron"], (30, -20, 10), 0.1)
            and found["skippedLines"] == 0 and ("microtesla" in found["assumed"]) == (not more), result.stdout)
    # In a table of another program the header names the field's columns. --columns takes precedence.
    (path / "table.csv").write_text("\n".join(["Time [s],Mag_X (uT),Mag_Y (uT),Mag_Z (uT)", *rows]))
    for what, more, words in [
        ("by its header", [], "columns 2,3,4, as the header says"), ("by columns", ["--columns", "2-4"], "z up"),
    ]:
        result, found = fit("table.csv", *more)
        expect(
            f"a fit of a table, {what}",
            result.returncode == 0 and are_near(found["hardIron"], (30, -20, 10), 0.1)
            and words in found["assumed"] and ("header" in found["assumed"]) == (not more), result.stdout)
    says("a fit for people", ["calibrate", "fit", "kept.csv", "--format", "text"], 0, "hard iron")
    for what, strength, code, word in [
        ("itself", "48", 0, "brings the field to it"), ("nanotesla", "48000", 65, "nanotesla"),
        ("another place", "72", 65, "72 was given"),
    ]:
        says(f"a strength of {what}", ["calibrate", "fit", "kept.csv", "--field-strength", strength], code, word)


def poor_fits():
    (path / "few.txt").write_text("x y z\n1 2 3\n1 2\n1 nan 3\n")
    result, found = fit("few.txt")
    expect(
        "a fit of too little",
        result.returncode == 65 and found.get("accepted") is False and "too few" in found["reason"]
        and found["skippedLines"] == 2 and found["firstSkippedLine"] == 3,
        result.stdout + result.stderr)
    (path / "empty.csv").write_text("")
    says("a fit of nothing", ["calibrate", "fit", "empty.csv"], 65, '"reason":"the file is empty"')
    says("a fit of a file that is not there", ["calibrate", "fit", "/nope"], 66, "/nope: no such file")
    # All keys are there whatever becomes of the fit, and the exit code tells which it is.
    keys = {"hardIron", "softIron", "fieldStrength", "residualPercent", "coverage", "score", "accepted", "reason"}
    flat = "\n".join(f"{k},{k * 7 % 11},{k * 5 % 13}" for k in range(60))
    for what, content, code, word in [
        ("nothing", "", 65, "empty"), ("too little", "1,2,3\n", 65, "too few"),
        ("one point", "1,2,3\n" * 99, 65, "never changed"), ("words", "hello\n", 65, "no line holds numbers"),
        ("an accelerometer", "ax,ay,az\n" + flat, 65, "--columns"),
        ("times for a field", "\n".join(f"{1574436000000000 + k},1,2" for k in range(60)), 65, "beyond 1e12"),
        (None, "", 66, "no such"),
    ]:
        (path / "keys.csv").write_text(content)
        result, found = fit("keys.csv" if what else "/nope", "--yes", "--format", "json")
        expect(
            f"all keys of a fit of {what}",
            result.returncode == code and keys <= found.keys() and found["accepted"] is False and word in found["reason"]
            and found["hardIron"] is None and found["score"] == 0 and found["coverage"] == 0, result.stdout + result.stderr)
    says("columns that are none", ["calibrate", "fit", "few.txt", "--columns", "2-3"], 64, "--columns")
    says("no field", ["calibrate", "fit", "few.txt", "--field-strength", "-5"], 64, "above zero")


def doubtful_fits(field):
    # Two recordings that were joined: each has its own hard iron, and nothing is accepted.
    order = [k * 157 % 400 for k in range(400)]
    shifted = [",".join(str(float(v) + d) for v, d in zip(field[k], (12, 0, 0))) for k in order]
    (path / "joined.csv").write_text("\n".join([",".join(field[k]) for k in order] + shifted) + "\n")
    says("iron that was changed", ["calibrate", "fit", "joined.csv"], 65, '"ironChange":"step"')
    says("iron that was changed, in words", ["calibrate", "fit", "joined.csv", "--format", "text"], 65, "Record again")
    # Gravity, angular rates and field without a header: the values show which columns are the field, and gravity is no field.
    def columns(k):
        x, y, z = (float(v) - o for v, o in zip(field[k], (30, -20, 10)))
        return [9.81 * v / 48 for v in (y, z, x)], [math.sin(k * s) for s in (5, 7, 11)], [float(v) for v in field[k]]

    for what, parts, code, words in [
        ("all", (0, 1, 2), 0, "field in columns 7,8,9"), ("gravity and rates", (0, 1), 65, "--columns"),
        ("gravity", (0,), 65, "gravity"),
    ]:
        lines = [",".join(f"{v:.4f}" for part in parts for v in columns(k)[part]) for k in range(400)]
        (path / "bare.csv").write_text("\n".join(lines) + "\n")
        says(f"columns without a header: {what}", ["calibrate", "fit", "bare.csv"], code, words)
    (path / "weak.csv").write_text("\n".join(",".join(f"{v}e-300" for v in row) for row in field) + "\n")
    says("numbers that are no field", ["calibrate", "fit", "weak.csv"], 65, "no magnetometer's field is so weak")


write_still_board()
for kind in ["gyro", "level"]:
    calibrate(kind, *AT_REST)
for part in [listed, locked, history, moved, escape_sequences, damaged, reports, not_kept]:
    part()
samples = sphere()
fits(samples)
poor_fits()
doubtful_fits(samples)
finish("command line, records")
