#!/usr/bin/env python3
"""Boards of a fleet at a broker of MQTT 5, in one process: connections that publish what a real board was heard to publish.

Not a check by itself: fleet.py starts it. usage: fleet_boards.py JSON. It says "ready" once all are connected, publishes until its standard
input is closed, and prints what it has sent as JSON.

Each board is a connection of its own with the client identifier, the last will and the properties of Lodestone's, and a node name of its
own in every topic and payload. Each series begins at random within its interval, so that boards do not speak all at once.
"""
import asyncio
import json
import random
import sys
import time

from mqtt_packets import connect, packet, publish


class Fleet:
    def __init__(self, wanted):
        self.wanted, self.dice = wanted, random.Random(wanted["first"])
        self.sent = self.bytes = self.acknowledged = self.ended = self.late = 0
        self.isOver = False

    def encoded(self, message, node, identifier):
        own = self.wanted["node"]
        return publish(
            message["topic"].replace(own, node), message["payload"].replace(own, node).encode(), message["quality"], message["retained"],
            identifier)

    async def board(self, index, ready):
        node = f"{self.wanted['node']}-{self.wanted['first'] + index:04d}"
        reader, writer = await asyncio.open_connection(self.wanted["host"], self.wanted["port"])
        try:
            writer.write(connect(node))
            head = await reader.readexactly(2)
            answer = await reader.readexactly(head[1])
            if head[0] != 0x20 or answer[1] != 0:
                raise ConnectionError(f"refused: {answer[1]}")
            for identifier, message in enumerate(self.wanted["birth"], 1):
                self.send(writer, self.encoded(message, node, identifier))
            asyncio.ensure_future(self.listen(reader))
            ready.append(node)
            await self.talk(writer, node)
            # As one that is stopped: offline, then goodbye.
            writer.write(publish(f"lodestone/{node}/availability", b"offline", 0, True, 0) + packet(0xE0, b""))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError) as error:
            self.ended += 1
            print(f"{node}: {error}", file=sys.stderr)
        finally:
            writer.close()

    def send(self, writer, data):
        writer.write(data)
        self.sent += 1
        self.bytes += len(data)

    async def listen(self, reader):
        """Takes acknowledgements and answers to pings."""
        try:
            while not self.isOver:
                head = await reader.readexactly(2)
                await reader.readexactly(head[1])
                self.acknowledged += head[0] == 0x40
        except (OSError, asyncio.IncompleteReadError):
            self.ended += not self.isOver

    async def talk(self, writer, node):
        series = self.wanted["series"]
        begin = time.monotonic()
        due = [(begin + self.dice.uniform(0, entry["interval"]), entry["interval"], entry["messages"], 0) for entry in series]
        encoded = [[self.encoded(message, node, 100 + index) for message in entry["messages"]] for index, entry in enumerate(series)]
        ping = begin + 20
        while not self.isOver:
            place = min(range(len(due)), key=lambda index: due[index][0])
            moment, interval, messages, turn = due[place]
            now = time.monotonic()
            if moment > now:
                await asyncio.sleep(min(moment - now, 0.5))
                continue
            self.late += now - moment > 0.5
            self.send(writer, encoded[place][turn % len(messages)])
            due[place] = (max(moment + interval / self.wanted["speed"], now - 1), interval, messages, turn + 1)
            if now > ping:
                writer.write(b"\xc0\x00")
                ping = now + 20
            if writer.transport.get_write_buffer_size() > 65_536:
                await writer.drain()

    async def run(self):
        ready, tasks = [], []
        for index in range(self.wanted["count"]):
            tasks.append(asyncio.create_task(self.board(index, ready)))
            if index % 20 == 19:
                await asyncio.sleep(0.02)
        while len(ready) + self.ended < self.wanted["count"]:
            await asyncio.sleep(0.05)
        print("ready", flush=True)
        loop = asyncio.get_running_loop()
        commands = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
        while (line := await commands.readline()):
            if line.strip() == b"count":
                print(json.dumps({"sent": self.sent, "bytes": self.bytes, "late": self.late, "at": time.monotonic()}), flush=True)
            elif line.startswith(b"speed "):
                self.wanted["speed"] = float(line.split()[1])
        self.isOver = True
        await asyncio.wait(tasks, timeout=20)
        print(json.dumps({"sent": self.sent, "bytes": self.bytes, "acknowledged": self.acknowledged, "ended": self.ended,
                          "late": self.late, "at": time.monotonic()}), flush=True)


asyncio.run(Fleet(json.loads(sys.argv[1])).run())
