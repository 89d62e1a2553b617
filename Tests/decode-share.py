#!/usr/bin/env python3
"""gpsd's fixes beside what `lodestone decode` makes of the same logs: decode-share.py LODESTONE [FOLDER] [--least 99] [--list]

FOLDER holds receiver logs with what gpsd makes of them beside each (`x.log`, `x.log.chk`). Every TPV with mode 2 or 3 is
held against the line of its time of day (within five milliseconds; by order where it has no time): position 1e-6 deg,
altMSL 0.1 m, speed 0.06 m/s, track 0.1 deg. A value that gpsd gives and the line lacks is a difference.

gpsd prints several TPVs an epoch, and fills in what a receiver has not said: speed and track from two positions,
altMSL from a geoid of its own. So each difference is judged by the log itself, read here by a reader of its own: a
value that no message of the epoch says is gpsd's; where one message says gpsd's value and another ours, the receiver
contradicts itself (a NAV-SOL's velocity and a NAV-PVT's course at 2 cm/s, a solution between two epochs and the epoch's).

A TPV of a receiver that solves for time alone (status 7) has a place that was not measured: there the line must have none.
In logs of which gpsd says a status, it is held against the kind of the fix.
Passed is where, of the TPVs that say nothing but what the receiver has said at that time, at least so many in a hundred
have the same in ours, and 90 in each log with 20 or more; no epoch has two lines, and none is of another day than gpsd's,
unless the log's header says so."""
import collections
import datetime
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys

TOLERANCE = {"lat": 1e-6, "lon": 1e-6, "altMSL": 0.1, "speed": 0.06, "track": 0.1}
OURS = {"lat": "latitude", "lon": "longitude", "altMSL": "altitude", "speed": "speed", "track": "course"}
KNOT = 1852 / 3600
TIME_ONLY = 7
# A timing receiver that calls its position an autonomous one in all sentences of the standard; gpsd goes by its own (PERC).
SELF_SURVEYED = {"ericsson-gru04-02-70sec.log"}
# The kind of a fix by gpsd's status, which it leaves out where it is autonomous or not known.
KINDS = {1: "autonomous", 2: "differential", 3: "rtkFixed", 4: "rtkFloat", 5: "deadReckoning", 6: "combined", TIME_ONLY: "timeOnly",
         8: "simulated", 9: "preciseCode"}


def time_of_day(text):
    hours, minutes, seconds = text.split("T")[1].rstrip("Z").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def same(key, a, b):
    difference = abs(a - b)
    if key in ("lon", "track"):
        difference = abs((a - b + 180) % 360 - 180)
    # The printed values are rounded: half a digit more.
    return difference <= TOLERANCE[key] * 1.001


def is_headers(log, day):
    """Whether a log's own header, `# Date: 2015-03-18`, says a day, or up to two before it (its author's time)."""
    said = re.search(rb"^# Date\s*[:=]\s*(\d{4}-\d\d-\d\d)", log.read_bytes()[:4096], re.MULTILINE | re.IGNORECASE)
    if not said:
        return False
    days = datetime.date.fromisoformat(said.group(1).decode()) - datetime.date.fromisoformat(day)
    return abs(days.days) <= 2


def tpvs(path):
    for text in path.read_text(errors="replace").splitlines():
        try:
            tpv = json.loads(text) if text.startswith("{") else {}
        except ValueError:
            continue
        if tpv.get("class") == "TPV" and tpv.get("mode", 0) >= 2:
            yield tpv


def lines(command, log):
    output = subprocess.run([command, "decode", log], capture_output=True, text=True).stdout
    for text in output.splitlines():
        line = json.loads(text)
        if line["kind"] == "location":
            yield line


def at(moment, lines):
    """The lines of a time of day. Some receivers write one time to a hundredth and to a thousandth."""
    return [line for line in lines if "time" in line and abs(time_of_day(line["time"]) - moment) <= 5.1e-3]


