#!/usr/bin/env python3
"""The first inputs of Corpus/: make-seeds.py [FOLDER]. Short pieces of receivers' logs (FOLDER, else data/gps/gpsd of
$LODESTONE_SHARED, else of ../shared beside the checkout), each kind of message once or twice, of gpsd's reports beside them,
the example records of Calibration/, answers of casters of corrections, and what peers of outputs say."""
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent
shared = pathlib.Path(os.environ.get("LODESTONE_SHARED", ROOT.parent.parent / "shared"))
folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else shared / "data/gps/gpsd"
for kind in ("stream", "gpsd", "record", "caster", "outputs"):
    (ROOT / "Corpus" / kind).mkdir(parents=True, exist_ok=True)


def messages(data):
    """Sentences and UBX messages, each with what kind it is."""
    at = 0
    while at < len(data):
        if data[at : at + 2] == b"\xb5\x62" and at + 8 <= len(data):
            size = 8 + int.from_bytes(data[at + 4 : at + 6], "little")
            if size <= 1_500:
                yield "ubx-%02x-%02x" % (data[at + 2], data[at + 3]), data[at : at + size]
                at += size
                continue
        sentence = re.compile(rb"[$!]([A-Z0-9]{5}),[\x20-\x7e]{0,240}\r?\n").match(data, at)
        if sentence:
            yield sentence.group(1)[-3:].decode(), sentence.group(0)
            at = sentence.end()
        else:
            at += 1


known = {}
for log in sorted(folder.glob("*.log")):
    piece = b""
    for kind, message in messages(log.read_bytes()):
        # Twice of each kind: the second is another epoch, another round, or another receiver's.
        if known.get(kind, 0) < 2 and len(piece) < 1_500:
            known[kind] = known.get(kind, 0) + 1
            piece += message
    if piece:
        (ROOT / "Corpus/stream" / f"log-{log.stem}").write_bytes(piece)
    reports, classes = b"", {}
    for line in log.with_suffix(".log.chk").read_bytes().splitlines(keepends=True):
        kind = line[:14]
        if line.startswith(b"{") and classes.get(kind, 0) < 2 and len(reports) + len(line) < 2_000:
            classes[kind] = classes.get(kind, 0) + 1
            reports += line
    if reports and len(known) % 3 == 0:
        (ROOT / "Corpus/gpsd" / f"log-{log.stem}").write_bytes(reports)
for example in sorted((ROOT.parent / "Calibration").glob("*example.json")):
    shutil.copy(example, ROOT / "Corpus/record" / example.name)

# RTCM 10403.3's own example of message 1005, one of 1077 without satellites, and one that claims more than there is.
FRAMES = (bytes.fromhex("d300133ed7d30202980edeef34b4bd62ac0941986f33360b98")
          + bytes.fromhex("d3002843501970aeb0e470b8d2fa6bc2f4c72db8a9ac8eef914a1d8a273db616b50e677582c0ef0996a9b8a63383")
          + bytes.fromhex("d30200") + bytes.fromhex("d30002fe80bbfe86"))
TABLE = (b"CAS;caster.example;2101;ID;OP;0;DEU;50.12;8.69;0.0.0.0;0;none\r\nNET;NET;OP;B;N;none;none;mail@example;none\r\n"
         b"STR;ROOF;Roof;RTCM 3.3;1006(10),1077(1);2;GPS+GLO+GAL;NET;DEU;49.14;12.88;1;0;GEN;none;B;N;9600;\"a;b\"\r\nENDSOURCETABLE\r\n")
ANSWERS = {
    "icy": b"ICY 200 OK\r\n\r\n" + FRAMES,
    "http": b"HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nContent-Type: gnss/data\r\n\r\n" + FRAMES,
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(FRAMES), FRAMES),
    "table-1": b"SOURCETABLE 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(TABLE), TABLE),
    "table-2": b"HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\n" + TABLE,
    "unauthorized": b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="/ROOF"\r\n\r\n<html>',
    "error": b"ERROR - Bad Password\r\n",
    "frames": FRAMES,
}
for name, answer in ANSWERS.items():
    (ROOT / "Corpus/caster" / name).write_bytes(answer)


