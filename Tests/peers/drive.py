#!/usr/bin/env python3
"""A simulated drive with faults, all peers at once: what does each of them hold, and is it true?

usage: drive.py FOLDER [--seconds 75] [--seed 1] [--peers gpsd mqtt]        FOLDER: where Scripts/build.sh has put the programs

    apt-get install mosquitto python3-gps gcc
    pip install pynmea2 paho-mqtt pymavlink prometheus-client line-protocol-parser websockets mcap mcap-ros2-support nmea2000 python-can

A board drives at 3 to 7 m/s through bends. On its way a magnet comes near, a wire of a chip is loose, the receiver loses its fix for
a time that is dead-reckoned and for a longer one, and the clock of the machine is not set and 20 years off. Twenty times a second each peer is
asked what it holds (drive_peers.py), and that is compared with the truth of the simulated board at this moment.

Wrong is
- a heading or a position whose bar the truth is outside of, in more than 5 % of the time of a peer, or in more than 10 % of the time under one
  fault, where an honest bar of 95 % has too few independent moments for 5 %. The truth is that of the present moment: a heading that is old
  is wrong if the board has turned, a position is as old as its protocol says;
- a heading or a position that is held while it is not to be trusted: for more than a second and a half the daemon's own stream has said so,
  or the fix, or the chip, has been gone for longer than dead reckoning and the age of a position allow;
- a date that is told and is not the true one;
- a peer that holds nothing while nothing is wrong with the board: it would have passed the rest.

The board's calibration is as good as its record says; the seed decides its noise and its way. The CAN bus of NMEA 2000 is a socket of this
program, because no kernel needs to have CAN (drive_can.py). With --seconds 600 it is the long form. Exit code 1 if something is wrong.
"""
import argparse
import collections
import math
import os
import pathlib
import random
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--seconds", type=float, default=75)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--peers", nargs="+", metavar="NAME", help="only these, by the names of serve.yaml, and mcap")
words = parser.parse_args()
sys.argv[1:] = [str(words.folder.resolve() / "lodestone")]

import drive_can as can_bus  # noqa: E402
import drive_peers as peers  # noqa: E402
import drive_robots as robots  # noqa: E402
from simulated_rig import Rig, Stream, free_port, metres, turn, wait_for  # noqa: E402
from checks import expect, finish  # noqa: E402

# Seconds for which a position is dead-reckoned, for which one is fresh, and that a loss may take to be noticed.
CARRY, FRESH, NOTICE = 5.0, 5.0, 1.5
# Seconds of a peer's headings under one fault from which on its share counts for itself.
ENOUGH = 20.0
MOST_OUTSIDE, MOST_OUTSIDE_OF_FAULT = 0.05, 0.1
# Seconds after which a fault's consequences are no longer put down to it.
TAIL = 3.0
# Seconds of the first leg.
FIRST = 10.0
YEARS = 20 * 365 * 86_400
FAULTS = ["none", "magnet", "loose wire", "dead reckoning", "fix lost", "clock not set"]
# Of one cycle of 75 seconds: begin and length.
PLAN = {"magnet": (15, 8), "loose wire": (29, 7), "dead reckoning": (42, 4), "fix lost": (51, 13), "clock not set": (67, 7)}
# What differs from cycle to cycle: microtesla and what the magnet turns with; the chip whose wire is loose.
MAGNETS = [(60, "board"), (40, "room"), (25, "board"), (100, "room"), (15, "board"), (200, "board"), (30, "room"), (80, "board")]
WIRES = ["LIS3MDL", "u-blox", "LSM6DSOX", "LIS3MDL"]


class Fault:
    def __init__(self, kind, begin, end, number):
        self.kind, self.begin, self.end, self.number = kind, begin, end, number


def plan(seconds):
    """The faults of the drive in their order: cycle by cycle, of 75 seconds or a little more."""
    cycles = max(1, int(seconds / 75))
    length = seconds / cycles
    found = []
    for number in range(cycles):
        for kind, (begin, duration) in PLAN.items():
            start = number * length + begin * length / 75
            # The clock of every second cycle is not set while the fix is lost: then nobody knows the date.
            if kind == "clock not set" and number % 2:
                start, duration = number * length + (PLAN["fix lost"][0] + 2) * length / 75, 16
            found.append(Fault(kind, start, start + duration, number))
    return found


