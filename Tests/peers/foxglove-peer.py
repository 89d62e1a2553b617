#!/usr/bin/env python3
"""Foxglove's protocol at port 8765 as a program sees it; messages are decoded by mcap-ros2-support with the schemas that are told.

usage: foxglove-peer.py LODESTONE    (pip install websockets mcap-ros2-support)
"""
import asyncio
import json
import math
import struct

import websockets
from mcap_ros2._dynamic import generate_dynamic

import peer_daemon
from checks import expect, finish

URL = "ws://127.0.0.1:{}"


class Viewer:
    """A program with its channels, and the newest message of each topic."""

    def __init__(self, socket):
        self.socket = socket
        self.channels, self.topics, self.messages, self.statuses, self.decoders = {}, {}, {}, [], {}

    async def greet(self):
        info = json.loads(await self.socket.recv())
        expect("the first message is serverInfo", info["op"] == "serverInfo" and info["name"] == "Lodestone", info)
        advertise = json.loads(await self.socket.recv())
        for channel in advertise["channels"]:
            self.channels[channel["topic"]] = channel
        return self.channels

    async def subscribe(self, *topics):
        subscriptions = []
        for number, topic in enumerate(topics, 100 + len(self.topics)):
            self.topics[number] = topic
            subscriptions.append({"id": number, "channelId": self.channels[topic]["id"]})
        await self.socket.send(json.dumps({"op": "subscribe", "subscriptions": subscriptions}))

    def decode(self, topic, data):
        channel = self.channels[topic]
        if channel["encoding"] == "json":
            return json.loads(data)
        # Making one takes longer than the time between two messages.
        if topic not in self.decoders:
            self.decoders[topic] = generate_dynamic(channel["schemaName"], channel["schema"])[channel["schemaName"]]
        return self.decoders[topic](data)

    async def listen(self, seconds):
        end = asyncio.get_running_loop().time() + seconds
        while (left := end - asyncio.get_running_loop().time()) > 0:
            try:
                message = await asyncio.wait_for(self.socket.recv(), left)
            except asyncio.TimeoutError:
                break
            if isinstance(message, str):
                self.statuses.append(json.loads(message))
                continue
            opcode, subscription, time = struct.unpack_from("<BIQ", message)
            expect_once("messages are binary, with opcode 1", opcode == 1, opcode)
            topic = self.topics[subscription]
            self.messages.setdefault(topic, []).append((time, self.decode(topic, message[13:])))


said = set()


def expect_once(what, holds, detail=""):
    if what not in said or not holds:
        said.add(what)
        expect(what, holds, detail)


async def refusals(port):
    for what, arguments in [
        ("a program that names no sub-protocol", {}),
        ("a page of a stranger", {"subprotocols": ["foxglove.sdk.v1"], "origin": "https://evil.example"}),
    ]:
        try:
            async with websockets.connect(URL.format(port), **arguments):
                expect(f"{what} is refused", False)
        except websockets.exceptions.InvalidStatus as error:
            expect(f"{what} is refused", error.response.status_code in (400, 403), error)


async def conversation(port):
    names = ["foxglove.websocket.v1", "foxglove.sdk.v1"]
    for name in names:
        async with websockets.connect(URL.format(port), subprotocols=[name]) as socket:
            expect(f"it speaks {name}", socket.subprotocol == name)
    async with websockets.connect(URL.format(port), subprotocols=names, origin="https://app.foxglove.dev") as socket:
        viewer = Viewer(socket)
        channels = await viewer.greet()
        expect("the present name is preferred", socket.subprotocol == "foxglove.sdk.v1")
        expect("there are channels of ROS and of Foxglove", {
            "/imu/data", "/imu/mag", "/gnss/fix", "/gnss/location", "/heading/magnetic", "/pressure", "/log"} <= set(channels))
        await viewer.subscribe(*channels)
        await viewer.listen(15)
        for topic in ["/imu/data", "/gnss/fix", "/gnss/location", "/pressure"]:
            count = len(viewer.messages.get(topic, []))
            expect(f"{topic} comes", count > 0, shown=f"{count} messages in 15 s")
        if "/gnss/location" in viewer.messages:
            time, place = viewer.messages["/gnss/location"][-1]
            fix = viewer.messages["/gnss/fix"][-1][1]
            expect("both positions are the same", abs(place["latitude"] - fix.latitude) < 1e-3, place)
            expect("with a covariance", place["position_covariance"][0] > 0 and fix.position_covariance_type > 0, place)
        for _, imu in viewer.messages.get("/imu/data", []):
            size = math.sqrt(
                imu.linear_acceleration.x**2 + imu.linear_acceleration.y**2 + imu.linear_acceleration.z**2)
            known = imu.linear_acceleration_covariance[0] != -1
            expect_once("acceleration is gravity or not known", not known or 5 < size < 15, size)
            has = imu.orientation_covariance[0] != -1
            length = imu.orientation.x**2 + imu.orientation.y**2 + imu.orientation.z**2 + imu.orientation.w**2
            expect_once("orientation is a rotation or not known", not has or abs(length - 1) < 1e-6, length)
        await socket.send(json.dumps({"op": "unsubscribe", "subscriptionIds": list(viewer.topics)}))
        await viewer.listen(0.5)
        viewer.messages.clear()
        await viewer.listen(2)
        expect("what is not subscribed to does not come", not viewer.messages, list(viewer.messages))
        await socket.send(json.dumps({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 9_999}]}))
        await viewer.listen(1)
        expect("an unknown channel is said", any(status["level"] == 2 for status in viewer.statuses), viewer.statuses)


async def withheld(port):
    async with websockets.connect(URL.format(port), subprotocols=["foxglove.sdk.v1"]) as socket:
        channels = await Viewer(socket).greet()
        expect("without positions no channel tells the place", not {
            "/gnss/fix", "/gnss/location", "/heading/true"} & set(channels), list(channels))


async def slow(port):
    async with websockets.connect(URL.format(port), subprotocols=["foxglove.sdk.v1"]) as honest, \
            websockets.connect(URL.format(port), subprotocols=["foxglove.sdk.v1"], max_queue=1) as sleeper:
        viewers = [Viewer(honest), Viewer(sleeper)]
        for viewer in viewers:
            await viewer.greet()
            await viewer.subscribe("/imu/data", "/imu/mag")
        await viewers[0].listen(10)
        count = len(viewers[0].messages.get("/imu/data", []))
        expect("a program that reads nothing harms no other", count > 50, count, f"{count} messages in 10 s")


async def main():
    port, closed = peer_daemon.free_port(), peer_daemon.free_port()
    peer_daemon.serve(
        f"{{protocol: foxglove, port: {port}, positions: exact}}", f"{{protocol: foxglove, port: {closed}}}")
    await refusals(port)
    await conversation(port)
    await withheld(closed)
    await slow(port)


try:
    asyncio.run(main())
finally:
    peer_daemon.end()
finish("foxglove-peer")