# What peers of outputs say; the first byte says whom they speak to (`OutputChecks`).
def frame(kind, payload, final=True):
    """A frame of a WebSocket without a mask."""
    length = bytes([len(payload)]) if len(payload) < 126 else b"\x7e" + len(payload).to_bytes(2, "big")
    return bytes([kind | (0x80 if final else 0)]) + length + payload


def packet(header, body):
    """A packet of MQTT of less than 128 bytes."""
    return bytes([header, len(body)]) + body


def can(group, source, data, destination=0xFF, priority=6):
    """A frame of an NMEA 2000 bus in 13 bytes."""
    low = destination if group >> 8 & 0xFF < 240 else group & 0xFF
    identifier = priority << 26 | (group & 0x3FF00 | low) << 8 | source
    return identifier.to_bytes(4, "little") + bytes([len(data)]) + data.ljust(8, b"\xff")


TALK = (frame(1, b'{"op":"subscribe"}') + frame(9, b"ping") + frame(1, b"in ", False) + frame(10, b"") + frame(0, b"pieces")
          + frame(2, bytes(range(200))))
HELLO = frame(1, b'{"name":"server","version":"2.0.0","self":"vessels.self"}')
HEAD = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
ENDPOINTS = (b'{"endpoints":{"v1":{"version":"2.0.0","signalk-http":"http://boat.example:3000/signalk/v1/api/",'
             b'"signalk-ws":"%b://boat.example:3000/signalk/v1/stream"}},"server":{"id":"signalk-server"}}')
PENDING = b'{"state":"PENDING","requestId":"1","statusCode":202,"href":"/signalk/v1/requests/1"}'
APPROVED = (b'{"state":"COMPLETED","statusCode":200,"accessRequest":{"permission":"APPROVED","token":"a.b.c",'
            b'"expirationTime":"2030-01-01T00:00:00Z"}}')
