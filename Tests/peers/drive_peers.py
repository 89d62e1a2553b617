"""Peers of the daemon's protocols, each with what it holds: the last heading and position that it was told and that were not taken back
or expired by the rules of that protocol.

Not a check by itself: drive.py uses it. Every message is read by a library that others made. The rules of each protocol stand at its class.
"""
import calendar
import json
import math
import os
import re
import socket
import sys
import threading
import time
import urllib.request

# From the 68 % radius to that of 95 %, from one sigma to half of a 95 % interval, and from one axis' sigma to the 95 % radius.
RADIUS, INTERVAL, CIRCLE = 1.621_462_309, 1.959_963_985, 2.447_746_831


class Peer:
    """Headings are degrees clockwise from true north, bars are 95 %. `None` is a bar that the peer was not told."""
    name = ""
    # Seconds after which the protocol takes a value that is not repeated for none.
    expiries = {"heading": None, "position": None}
    # Seconds from one value to the next, as it was asked for.
    interval = 0.1
    # Of which kinds the protocol tells the bars.
    barred = ("heading", "position")

    def __init__(self):
        self.values, self.waiting = {"heading": None, "position": None}, {}
        self.expiries = dict(self.expiries)
        self.messages, self.stamps, self.wrong_stamps = 0, 0, []
        self.failure = None

    @staticmethod
    def load():
        """Imports the library, which takes its time: before the drive."""

    def start(self):
        threading.Thread(target=self.run, daemon=True).start()
        return self

    def run(self):
        try:
            self.listen()
            self.failure = self.failure or "the connection ended"
        except Exception as error:  # whatever a library does, the table says it
            self.failure = f"{type(error).__name__}: {error}"

    def tell(self, kind, *value, of=None, at=None):
        """Takes a value with its bar; without one the peer holds none any more. `of` is the moment in seconds of UTC, or of the day, that the
        message itself names: a value may be told again and again. `at` is when it came, unless that is now."""
        age = 0.0
        if of is not None:
            age = (time.time() - of + 43_200) % 86_400 - 43_200
            # What has waited for somebody who asks is older by now than when it came.
            age -= time.monotonic() - at if at else 0
        # In one assignment: the judge reads in another thread.
        self.values[kind] = (at or time.monotonic(), value, age if 0 < age < 5 else 0.0) if value else None

    def wait(self, kind, message):
        """Takes a message that is read by `read` once somebody asks what is held: a newer one takes its place before."""
        self.waiting[kind] = (time.monotonic(), message)

    def read(self, kind, message):
        """What a message says: the value, empty for none, and the moment that it names."""
        raise NotImplementedError

    def date(self, utc):
        """Takes a date that a message says: seconds since 1970. It has to be the true one, or none."""
        self.stamps += 1
        if abs(utc - time.time()) > 5:
            self.wrong_stamps.append((time.monotonic(), utc))

    def held(self, kind, now):
        """What is held at a moment: (age, value), or `None`."""
        waiting, self.waiting[kind] = self.waiting.get(kind), None
        if waiting:
            value, of = self.read(kind, waiting[1])
            self.tell(kind, *value, of=of, at=waiting[0])
        found = self.values[kind]
        if found is None:
            return None
        told, value, age = found
        expiry = self.expiries[kind]
        return None if expiry is not None and now - told > expiry else (now - told + age, value)


