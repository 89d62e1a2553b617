#!/usr/bin/env python3
"""The first inputs of Corpus/: make-seeds.py [FOLDER]. Short pieces of receivers' logs (FOLDER, else data/gps/gpsd of
$LODESTONE_SHARED, else of ../shared beside the checkout), each kind of message once or twice, of gpsd's reports beside them,
and the example records of Calibration/."""
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent
shared = pathlib.Path(os.environ.get("LODESTONE_SHARED", ROOT.parent.parent / "shared"))
folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else shared / "data/gps/gpsd"
for kind in ("stream", "gpsd", "record"):
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
