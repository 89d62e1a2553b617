#!/usr/bin/env python3
"""Holds messages of a board against Signal K's own JSON schemas, with jsonschema 4.26.0.

    git clone https://github.com/SignalK/specification    # read at adf1f204 (1.8.2); its folder `schemas` is the argument
    pip install jsonschema==4.26.0
    python3 Tests/peers/signalk-schema.py SCHEMAS < Tests/OutputProtocolsTests/SignalKSamples.txt

Each line is a message: a hello, a delta, or a login. A delta is checked as such, and each of its values is also put into the tree at
its path and checked by the schema of its group, so that a text has to be one of those that are allowed. Paths of our own are listed.
"""
import json
import pathlib
import sys

import jsonschema

folder = pathlib.Path(sys.argv[1])
documents = {p.relative_to(folder).as_posix(): json.loads(p.read_text()) for p in folder.rglob("*.json")}
store = {}


def without_names(node):
    """The schemas give single properties an `id` that is no address, and that would lead all references below it astray."""
    if isinstance(node, dict):
        return {k: without_names(v) for k, v in node.items() if k != "id" or not isinstance(v, str)}
    return [without_names(v) for v in node] if isinstance(node, list) else node


documents = {name: without_names(document) for name, document in documents.items()}
for name, document in documents.items():
    document["id"] = "https://signalk.test/schemas/" + name
    store[document["id"]] = document


def validator(name):
    document = documents[name]
    resolver = jsonschema.RefResolver(document["id"], document, store=store)
    return jsonschema.Draft4Validator(document, resolver=resolver, format_checker=jsonschema.FormatChecker())


delta, hello, auth = (validator(name) for name in ("delta.json", "hello.json", "messages/auth.json"))
groups = {name: validator(f"groups/{name}.json") for name in ("navigation", "environment", "notifications")}
own, paths = set(), set()


def known(path):
    node = documents[f"groups/{path[0]}.json"]
    for part in path[1:]:
        node = node.get("properties", {}).get(part)
        if node is None:
            return False
    return True


count = 0
for line in sys.stdin:
    message = json.loads(line)
    count += 1
    if "roles" in message:
        hello.validate(message)
    elif "requestId" in message:
        auth.validate(message)
    else:
        delta.validate(message)
        for update in message["updates"]:
            for entry in update.get("values", []):
                path = entry["path"].split(".")
                paths.add(entry["path"])
                if entry["value"] is None:
                    continue
                if path[0] == "notifications":
                    tree = {"value": entry["value"], "$source": update["$source"], "timestamp": update["timestamp"]}
                    notification = documents["groups/notifications.json"]["definitions"]["notification"]
                    resolver = jsonschema.RefResolver(documents["groups/notifications.json"]["id"],
                                                      documents["groups/notifications.json"], store=store)
                    jsonschema.Draft4Validator(notification, resolver=resolver).validate(tree)
                elif known(path):
                    tree = {"value": entry["value"], "$source": update["$source"], "timestamp": update["timestamp"]}
                    for part in reversed(path[1:]):
                        tree = {part: tree}
                    groups[path[0]].validate(tree)
                else:
                    own.add(entry["path"])
            for entry in update.get("meta", []):
                path = entry["path"].split(".")
                node = documents[f"groups/{path[0]}.json"]
                for part in path[1:]:
                    node = node.get("properties", {}).get(part, {})
                if node:
                    assert entry["value"].get("units") == node["units"] if "units" in node else True, path
                    assert entry["value"]["description"] == node.get("description"), (path, node.get("description"))
print(f"{count} messages and {len(paths)} paths are as the schemas want; of our own are:", ", ".join(sorted(own)))
