#!/usr/bin/env python3
"""A receiver's own bytes by gpsd's protocol: gpspipe -R asks for them, and gpsdecode, gpsd's own decoder, reads the position in them.

usage: gpsd-raw-peer.py LODESTONE    (apt-get install gpsd gpsd-clients)
"""
import json
import shutil
import socket
import subprocess
import sys
import time

import peer_daemon
from checks import expect, finish

# The receiver of the simulated board, found and configured, with a fix.
SECONDS = 25


def fixes(data):
    """The positions that gpsdecode finds in a receiver's bytes."""
    text = subprocess.run(["gpsdecode"], input=data, capture_output=True, timeout=60).stdout.decode(errors="replace")
    reports = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [report for report in reports if report.get("class") == "TPV" and report.get("mode", 0) >= 2]


def is_near(report):
    return abs(report["lat"] - 52.5163) < 0.02 and abs(report["lon"] - 13.3777) < 0.03


def behind(data):
    """What follows the answer to WATCH, and that answer."""
    head, _, rest = data.partition(b'{"class":"WATCH"')
    line, _, rest = rest.partition(b"\r\n")
    return rest, json.loads(b'{"class":"WATCH"' + line) if line else {}


def piped(port):
    done = subprocess.run(["gpspipe", "-R", "-x", str(SECONDS), f"127.0.0.1:{port}"], capture_output=True, timeout=SECONDS + 30,
                          env=peer_daemon.variables())
    return behind(done.stdout)


def watched(port, level):
    """What a client gets that asks for a level of raw data."""
    with socket.create_connection(("127.0.0.1", port), 10) as end:
        end.sendall(b'?WATCH={"enable":true,"raw":%d};\n' % level)
        end.settimeout(1)
        data, deadline = b"", time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            try:
                more = end.recv(65_536)
            except TimeoutError:
                continue
            if not more:
                break
            data += more
    return behind(data)


def main():
    exact, reduced = peer_daemon.free_port(), peer_daemon.free_port()
    peer_daemon.serve(
        f"{{protocol: gpsd, port: {exact}, positions: exact}}", f"{{protocol: gpsd, port: {reduced}, positions: reduced}}")
    data, watch = piped(exact)
    expect("gpspipe -R gets the receiver's bytes", watch.get("raw") == 2 and b"\xb5\x62\x01\x07" in data, watch, f"{len(data)} bytes")
    found = fixes(data)
    expect("gpsdecode reads positions in them", len(found) > 10 and all(map(is_near, found)), found[:2], f"{len(found)} fixes")

    data, watch = watched(exact, 1)
    lines = data.rpartition(b"\r\n")[0].split(b"\r\n")
    binary = [line for line in lines if line[:1] != b"$"]
    is_hexadecimal = all(set(line) <= set(b"0123456789abcdef") for line in binary)
    expect("at level 1 binary messages are lines of hexadecimal digits", watch.get("raw") == 1 and binary and is_hexadecimal, lines[:3])
    if is_hexadecimal:
        found = fixes(b"".join(bytes.fromhex(line.decode()) for line in binary))
        expect("gpsdecode reads positions in these as well", len(found) > 10 and all(map(is_near, found)), found[:2], f"{len(found)} fixes")

    data, watch = watched(reduced, 2)
    expect("without exact positions WATCH says the level 0, and nothing comes", watch.get("raw") == 0 and not data, (watch, data[:200]))


if not shutil.which("gpspipe") or not shutil.which("gpsdecode"):
    sys.exit("gpsd-raw-peer needs gpsd and gpsd-clients: Scripts/prepare.sh oracles")
try:
    main()
finally:
    peer_daemon.end()
finish("gpsd-raw-peer")