class Said:
    """What the messages of a log say, by time of day where they say one."""

    def __init__(self, data):
        self.at = collections.defaultdict(lambda: collections.defaultdict(list))
        self.ever = collections.defaultdict(list)
        self.now = None
        for sentence in re.finditer(rb"\$([\x20-\x7e]{6,250}?)(?:\*([0-9A-Fa-f]{2}))?[\r\n]", data):
            body = sentence.group(1)
            total = 0
            for byte in body:
                total ^= byte
            if sentence.group(2) is None or int(sentence.group(2), 16) == total:
                self.nmea(body.decode("ascii").split(","))
        self.ubx(data)

    def add(self, key, value):
        self.ever[key].append(value)
        if self.now is not None:
            self.at[round(self.now, 3)][key].append(value)

    def time(self, text):
        if re.fullmatch(r"\d{6}(\.\d*)?", text):
            self.now = int(text[:2]) * 3600 + int(text[2:4]) * 60 + float(text[4:])

    def place(self, f):
        for key, value, side, digits in (("lat", f[0], f[1], 2), ("lon", f[2], f[3], 3)):
            if value and side:
                angle = int(value[:digits]) + float(value[digits:]) / 60
                self.add(key, -angle if side in "SW" else angle)

    def number(self, key, text, factor=1):
        if text:
            self.add(key, float(text) * factor)

    def nmea(self, f):
        kind, f = f[0][2:], f[1:] + [""] * 20
        try:
            if kind == "RMC":
                self.time(f[0])
                self.place(f[2:6])
                self.number("speed", f[6], KNOT)
                self.number("track", f[7])
            elif kind in ("GGA", "GNS"):
                self.time(f[0])
                self.place(f[1:5])
                self.number("altMSL", f[8])
            elif kind == "GLL":
                self.time(f[4])
                self.place(f[0:4])
            elif kind == "VTG":
                self.number("track", f[0])
                self.number("speed", f[4], KNOT)
            elif kind == "RMZ":
                self.number("altMSL", f[0], 0.3048)
        except ValueError:
            pass

    def ubx(self, data):
        self.now = None
        at = data.find(b"\xb5\x62")
        while at >= 0 and at + 8 <= len(data):
            kind, length = data[at + 2 : at + 4], struct.unpack_from("<H", data, at + 4)[0]
            body = data[at + 6 : at + 6 + length]
            if len(body) == length and kind in (
                b"\x01\x01", b"\x01\x02", b"\x01\x06", b"\x01\x07", b"\x01\x11", b"\x01\x12", b"\x28\x00"
            ):
                self.message(kind, body)
                at += 8 + length
            else:
                at += 2
            at = data.find(b"\xb5\x62", at)

    def message(self, kind, b):
        def degrees(*keys_and_offsets):
            for key, offset in keys_and_offsets:
                self.add(key, struct.unpack_from("<i", b, offset)[0] * 1e-7)

        def scaled(key, offset, scale, form="<i"):
            self.add(key, struct.unpack_from(form, b, offset)[0] * scale)

        try:
            if kind == b"\x01\x07":
                self.now = b[8] * 3600 + b[9] * 60 + b[10] + struct.unpack_from("<i", b, 16)[0] * 1e-9
                degrees(("lon", 24), ("lat", 28))
                scaled("altMSL", 36, 1e-3)
                scaled("speed", 60, 1e-3)
                scaled("track", 64, 1e-5)
            elif kind == b"\x28\x00":
                self.now = b[8] * 3600 + b[9] * 60 + b[10] + struct.unpack_from("<i", b, 12)[0] * 1e-9
                degrees(("lon", 20), ("lat", 24))
                scaled("altMSL", 32, 1e-3)
                scaled("speed", 36, 1e-3)
                scaled("track", 44, 1e-5)
            else:
                # A time of week alone; the leap seconds are told elsewhere: whole seconds of a minute.
                week = struct.unpack_from("<I", b, 0)[0] / 1000
                for leap in range(13, 19):
                    self.now = (week - leap) % 86400
                    if kind == b"\x01\x02":
                        degrees(("lon", 4), ("lat", 8))
                        scaled("altMSL", 16, 1e-3)
                    elif kind == b"\x01\x12":
                        scaled("speed", 20, 1e-2, "<I")
                        scaled("track", 24, 1e-5)
                    elif kind == b"\x01\x06":
                        self.place_of(struct.unpack_from("<3i", b, 12))
                        self.motion_of(struct.unpack_from("<3i", b, 28))
                    elif kind == b"\x01\x01":
                        self.place_of(struct.unpack_from("<3i", b, 4))
                    elif kind == b"\x01\x11":
                        self.motion_of(struct.unpack_from("<3i", b, 4))
        except struct.error:
            pass

    def place_of(self, place):
        """Earth-centred centimetres."""
        x, y, z = (value / 100 for value in place)
        longitude = math.atan2(y, x)
        e2, radius = 0.00669437999014, math.hypot(x, y)
        latitude = math.atan2(z, radius * (1 - e2))
        for _ in range(6):
            normal = 6378137 / math.sqrt(1 - e2 * math.sin(latitude) ** 2)
            latitude = math.atan2(z + e2 * normal * math.sin(latitude), radius)
        self.add("lat", math.degrees(latitude))
        self.add("lon", math.degrees(longitude))

    def motion_of(self, velocity):
        """Earth-centred centimetres a second, at the newest place."""
        if not self.ever["lat"] or not self.ever["lon"]:
            return
        latitude, longitude = math.radians(self.ever["lat"][-1]), math.radians(self.ever["lon"][-1])
        vx, vy, vz = (value / 100 for value in velocity)
        east = -math.sin(longitude) * vx + math.cos(longitude) * vy
        forward = math.cos(longitude) * vx + math.sin(longitude) * vy
        north = -math.sin(latitude) * forward + math.cos(latitude) * vz
        self.add("speed", math.hypot(east, north))
        self.add("track", math.degrees(math.atan2(east, north)) % 360)

    def judge(self, key, value, ours, moment):
        """Who says a value: the receiver at that time, at another one, or nobody but gpsd."""
        now = self.at.get(round(moment, 3), {}) if moment is not None else self.ever
        if any(same(key, value, said) for said in now.get(key, [])):
            both = ours is not None and any(same(key, ours, said) for said in now.get(key, []))
            return "said, and ours too" if both else "said"
        return "another epoch's" if any(same(key, value, said) for said in self.ever[key]) else "gpsd's own"


