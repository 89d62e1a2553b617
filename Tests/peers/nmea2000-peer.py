#!/usr/bin/env python3
"""NMEA 2000 as PyPI's nmea2000 and canboat's analyzer read it: the frames that `lodestone serve --try nmea2000` would send.

usage: nmea2000-peer.py LODESTONE    (pip install nmea2000==2026.10.3 python-can==4.6.1)

The analyzer is asked where it was built (Tests/peers/setup.sh names the place). A bus with other devices on it needs a kernel with CAN:
Tests/Hardware/uml/guest/vcan.py.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import can
import nmea2000

import peer_daemon
from checks import COMMAND, expect, finish

FRAME = re.compile(r"^  can0  ([0-9A-F]{8})   \[(\d)\] ((?: [0-9A-F]{2})*)", re.M)
NAMES = {
    60928: "isoAddressClaim", 126993: "heartbeat", 127250: "vesselHeading", 127251: "rateOfTurn", 127252: "heave", 127257: "attitude",
    127258: "magneticVariation", 129025: "positionRapidUpdate", 129026: "cogSogRapidUpdate", 129029: "gnssPositionData",
    129539: "gnssDops", 129540: "gnssSatsInView", 126992: "systemTime", 129033: "timeDate", 130311: "environmentalParameters",
    130314: "actualPressure", 130316: "temperatureExtendedRange"}


def frames(seconds):
    """The frames of some seconds, as (identifier, bytes)."""
    rates = {127250: 0.1, 127251: 0.1, 127252: 0.2, 127257: 1, 127258: 1, 129025: 0.1, 129026: 0.25, 129029: 1, 129539: 1, 129540: 1,
             126992: 1, 129033: 1, 130311: 1, 130314: 1, 130316: 1}
    file = peer_daemon.FOLDER / "serve.yaml"
    file.write_text(
        "schema: 1\noutputs:\n  - {protocol: nmea2000, interface: can0, positions: exact, surroundings: outside, pgns: {"
        + ", ".join(f"{number}: {interval}" for number, interval in rates.items()) + "}}\n")
    process = subprocess.Popen(
        [COMMAND, "serve", "--board", "simulated", "--configuration", str(file), "--try", "nmea2000"], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env=peer_daemon.variables())
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    text = process.communicate(timeout=15)[0]
    found = [(int(identifier, 16), bytes.fromhex(data)) for identifier, _, data in FRAME.findall(text)]
    expect("frames are printed as candump prints them", len(found) > 100, text[:500], len(found))
    return found


def package(found):
    messages, fields, wanted = {}, {}, {entry for entry in NAMES.items() if entry[0] != 60928}
    with nmea2000.NMEA2000Decoder() as decoder:
        for identifier, data in found:
            # Of a claim it wants a manufacturer that it knows; 2046 is for those without a number of their own.
            if identifier >> 16 & 0xFF == 0xEE:
                continue
            message = decoder.decode(can.Message(arbitration_id=identifier, is_extended_id=True, data=data))
            if message:
                messages[message.PGN] = message.id
                fields.setdefault(message.PGN, []).append({field.id: field.value for field in message.fields})
    expect("nmea2000 decodes every parameter group", wanted <= messages.items(), wanted - messages.items(), len(messages))
    headings = [each for each in fields.get(127250, []) if each.get("heading") is not None]
    expect("nmea2000 reads magnetic headings", headings and all(
        0 <= each["heading"] < 6.2832 and each["reference"] == "Magnetic" for each in headings), headings[:1], len(headings))
    places = [each for each in fields.get(129025, []) if each.get("latitude") is not None]
    lost = [each for each in fields.get(129025, []) if each.get("latitude") is None]
    expect("nmea2000 reads positions, and not available before the fix", lost and places and all(
        abs(each["latitude"] - 52.5163) < 0.01 and abs(each["longitude"] - 13.3777) < 0.02 for each in places), places[:1], len(places))
    methods = {each.get("method") for each in fields.get(129029, [])}
    expect("nmea2000 reads that the fix is a simulator's", methods <= {"Simulate mode", "no GNSS"} and len(methods) == 2, methods, methods)
    pressures = [each["pressure"] for each in fields.get(130314, []) if each.get("pressure") is not None]
    expect("nmea2000 reads pressures in pascals", pressures and all(90_000 < each < 110_000 for each in pressures), pressures[:3])


def analyzer(found):
    place = pathlib.Path(os.environ.get("LODESTONE_CACHE", pathlib.Path.home() / ".cache/lodestone")) / "peers/bin"
    program = shutil.which("analyzer", path=f"{os.environ['PATH']}:{place}")
    if program is None:
        return
    lines = []
    for identifier, data in found:
        group, source, destination = identifier >> 8 & 0x3FFFF, identifier & 0xFF, 255
        if group >> 8 & 0xFF < 240:
            group, destination = group & 0x3FF00, group & 0xFF
        lines.append(",".join(map(str, ("2026-01-01T00:00:00.000Z", identifier >> 26, group, source, destination, len(data), data.hex(",")))))
    result = subprocess.run([program, "-json", "-raw"], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60)
    messages = {}
    for line in result.stdout.splitlines():
        message = json.loads(line)
        if message.get("pgn") in NAMES:
            messages.setdefault(message["pgn"], []).append(message.get("fields", {}))
    expect("canboat's analyzer decodes every parameter group", messages.keys() == NAMES.keys(),
           (NAMES.keys() - messages.keys(), result.stderr[-300:]), sum(map(len, messages.values())))
    complaints = [line for line in result.stderr.splitlines() if "ERROR" in line or "unknown" in line.lower()]
    expect("canboat's analyzer has nothing to complain of", not complaints, complaints[:3])
    methods = {each.get("Method") for each in messages.get(129029, [])}
    expect("and reads that the fix is a simulator's", "Simulate mode" in methods, methods, methods)


if __name__ == "__main__":
    sent = frames(16)
    package(sent)
    analyzer(sent)
    finish("nmea2000-peer")