DENIED = b'{"state":"COMPLETED","statusCode":200,"accessRequest":{"permission":"DENIED"}}'
UNAUTHORIZED = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}"
NAME = (1234 | 2046 << 21 | 140 << 40 | 60 << 49 | 4 << 60 | 1 << 63).to_bytes(8, "little")
PEERS = {
    "gpsd-watch": b'\x00?VERSION;?DEVICES;\n?WATCH={"enable":true,"json":true,"nmea":true,"raw":1,"pps":true};\r\n?POLL;\n',
    "gpsd-device": b'\x00?DEVICE={"path":"/dev/serial0","bps":9600}\n?WATCH={"device":"/dev/none"}\n'
    b"?WATCH;?DEVICE;?FOO;\nGET / HTTP/1.1\r\n",
    "gpsd-damaged": b'\x00?WATCH={"json":tru}\n?WATCH={{}}\n?WATCH={"raw":01}\n?WATCH={"\\u12":1}\n?' + 60 * b"[" + b"\n?POLL;",
    "request-metrics": b"\x01GET /metrics?a=b HTTP/1.1\r\nHost: localhost:2951\r\nAccept: */*\r\nAccept: text/plain\r\n\r\n",
    "request-socket": b"\x01GET / HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    + HEAD + b"Sec-WebSocket-Protocol: foxglove.sdk.v1\r\nOrigin: https://app.foxglove.dev\r\n\r\n" + TALK,
    "request-wrong": b"\x01GET / HTTP/1.1\r\nHost : a\r\n folded\r\n\r\n",
    "answer-length": b'\x02HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"state":"GONE"}',
    "answer-chunked": b"\x02HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0a\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
    "answer-continue": b"\x02HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    "answer-open": b"\x02HTTP/1.0 503 Busy\nRetry-After: 5\n\nlater",
    "socket-client": b"\x03" + TALK + frame(8, b"\x03\xe8bye"),
    "socket-client-wrong": b"\x03" + frame(1, b"\xff\xfe") + frame(0, b"a"),
    "socket-server": b"\x04" + TALK + frame(8, b"\x03\xe9gone"),
    "socket-refused": b"\x04HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
    "broker": b"\x05" + packet(0x20, b"\x00\x00\x06\x21\x00\x10\x13\x00\x3c") + packet(0x90, b"\x00\x01\x00\x00")
    + packet(0x30, b"\x00\x09ha/status\x00online") + packet(0x32, b"\x00\x09ha/status\x00\x07\x00online")
    + packet(0x40, b"\x00\x02") + packet(0xD0, b"") + packet(0xE0, b"\x8e\x00"),
    "broker-refuses": b"\x05" + packet(0x20, b"\x00\x87\x09\x1f\x00\x06secret"),
    "broker-old": b"\x05" + packet(0x20, b"\x00\x05"),
    "signalk-client": b'\x06{"context":"vessels.self","subscribe":[{"path":"navigation.*","period":500,"policy":"fixed"},'
    b'{"path":"environment/outside/pressure","minPeriod":200,"policy":"instant"}]}\r\n{"context":"*","unsubscribe":[{"path":"*"}]}\n'
    b'{"context":"vessels.self","subscribe":[{"path":"*"}]}\n',
    "signalk-client-wrong": b'\x06{"context":"vessels.other","subscribe":[{"path":"*"}]}\n[]\n'
    b'{"subscribe":[{"path":"a..b","period":-1e308}]}\n',
    "signalk-approved": b"\x07\x08" + b"\0".join([ENDPOINTS % b"ws", PENDING, PENDING, APPROVED, HELLO, ENDPOINTS % b"ws", UNAUTHORIZED]),
    "signalk-denied": b"\x07\x09" + b"\0".join([ENDPOINTS % b"wss", DENIED, HELLO]),
    "signalk-kept": b"\x07\x0a" + b"\0".join([ENDPOINTS % b"ws", HELLO + frame(8, b"\x03\xe8bye"), b"<html>"]),
    "signalk-login": b"\x07\x0c" + b"\0".join([ENDPOINTS % b"ws", b'{"token":"a.b.c","timeToLive":86400}', HELLO]),
    "bus-requests": b"\x08" + can(59904, 1, b"\x00\xee\x00") + can(59904, 1, b"\x14\xf0\x01", 35) + can(59904, 1, b"\x00\xee\x01", 35)
    + can(59904, 1, b"\x05\xf8\x01", 35) + can(59904, 1, b"\x12\xf1\x01") + can(59904, 1, b"\x01\xff\x01", 35),
    "bus-claims": b"\x08" + can(60928, 35, b"\xff" * 8) + can(60928, 35, b"\x01" * 8) + can(60928, 36, b"\x02" * 8)
    + can(127250, 36, b"\0" * 8) + can(60928, 254, NAME),
    "bus-group": b"\x08" + can(126208, 1, b"\x00\x0b\x00\x12\xf1\x01\xff\xff", 35) + can(126208, 1, b"\x01\xff\xff\xff\xff\x00\xff\xff", 35)
    + can(126208, 1, b"\x20\x06\x01\x12\xf1\x01\x08\x00", 35),
    "bus-command": b"\x08" + can(60416, 1, b"\x20\x09\x00\x02\xff\xd8\xfe\x00") + can(60160, 1, b"\x01" + NAME[:7])
    + can(60160, 1, b"\x02" + NAME[7:] + b"\x30" + b"\xff" * 5) + can(60416, 1, b"\x10\x09\x00\x02\xff\xd8\xfe\x00", 35),
}
for name, said in PEERS.items():
    (ROOT / "Corpus/outputs" / name).write_bytes(said)
