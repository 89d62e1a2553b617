#!/usr/bin/env python3
"""Many peers at once, peers that read nothing or little, and servers that are away: what it costs, and whom it harms.

usage: load.py FOLDER [--seconds 60]        FOLDER: where Scripts/build.sh has put the programs

    apt-get install mosquitto gcc openssl
    pip install paho-mqtt

1. One client of gpsd, NMEA 0183 and Signal K each, and MQTT at 10 Hz; then 100 of gpsd, 50 of NMEA 0183 and 20 of Signal K:
   the daemon's share of a core, and how long a heading takes from its sample to each client, beside each other.
2. The same with a peer that reads nothing and one that reads a byte a second at every port, and brokers and databases that are like that,
   for the given time: no honest client waits longer, misses a message or is hung up on, and the daemon's memory stays flat.
3. What is away or wrong is said by `serve --status` and in the journal, and nothing is lost that was promised: a database with a wrong
   token, one that is started again, one whose certificate is of another name; with 300 seconds and more a queue of MQTT that is full.
   (Restarts of brokers and of servers of Signal K, wrong passwords and wrong names there: mqtt-peer.py and signalk-peer.py.)

With --seconds 600 it is the long form. Exit code 1 if something is wrong.
"""
import argparse
import json
import os
import pathlib
import ssl
import statistics
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--seconds", type=float, default=60)
words = parser.parse_args()
sys.argv[1:] = [str(words.folder.resolve() / "lodestone")]

import load_strangers as strangers  # noqa: E402
from simulated_rig import Rig, free_port, wait_for, waited  # noqa: E402
from checks import expect, finish  # noqa: E402

CROWD = {"gpsd": 100, "nmea0183": 50, "signalk": 20}
# Seconds that half a percent of headings may take to an honest client, and that none may, longer than alone: a busy machine makes all of them wait.
SLOW, WORST = 0.5, 2.0
# The share of the time for which its threads may wait for a processor together; beyond it nothing is said of delays.
BUSY = 0.1
# Megabytes that memory may grow by from a third of the time on.
GROWTH = 4.0
# Loops forever: the board has to move all the time.
LEGS = ["{seconds: 4, speed: 2, fix: true}"] + ["{seconds: 10, turn: 60}", "{seconds: 10, turn: -60}"] * 200
EXACT = "address: 127.0.0.1, positions: exact"
SENTENCES = "{HDG: 0.1, HDT: 0.1, THS: 0.1, ROT: 0.1, PASHR: 0.1, RMC: 1, GGA: 1, GST: 1, XDR: 1, ZDA: 1}"