def differences(tpv, line):
    result = []
    for key, name in OURS.items():
        if key not in tpv:
            continue
        ours = line.get(name)
        lacks = ours is None or (key in ("speed", "track") and ours < 0)
        if lacks or not same(key, tpv[key], ours):
            result.append((key, tpv[key], None if lacks else ours))
    return result


class Comparison:
    """gpsd's fixes and ours, log after log."""

    def __init__(self, command, is_listed):
        self.command, self.is_listed = command, is_listed
        self.pool, self.reasons, self.kinds = collections.Counter(), collections.Counter(), collections.Counter()
        self.failures, self.dates, self.below = [], [], set()
        self.why = collections.defaultdict(collections.Counter)

    def compare(self, log):
        given = list(tpvs(log.with_suffix(".log.chk")))
        made = list(lines(self.command, log))
        self.compare_kinds(log, given, made)
        timed = [line for line in made if line.get("fixKind") == KINDS[TIME_ONLY]]
        placed = sum(
            "latitude" in line for tpv in given if tpv.get("status") == TIME_ONLY and log.name not in SELF_SURVEYED
            for line in at(time_of_day(tpv["time"]), made))
        if placed or any("latitude" in line for line in timed):
            self.failures.append(f"{log.name}: {placed or len(timed)} places of a receiver that solves for time alone")
        made = [line for line in made if "latitude" in line]
        # What gpsd has a place for and the receiver calls no position is not held against ours.
        given = [
            tpv for tpv in given
            if tpv.get("status") != TIME_ONLY and not ("time" in tpv and at(time_of_day(tpv["time"]), timed))
        ]
        said = Said(log.read_bytes())
        times = [line["time"] for line in made if "time" in line]
        if len(times) != len(set(times)):
            self.failures.append(f"{log.name}: {len(times) - len(set(times))} epochs have two lines")
        count = collections.Counter(tpvs=len(given))
        newest = 0
        for tpv in given:
            moment = time_of_day(tpv["time"]) if "time" in tpv else None
            if moment is None:
                # Without a time the order counts: no line before the last one that was the same comes into question.
                nearby = made[newest:]
            else:
                nearby = at(moment, made)
            best = min((differences(tpv, line) for line in nearby), key=len, default=None)
            if best == []:
                newest = next(i for i, line in enumerate(made) if line in nearby and not differences(tpv, line))
                count["same"] += 1
                if moment is not None and tpv["time"][:10] not in {line["time"][:10] for line in nearby}:
                    count["date"] += 1
                continue
            if best is None:
                best = [(key, tpv[key], None) for key in OURS if key in tpv]
            count[self.judge(log, tpv, [(*parts, said.judge(*parts, moment)) for parts in best])] += 1
        self.sum_up(log, times, count)

    def compare_kinds(self, log, given, made):
        """Counts the epochs in which gpsd's status and the kind of the fix are the same. gpsd prints several TPVs an epoch."""
        if not any("status" in tpv for tpv in given):
            return
        epochs = collections.defaultdict(set)
        for tpv in given:
            if "time" in tpv and tpv.get("status", 1) in KINDS:
                epochs[time_of_day(tpv["time"])] |= {KINDS[tpv["status"]]} if "status" in tpv else {KINDS[1], None}
        for moment, theirs in epochs.items():
            ours = {line.get("fixKind") for line in at(moment, made)}
            is_same = theirs & ours
            self.kinds["same" if is_same else (log.name, "/".join(sorted(map(str, theirs))), "/".join(sorted(map(str, ours))))] += 1

    def judge(self, log, tpv, judged):
        """Counts the differences of a TPV. Returns who has said what differs."""
        for key, value, ours, who in judged:
            self.why[log.name][f"{key}: {who}"] += 1
            self.reasons[(key, "lacking" if ours is None else "other", who)] += 1
            if self.is_listed:
                print(f"  {log.name} {tpv.get('time')}: {key} {value}, ours {ours}: {who}")
        # It is ours if the receiver has said at least one of the values at that time, and we have another one.
        who_said = {who for *_, who in judged}
        return "ours" if "said" in who_said else "both" if "said, and ours too" in who_said else "gpsd"

    def sum_up(self, log, times, count):
        self.pool.update(count)
        if count["date"]:
            text = f"{log.name}: {count['date']} of another day than gpsd's"
            if all(is_headers(log, time[:10]) for time in times):
                self.dates.append(text + ", and of the one that its header says")
            else:
                self.failures.append(text)
        fair = count["same"] + count["ours"]
        if count["tpvs"] >= 20 and count["same"] < 0.9 * count["tpvs"]:
            self.below.add(log.name)
            if fair >= 20 and count["same"] < 0.9 * fair:
                self.failures.append(
                    f"{log.name}: {count['ours']} of {fair} TPVs that say what the receiver said are not in ours")
        if count["same"] < count["tpvs"]:
            print(
                f"{100 * count['same'] / count['tpvs']:6.1f} %  {count['same']:5} of {count['tpvs']:5}  {log.name}: "
                f"{count['gpsd']} hold what the receiver has not said then, of {count['both']} it says both, "
                f"{count['ours']} are ours")

    def report(self, least):
        """Prints the sums and the failures. Returns the exit code."""
        pool = self.pool
        for (key, how, who), number in self.reasons.most_common():
            print(f"{number:6} times {key} {how}: {who}")
        print(f"{100 * pool['same'] / max(1, pool['tpvs']):6.1f} %  {pool['same']:5} of {pool['tpvs']:5}  all TPVs")
        fair = pool["same"] + pool["ours"]
        share = 100 * pool["same"] / max(1, fair)
        print(f"{share:6.1f} %  {pool['same']:5} of {fair:5}  of those that say what the receiver said")
        for parts, number in self.kinds.most_common():
            if parts != "same":
                print(f"{number:6} epochs of {parts[0]}: gpsd's status is {parts[1]}, our kind {parts[2]}")
        print(f"{100 * self.kinds['same'] / max(1, self.kinds.total()):6.1f} %  {self.kinds['same']:5} of "
              f"{self.kinds.total():5}  epochs' kinds of fixes, in logs with a status")
        for name in sorted(self.below):
            print(f"below 90 %  {name}: " + ", ".join(f"{n} times {what}" for what, n in self.why[name].most_common(3)))
        for text in self.dates:
            print("date  " + text)
        if 100 * self.kinds["same"] < least * self.kinds.total():
            self.failures.append(f"fewer than {least} % of the kinds of fixes are gpsd's")
        if share < least:
            self.failures.append(f"{share:.2f} % are less than {least}")
        for failure in self.failures:
            print("FAILED  " + failure)
        return 1 if self.failures else 0


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    least = float(words.pop(words.index(sys.argv[sys.argv.index("--least") + 1]))) if "--least" in sys.argv else 0
    root = pathlib.Path(__file__).resolve().parent.parent
    shared = pathlib.Path(os.environ.get("LODESTONE_SHARED", root / "../shared"))
    folder = pathlib.Path(words[1]) if len(words) > 1 else shared / "data/gps/gpsd"
    if not folder.is_dir():
        if os.environ.get("CI"):
            print(f"FAILED: no logs in {folder}: LODESTONE_SHARED names the folder that has data/")
            return 1
        print(f"skipped: no logs in {folder}")
        return 0
    comparison = Comparison(words[0], "--list" in sys.argv)
    for log in sorted(folder.glob("*.log")):
        comparison.compare(log)
    return comparison.report(least)


sys.exit(main())
