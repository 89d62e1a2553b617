#!/usr/bin/env python3
"""NMEA 0183 on a pseudo terminal and on a serial line, read by pyserial and parsed by pynmea2.

usage: nmea-line-peer.py LODESTONE

Needs PyPI's `pyserial` and `pynmea2` (pip install pyserial==3.5 pynmea2==1.19); without them it is skipped. Takes a minute and a half."""
import fcntl
import os
import pty
import struct
import sys
import time
import tty

try:
    import pynmea2
    import serial
except ImportError as error:
    sys.exit(print(f"nmea-line-peer: skipped, {error}") or 0)

from line_daemon import Daemon, is_near, wait_for
from checks import expect, finish

RATE = 4_800


def parse(text):
    """What pynmea2 makes of a sentence. THS, which it does not know, is `None`, with its checksum compared by pynmea2."""
    if text[3:6] != "THS":
        return pynmea2.parse(text, check=True)
    body, _, checksum = text[1:].partition("*")
    if pynmea2.NMEASentence.checksum(body) != int(checksum or "-1", 16):
        raise pynmea2.ParseError((text, "checksum"))
    return None


def listen(port, seconds):
    """Sentences of a port with the moments at which they came, and the lines that pynmea2 does not take."""
    sentences, wrong, begin, rest = [], [], time.monotonic(), b""
    while time.monotonic() < begin + seconds:
        rest += port.read(256)
        *lines, rest = rest.split(b"\n")
        for line in lines:
            text = line.decode("ascii", "replace").rstrip("\r")
            try:
                sentences.append((time.monotonic(), text, parse(text)))
            except (pynmea2.ParseError, ValueError) as error:
                wrong.append(f"{text}: {error}")
    return sentences, wrong


def names(sentences):
    return {text[3:6] if text[1] != "P" else text[1:6] for _, text, _ in sentences}


def seconds_of(sentence):
    stamp = sentence.timestamp
    return stamp and stamp.hour * 3600 + stamp.minute * 60 + stamp.second + stamp.microsecond / 1e6


def terminal(daemon, path):
    status = os.stat(path)
    expect("the link leads to a terminal that its group may read", status.st_mode & 0o777 == 0o660, oct(status.st_mode))
    idle = daemon.output(0)
    expect("while nobody reads nothing is sent and nothing waits", idle.get("listeners") == 0 and idle.get("sent") == 0, idle)
    with serial.Serial(path, timeout=0.2) as port:
        sentences, wrong = listen(port, 20)
        expect("pynmea2 parses every sentence, but for THS, which it does not know", sentences and not wrong, wrong[:3], len(sentences))
        expect("headings, rates and positions come", {"HDG", "THS", "RMC", "GGA"} <= names(sentences), names(sentences))
        fixes = [each for _, text, each in sentences if text[3:6] == "GGA" and each.lat]
        expect("positions are on the walk", fixes and all(is_near(each.latitude, each.longitude) for each in fixes), fixes[:1])
        headings = [text.partition("*")[0].split(",")[1:] for _, text, _ in sentences if text[3:6] == "THS"]
        expect("a heading is simulated, and known; or not known, with the mode V", headings and all(
            mode == "S" and 0 <= float(degrees) < 360 if degrees else mode == "V" for degrees, mode in headings), headings[:3])
        expect("the status knows of the reader", daemon.output(0).get("listeners") == 1, daemon.output(0))
        # What the reader writes changes nothing.
        port.write(b"$PMTK220,100*2F\r\n" * 100)
    expect("and of his end", wait_for(lambda: daemon.output(0).get("listeners") == 0, 5), daemon.output(0))

    time.sleep(5)
    with serial.Serial(path, timeout=0.2) as port:
        sentences, wrong = listen(port, 5)
        stamps = [(when, seconds_of(each)) for when, text, each in sentences if text[3:6] == "ZDA"]
        offsets = [when - stamp for when, stamp in stamps if stamp is not None]
        expect("a new reader gets nothing old", not wrong and offsets and max(offsets) - min(offsets) < 1.5, (wrong[:1], offsets))

    memory = daemon.memory()
    port = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    stuck = daemon.problem("takes nothing", seconds=30)
    expect("a reader who does not read is a problem that is said", stuck, daemon.output(0))
    time.sleep(5)
    late = daemon.output(0)
    expect("what he does not take is left out and counted", stuck and late["dropped"] > stuck["dropped"], late)
    expect("memory does not grow", daemon.memory() - memory < 4 << 20, daemon.memory() - memory)
    os.close(port)
    expect("when he is gone it is forgotten", daemon.problem(None, seconds=5), daemon.output(0))


def serial_pair(link):
    """A pseudo terminal as a serial adapter that is plugged in: `link` leads to its other end. Returns this end."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    name = os.ttyname(theirs)
    if os.path.islink(link):
        os.unlink(link)
    os.symlink(name, link)
    os.close(theirs)
    os.set_blocking(ours, False)
    return ours


def take(descriptor, seconds):
    """What arrives at an end of a pseudo terminal. Nobody at the other end is an error of reading (EIO)."""
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            text += os.read(descriptor, 4096)
        except OSError:
            time.sleep(0.02)
    return text


def line(daemon, link):
    expect("a missing device is said", daemon.problem("no such device", 1), daemon.output(1))
    ours = serial_pair(link)
    expect("it is opened once it is there", wait_for(lambda: take(ours, 0.2), 40), daemon.output(1))
    # TCGETS2 (asm-generic/ioctls.h): the last number of struct termios2 is the rate of the output.
    (rate,) = struct.unpack_from("<I", fcntl.ioctl(ours, 0x802C542A, bytes(44)), 40)
    expect("at its rate", rate == RATE, rate)
    text = take(ours, 20)
    expect("no more comes than the line carries", 20 * 60 < len(text) <= 20 * RATE / 10, len(text), f"{len(text) / 20:.0f} bytes/s")
    lines = text.split(b"\r\n")[1:-1]
    wrong = []
    for each in lines:
        try:
            parse(each.decode())
        except (pynmea2.ParseError, ValueError) as error:
            wrong.append(str(error))
    expect("pynmea2 parses every sentence of the line", lines and not wrong, wrong[:3])
    os.close(ours)
    os.unlink(link)
    expect("a device that was unplugged is said", wait_for(lambda: daemon.output(1).get("problem"), 10), daemon.output(1))
    ours = serial_pair(link)
    text = wait_for(lambda: take(ours, 0.5), 40) or b""
    expect("and opened again when it is back", text.startswith(b"$"), text[:40])
    os.close(ours)


def main():
    daemon = Daemon()
    path, link = str(daemon.folder / "nmea"), str(daemon.folder / "ttyTest")
    daemon.outputs = [
        f"{{protocol: nmea0183, transport: pty, path: {path}, positions: exact}}",
        f"{{protocol: nmea0183, transport: serial, device: {link}, positions: exact}}",
    ]
    with daemon:
        terminal(daemon, path)
        line(daemon, link)
        expect("the daemon is alive", daemon.process.poll() is None, daemon.lines[-3:])
    finish("nmea-line-peer")


main()