def way(faults, seconds, dice):
    """The legs of the board: bends and straights, cut where the fix goes and comes."""
    cuts = sorted([(fault.begin, "false") for fault in faults if fault.kind in ("dead reckoning", "fix lost")]
                  + [(fault.end, "true") for fault in faults if fault.kind in ("dead reckoning", "fix lost")])
    # By the heading of the first leg the moment is found at which the world began.
    legs, now, fix = [f"{{seconds: {FIRST:.0f}, turn: 90, speed: 0, fix: true}}"], FIRST, "true"
    for moment, after in cuts + [(seconds + 30, "true")]:
        while now < moment:
            left = moment - now
            length = left if left < 9 else min(dice.uniform(4, 9), left - 3)
            if length < 0.2:
                break
            angle = dice.choice([0, 1, 1]) * dice.uniform(-6, 6) * length
            tilt = f", roll: {dice.uniform(-8, 8):.1f}, pitch: {dice.uniform(-5, 5):.1f}" if length > 3 else ""
            legs.append(f"{{seconds: {length:.2f}, turn: {angle:.1f}, speed: {dice.uniform(3, 7):.1f}{tilt}, fix: {fix}}}")
            now += length
        fix = after
    return legs


def began(control):
    """When the world of the board began, by CLOCK_MONOTONIC: a leg turns along 10 u^3 - 15 u^4 + 6 u^5."""
    while True:
        truth = control.truth()
        angle = turn(truth["heading"], 40)
        if 1 < angle < 89:
            low, high = 0.0, 1.0
            for _ in range(40):
                u = (low + high) / 2
                low, high = (u, high) if 90 * u**3 * (10 - 15 * u + 6 * u * u) < angle else (low, u)
            return truth["monotonicNanoseconds"] / 1e9 - low * FIRST
        if angle >= 89:
            sys.exit("drive.py: the board was on its way for longer than 10 s before it could be asked")
        time.sleep(0.05)


def to_body(vector, truth):
    """A vector of east, north, up in the axes of the board: right, forward, up. The roll is about forward, then the pitch about right, then
    the heading clockwise."""
    x, y, z = vector
    a, b, c = (math.radians(truth[key]) for key in ("heading", "pitch", "roll"))
    x, y = x * math.cos(a) - y * math.sin(a), x * math.sin(a) + y * math.cos(a)
    y, z = y * math.cos(b) + z * math.sin(b), z * math.cos(b) - y * math.sin(b)
    return x * math.cos(c) - z * math.sin(c), y, x * math.sin(c) + z * math.cos(c)


