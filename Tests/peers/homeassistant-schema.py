#!/usr/bin/env python3
"""Holds a discovery message of a board against Home Assistant's own schemas of entities: homeassistant-schema.py < MESSAGE

    Tests/peers/setup.sh long      # homeassistant 2024.3.3 of PyPI with all that it needs, 400 MB; newer ones need a newer Python

That version discovers entities, and not yet devices with their entities. Each entity is therefore given what the message has for all of
them, as later versions do, its abbreviations are resolved by the package's tables, and it goes through the schema of its platform."""
import json
import sys

import voluptuous
from homeassistant.components.mqtt import binary_sensor, device_tracker, sensor
from homeassistant.components.mqtt.abbreviations import ABBREVIATIONS, DEVICE_ABBREVIATIONS, ORIGIN_ABBREVIATIONS

SCHEMAS = {platform.__name__.rpartition(".")[2]: platform.DISCOVERY_SCHEMA for platform in (sensor, binary_sensor, device_tracker)}


def resolved(table, node):
    return {table.get(key, key): value for key, value in node.items()}


message = json.load(sys.stdin)
shared = {key: value for key, value in message.items() if key not in ("dev", "o", "cmps")}
shared["device"] = resolved(DEVICE_ABBREVIATIONS, message["dev"])
shared["origin"] = resolved(ORIGIN_ABBREVIATIONS, message["o"])
problems = []
for name, entity in message["cmps"].items():
    config = resolved(ABBREVIATIONS, {**shared, **entity})
    platform = config.pop("p")
    try:
        SCHEMAS[platform](config)
    except voluptuous.Invalid as error:
        problems.append(f"{name}: {error}")
for problem in problems:
    print(problem)
print(f"{len(message['cmps'])} entities, {len(problems)} not valid")
sys.exit(1 if problems else 0)