def broker(folder, port):
    (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\npersistence false\nallow_anonymous true\n")
    return subprocess.Popen(
        ["mosquitto", "-c", str(folder / "mosquitto.conf")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})


class Board:
    """A daemon with ports, and its broker. `more` makes further outputs, given the folder of the daemon."""

    def __init__(self, more=lambda folder: []):
        self.ports = {name: free_port() for name in ("gpsd", "nmea0183", "signalk", "foxglove", "openmetrics", "mqtt")}
        self.rig = Rig([], legs=LEGS, name="load")
        self.rig.write(self.outputs() + more(self.rig.folder))
        self.broker = broker(self.rig.folder, self.ports["mqtt"])
        self.rig.start()

    def outputs(self):
        ports = self.ports
        return [f"{{protocol: gpsd, port: {ports['gpsd']}, {EXACT}}}",
                f"{{protocol: nmea0183, port: {ports['nmea0183']}, sentences: {SENTENCES}, {EXACT}}}",
                f"{{protocol: signalk, port: {ports['signalk']}, {EXACT}}}",
                f"{{protocol: foxglove, port: {ports['foxglove']}, {EXACT}}}",
                f"{{protocol: openmetrics, port: {ports['openmetrics']}, {EXACT}}}",
                f"{{protocol: mqtt, port: {ports['mqtt']}, name: load, headingInterval: 0.1, interval: 0.1, {EXACT}}}"]

    def end(self):
        self.rig.end()
        self.broker.terminate()
        self.broker.wait(10)


class Subscriber:
    """A client of the broker: when headings arrive."""

    def __init__(self, port):
        import paho.mqtt.client as paho
        self.times = []
        versions = getattr(paho, "CallbackAPIVersion", None)
        client = paho.Client(*([versions.VERSION2] if versions else []), client_id="subscriber", protocol=paho.MQTTv5)
        client.on_connect = lambda client, *_: client.subscribe("lodestone/load/heading")
        client.on_message = lambda *_: self.times.append(time.monotonic())
        client.connect("127.0.0.1", port)
        client.loop_start()
        self.client = client

    def gaps(self, begin):
        times = [moment for moment in self.times if moment >= begin]
        return sorted(b - a for a, b in zip(times, times[1:])), len(times)

    def end(self):
        self.client.loop_stop()


def quantile(pairs, share):
    """The value below which a share of counted values lies."""
    total, passed = sum(count for _, count in pairs), 0
    for value, count in pairs:
        passed += count
        if passed >= share * total:
            return value
    return float("nan")


class Measurement:
    """What the daemon cost and its clients heard in some seconds."""

    def __init__(self, board, counts, seconds, watch=lambda: None):
        wanted = {kind: [board.ports[kind], count] for kind, count in counts.items()}
        crowd = subprocess.Popen(
            [sys.executable, str(pathlib.Path(__file__).parent / "load_clients.py"), json.dumps({**wanted, "seconds": seconds})],
            stdout=subprocess.PIPE, text=True)
        subscriber = Subscriber(board.ports["mqtt"])
        first = crowd.stdout.readline().strip()
        expect(f"{sum(counts.values())} clients hear headings", first == "ready", first)
        begin, used, waiting = time.monotonic(), board.rig.usage()[0], waited(board.rig.process.pid)
        self.memory = []
        while time.monotonic() < begin + seconds and crowd.poll() is None:
            watch()
            self.memory.append((time.monotonic() - begin, board.rig.usage()[1]))
            time.sleep(1)
        self.share = (board.rig.usage()[0] - used) / (time.monotonic() - begin)
        self.waiting = (waited(board.rig.process.pid) - waiting) / (time.monotonic() - begin)
        self.gaps, self.published = subscriber.gaps(begin)
        subscriber.end()
        text = crowd.communicate(timeout=60)[0]
        self.seconds, self.result = seconds, json.loads(text)
        self.clients = self.result["clients"]

    def delay(self, kind, share):
        return quantile(self.clients[kind]["delays"], share)

    def rate(self, kind):
        return statistics.median(self.clients[kind]["messages"]) / self.seconds

    def rows(self, name):
        rows = []
        for kind, client in self.clients.items():
            delays = client["delays"]
            rows.append([name, kind, len(client["messages"]), f"{self.rate(kind):.1f}", *(
                f"{1000 * quantile(delays, share):.0f}" for share in (0.5, 0.99, 1)), f"{100 * self.share:.1f}", f"{self.memory[-1][1]:.0f}"])
        gaps = [(gap, 1) for gap in self.gaps]
        rows.append([name, "mqtt (gap)", 1, f"{self.published / self.seconds:.1f}", *(
            f"{1000 * quantile(gaps, share):.0f}" for share in (0.5, 0.99, 1)), f"{100 * self.share:.1f}", f"{self.memory[-1][1]:.0f}"])
        return rows

    def judge(self, name, alone):
        # Its threads wait for each other's work: where others keep the processors, delays are theirs.
        is_quiet = self.waiting < BUSY
        if not is_quiet:
            print(f"        {name}: delays and rates are not judged, because this machine kept the daemon waiting for "
                  f"{100 * self.waiting:.0f} % of the time", flush=True)
        for kind, client in self.clients.items():
            expect(f"{name}: no client of {kind} is hung up on", client["ended"] == 0, client["ended"])
            if not is_quiet:
                continue
            least, usual = min(client["messages"]) / self.seconds, alone.rate(kind)
            expect(f"{name}: none of {kind} misses messages", least > 0.95 * usual, f"{least:.2f} a second, alone {usual:.2f}",
                   f"{least:.1f} a second at least")
            late, worst = self.delay(kind, 0.995), self.delay(kind, 1)
            is_timely = late < alone.delay(kind, 0.995) + SLOW and worst < alone.delay(kind, 1) + WORST
            expect(f"{name}: headings come in time by {kind}", is_timely, f"{late:.3f} s, {worst:.3f} s at worst")
        expect(f"{name}: MQTT goes on at its rate", not is_quiet or self.published > 0.9 * alone.published * self.seconds / alone.seconds,
               f"{self.published} in {self.seconds} s")


def table(rows):
    rows = [["", "protocol", "clients", "messages/s", "p50 ms", "p99 ms", "worst ms", "% of a core", "MB"]] + [[str(x) for x in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |", flush=True)


def crowds():
    """Alone, and with the crowd."""
    board, seconds = Board(), max(15, min(60, words.seconds / 3))
    try:
        alone = Measurement(board, dict.fromkeys(CROWD, 1), seconds)
        crowd = Measurement(board, CROWD, seconds)
    finally:
        board.end()
    crowd.judge("a crowd", alone)
    print(f"        the crowd itself took {100 * crowd.result['processor']:.0f} % of a core", flush=True)
    return alone, crowd


def dead_and_slow(alone):
    brokers = {name: strangers.broker(name == "slow") for name in ("dead", "slow")}
    databases = {name: strangers.database(name == "slow") for name in ("dead", "slow")}

    def more(folder):
        token = folder / "token"
        token.write_text("secret\n")
        token.chmod(0o600)
        return [
            *(f"{{protocol: mqtt, port: {each.port}, name: {name}, headingInterval: 0.1, interval: 0.1, {EXACT}}}"
              for name, each in brokers.items()),
            *(f"{{protocol: influxdb, server: 'http://127.0.0.1:{each.port}', bucket: {name}, tokenFile: {token}, interval: 0.1, "
              "positions: exact}" for name, each in databases.items()),
            f"{{protocol: nmea0183, transport: pty, path: {folder / 'nmea'}, positions: exact}}"]

    board = Board(more)
    problems = {}

    def watch():
        """Looks now and then what is said: a connection that is ended for its silence is tried again, and stands for a while."""
        if time.monotonic() > watch.due:
            watch.due = time.monotonic() + 4
            for output in board.rig.outputs():
                if output.get("problem"):
                    problems.setdefault(output["place"], set()).add(output["problem"])
    watch.due = 0
    try:
        wait_for((board.rig.folder / "nmea").exists, 20)
        line = os.open(board.rig.folder / "nmea", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        peers = strangers.Strangers({kind: board.ports[kind] for kind in strangers.OPENERS})
        measured = Measurement(board, CROWD, words.seconds, watch)
        log = board.rig.log.read_text()
        peers.end()
        os.close(line)
        expect("the daemon is alive", board.rig.process.poll() is None, log[-500:])
    finally:
        board.end()
    measured.judge("dead and slow peers", alone)
    third = [(at, memory) for at, memory in measured.memory if at > words.seconds / 3]
    growth = third[-1][1] - third[0][1]
    expect("memory is flat", growth < GROWTH, third[::max(1, len(third) // 10)], f"{growth:+.1f} MB from a third of the time on")
    for each in [*brokers.values(), *databases.values()]:
        said = [text for place, texts in problems.items() if f"127.0.0.1:{each.port}" in place for text in texts]
        expect("a broker or a database that takes nothing is said", said or words.seconds < 60, problems, said[:1])
    print(f"        hung up on: {peers.again}; connections of brokers {[each.connections for each in brokers.values()]}, "
          f"of databases {[each.connections for each in databases.values()]}", flush=True)
    return measured


def says(what, rig, text):
    """Checks that status and journal come to say something."""
    expect(f"{what} is said by the status", wait_for(lambda: text in rig.words(), 40), rig.words())
    expect("and in the journal", wait_for(lambda: text in rig.log.read_text(), 20), rig.log.read_text()[-600:])


def database_away():
    """A wrong token, a restart and a wrong name of a database. A point that has a time is promised."""
    database = strangers.Database()
    rig = Rig([], legs=LEGS, name="load")
    token, certificate, key = (rig.folder / name for name in ("token", "certificate.pem", "key.pem"))
    token.write_text("secret\n")
    token.chmod(0o600)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=other.test", "-addext",
         "subjectAltName=DNS:other.test", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    other = strangers.Database(context=context)
    rig.variables["SSL_CERT_FILE"] = str(certificate)
    rig.write([f"{{protocol: influxdb, server: '{scheme}://127.0.0.1:{port}', bucket: b, tokenFile: {token}, interval: 0.5, positions: exact}}"
               for scheme, port in (("http", database.port), ("https", other.port))])
    with rig:
        expect("points come", wait_for(lambda: len(database.moments("heading")) > 5, 40), rig.words())
        says("a certificate of another name", rig, "certificate is not accepted")
        expect("and nothing is sent to it", other.requests == 0, other.requests)
        database.status = 401
        says("a wrong token", rig, "refuses the token (401)")
        database.status = 204
        count = len(database.bodies)
        expect("when it is right again points come", wait_for(lambda: len(database.bodies) > count, 60), rig.words())
        expect("which is told too", wait_for(lambda: "works again" in rig.log.read_text(), 20), rig.log.read_text()[-600:])
        database.stop()
        says("a database that is away", rig, "nobody listens there")
        time.sleep(5)
        again = strangers.Database(database.port)
        again.bodies = database.bodies
        count = len(again.bodies)
        expect("behind its restart points come", wait_for(lambda: len(again.bodies) > count + 3, 60), rig.words())
        time.sleep(3)
        expect("the token is in no message", "secret" not in rig.words() + rig.log.read_text())
    moments = again.moments("heading")
    gaps = [b - a for a, b in zip(moments, moments[1:])]
    expect("no point was lost that had a time", gaps and max(gaps) < 1.1, sorted(gaps)[-5:], f"{len(moments)} points, {max(gaps):.2f} s apart at most")
    again.stop()
    other.stop()


def can_connect(client, port):
    try:
        return client.connect("127.0.0.1", port) == 0
    except OSError:
        return False


def full_queue():
    """More events than the queue of MQTT holds: the newest are kept, and what was lost is said."""
    port = free_port()
    rig = Rig([f"{{protocol: mqtt, address: 127.0.0.1, port: {port}, name: load, positions: exact}}"], legs=LEGS, name="load")
    process, events = broker(rig.folder, port), []
    try:
        with rig:
            expect("the board is at its broker", wait_for(lambda: rig.outputs() and not rig.outputs()[0].get("problem"), 30), rig.words())
            process.kill()
            process.wait(5)
            says("a broker that is gone", rig, "nobody listens there")
            control, chips = rig.control(), ["LIS3MDL", "LSM6DSOX", "BMP280", "u-blox"]
            deadline = time.monotonic() + max(120, words.seconds / 2)
            while time.monotonic() < deadline and "lost" not in rig.words():
                for chip in chips:
                    control.ask(f"fault {chip} noAnswer 1.2")
                time.sleep(4)
            expect("events that were lost are said", "lost" in rig.words(), rig.words())
            for chip in chips:
                control.ask(f"mend {chip}")
            time.sleep(8)
            process = broker(rig.folder, port)
            import paho.mqtt.client as paho
            versions = getattr(paho, "CallbackAPIVersion", None)
            home = paho.Client(*([versions.VERSION2] if versions else []), client_id="home", protocol=paho.MQTTv5)
            home.on_connect = lambda client, *_: client.subscribe("lodestone/load/chip/#", 1)
            home.on_message = lambda _client, _data, message: events.append((message.topic, json.loads(message.payload), message.qos))
            # Before the board, whose pauses have grown.
            wait_for(lambda: can_connect(home, port), 20)
            home.loop_start()
            wait_for(lambda: len([event for event in events if event[2] == 1]) >= 240, 200)
            kept = [event for event in events if event[2] == 1]
            expect("as many events as are promised come", len(kept) >= 240, len(kept), len(kept))
            last = {topic: value for topic, value, _ in events}
            expect("the last of each chip is its state", last and all(value["problem"] == "OFF" for value in last.values()), last)
            expect("all is well", wait_for(lambda: not rig.outputs()[0].get("problem"), 20), rig.words())
            home.loop_stop()
    finally:
        process.kill()
        process.wait(5)


began = time.monotonic()
alone, crowd = crowds()
measured = dead_and_slow(alone)
table(alone.rows("alone") + crowd.rows("crowd") + measured.rows("crowd, dead and slow peers"))
database_away()
if words.seconds >= 300:
    full_queue()
else:
    print("left out: a queue of MQTT that is full takes --seconds 300 and more")
finish("load", time.monotonic() - began)
