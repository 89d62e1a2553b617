#!/usr/bin/env python3
"""A subscriber of all boards, as Home Assistant or a bridge to a database is one, and a probe of how long a message takes.

Not a check by itself: fleet.py starts it. usage: fleet_listener.py PORT FILTER. To each line of its standard input it answers with a line of JSON: the
messages and bytes that have come, and the delays of the probe since the last answer, in seconds. At the end of the input it ends.
"""
import asyncio
import json
import os
import struct
import sys
import time

from mqtt_packets import number, packet, publish, text


class Listener:
    def __init__(self):
        self.messages = self.bytes = 0
        self.delays = []

    async def run(self, port, topic):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        properties = b"\x21" + struct.pack(">H", 65_535)
        body = text("MQTT") + bytes([5, 2]) + struct.pack(">H", 0) + number(len(properties)) + properties + text(f"fleet-listener-{os.getpid()}")
        writer.write(packet(0x10, body))
        await self.packet(reader)
        filters = b"".join(text(each) + b"\x00" for each in (topic, "fleet/probe"))
        writer.write(packet(0x82, struct.pack(">H", 1) + b"\x00" + filters))
        await self.packet(reader)
        print("ready", flush=True)
        asyncio.ensure_future(self.probe(port))
        asyncio.ensure_future(self.listen(reader))
        commands = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
        while await commands.readline():
            print(json.dumps({"messages": self.messages, "bytes": self.bytes, "delays": sorted(self.delays), "at": time.monotonic()}), flush=True)
            self.delays = []

    async def packet(self, reader):
        kind = (await reader.readexactly(1))[0]
        length, shift = 0, 0
        while True:
            byte = (await reader.readexactly(1))[0]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return kind, await reader.readexactly(length)

    async def listen(self, reader):
        """Cuts packets out of what has come, many at a time."""
        rest = b""
        while data := await reader.read(1 << 20):
            rest, start = rest + data, 0
            now = time.monotonic()
            while len(rest) - start >= 2:
                length, shift, at = 0, 0, start + 1
                while at < len(rest):
                    byte = rest[at]
                    length |= (byte & 0x7F) << shift
                    shift, at = shift + 7, at + 1
                    if byte < 0x80:
                        break
                else:
                    break
                if rest[at - 1] >= 0x80 or at + length > len(rest):
                    break
                if rest[start] & 0xF0 == 0x30:
                    if rest.startswith(b"\x00\x0bfleet/probe", at):
                        self.delays.append(now - float(rest[at + 14:at + length]))
                    else:
                        self.messages += 1
                        self.bytes += at + length - start
                start = at + length
            rest = rest[start:]

    async def probe(self, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(packet(0x10, text("MQTT") + bytes([5, 2]) + struct.pack(">H", 0) + b"\x00" + text(f"fleet-probe-{os.getpid()}")))
        await asyncio.sleep(0.5)
        while True:
            writer.write(publish("fleet/probe", repr(time.monotonic()).encode(), 0, False, 0))
            await asyncio.sleep(0.1)


asyncio.run(Listener().run(int(sys.argv[1]), sys.argv[2]))
