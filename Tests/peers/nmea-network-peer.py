#!/usr/bin/env python3
"""NMEA 0183 over TCP as pynmeagps reads it, and as datagrams as pynmea2 does.

usage: nmea-network-peer.py LODESTONE    (pip install pynmeagps==1.1.8 pynmea2==1.19.0)
"""
import math
import socket
import time

import pynmea2
import pynmeagps
from pynmeagps import NMEAReader

import peer_daemon
from checks import expect, finish

SENTENCES = ["HDG", "HDM", "HDT", "THS", "ROT", "PASHR", "XDR", "MDA", "GGA", "RMC", "GLL", "VTG", "GSA", "GSV", "GST", "ZDA"]
# pynmea2 1.19 has no class for it, and compares the checksum.
UNKNOWN = {"THS"}


def is_near(latitude, longitude):
    return abs(latitude - 52.5163) < 0.01 and abs(longitude - 13.3777) < 0.02


def over_tcp(port):
    messages, wrong = {}, []
    with socket.create_connection(("127.0.0.1", port), 10) as end:
        end.settimeout(10)
        reader = NMEAReader(end, quitonerror=pynmeagps.ERR_IGNORE, validate=pynmeagps.VALCKSUM, errorhandler=wrong.append)
        deadline = time.monotonic() + 25
        for raw, message in reader:
            if message is not None:
                messages.setdefault(message.msgID, []).append(message)
            elif raw:
                wrong.append(raw)
            if time.monotonic() > deadline or (set(SENTENCES) <= set(named(messages)) and has_fix(messages)):
                break
    expect("pynmeagps takes every sentence", messages and not wrong, wrong[:3], sum(len(found) for found in messages.values()))
    expect("pynmeagps knows all sixteen", set(SENTENCES) <= set(named(messages)), sorted(messages))
    fixes = [each for each in messages.get("GGA", []) if each.lat != ""]
    expect("pynmeagps has positions on the walk", fixes and all(is_near(each.lat, each.lon) for each in fixes), fixes[:1])
    # Quality 8 is a simulator's.
    expect("and reads that they are simulated", fixes and all(int(each.quality) == 8 for each in fixes), [str(each) for each in fixes[:1]])
    accuracies = [each for each in messages.get("GST", []) if each.stdLat != ""]
    expect("and their accuracy", accuracies and all(0 < each.stdLat < 100 for each in accuracies), accuracies[:1])


def named(messages):
    """The identifiers of messages, with the prefix of a maker's own sentence."""
    return {"PASHR" if name in ("ASHR", "PASHR") else name for name in messages}


def has_fix(messages):
    return any(each.lat != "" for each in messages.get("GGA", [])) and any(each.stdLat != "" for each in messages.get("GST", []))


def as_datagrams(target):
    sentences, wrong, long = {}, [], 0
    deadline = time.monotonic() + 12
    while time.monotonic() < deadline:
        for line in target.recv(65_536).decode("ascii").splitlines():
            long = max(long, len(line) + 2)
            name = line[1:6] if line[1] == "P" else line[3:6]
            try:
                body, _, checksum = line[1:].partition("*")
                if name in UNKNOWN:
                    assert pynmea2.NMEASentence.checksum(body) == int(checksum, 16), line
                    sentences.setdefault(name, []).append(body.split(","))
                else:
                    sentences.setdefault(name, []).append(pynmea2.parse(line, check=True))
            except (pynmea2.ParseError, AssertionError, ValueError) as error:
                wrong.append(f"{line}: {error}")
    count = sum(len(found) for found in sentences.values())
    expect("pynmea2 takes every sentence of the datagrams", sentences and not wrong, wrong[:3], count)
    expect("none is longer than 82 characters", long <= 82, long)
    fixes = [each for each in sentences.get("RMC", []) if each.status == "A"]
    expect("pynmea2 has positions on the walk", fixes and all(is_near(each.latitude, each.longitude) for each in fixes), fixes[:1])
    empty = [each for each in sentences.get("GGA", []) if each.gps_qual == 0]
    expect("before the fix there is an empty field, and no zero", all(each.lat == "" and each.lon == "" for each in empty),
           empty[:1], len(empty))
    headings = [each for each in sentences.get("HDG", []) if each.heading]
    modes = {each[2] for each in sentences.get("THS", [])}
    known = [each[1] for each in sentences.get("THS", []) if each[2] != "V"]
    expect("a heading is known with a mode, or empty with the mode V",
           modes <= {"A", "E", "S", "V"} and all(known) and all(each[1] == "" for each in sentences["THS"] if each[2] == "V"),
           (modes, known[:3]), (sorted(modes), len(headings)))
    expect("and is a number of degrees", all(0 <= float(each.heading) < 360 and math.isfinite(float(each.heading)) for each in headings))


def main():
    port = peer_daemon.free_port()
    target = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    target.bind(("127.0.0.1", 0))
    target.settimeout(30)
    rates = ", ".join(f"{name}: {0.2 if name in ('HDG', 'THS', 'HDT') else 1}" for name in SENTENCES)
    peer_daemon.serve(
        f"{{protocol: nmea0183, port: {port}, positions: exact, sentences: {{{rates}}}}}",
        f"{{protocol: nmea0183, transport: udp, address: 127.0.0.1, port: {target.getsockname()[1]}, positions: exact, "
        f"sentences: {{{rates}}}}}")
    as_datagrams(target)
    over_tcp(port)


try:
    main()
finally:
    peer_daemon.end()
finish("nmea-network-peer")