def utc(text):
    """Seconds since 1970 of a date as ISO 8601 writes it."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (fraction or "0"))


class GPSD(Peer):
    """gpsd's JSON by gpsd's own Python client. An ATT without `heading` and a TPV of mode 1 take back; nothing expires."""
    name = "gpsd"

    def __init__(self, port):
        super().__init__()
        self.port = port

    @staticmethod
    def load():
        sys.path.append("/usr/lib/python3/dist-packages")
        import gps
        return gps

    def listen(self):
        gps = self.load()
        session = gps.gps(host="127.0.0.1", port=str(self.port), mode=gps.WATCH_ENABLE | gps.WATCH_NEWSTYLE)
        for report in session:
            if report is None:
                # Before its first object.
                continue
            self.messages += 1
            kind = report["class"]
            if kind in ("TPV", "ATT") and "time" in report:
                self.date(utc(report["time"]))
            if kind == "ATT":
                self.tell("heading", *((report["heading"], report.get("headingAccuracy")) if "heading" in report else ()))
            elif kind == "TPV":
                if report["mode"] >= 2 and "lat" in report:
                    self.tell("position", report["lat"], report["lon"], report.get("eph"))
                else:
                    self.tell("position")


class NMEA(Peer):
    """NMEA 0183 by pynmea2. An empty HDT and mode V of THS, quality 0 of GGA and V of RMC take back; nothing expires. Bars: PASHR and GST
    that are less than two seconds old."""
    name = "NMEA 0183"

    def __init__(self, port):
        super().__init__()
        self.port, self.bars, self.day = port, {"heading": (0, None), "position": (0, None)}, None

    def bar(self, kind):
        told, bar = self.bars[kind]
        return bar if time.monotonic() - told < 2 else None

    @staticmethod
    def load():
        import pynmea2
        return pynmea2

    def listen(self):
        pynmea2 = self.load()
        with socket.create_connection(("127.0.0.1", self.port), 10) as connection, connection.makefile("r", encoding="ascii") as lines:
            connection.settimeout(None)
            for line in lines:
                self.messages += 1
                text = line.strip()
                if text[3:6] == "THS":
                    # pynmea2 does not know it.
                    heading, mode = text.partition("*")[0].split(",")[1:3]
                    self.tell("heading", *((float(heading), self.bar("heading")) if heading and mode != "V" else ()))
                    continue
                if text.startswith("$PASHR"):
                    fields = text.partition("*")[0].split(",")
                    self.bars["heading"] = (time.monotonic(), float(fields[9]) * INTERVAL if fields[9] else None)
                    continue
                self.take(pynmea2.parse(text, check=True))

    def take(self, sentence):
        kind = sentence.sentence_type
        if kind == "HDT" and sentence.heading is None:
            self.tell("heading")
        elif kind == "GST":
            sigma = sentence.std_dev_latitude
            self.bars["position"] = (time.monotonic(), float(sigma) * CIRCLE if sigma else None)
        elif kind == "GGA":
            has_place = int(sentence.gps_qual or 0) > 0 and sentence.lat
            moment = sentence.timestamp
            of = moment and moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1e6
            self.tell("position", *((sentence.latitude, sentence.longitude, self.bar("position")) if has_place else ()), of=of)
        elif kind == "RMC":
            if sentence.status != "A":
                self.tell("position")
            if sentence.datestamp and sentence.timestamp:
                self.date(calendar.timegm(sentence.datetime.timetuple()))


class SignalK(Peer):
    """Signal K over TCP. `null` takes back; a value that is not repeated for `meta.timeout` is none."""
    name = "Signal K"

    def __init__(self, port):
        super().__init__()
        self.port, self.bars = port, {"heading": None, "position": None}

    def listen(self):
        paths = {"navigation.headingTrue": "heading", "navigation.position": "position"}
        with socket.create_connection(("127.0.0.1", self.port), 10) as connection, connection.makefile("rb") as lines:
            connection.settimeout(None)
            rule = {"path": "navigation.*", "period": 1000, "policy": "ideal", "minPeriod": 100}
            connection.sendall(json.dumps({"context": "vessels.self", "subscribe": [rule]}).encode() + b"\r\n")
            for line in lines:
                self.messages += 1
                for update in json.loads(line).get("updates", []):
                    if "timestamp" in update:
                        self.date(utc(update["timestamp"]))
                    for meta in update.get("meta", []):
                        if meta["path"] in paths:
                            self.expiries[paths[meta["path"]]] = meta["value"].get("timeout")
                    values = {entry["path"]: entry["value"] for entry in update.get("values", [])}
                    self.take(values, utc(update["timestamp"]) if "timestamp" in update else None)

    def take(self, values, of):
        degree = 180 / math.pi
        if "navigation.headingAccuracy" in values:
            bar = values["navigation.headingAccuracy"]
            self.bars["heading"] = bar and bar * degree
        if "navigation.positionAccuracy" in values:
            self.bars["position"] = values["navigation.positionAccuracy"]
        if "navigation.headingTrue" in values:
            heading = values["navigation.headingTrue"]
            self.tell("heading", *(() if heading is None else (heading * degree, self.bars["heading"])))
        if "navigation.position" in values:
            place = values["navigation.position"]
            self.tell("position", *(() if place is None else (place["latitude"], place["longitude"], self.bars["position"])), of=of)


class MQTT(Peer):
    """MQTT 5 at Mosquitto by paho, as Home Assistant: `null` and `offline` take back, `expire_after` of the discovery message expires."""
    name = "MQTT"

    def __init__(self, port, node):
        super().__init__()
        self.port, self.node = port, node

    @staticmethod
    def load():
        import paho.mqtt.client as paho
        return paho

    def listen(self):
        paho = self.load()
        versions = getattr(paho, "CallbackAPIVersion", None)
        client = paho.Client(*([versions.VERSION2] if versions else []), client_id="drive", protocol=paho.MQTTv5)
        client.on_connect = lambda client, *_: client.subscribe([("homeassistant/device/+/config", 1), (f"lodestone/{self.node}/#", 0)])
        client.on_message = lambda _client, _data, message: self.take(message.topic, message.payload)
        client.connect("127.0.0.1", self.port)
        client.loop_forever(retry_first_connection=True)

    def take(self, topic, payload):
        self.messages += 1
        if topic.endswith("/availability") and payload == b"offline":
            self.tell("heading")
            self.tell("position")
        elif topic.endswith("/config"):
            entity = json.loads(payload)["cmps"].get("true_heading", {})
            self.expiries["heading"] = entity.get("expire_after")
        elif topic.endswith("/heading"):
            value = json.loads(payload)
            heading = value.get("true")
            self.tell("heading", *(() if heading is None else (heading, value["accuracy"])))
        elif topic.endswith("/position"):
            value = json.loads(payload)
            place = value["latitude"]
            of = None if place is None or value["carried"] else time.time() - value["fix_age"]
            self.tell("position", *(() if place is None else (place, value["longitude"], value["gps_accuracy"] * RADIUS)), of=of)


class MAVLink(Peer):
    """MAVLink 2 by pymavlink. A heading is the yaw of ATTITUDE_QUATERNION_COV, for a second; a position is GPS_INPUT's with a fix, for 4 s, as
    ArduPilot waits for receivers."""
    name = "MAVLink"
    expiries = {"heading": 1.0, "position": 4.0}

    def __init__(self, port):
        super().__init__()
        self.port = port

    @staticmethod
    def load():
        os.environ["MAVLINK20"] = "1"
        from pymavlink import mavutil
        return mavutil

    def listen(self):
        mavutil = self.load()
        connection = mavutil.mavlink_connection(f"udpin:127.0.0.1:{self.port}", source_system=255)
        while True:
            message = connection.recv_match(blocking=True, timeout=1)
            if message is None:
                continue
            self.messages += 1
            kind = message.get_type()
            if kind == "ATTITUDE_QUATERNION_COV":
                w, x, y, z = message.q
                yaw = math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))) % 360
                variance = message.covariance[8]
                self.tell("heading", yaw, INTERVAL * math.degrees(math.sqrt(variance)) if variance >= 0 else None)
            elif kind == "GPS_INPUT":
                if message.fix_type >= 2:
                    has_bar = not message.ignore_flags & 64
                    self.tell("position", message.lat / 1e7, message.lon / 1e7, message.horiz_accuracy * RADIUS if has_bar else None)
                else:
                    self.tell("position")
            if hasattr(message, "time_usec") and message.time_usec > 1e15:
                # Else it is the time since the boot.
                self.date(message.time_usec / 1e6)


class OpenMetrics(Peer):
    """OpenMetrics by Prometheus' parser, four scrapes a second. NaN and a scrape that fails take back."""
    name = "OpenMetrics"
    interval = 0.25

    def __init__(self, port):
        super().__init__()
        self.port = port

    @staticmethod
    def load():
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        return text_string_to_metric_families

    def listen(self):
        parse = self.load()
        # Of 150 families these are what is held; the rest is parsed by metrics-peer.py.
        wanted = ("lodestone_heading_degrees", "lodestone_heading_accuracy", "lodestone_latitude", "lodestone_longitude",
                  "lodestone_position_accuracy_meters", "lodestone_fix_age_seconds", "lodestone_position_carried")
        while True:
            begin = time.monotonic()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
                    text = answer.read().decode()
            except OSError:
                self.tell("heading")
                self.tell("position")
                time.sleep(0.5)
                continue
            if self.messages % 40:
                lines = [line for line in text.splitlines() if (line.split(" ", 3) + [""] * 3)[2 * line.startswith("#")].startswith(wanted)]
                text = "\n".join(lines) + "\n# EOF\n"
            self.messages += 1
            found = {}
            for family in parse(text):
                for sample in family.samples:
                    if sample.name.startswith(wanted):
                        found[sample.name + sample.labels.get("reference", "")] = sample.value
            heading = found.get("lodestone_heading_degreestrue", math.nan)
            bar = found.get("lodestone_heading_accuracy_degrees", math.nan)
            self.tell("heading", *(() if math.isnan(heading) else (heading, None if math.isnan(bar) else bar)))
            place = [found.get(f"lodestone_{name}_degrees", math.nan) for name in ("latitude", "longitude")]
            radius = found.get("lodestone_position_accuracy_meters", math.nan)
            of = None if found.get("lodestone_position_carried") else time.time() - found.get("lodestone_fix_age_seconds", math.nan)
            self.tell("position", *(() if math.isnan(place[0]) else (*place, None if math.isnan(radius) else radius * RADIUS)), of=of)
            time.sleep(max(0, begin + self.interval - time.monotonic()))


class InfluxDB(Peer):
    """Points by UDP, read by line-protocol-parser. The newest point of a measurement counts: a field that it does not have is not known."""
    name = "InfluxDB"

    def __init__(self):
        super().__init__()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    @staticmethod
    def load():
        from line_protocol_parser import parse_line
        return parse_line

    def listen(self):
        self.parse = self.load()
        while True:
            for text in self.socket.recv(65_536).decode().splitlines():
                self.messages += 1
                name = text[:9]
                if name.startswith("heading,"):
                    self.wait("heading", text)
                elif name.startswith("position,"):
                    self.wait("position", text)

    def read(self, kind, text):
        point = self.parse(text)
        fields, when = point["fields"], point["time"]
        if when:
            self.date(when / 1e9)
        if kind == "heading":
            return ((fields["true"], fields.get("accuracy")) if "true" in fields else ()), None
        bar = fields.get("accuracy")
        place = (fields["latitude"], fields["longitude"], bar and bar * RADIUS) if "latitude" in fields else ()
        # The time of the point is that of the position, also of one that is carried.
        return place, when / 1e9 if when else None if fields.get("carried") else time.time() - fields.get("fix_age", 0)