class Board:
    """The board's faults as they come and go, and what they do by now."""

    def __init__(self, rig, faults, dice):
        self.rig, self.faults, self.control = rig, faults, rig.control()
        self.begun, self.gone, self.fix_lost = set(), {}, None
        self.directions = {}
        for fault in faults:
            vector = [dice.gauss(0, 1) for _ in range(3)]
            length = math.hypot(*vector)
            self.directions[fault.number] = [part / length for part in vector]
        self.shown = False

    def magnet(self, fault, now, truth):
        """The field of the earth and of a magnet that comes within a second and goes within one."""
        strength, frame = MAGNETS[fault.number % len(MAGNETS)]
        strength *= max(0, min(1, now - fault.begin, fault.end - now))
        added = [strength * part for part in self.directions[fault.number]]
        field = to_body(truth["field"], truth)
        if frame == "room":
            added = to_body(added, truth)
        return [a + b for a, b in zip(field, added)]

    def step(self, now):
        """Does what is due at a moment of the drive; returns the truth and the fault that the moment is put down to."""
        truth = self.control.truth()
        label = "none"
        for fault in self.faults:
            if not fault.begin - 0.1 <= now <= fault.end + TAIL:
                continue
            label = fault.kind if label == "none" or now >= fault.begin else label
            is_on = fault.begin <= now < fault.end
            if fault.kind == "magnet":
                if is_on:
                    self.say("show LIS3MDL field {:.4f} {:.4f} {:.4f}".format(*self.magnet(fault, now, truth)))
                    self.shown = True
                elif self.shown and now >= fault.end:
                    self.say("walk LIS3MDL")
                    self.shown = False
            elif fault.kind == "loose wire" and is_on and fault not in self.begun:
                chip = WIRES[fault.number % len(WIRES)]
                self.say(f"fault {chip} noAnswer {fault.end - now:.2f}")
                self.gone[chip] = (truth["monotonicNanoseconds"] / 1e9, time.monotonic() + fault.end - now)
                self.begun.add(fault)
            elif fault.kind == "clock not set":
                self.rig.set_clock(not is_on, -YEARS if is_on else 0)
        if truth["hasFix"]:
            self.fix_lost = None
        elif self.fix_lost is None:
            self.fix_lost = time.monotonic()
        return truth, label

    def say(self, request):
        answer = self.control.ask(request)
        if answer != "ok":
            expect("the board takes every fault", False, f"{request}: {answer}")

    def without(self, chip, now):
        """For how many seconds a chip has been gone."""
        begin, end = self.gone.get(chip, (now, 0))
        return now - begin if now < end else 0


def is_lost(kind, board, now):
    """Whether nobody can know a value, whatever the daemon says: by what is so with the board."""
    if kind == "heading":
        # Without the chip that says which way is down.
        return board.without("LSM6DSOX", now) > 2 + NOTICE
    lost = max(0 if board.fix_lost is None else now - board.fix_lost, board.without("u-blox", now))
    return lost > CARRY + FRESH + NOTICE


class Tally:
    """Of one peer, one fault and one kind of value: numbers of moments."""

    def __init__(self):
        self.moments = self.held = self.barred = self.inside = self.wrong = 0


class Judge:
    def __init__(self):
        self.tallies = collections.defaultdict(Tally)
        self.doubts, self.examples = [], []

    def look(self, peer, label, truth, doubtful, now):
        for kind in ("heading", "position"):
            tally = self.tallies[peer.name, label, kind]
            tally.moments += 1
            found = peer.held(kind, now)
            if found is None:
                continue
            tally.held += 1
            age, value = found
            if doubtful[kind]:
                self.doubts.append((tally, kind, doubtful[kind] == "lost", now, f"{peer.name}, {label}, {age:.1f} s old: {value}"))
            if value[-1] is None:
                continue
            tally.barred += 1
            if kind == "heading":
                error, bar = abs(turn(value[0], truth["heading"])), value[1]
            else:
                # It was true when the receiver measured it, which is a third of a second before it is told.
                error = metres(value[0], value[1], truth["latitude"], truth["longitude"])
                bar = value[2] + truth["speed"] * (age + 0.35)
            tally.inside += error <= bar

    def settle(self, stream):
        """Counts what was held while it was not to be trusted, by what is known at the end."""
        for tally, kind, is_lost, moment, words in self.doubts:
            if is_lost or stream.was_untrusted("location" if kind == "position" else kind, moment, NOTICE):
                tally.wrong += 1
                if tally.wrong == 1:
                    self.examples.append(words)

    def cell(self, name, fault, kind):
        tally = self.tallies[name, fault, kind]
        if not tally.moments:
            return "-"
        inside = f"{100 * tally.inside / tally.barred:.1f}" if tally.barred else "-"
        return f"{100 * tally.held / tally.moments:.0f} / {inside} / {tally.wrong}"

    def table(self, names, kind):
        print(f"\n{kind}: share of time with one in % / share inside of its bar in % / moments held while not to be trusted")
        rows = [["peer", *FAULTS]] + [[name, *(self.cell(name, fault, kind) for fault in FAULTS)] for name in names]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for row in rows:
            print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |", flush=True)

    def judge(self, name, rate, told):
        """What is wrong with a peer, which is told the bars of these kinds."""
        own = {key: tally for key, tally in self.tallies.items() if key[0] == name}
        wrong = {key[1:]: tally.wrong for key, tally in own.items() if tally.wrong}
        expect(f"{name} holds nothing that is not to be trusted", not wrong, [wrong, self.examples])
        for kind in told:
            tallies = {key[1]: tally for key, tally in own.items() if key[2] == kind}
            barred, inside = (sum(getattr(tally, key) for tally in tallies.values()) for key in ("barred", "inside"))
            outside = {fault: 1 - tally.inside / tally.barred for fault, tally in tallies.items() if tally.barred > ENOUGH * rate}
            if barred:
                outside["the drive"] = 1 - inside / barred
            late = {fault: f"{100 * share:.1f} %" for fault, share in outside.items()
                    if share > (MOST_OUTSIDE if fault == "the drive" else MOST_OUTSIDE_OF_FAULT)}
            expect(f"{name}: the truth is inside of the bar of a {kind}", barred and not late, late, f"{100 * inside / max(1, barred):.1f} %")
        for kind in ("heading", "position"):
            tally = own.get((name, "none", kind), Tally())
            expect(f"{name} has a {kind} while nothing is wrong", tally.held > 0.8 * tally.moments > 0, f"{tally.held} of {tally.moments}")
            expect(f"{name}: it has a bar", kind not in told or tally.barred > 0.9 * tally.held, f"{tally.barred} of {tally.held}")


