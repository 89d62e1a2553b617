#!/usr/bin/env python3
"""The bridge of Examples/ROS2Bridge: its messages are those of ROS 2, by rosbags' definitions, and its orientation is REP 103's.

usage: ros2-bridge-peer.py LODESTONE    (pip install websockets rosbags)
"""
import json
import math
import pathlib
import subprocess
import sys
import threading

from rosbags.typesys import Stores, get_typestore
from websockets.sync.server import serve

import peer_daemon
from checks import expect, finish

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Clients/Python"), str(ROOT / "Examples/ROS2Bridge")]

import bridge  # noqa: E402
import lodestone  # noqa: E402

store = get_typestore(Stores.ROS2_HUMBLE)


def yaw(orientation):
    x, y, z, w = (orientation[key] for key in "xyzw")
    return math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def built(kind, value):
    """A message of rosbags' class from its fields by name; a field that there is not raises."""
    names = store.get_msgdef(kind).fields
    given = {}
    for name, (node, detail) in names:
        content = value.pop(name)
        given[name] = built(detail, content) if isinstance(content, dict) else content
    assert not value, value
    return store.types[kind](**given)


def orientations():
    for magnetic, declination, wanted in [(0, 0, 90), (90, 0, 0), (80, 10, 0), (180, 0, -90), (350, 10, 90)]:
        half = math.radians(-magnetic) / 2
        attitude = lodestone.Attitude(
            monotonic=1, quaternion=(math.cos(half), 0.0, 0.0, math.sin(half)), magnetic_heading=float(magnetic),
            true_heading=float(magnetic + declination), line={"covariance": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0]})
        found = yaw(bridge.imu(attitude, None)["orientation"])
        error = (found - wanted + 180) % 360 - 180
        expect(f"heading {magnetic} with declination {declination} is a yaw of {wanted}", abs(error) < 1e-6, found)
    message = bridge.imu(lodestone.Attitude(monotonic=1, quaternion=(1.0, 0.0, 0.0, 0.0)), (1.0, 2.0, 9.0))
    expect("without a true heading there is no orientation", message["orientation_covariance"][0] == -1)
    expect("axes are forward, left, up", message["linear_acceleration"] == {"x": 2.0, "y": -1.0, "z": 9.0}, message)


def live():
    heard, done = [], threading.Event()

    def take(socket):
        for text in socket:
            heard.append(json.loads(text))
            topics = {entry["topic"] for entry in heard if entry["op"] == "publish"}
            if topics >= {"/imu/data", "/gnss/fix", "/pressure"}:
                done.set()

    server = serve(take, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    daemon = subprocess.Popen(
        [peer_daemon.COMMAND, "serve", "--board", "simulated", "--socket", str(peer_daemon.FOLDER / "s")],
        stdout=subprocess.DEVNULL, env=peer_daemon.variables())
    stream = peer_daemon.FOLDER / "stream.sock"
    peer_daemon.wait_for(stream.exists)
    port = server.socket.getsockname()[1]
    readings = lodestone.stream(kinds=["attitude", "motion", "location", "altitude"], rate=20, path=str(stream))

    def publish():
        with bridge.connect(f"ws://127.0.0.1:{port}") as socket:
            bridge.publish(socket, readings)

    threading.Thread(target=publish, daemon=True).start()
    expect("all topics are published", done.wait(60), {entry["topic"] for entry in heard})
    kinds = {entry["topic"]: entry["type"] for entry in heard if entry["op"] == "advertise"}
    problems = []
    for entry in heard:
        if entry["op"] == "publish":
            try:
                built(kinds[entry["topic"]], entry["msg"])
            except (KeyError, AssertionError, TypeError) as error:
                problems.append(f"{entry['topic']}: {error!r}")
    expect("every message has the fields of its type", not problems, problems[:3], f"{len(heard)} messages")
    daemon.terminate()
    daemon.wait(15)


orientations()
live()
finish("ros2-bridge-peer")
