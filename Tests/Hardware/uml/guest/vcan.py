#!/usr/bin/env python3
"""In the guest, with board.yaml: NMEA 2000 at a virtual CAN interface (vcan), against another node, candump and python-can.

The other node is this program, by the kernel's own socket and the standards' numbers. It contests the daemon's address, asks for what every
device must answer, floods the bus, and switches the interface off, on, and away. What is on the bus is also read by candump, by python-can,
by PyPI's nmea2000 and by canboat's analyzer, each where the machine has it: `Scripts/prepare.sh oracles` installs the first three, and
Tests/peers/setup.sh tells where the analyzer is looked for. The guest's kernel needs CONFIG_NETDEVICES, CONFIG_CAN, CONFIG_CAN_RAW,
CONFIG_CAN_DEV and CONFIG_CAN_VCAN."""
import glob
import json
import math
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

import vcan_bus as can
from daemon_clients import ENVIRONMENT, FOLDER, SOCKET, Rig, end_all, start, wait_for

NAME = "vcan0"
BOARD = os.environ["LODESTONE_BOARD"]
STRONG, WEAK = bytes([1, 0, 0, 0, 0, 0, 0, 0x80]), b"\xff" * 8
failures = []


def expect(what, holds, detail=""):
    print(("right   " if holds else "WRONG   ") + what + ("" if holds else f": {detail}"), flush=True)
    if not holds:
        failures.append(what)
    return bool(holds)


class Daemon:
    def __init__(self):
        file = FOLDER / "serve.yaml"
        file.write_text(f"schema: 1\nstream: none\noutputs:\n  - {{protocol: nmea2000, interface: {NAME}, positions: exact}}\n")
        self.lines = []
        self.process = start(
            ["lodestone", "serve", "--board", BOARD, "--configuration", str(file), "--socket", SOCKET],
            take=lambda when, line: self.lines.append(line))
        if not wait_for(lambda: any("serving" in line for line in self.lines), 20):
            raise SystemExit(f"vcan: the daemon does not serve: {self.lines}")

    def output(self):
        result = subprocess.run(
            ["lodestone", "serve", "--status", "--socket", SOCKET, "--format", "json"], capture_output=True, text=True, timeout=20,
            env=ENVIRONMENT)
        try:
            return json.loads(result.stdout)["outputs"][0]
        except (ValueError, KeyError, IndexError):
            return {"problem": result.stdout + result.stderr}

    def has_problem(self, words, seconds=8):
        return wait_for(lambda: words in self.output().get("problem", ""), seconds)

    def processor(self):
        words = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def claimed(bus, moment, seconds=8):
    """The address that a device has claimed and now sends headings from, or None."""
    frame = bus.waits(can.HEADING, moment, seconds, holds=lambda frame: frame.source not in (can.NOBODY, 7))
    return frame and frame.source


def interface(daemon):
    expect("a missing interface is said", daemon.has_problem("no such interface"), daemon.output())
    expect("the kernel makes a vcan", can.make(NAME) == 0)
    expect("an interface that is down is said, with what mends it", daemon.has_problem(f"ip link set {NAME} up", 40), daemon.output())
    bus, moment = can.Bus(NAME), time.monotonic()
    can.switch(NAME, True)
    address = claimed(bus, moment)
    if not expect("once it is up the device claims an address and sends", address is not None, bus.since(moment)[:5]):
        raise SystemExit(1)
    first = bus.since(moment)
    requested = struct.pack("<I", can.CLAIM)[:3]
    expect("it asked before who is there", first[0].pgn == can.REQUEST and first[0].source == can.NOBODY
           and bytes(first[0].data) == requested, first[:2])
    claim = bus.waits(can.CLAIM, moment, 1, address)
    (number,) = struct.unpack("<Q", claim.data)
    expect("its NAME is of the marine industry, navigation, and takes any address",
           (number >> 60 & 7, number >> 49 & 0x7F, number >> 63) == (4, 60, 1), hex(number))
    early = [frame for frame in bus.since(moment) if frame.source == address and frame.pgn != can.CLAIM]
    expect("it waits a quarter of a second with all else", early[0].when - claim.when >= 0.24, early[0].when - claim.when)
    beat = bus.waits(can.HEARTBEAT, moment, 2, address)
    expect("a heartbeat comes, with 60 s to the next", beat and struct.unpack_from("<H", beat.data)[0] == 60_000, beat)
    expect("the status has no problem", "problem" not in daemon.output(), daemon.output())
    return bus, address


def contest(bus, address):
    moment = bus.send(can.CLAIM, WEAK, address)
    answer = bus.waits(can.CLAIM, moment, 1, address, lambda frame: bytes(frame.data) != WEAK)
    expect("a weaker claim is answered with its own", answer, bus.since(moment)[:5])
    moment = bus.send(can.CLAIM, STRONG, address)
    time.sleep(1.5)
    later = claimed(bus, moment + 1)
    expect("to a stronger one it gives way", later is not None and later != address, (later, address))
    expect("and sends nothing from the address any more", not bus.since(moment + 0.1, can.HEADING, address))
    return later


