"""Packets of MQTT 5 as a client writes them (OASIS, MQTT version 5.0).

Not a check by itself: fleet_boards.py and fleet_listener.py use it, because a process of Python has to write thousands of them a second."""
import struct


def number(value):
    """A variable byte integer."""
    found = bytearray()
    while True:
        value, rest = divmod(value, 128)
        found.append(rest | (0x80 if value else 0))
        if not value:
            return bytes(found)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">H", len(data)) + data


def packet(kind, body):
    return bytes([kind]) + number(len(body)) + body


def connect(node):
    """As `MQTTClientOptions`: a clean start, a last will of quality 1 that is retained and waits 5 s, a session of an hour, 30 s to keep alive."""
    properties = b"\x11" + struct.pack(">I", 3_600) + b"\x21" + struct.pack(">H", 8)
    will = b"\x18" + struct.pack(">I", 5)
    flags = 0b0010_1110
    body = text("MQTT") + bytes([5, flags]) + struct.pack(">H", 30) + number(len(properties)) + properties
    body += text(f"lodestone-{node}") + number(len(will)) + will + text(f"lodestone/{node}/availability") + text("offline")
    return packet(0x10, body)


def publish(topic, payload, quality, is_retained, identifier):
    kind = 0x30 | quality << 1 | int(is_retained)
    return packet(kind, text(topic) + (struct.pack(">H", identifier) if quality else b"") + b"\x00" + payload)
