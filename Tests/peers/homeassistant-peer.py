#!/usr/bin/env python3
"""The board as Home Assistant discovers it: paho-mqtt subscribes over MQTT 5, Jinja2 renders the templates of the entities.

usage: homeassistant-peer.py LODESTONE    (pip install paho-mqtt==2.2.0 Jinja2==3.1.6, and Debian's mosquitto)

The discovery message is held against what Home Assistant's manual asks of it (home-assistant.io/integrations/mqtt, "Device discovery
payload", and the pages of sensor.mqtt, binary_sensor.mqtt and device_tracker.mqtt; 2024.11 and later). Each template is rendered with
every message of its topic by the template engine that Home Assistant uses. Takes half a minute.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import jinja2
import paho.mqtt.client as mqtt

import peer_daemon
from checks import expect, finish

MOSQUITTO = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
ABBREVIATIONS = {
    "dev": "device", "o": "origin", "cmps": "components", "p": "platform", "ids": "identifiers", "mf": "manufacturer", "mdl": "model",
    "sw": "sw_version"}
# Units that each device class takes; the pages of sensor and of number list them.
UNITS = {
    "atmospheric_pressure": {"cbar", "bar", "hPa", "inHg", "inH₂O", "kPa", "mbar", "mmHg", "mPa", "Pa", "psi"},
    "temperature": {"°C", "°F", "K"}, "humidity": {"%"}, "distance": {"km", "m", "cm", "mm", "mi", "nmi", "yd", "in"}}
SENSOR = {
    "platform", "unique_id", "name", "state_topic", "value_template", "expire_after", "device_class", "unit_of_measurement",
    "suggested_display_precision", "icon", "json_attributes_topic", "state_class", "entity_category", "options"}
KEYS = {
    "sensor": SENSOR, "binary_sensor": SENSOR - {"unit_of_measurement", "suggested_display_precision", "state_class", "options"},
    "device_tracker": {"platform", "unique_id", "name", "json_attributes_topic", "source_type", "state_topic"}}
REQUIRED = {"sensor": {"state_topic"}, "binary_sensor": {"state_topic"}, "device_tracker": {"json_attributes_topic"}}


def whole(node):
    """A message with the names in place of their abbreviations."""
    if isinstance(node, dict):
        return {ABBREVIATIONS.get(key, key): whole(value) for key, value in node.items()}
    return node


class Subscriber:
    def __init__(self, port):
        self.messages, self.reason, self.changed = [], None, threading.Condition()
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        self.client.on_connect = lambda client, data, flags, reason, properties: self.greet(reason)
        self.client.on_message = lambda client, data, message: self.take(message)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def greet(self, reason):
        self.reason = reason
        self.client.subscribe([("homeassistant/#", 1), ("lodestone/#", 1)])

    def take(self, message):
        self.messages.append(message)

    def payloads(self, topic):
        return [message.payload for message in list(self.messages) if message.topic == topic]


def structure(topic, message):
    expect("the topic is one of a device", re.fullmatch(r"homeassistant/device/[a-zA-Z0-9_-]+/config", topic), topic)
    device, origin = message.get("device", {}), message.get("origin", {})
    expect("the device has identifiers", device.get("identifiers") or device.get("connections"), device)
    expect("the origin has a name, which device discovery requires", origin.get("name"), origin)
    entities = message["components"]
    identifiers = [entity.get("unique_id") for entity in entities.values()]
    expect("each entity has an identifier of its own", all(identifiers) and len(set(identifiers)) == len(identifiers), identifiers)
    wrong = []
    for name, entity in entities.items():
        platform = entity.get("platform")
        if platform not in KEYS:
            wrong.append(f"{name}: platform {platform}")
            continue
        wrong += [f"{name}: key {key} is not known" for key in entity.keys() - KEYS[platform]]
        wrong += [f"{name}: key {key} is missing" for key in REQUIRED[platform] - entity.keys()]
        kind, unit = entity.get("device_class"), entity.get("unit_of_measurement")
        if kind == "enum" and (not entity.get("options") or unit or entity.get("state_class")):
            wrong.append(f"{name}: an enumeration needs options, and has no unit and no state class")
        if platform == "sensor" and kind not in (None, "enum") and unit not in UNITS.get(kind, ()):
            wrong.append(f"{name}: unit {unit} of {kind}")
        if entity.get("entity_category") not in (None, "diagnostic") or entity.get("state_class") not in (None, "measurement"):
            wrong.append(f"{name}: {entity}")
        if not isinstance(entity.get("expire_after", 1), int) or entity.get("expire_after", 1) < 1:
            wrong.append(f"{name}: expires after {entity.get('expire_after')}")
        if platform == "device_tracker" and entity.get("source_type") != "gps":
            wrong.append(f"{name}: source {entity.get('source_type')}")
    expect("every entity is as the manual has it", not wrong, wrong, f"{len(entities)} entities")


def schemas(payload):
    """Home Assistant's own schemas, where Tests/peers/setup.sh has installed it. It runs in an environment of its own."""
    here = pathlib.Path(__file__).resolve().parent
    python = pathlib.Path(os.environ.get("LODESTONE_CACHE", pathlib.Path.home() / ".cache/lodestone")) / "peers/homeassistant/bin/python"
    if not python.exists():
        return
    done = subprocess.run([str(python), str(here / "homeassistant-schema.py")], input=payload, capture_output=True, timeout=60)
    expect("Home Assistant's schemas take every entity", done.returncode == 0, (done.stdout + done.stderr)[-800:].decode(),
           done.stdout.decode().splitlines()[-1:])