def requests(bus, address):
    def ask(pgn, destination=address):
        return bus.send(can.REQUEST, struct.pack("<I", pgn)[:3], 7, destination)
    moment = ask(can.PRODUCT)
    products = wait_for(lambda: bus.packets(can.PRODUCT, moment, address), 2)
    expect("product information is 134 bytes with its model", products and len(products[0]) == 134
           and products[0][4:36].rstrip(b"\xff\0 ") == b"Lodestone", products)
    moment = ask(can.PGN_LIST)
    lists = wait_for(lambda: (found := bus.packets(can.PGN_LIST, moment, address)) and len(found) >= 2 and found, 2) or []
    numbers = [{int.from_bytes(each[at:at + 3], "little") for at in range(1, len(each), 3)} for each in lists]
    expect("the list of what it sends has headings and fixes", numbers and {can.HEADING, can.FIX} <= numbers[0], lists)
    moment = ask(127_488)
    answer = bus.waits(can.ACKNOWLEDGEMENT, moment, 1, address)
    expect("what it does not have is refused", answer and answer.data[0] == 1
           and int.from_bytes(answer.data[5:8], "little") == 127_488, answer)
    moment = ask(127_488, can.ALL)
    expect("what is asked of all and not there is answered by nobody", not bus.waits(can.ACKNOWLEDGEMENT, moment, 0.5, address))
    moment = ask(can.CLAIM, can.ALL)
    expect("its claim is told whoever asks", bus.waits(can.CLAIM, moment, 1, address))


def truth(rig):
    return json.loads(re.search(r"{.*}", rig.ask("truth"))[0])


def values(bus, address, rig):
    moment = time.monotonic()
    time.sleep(4)
    headings = bus.since(moment, can.HEADING, address)
    rate = len(headings) / 4
    expect("headings come ten times a second", 8 < rate < 12, rate)
    known = [frame for frame in headings if struct.unpack_from("<H", frame.data, 1)[0] < 0xFFFE]
    if expect("they are known", known, headings[-1:]):
        angle = math.degrees(struct.unpack_from("<H", known[-1].data, 1)[0] * 1e-4)
        expect("they are magnetic ones", known[-1].data[7] & 3 == 1, known[-1])
        error = (angle - truth(rig)["magneticHeading"] + 180) % 360 - 180
        # The board turns: some degrees lie between the two moments.
        expect("and the board's", abs(error) < 15, error)
    place = bus.waits(can.POSITION, moment, 20, address, lambda frame: frame.data[3] != 0x7F)
    if expect("positions come", place, bus.since(moment, can.POSITION, address)[-1:]):
        latitude, longitude = (number * 1e-7 for number in struct.unpack("<ii", place.data))
        real = truth(rig)
        expect("and are the board's", abs(latitude - real["latitude"]) < 5e-4 and abs(longitude - real["longitude"]) < 1e-3,
               (latitude, longitude, real))
    fixes = wait_for(lambda: bus.packets(can.FIX, moment, address), 5)
    expect("fixes come whole, of 43 bytes and more", fixes and len(fixes[0]) >= 43, fixes)


def peers(bus, address):
    if shutil.which("candump"):
        result = subprocess.run(["candump", "-L", "-n", "200", "-T", "5000", NAME], capture_output=True, text=True, timeout=30)
        lines = [line for line in result.stdout.splitlines() if re.fullmatch(rf"\(\d+\.\d+\) {NAME} [0-9A-F]{{8}}#[0-9A-F]{{0,16}}", line)]
        expect("candump sees its frames", len(lines) == 200, result.stdout[:200] + result.stderr)
        program = shutil.which("analyzer", path=f"{os.environ['PATH']}:/root/.cache/lodestone/peers/bin")
        if program:
            analyze(bus, address, program)
        else:
            print("skipped canboat's analyzer: it is not built")
    else:
        print("skipped candump: Debian's can-utils is not installed")
    for folder in [*glob.glob("/root/.cache/lodestone/peers/lib/python3*/site-packages"),
                   *glob.glob("/home/*/.cache/lodestone/peers/lib/python3*/site-packages")]:
        sys.path.append(folder)
    try:
        import can as python_can
    except ImportError as error:
        print(f"skipped python-can: {error}")
        return
    with python_can.Bus(interface="socketcan", channel=NAME) as other:
        found = [other.recv(1) for _ in range(50)]
        own = [message for message in found if message and message.arbitration_id & 0xFF == address]
        expect("python-can sees its frames, all extended", own and all(message.is_extended_id for message in own), found[:3])
    try:
        import nmea2000
    except ImportError as error:
        print(f"skipped nmea2000: {error}")
        return
    moment = time.monotonic()
    time.sleep(3)
    messages, fields = {}, {}
    with nmea2000.NMEA2000Decoder() as decoder:
        for frame in bus.since(moment, source=address):
            identifier = frame.priority << 26 | frame.pgn << 8 | frame.source
            message = decoder.decode(python_can.Message(arbitration_id=identifier, is_extended_id=True, data=frame.data))
            if message:
                messages[message.PGN] = message.id
                fields[message.PGN] = {field.id: field.value for field in message.fields}
    names = {can.HEADING: "vesselHeading", can.FIX: "gnssPositionData", can.SATELLITES: "gnssSatsInView"}
    expect("nmea2000 knows every message", names.items() <= messages.items(), messages)
    expect("and the reference of the heading", fields.get(can.HEADING, {}).get("reference") == "Magnetic", fields.get(can.HEADING))


