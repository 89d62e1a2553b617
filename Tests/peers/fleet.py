#!/usr/bin/env python3
"""1,000 simulated boards at one broker of MQTT: messages a second, what they cost the broker, and how long they take.

usage: fleet.py FOLDER [--seconds 60] [--boards 1000]        FOLDER: where Scripts/build.sh has put the programs

    apt-get install mosquitto
    pip install paho-mqtt

A thousand daemons with a simulated board each are more than this machine has room for: a simulated board computes its world and every chip.
So one daemon is measured, and what it publishes at its usual intervals is recorded. Then 1,000 connections of MQTT 5 publish the same messages at
the same intervals, each with a name of its own in topics and payloads, the same last will, keep-alive and session, from a few processes
(fleet_boards.py). One subscriber takes all of it, as Home Assistant or a bridge to a database does (fleet_listener.py), and a probe measures how
long a message takes.

1. One board: what its daemon costs, its messages.
2. The fleet at the usual intervals, for the given time: nothing is lost, nobody is hung up on.
3. Faster and faster, until the broker or this machine has no more: what one broker carries.
4. A half of the fleet dies at once: the broker tells its last wills.

With --seconds 600 it is the long form. Exit code 1 if something is wrong. Documentation/fleet.md has the figures, and what takes over beyond one broker.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--seconds", type=float, default=60)
parser.add_argument("--boards", type=int, default=1_000)
parser.add_argument("--processes", type=int, default=2)
words = parser.parse_args()
sys.argv[1:] = [str(words.folder.resolve() / "lodestone")]

from simulated_rig import Rig, free_port, usage, wait_for  # noqa: E402
from checks import expect, finish  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NODE = "fleet"
# The intervals of serve.yaml and of the messages of chips, in seconds, where too few came to be counted.
USUAL = {"heading": 1.0, "position": 10.0, "air": 10.0, "chip": 60.0}
SPEEDS = [2, 5, 10, 20, 40, 80]


class Broker:
    def __init__(self, folder):
        self.port = free_port()
        (folder / "mosquitto.conf").write_text(f"listener {self.port} 127.0.0.1\npersistence false\nallow_anonymous true\n")
        self.process = subprocess.Popen(
            ["mosquitto", "-c", str(folder / "mosquitto.conf")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})

    def usage(self):
        return usage(self.process.pid)

    def end(self):
        self.process.terminate()
        self.process.wait(20)


def record(seconds):
    """What a board publishes: its birth, and a series of messages a topic; and what its daemon costs."""
    import paho.mqtt.client as paho
    rig, heard = Rig([], name="fleet"), []
    broker = Broker(rig.folder)
    rig.write([f"{{protocol: mqtt, address: 127.0.0.1, port: {broker.port}, name: {NODE}, positions: exact}}"])
    versions = getattr(paho, "CallbackAPIVersion", None)
    client = paho.Client(*([versions.VERSION2] if versions else []), client_id="recorder", protocol=paho.MQTTv5)
    client.on_connect = lambda client, *_: client.subscribe([("homeassistant/#", 1), ("lodestone/#", 1)])
    client.on_message = lambda _client, _data, message: heard.append(
        (time.monotonic(), message.topic, message.payload.decode(), message.qos, message.retain))
    client.connect_async("127.0.0.1", broker.port)
    client.loop_start()
    try:
        with rig:
            expect("the board publishes", wait_for(lambda: any(topic.endswith("/heading") for _, topic, *_ in heard), 40), rig.words())
            time.sleep(8)
            begin, used = time.monotonic(), rig.usage()[0]
            time.sleep(seconds)
            spent = time.monotonic() - begin
            share, memory = (rig.usage()[0] - used) / spent, rig.usage()[1]
            steady = [entry for entry in heard if entry[0] > begin]
    finally:
        client.loop_stop()
        broker.end()
    birth, series = {}, {}
    for when, topic, payload, quality, _ in heard:
        kind = topic.rpartition("/")[2]
        message = {"topic": topic, "payload": payload, "quality": quality, "retained": kind in ("config", "availability")}
        if message["retained"]:
            if payload != "offline":
                birth[topic] = message
        else:
            series.setdefault(topic, []).append((when, message))
    entries = []
    for topic, messages in series.items():
        later = [(when, message) for when, message in messages if when > begin] or messages[-1:]
        kind = topic.split("/")[2]
        counted = (later[-1][0] - later[0][0]) / (len(later) - 1) if len(later) > 4 else USUAL[kind]
        entries.append({"interval": counted, "messages": [message for _, message in later[:20]]})
        size = sum(len(message["payload"]) for _, message in later) / len(later)
        print(f"        {topic}: every {counted:.2f} s, {size:.0f} bytes, quality {later[-1][1]['quality']}", flush=True)
    for topic, message in birth.items():
        print(f"        {topic}: {len(message['payload'])} bytes, retained", flush=True)
    expect("one daemon of a simulated board", steady, heard[-3:],
           f"{100 * share:.1f} % of a core, {memory:.0f} MB, {len(steady) / spent:.2f} messages a second")
    return list(birth.values()), entries


class Process:
    """A process that answers to lines with lines."""

    def __init__(self, script, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / script), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ready(self):
        return self.process.stdout.readline().strip() == "ready"

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.say(line)
        return json.loads(self.process.stdout.readline())

    def end(self):
        text = self.process.communicate(timeout=60)[0]
        return json.loads(text.splitlines()[-1]) if text.strip() else {}


class Stage:
    """The figures of some seconds."""

    def __init__(self, broker, fleet, listener, seconds):
        before = [process.ask("count") for process in fleet]
        heard, used, begin = listener.ask("count"), broker.usage()[0], time.monotonic()
        time.sleep(seconds)
        after = [process.ask("count") for process in fleet]
        spent = time.monotonic() - begin
        self.share, self.memory = (broker.usage()[0] - used) / spent, broker.usage()[1]
        then = listener.ask("count")
        self.sent = sum(b["sent"] - a["sent"] for a, b in zip(before, after)) / spent
        self.bytes = sum(b["bytes"] - a["bytes"] for a, b in zip(before, after)) / spent
        self.late = sum(b["late"] - a["late"] for a, b in zip(before, after))
        self.heard = (then["messages"] - heard["messages"]) / spent
        self.delays = then["delays"] or [float("nan")]

    def delay(self, share):
        return self.delays[min(len(self.delays) - 1, int(share * len(self.delays)))]

    def row(self, boards, speed):
        return [boards, speed, f"{self.sent:.0f}", f"{self.bytes / 1000:.0f}", f"{self.heard:.0f}", f"{100 * self.share:.1f}", f"{self.memory:.0f}",
                *(f"{1000 * self.delay(share):.0f}" for share in (0.5, 0.99, 1))]


def table(rows):
    rows = [["boards", "times the usual rate", "sent/s", "kB/s", "delivered/s", "broker, % of a core", "MB", "p50 ms", "p99 ms", "worst ms"],
            *([str(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |", flush=True)


def fleet(birth, series):
    folder = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"lodestone-fleet-{os.getpid()}"
    folder.mkdir()
    broker, rows, processes, listener = Broker(folder), [], [], None
    try:
        wait_for(lambda: broker.usage()[1] > 1, 5)
        time.sleep(0.5)
        empty = broker.usage()[1]
        listener = Process("fleet_listener.py", str(broker.port), "lodestone/#")
        expect("a subscriber is there", listener.ready())
        each, begin = words.boards // words.processes, time.monotonic()
        processes = [
            Process("fleet_boards.py", json.dumps({
                "host": "127.0.0.1", "port": broker.port, "count": each, "first": number * each, "node": NODE, "birth": birth, "series": series,
                "speed": 1})) for number in range(words.processes)]
        expect(f"{words.boards} boards connect", all(process.ready() for process in processes), "", f"{time.monotonic() - begin:.1f} s")
        time.sleep(5)
        usual = Stage(broker, processes, listener, words.seconds)
        rows.append(usual.row(words.boards, 1))
        expected = words.boards * sum(1 / entry["interval"] for entry in series)
        expect("they publish at their rate", abs(usual.sent / expected - 1) < 0.1, f"{usual.sent:.0f} a second, {expected:.0f} expected")
        expect("and all of it arrives", abs(usual.heard / usual.sent - 1) < 0.01, f"{usual.heard:.1f} of {usual.sent:.1f} a second")
        expect("in time", usual.delay(0.99) < 0.25, usual.delays[-5:], f"{1000 * usual.delay(0.99):.0f} ms for 99 %")
        expect("the broker has time left", usual.share < 0.7, usual.share, f"{100 * usual.share:.1f} % of a core")
        print(f"        the broker's memory: {empty:.0f} MB without a board, {usual.memory:.0f} MB with {words.boards}", flush=True)
        limit = None
        for speed in SPEEDS:
            for process in processes:
                process.say(f"speed {speed}")
            time.sleep(4)
            stage = Stage(broker, processes, listener, max(10, words.seconds / 20))
            rows.append(stage.row(words.boards, speed))
            if stage.share > 0.9:
                limit = "the broker's"
            elif stage.heard < 0.95 * stage.sent:
                limit = "the subscriber's: what it takes too slowly the broker drops"
            elif stage.sent < 0.9 * speed * usual.sent:
                limit = "this machine's, which is the boards and the subscriber as well"
            if limit:
                break
        for process in processes:
            process.say("speed 1")
        time.sleep(5)
        dying(broker.port, processes, each)
        table(rows)
        print(f"        the limit that was reached: {limit or 'none'}", flush=True)
        result = [process.end() for process in processes[1:]]
        expect("nobody was hung up on", all(entry.get("ended") == 0 for entry in result), result)
    finally:
        for process in [*processes, *([listener] if listener else [])]:
            if process.process.poll() is None:
                process.process.kill()
                process.process.wait(10)
        broker.end()
        (folder / "mosquitto.conf").unlink()
        folder.rmdir()


def dying(port, processes, each):
    """A part of the fleet dies: its boards are told to be offline when the delay of the will is over."""
    watcher = Process("fleet_listener.py", str(port), "lodestone/+/availability")
    watcher.ready()
    time.sleep(1)
    before = watcher.ask("count")["messages"]
    processes[0].process.kill()
    processes[0].process.wait(10)
    found = wait_for(lambda: watcher.ask("count")["messages"] - before >= each, 30)
    count = watcher.ask("count")["messages"] - before
    expect(f"of {each} boards that die the broker tells the last will", found and count == each, count, count)
    watcher.process.stdin.close()
    watcher.process.wait(10)


soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
needed = words.boards + 500
if hard != resource.RLIM_INFINITY and hard < needed:
    sys.exit(f"fleet.py needs {needed} file descriptors, and may have {hard}: ulimit -n")
resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
began = time.monotonic()
fleet(*record(20 if words.seconds < 300 else 130))
finish("fleet", time.monotonic() - began)
