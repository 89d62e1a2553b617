#!/usr/bin/env python3
"""Boards at the command line: files that cannot be used, the owner's rules, what the doctor says, the receiver.

usage: command-line-boards.py LODESTONE
"""
import json
import os
import time

from checks import expect, finish
from command_line import BARE, BOAT, folder, path, run, says


def unusable_files():
    locked = path / "locked.yaml"
    locked.write_text("schema: 1\n")
    locked.chmod(0)
    if os.geteuid() != 0:
        says("a board file that this user may not read", ["monitor", "--board", "locked.yaml"], 77, "permission denied")
    begun = time.monotonic()
    for count, what, text in [
        (400_000, "a board of 400,000 chips", "longer than 1048576 bytes"),
        (20_000, "a board of 20,000", "many.yaml:3: 'sensors' has 20000 chips; a board has 256"),
    ]:
        (path / "many.yaml").write_text(
            "schema: 1\nname: many\nsensors:\n" + "".join(f"  - {{chip: NMEA, port: /dev/ttyUSB{k}}}\n" for k in range(count)))
        says(what, ["monitor", "--board", "many.yaml"], 78, text)
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


def names_of_boards():
    # The simulated board is found in any folder.
    says("the simulated board is everywhere", ["monitor", "--board", "simulated", "--seconds", "1"], 0, "heading")
    says("a board that is not there", ["monitor", "--board", "boat"], 78, "no board called 'boat'")
    says("a board by half its name", ["monitor", "--board", "GY271"], 78, "there is gy-271-hmc5883l, gy-271-qmc5883l;")
    says("a board file that is not there", ["monitor", "--board", "/nope.yaml"], 78, "there is no such file")
    says("a folder for a board file", ["doctor", "--board", folder], 1, "is a folder")


def owners_rules():
    """The rules that the owner of the machine has written."""
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


def arguments():
    says("--truth without json", ["monitor", "--board", "simulated", "--truth"], 64, "--format json")
    says("a negative time", ["monitor", "--board", "simulated", "--seconds", "-3"], 64, "above zero")
    says("a date that is none", ["declination", "52", "13", "--date", "2026-02-30"], 64, "2026-02-30")
    says("a latitude beyond the pole", ["declination", "95", "13"], 64, "latitude must be")


def receiver():
    says("the receiver for a negative time", ["gnss", "--board", "simulated", "--seconds", "-3"], 64, "above zero")
    says(
        "a receiver that has said no satellites yet", ["gnss", "--board", "simulated", "--seconds", "4"], 0,
        "no satellites said")
    result = run("gnss", "--board", "simulated", "--seconds", "15", "--format", "json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    skies = [line for line in lines if line["kind"] == "sky"]
    expect(
        "satellites and receiver as lines",
        result.returncode == 0 and skies and len(skies[-1]["inView"]) == 20 and skies[-1]["used"] >= 2
        and any(line.get("protocol") == "UBX (CFG-VALSET)" for line in lines if line["kind"] == "sensor"),
        f"{result.returncode} {result.stdout[-300:]} {result.stderr}")


def missing_bus():
    (path / "bare.yaml").write_text(BARE)
    result = run("monitor", "--board", "bare.yaml", "--seconds", "1.5")
    expect(
        "a board without an answer ends in failure, and says so once",
        result.returncode == 1 and result.stdout.count("\nsensor ") == 1, result.stdout)
    says("a board without a receiver", ["gnss", "--board", "bare.yaml", "--seconds", "1"], 1, "no receiver")
    says("a magnetometer alone", ["doctor", "--board", "bare.yaml"], 1, "level: true")
    says("a missing bus", ["doctor", "--board", "bare.yaml"], 1, "/dev/i2c-99 does not exist")


def state_folder():
    says(
        "a state folder that cannot be", ["doctor", "--board", "simulated"], 1, "cannot be written",
        STATE_DIRECTORY="/proc/nope")
    says(
        "a state folder that is none", ["monitor", "--board", "simulated", "--seconds", "1"], 74, "/dev/null",
        STATE_DIRECTORY="/dev/null")
    # What the doctor says of the machine's calibration records.
    (path / "boat.yaml").write_text(BOAT)
    examine = ["doctor", "--board", "boat.yaml"]
    says(
        "a board that is not calibrated", examine, 1, "lodestone calibrate magnetometer --board boat.yaml",
        STATE_DIRECTORY=folder)
    (path / "calibrations").mkdir()
    (path / "calibrations" / "my.json").write_text("{}")
    says("a record that nobody uses", examine, 1, "belongs to no chip", STATE_DIRECTORY=folder)
    (path / "calibrations" / "LIS3MDL@_dev_i2c-99_0x1c.json").write_text("{}")
    says("a damaged record", examine, 1, "'schema' is missing", STATE_DIRECTORY=folder)


for part in [unusable_files, names_of_boards, owners_rules, arguments, receiver, missing_bus, state_folder]:
    part()
finish("command line, boards")