def state_problem(entity, text):
    """Why Home Assistant would not take a state; `None` is its word for unknown."""
    if text == "None":
        return None
    if entity["platform"] == "binary_sensor":
        return None if text in ("ON", "OFF") else text
    if entity.get("device_class") == "enum":
        return None if text in entity["options"] else text
    try:
        float(text)
        return None
    except ValueError:
        return text


def states(entities, home):
    engine, wrong, known = jinja2.Environment(undefined=jinja2.StrictUndefined), [], set()
    for name, entity in entities.items():
        if "state_topic" not in entity:
            continue
        template = engine.from_string(entity["value_template"])
        for payload in home.payloads(entity["state_topic"]):
            text = template.render(value_json=json.loads(payload), value=payload.decode())
            problem = state_problem(entity, text)
            if problem is not None:
                wrong.append(f"{name}: {problem}")
            if text != "None":
                known.add(name)
    expect("Jinja2 renders every message to a number, a word of the list, or None", not wrong, wrong[:3], sorted(known))
    expect("pressure, altitude and the state of each chip are known", {"pressure", "altitude", "chip_0"} <= known, known)


def places(entities, home):
    topic = entities["position"]["json_attributes_topic"]
    wrong, known = [], 0
    for payload in home.payloads(topic):
        place = json.loads(payload)
        if place["latitude"] is None:
            wrong += [place] if place["longitude"] is not None or "gps_accuracy" in place or not place.get("reason") else []
            continue
        known += 1
        good = isinstance(place["latitude"], float) and isinstance(place["longitude"], float) and place["gps_accuracy"] > 0
        wrong += [] if good and place.get("simulated") is True else [place]
    expect("a position has its accuracy and says that it is simulated; a lost one is null, with the reason",
           known and not wrong, wrong[:2], f"{known} positions")


def broker():
    port = peer_daemon.free_port()
    file = peer_daemon.FOLDER / "mosquitto.conf"
    file.write_text(f"listener {port} 127.0.0.1\npersistence false\nallow_anonymous true\n")
    process = subprocess.Popen([MOSQUITTO, "-c", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connected():
        try:
            return Subscriber(port)
        except OSError:
            return None
    home = peer_daemon.wait_for(connected, 10)
    if home is None:
        process.kill()
        sys.exit("the broker does not answer")
    return process, port, home


def main():
    process, port, home = broker()
    try:
        peer_daemon.serve(
            f"{{protocol: mqtt, address: 127.0.0.1, port: {port}, name: boat, interval: 1, headingInterval: 0.5, positions: exact}}")
        topic = "homeassistant/device/boat/config"

        def complete():
            # Entities come as the board is seen to have what they need; the altitude comes after a fix.
            return any({"chip_3", "altitude"} <= json.loads(payload)["cmps"].keys() for payload in home.payloads(topic)) and any(
                json.loads(payload).get("latitude") for payload in home.payloads("lodestone/boat/position"))
        expect("paho-mqtt gets the description and a position over MQTT 5", peer_daemon.wait_for(complete, 45),
               [message.topic for message in home.messages][-5:])
        expect("the broker accepted MQTT 5", home.reason is not None and not home.reason.is_failure, home.reason)
        message = whole(json.loads(home.payloads(topic)[-1]))
        structure(topic, message)
        schemas(home.payloads(topic)[-1])
        peer_daemon.wait_for(lambda: len(home.payloads("lodestone/boat/heading")) > 10, 15)
        states(message["components"], home)
        places(message["components"], home)
    finally:
        home.client.loop_stop()
        process.kill()
        process.wait(5)


try:
    main()
finally:
    peer_daemon.end()
finish("homeassistant-peer")