def analyze(bus, address, program):
    """canboat's analyzer, which reads a line a frame: time, priority, group, source, destination, length, bytes."""
    moment = time.monotonic()
    time.sleep(3)
    text = "".join(
        f"2026-01-01T00:00:00.000Z,{frame.priority},{frame.pgn},{frame.source},{frame.destination},{len(frame.data)},"
        + ",".join(f"{byte:02x}" for byte in frame.data) + "\n" for frame in bus.since(moment, source=address))
    result = subprocess.run([program, "-json", "-raw"], input=text, capture_output=True, text=True, timeout=30)
    found = {message["pgn"] for line in result.stdout.splitlines() if (message := json.loads(line)).get("pgn")}
    expect("canboat's analyzer knows every message", {can.HEADING, can.FIX, can.SATELLITES} <= found, (found, result.stderr[-300:]))


def flood(bus, address, daemon):
    moment, processor = time.monotonic(), daemon.processor()
    number = 0
    # Five seconds of claims, requests, broken packets and announcements, as fast as they go.
    while time.monotonic() < moment + 5:
        bus.send(can.CLAIM, WEAK, number % 252 if number % 252 != address else 7)
        bus.send(can.REQUEST, struct.pack("<I", can.PRODUCT)[:3], 7, address)
        bus.send(126208, bytes([number & 0xFF]) + b"\x20\1\2\3\4\5\6", 7, address)
        bus.send(60416, b"\x20\x09\0\2\xff\xd8\xfe\0", number % 252, can.ALL)
        number += 1
        time.sleep(0.0005)
    used, length = daemon.processor() - processor, time.monotonic() - moment
    own = bus.since(moment, can.HEADING, address)
    expect("headings go on through a flood", len(own) > 25, len(own))
    answers = len(bus.since(moment, can.PRODUCT, address)) / 20
    expect("and no more than ten requests a second are answered", answers <= 10 * length + 11, answers)
    print(f"flood: {4 * number / length:.0f} frames a second, {answers:.0f} answers, {100 * used / length:.0f} % of a processor")


def interruptions(bus, daemon):
    can.switch(NAME, False)
    expect("an interface that goes down is said", daemon.has_problem("down", 5), daemon.output())
    time.sleep(1)
    can.switch(NAME, True)
    moment = time.monotonic()
    address = claimed(bus, moment)
    expect("once it is up again the address is claimed again", address is not None
           and bus.waits(can.CLAIM, moment, 1, address), bus.since(moment)[:5])
    bus.close()
    can.remove(NAME)
    expect("an interface that is unplugged is said", daemon.has_problem("no such interface", 5), daemon.output())
    can.make(NAME)
    can.switch(NAME, True)
    other, moment = can.Bus(NAME), time.monotonic()
    address = claimed(other, moment, 40)
    expect("one that comes back is used again", address is not None, daemon.output())
    expect("without a problem", wait_for(lambda: "problem" not in daemon.output(), 5), daemon.output())
    # With every address taken it says so and sends nothing.
    for each in range(252):
        other.send(can.CLAIM, bytes([each]) + STRONG[1:], each)
    time.sleep(1)
    moment = time.monotonic()
    expect("without a free address it is silent", not other.waits(can.HEADING, moment, 2), other.since(moment, can.HEADING)[:1])
    expect("and says so", daemon.has_problem("every address", 5), daemon.output())


def main():
    try:
        socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW).close()
    except (OSError, AttributeError) as error:
        print(f"WRONG   this kernel has no CAN: {error}. Build the guest's again: Tests/Hardware/uml/setup.sh")
        return 1
    rig, daemon = Rig(), Daemon()
    bus, address = interface(daemon)
    address = contest(bus, address)
    requests(bus, address)
    values(bus, address, rig)
    peers(bus, address)
    flood(bus, address, daemon)
    interruptions(bus, daemon)
    expect("the daemon is alive", daemon.process.poll() is None, daemon.lines[-5:])
    shutil.copy(FOLDER / "serve.yaml", "/report/serve.yaml")
    return 1 if failures else 0


try:
    code = main()
finally:
    end_all()
sys.exit(code)
