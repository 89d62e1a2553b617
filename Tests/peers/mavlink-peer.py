#!/usr/bin/env python3
"""MAVLink to a ground station and on a serial line, as pymavlink understands it.

usage: mavlink-peer.py LODESTONE

Needs PyPI's `pymavlink` (pip install pymavlink==2.4.50); without it, it is skipped. Takes a minute."""
import collections
import math
import os
import pathlib
import pty
import re
import socket
import sys
import time
import tty

os.environ["MAVLINK20"] = "1"
try:
    from pymavlink import mavutil
except ImportError as error:
    sys.exit(print(f"mavlink-peer: skipped, {error}") or 0)

from line_daemon import Daemon, is_near, wait_for
from checks import expect, finish

SYSTEM, COMPONENT = 7, 192


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def datagram_sockets(process):
    """The UDP sockets of a process as (local port, remote port): a remote port of 0 hears everybody."""
    inodes = set()
    for entry in pathlib.Path(f"/proc/{process}/fd").iterdir():
        try:
            found = re.match(r"socket:\[(\d+)\]", os.readlink(entry))
        except OSError:
            continue
        if found:
            inodes.add(found[1])
    found = []
    for name in ("udp", "udp6"):
        for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            if words[9] in inodes:
                found.append(tuple(int(words[column].rpartition(":")[2], 16) for column in (1, 2)))
    return found


def headings(messages):
    yaws = [each.yaw for each in messages["GPS_INPUT"]]
    expect("a yaw is 0, which means not known, or that of a heading", any(yaws) and all(0 <= yaw <= 36_000 for yaw in yaws), yaws[:5])
    attitudes = messages["ATTITUDE_QUATERNION_COV"]
    expect("an attitude has the variances of roll, pitch and yaw", attitudes and all(
        each.covariance[index] > 0 for each in attitudes for index in (0, 4, 8)), attitudes[:1])
    moments = [(each.time_usec, each) for each in attitudes]
    differences = []
    for each in messages["GPS_INPUT"]:
        when, near = min(moments, key=lambda entry: abs(entry[0] - each.time_usec), default=(0, None))
        if near is None or each.yaw == 0 or abs(when - each.time_usec) > 200_000:
            continue
        w, x, y, z = near.q
        yaw = math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
        differences.append(abs((yaw - each.yaw / 100 + 180) % 360 - 180))
    # The board turns by 60 degrees a second at most.
    expect("both say the same heading", differences and max(differences) < 20, differences[:5], f"{len(differences)} compared")


def station(daemon, port):
    connection = mavutil.mavlink_connection(f"udpin:127.0.0.1:{port}", source_system=255)
    beat = connection.wait_heartbeat(timeout=10)
    expect("a heartbeat comes", beat is not None, daemon.output(0))
    if beat is None:
        return
    expect("it is an onboard controller's that is no autopilot", (beat.type, beat.autopilot) == (18, 8), beat)
    source = (beat.get_srcSystem(), beat.get_srcComponent())
    expect("it has the system and component that were chosen", source == (SYSTEM, COMPONENT), source)
    messages, sequences, begin = collections.defaultdict(list), [], time.monotonic()
    while time.monotonic() < begin + 15:
        message = connection.recv_match(blocking=True, timeout=1)
        if message is not None:
            messages[message.get_type()].append(message)
            if message.get_type() != "BAD_DATA":
                sequences.append(message.get_seq())
    counts = {name: len(found) for name, found in messages.items()}
    expect("pymavlink takes every message", "BAD_DATA" not in messages, counts, counts)
    expect("none is missing", all((b - a) % 256 == 1 for a, b in zip(sequences, sequences[1:])), sequences[:20])
    expect("heartbeats come each second", 13 <= counts.get("HEARTBEAT", 0) <= 17, counts)
    inputs = messages["GPS_INPUT"]
    fixes = [each for each in inputs if each.fix_type >= 3]
    expect("GPS_INPUT is on the walk", fixes and all(is_near(each.lat / 1e7, each.lon / 1e7) for each in fixes), inputs[-1:])
    expect("it has an accuracy", fixes and all(0 < each.horiz_accuracy < 100 for each in fixes), fixes[-1:])
    headings(messages)
    expect("the status is 'boot', then 'active'", {each.system_status for each in messages["HEARTBEAT"]} <= {1, 4}, messages["HEARTBEAT"])
    sockets = datagram_sockets(daemon.process.pid)
    expect("the daemon hears nobody by UDP", sockets and all(remote == port for _, remote in sockets), sockets)
    # Whatever a ground station says is no reason to do anything.
    for _ in range(1_000):
        connection.mav.command_long_send(SYSTEM, COMPONENT, 511, 0, 30, 1_000, 0, 0, 0, 0, 0)
    connection.close()
    expect("that the station is gone is said", daemon.problem("nobody listens"), daemon.output(0))
    connection = mavutil.mavlink_connection(f"udpin:127.0.0.1:{port}", source_system=255)
    expect("when it is back it hears heartbeats again", connection.wait_heartbeat(timeout=5) is not None)
    expect("and the problem is over", daemon.problem(None), daemon.output(0))
    connection.close()


def line(daemon, link):
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    os.symlink(os.ttyname(theirs), link)
    os.close(theirs)
    os.set_blocking(ours, False)
    parser = mavutil.mavlink.MAVLink(None)
    parser.robust_parsing = True
    found = []

    def read():
        try:
            found.extend(parser.parse_buffer(os.read(ours, 4096)) or [])
        except OSError:
            pass
        return len([each for each in found if each.get_type() == "HEARTBEAT"]) >= 3
    expect("heartbeats come on a serial line", wait_for(read, 40), daemon.output(1))
    expect("with nothing broken between them", all(each.get_type() != "BAD_DATA" for each in found[1:]), found[:3])
    os.close(ours)
    expect("that it was unplugged is said", wait_for(lambda: daemon.output(1).get("problem"), 10), daemon.output(1))


def main():
    port = free_port()
    daemon = Daemon()
    link = str(daemon.folder / "ttyTest")
    daemon.outputs = [
        f"{{protocol: mavlink, address: 127.0.0.1, port: {port}, system: {SYSTEM}, component: {COMPONENT}, positions: exact}}",
        f"{{protocol: mavlink, transport: serial, device: {link}, baudRate: 57600, positions: exact}}",
    ]
    with daemon:
        station(daemon, port)
        line(daemon, link)
        expect("the daemon is alive", daemon.process.poll() is None, daemon.lines[-3:])
    finish("mavlink-peer")


main()