def broker(folder):
    port = free_port()
    (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\npersistence false\nallow_anonymous true\n")
    process = subprocess.Popen(
        ["mosquitto", "-c", str(folder / "mosquitto.conf")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
    return process, port


def is_wanted(name):
    return not words.peers or name in words.peers


def outputs(ports, database):
    exact = "address: 127.0.0.1, positions: exact"
    sentences = "{HDT: 0.1, THS: 0.1, HDG: 0.1, PASHR: 0.1, GGA: 0.2, RMC: 0.2, GST: 0.2, ZDA: 1}"
    entries = [
        f"{{protocol: gpsd, port: {ports['gpsd']}, {exact}}}",
        f"{{protocol: nmea0183, port: {ports['nmea0183']}, sentences: {sentences}, {exact}}}",
        f"{{protocol: signalk, port: {ports['signalk']}, {exact}}}",
        f"{{protocol: mqtt, port: {ports['mqtt']}, name: drive, headingInterval: 0.1, interval: 0.2, {exact}}}",
        f"{{protocol: mavlink, port: {ports['mavlink']}, {exact}}}",
        f"{{protocol: openmetrics, port: {ports['openmetrics']}, {exact}}}",
        f"{{protocol: influxdb, transport: udp, port: {database}, interval: 0.1, {exact}}}",
        f"{{protocol: foxglove, port: {ports['foxglove']}, {exact}}}",
    ]
    if can_bus.NMEA2000.is_possible():
        groups = f"{{{can_bus.HEADING}: 0.1, {can_bus.POSITION}: 0.1, {can_bus.TIME}: 1}}"
        entries.append(f'{{protocol: nmea2000, interface: {can_bus.INTERFACE}, reference: "true", pgns: {groups}, positions: exact}}')
    return [entry for entry in entries if is_wanted(entry[1:].split(",")[0].split()[1])]


def drive():
    dice = random.Random(words.seed)
    faults = plan(words.seconds)
    database = peers.InfluxDB()
    names = ("gpsd", "nmea0183", "signalk", "mqtt", "mavlink", "openmetrics", "foxglove")
    ports = {name: free_port() for name in names}
    rig = Rig([], legs=way(faults, words.seconds, dice), board=[f"carryPosition: {CARRY}"], name="drive")
    mosquitto, ports["mqtt"] = broker(rig.folder)
    rig.write(outputs(ports, database.port))
    rig.set_clock(True)
    for kind in (peers.GPSD, peers.NMEA, peers.MQTT, peers.MAVLink, peers.OpenMetrics, peers.InfluxDB, robots.Foxglove):
        kind.load()
    devices = can_bus.NMEA2000.attach(rig) if is_wanted("nmea2000") else []
    try:
        rig.start()
        made = {
            "gpsd": [lambda: peers.GPSD(ports["gpsd"])], "nmea0183": [lambda: peers.NMEA(ports["nmea0183"])],
            "signalk": [lambda: peers.SignalK(ports["signalk"])], "mqtt": [lambda: peers.MQTT(ports["mqtt"], "drive")],
            "mavlink": [lambda: peers.MAVLink(ports["mavlink"])], "openmetrics": [lambda: peers.OpenMetrics(ports["openmetrics"])],
            "influxdb": [lambda: database],
            "nmea2000": [lambda: device for device in devices],
            "foxglove": [lambda: robots.Foxglove(ports["foxglove"]), lambda: robots.ROSImu(ports["foxglove"])],
            "mcap": [lambda: robots.MCAP(rig)]}
        all_peers = [make() for name, makers in made.items() if is_wanted(name) for make in makers]
        for peer in all_peers:
            peer.start()
        run(rig, faults, all_peers, dice)
    finally:
        rig.end()
        mosquitto.terminate()
        mosquitto.wait(10)


def run(rig, faults, all_peers, dice):
    # The world begins with the first peer.
    stream, board, judge = Stream(rig), Board(rig, faults, dice), Judge()
    begin = began(board.control)
    live = [peer for peer in all_peers if not isinstance(peer, robots.MCAP)]
    moments, late = [], 0
    warm = begin + faults[0].begin - 1
    while (now := time.monotonic()) < begin + words.seconds:
        truth, label = board.step(now - begin)
        now = truth["monotonicNanoseconds"] / 1e9
        untrusted = {}
        for kind, own in (("heading", "heading"), ("position", "location")):
            untrusted[kind] = "lost" if is_lost(kind, board, now) else "doubtful" if stream.untrusted[own] is not None else None
        if now > warm:
            moments.append((label, truth, untrusted, now))
            for peer in live:
                judge.look(peer, label, truth, untrusted, now)
        time.sleep(max(0, 0.05 - (time.monotonic() - now)))
        late += time.monotonic() - now > 0.3
    rate = len(moments) / (words.seconds - (warm - begin))
    alive = rig.process.poll() is None
    usage = rig.usage()[0] / (time.monotonic() - begin)
    status = rig.outputs()
    rig.set_clock(True)
    for recorder in all_peers:
        if recorder in live:
            continue
        recorder.finish()
        print(f"the recorder: {recorder.words}" if recorder.words else "", end="\n" if recorder.words else "")
        for label, truth, untrusted, now in moments:
            for kind in ("heading", "position"):
                recorder.seek(kind, now)
            judge.look(recorder, label, truth, untrusted, now)
    judge.settle(stream)
    for kind in ("heading", "position"):
        judge.table([peer.name for peer in all_peers], kind)
    expect("this machine keeps up", late < 0.05 * len(moments), f"{late} of {len(moments)} moments took more than 0.3 s: what peers hold is not known well")
    print(f"\n{len(moments)} moments, {rate:.1f} a second, {late} of them late; the daemon took {100 * usage:.1f} % of a core")
    for peer in all_peers:
        if peer in live or peer.failure:
            expect(f"{peer.name} listens until the end", peer.failure is None, peer.failure, f"{peer.messages} messages")
        judge.judge(peer.name, rate, peer.barred)
        expect(f"{peer.name} is told no wrong date", not peer.wrong_stamps, [(at - begin, when) for at, when in peer.wrong_stamps[:3]],
               f"{peer.stamps} dates")
    expect("the daemon is alive", alive, rig.log.read_text()[-500:])
    dropped = {output["name"]: output["dropped"] for output in status if output["dropped"]}
    expect("no output has a problem", status and not any(output.get("problem") for output in status), status, f"dropped: {dropped}")
    if rig.clock is None:
        print("left out: without a C compiler the clock of the machine stays as it is, and NMEA 2000 has no bus")


start = time.monotonic()
drive()
finish("drive", time.monotonic() - start)
