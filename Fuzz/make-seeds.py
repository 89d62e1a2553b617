#!/usr/bin/env python3
"""The first inputs of Corpus/: make-seeds.py [FOLDER]. Short pieces of receivers' logs (FOLDER, else data/gps/gpsd of
$LODESTONE_SHARED, else of ../shared beside the checkout), each kind of message once or twice, of gpsd's reports beside them,
the example records of Calibration/, and answers of casters of corrections."""
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent
shared = pathlib.Path(os.environ.get("LODESTONE_SHARED", ROOT.parent.parent / "shared"))
folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else shared / "data/gps/gpsd"
for kind in ("stream", "gpsd", "record", "caster"):
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
