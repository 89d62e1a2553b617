#!/usr/bin/env python3
"""`lodestone serve --try` for every protocol, on the simulated board: what it prints, that it opens no port, and how it ends.

    Tests/peers/try-peer.py LODESTONE

Needs nothing but Python.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from checks import COMMAND, environment, expect, finish  # noqa: E402

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="lodestone-try-"))
CONFIGURATION = FOLDER / "serve.yaml"
# What each protocol has to print within the time, as regular expressions.
EXPECTED = {
    "gpsd": [r'^\{"class":"VERSION"', r'"class":"TPV".*"lat":', r'"class":"SKY"'],
    "nmea0183": [r"^\$HCHDG,\d", r"^\$\w\wRMC,\d", r"^\$\w\wGGA,\d"],
    "nmea2000": [r"^  can0  \w{8}   \[8\] .*ISO Address Claim: ", r"Vessel Heading: .*Heading \d", r"Latitude -?\d"],
    "signalk": [r'^\{"name":"lodestone"', r"navigation\.headingMagnetic", r"navigation\.position"],
    "mqtt": [r"^\[last will\] ", r"^\[retained\] homeassistant/device/", r"^lodestone/"],
    "mavlink": [r"^HEARTBEAT: ", r"^GPS_INPUT: .*lat -?\d", r"^ATTITUDE_QUATERNION_COV: .*q \["],
    "foxglove": [r"^channel \d+: /imu/data ", r"^/imu/data sensor_msgs/msg/Imu: ", r"^/gnss/location .*latitude"],
    "openmetrics": [r"^lodestone_heading_degrees\S* \d", r"^# EOF$"],
    "influxdb": [r"^heading,", r"^location,|^position,"],
    "sensorproxy": [r"^HasCompass true$", r"^CompassHeading \d"],
}
SECONDS = 20


def arguments(name, *more):
    return [COMMAND, "serve", "--board", "simulated", "--configuration", str(CONFIGURATION), "--try", name, *more]


def inet_sockets(process):
    """The sockets of the internet that a process has."""
    own = set()
    for file in pathlib.Path(f"/proc/{process}/fd").iterdir():
        try:
            own.update(re.findall(r"^socket:\[(\d+)\]$", os.readlink(file)))
        except OSError:
            pass
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in pathlib.Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            if line.split()[9] in own:
                found.append(line.strip())
    return found


def main():
    begin = time.monotonic()
    keys = {"nmea2000": ", interface: can0", "mqtt": ", address: 127.0.0.1", "mavlink": ", address: 127.0.0.1",
            "influxdb": ", transport: udp, address: 127.0.0.1"}
    entries = "".join(
        f"  - {{protocol: {name}{keys.get(name, '')}, positions: exact}}\n" for name in EXPECTED if name != "sensorproxy")
    CONFIGURATION.write_text(f"schema: 1\noutputs:\n{entries}")
    running = {
        name: subprocess.Popen(
            arguments(name, "--seconds", str(SECONDS)), stdout=open(FOLDER / f"{name}.txt", "w"), stderr=subprocess.PIPE,
            text=True, env=environment(STATE_DIRECTORY=str(FOLDER / name)))
        for name in EXPECTED}
    time.sleep(SECONDS / 2)
    for name, process in running.items():
        sockets = inet_sockets(process.pid)
        expect(f"{name}: no port is opened", not sockets, sockets)
    for name, process in running.items():
        errors = process.communicate(timeout=60)[1]
        lines = (FOLDER / f"{name}.txt").read_text().splitlines()
        missing = [pattern for pattern in EXPECTED[name] if not any(re.search(pattern, line) for line in lines)]
        expect(
            f"{name}: {len(lines)} lines", process.returncode == 0 and not missing,
            f"exit code {process.returncode}, without {missing}: {errors}", errors.partition("\n")[0])
    variables = environment(STATE_DIRECTORY=str(FOLDER / "state"))
    unknown = subprocess.run(arguments("mcap"), capture_output=True, text=True, env=variables, timeout=60)
    expect(
        "an unknown protocol is an error of usage that names all",
        unknown.returncode == 64 and all(name in unknown.stderr for name in EXPECTED), unknown)
    process = subprocess.Popen(
        arguments("nmea0183"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    expect("a signal ends it", process.returncode == 0, process.returncode)
    finish("try-peer", time.monotonic() - begin)


if __name__ == "__main__":
    main()
