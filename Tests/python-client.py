#!/usr/bin/env python3
"""The module of Clients/Python at a daemon, at one that is killed, and at one that does not do as it should.

usage: python-client.py FOLDER, where Scripts/build.sh has put the programs
"""
import math
import os
import signal
import socket
import threading
import time

from stream_reader import STREAM, serve  # noqa: E402
from checks import expect, finish  # noqa: E402
from command_line import path  # noqa: E402
import lodestone  # noqa: E402


def python_module(daemon):
    readings = lodestone.stream(["heading", "location", "sensor"], path=STREAM, timeout=20)
    first = next(reading for reading in readings if isinstance(reading, lodestone.Heading))
    expect("Python reads headings", isinstance(first.magnetic_heading, float), first)
    locations = (reading for reading in readings if isinstance(reading, lodestone.Location))
    location = next(locations)
    expect("a value that is not known is None", (location.latitude is None) == (location.horizontal_accuracy is None), location)
    daemon.kill()
    daemon.wait()
    lost = next(reading for reading in readings if isinstance(reading, lodestone.Lost))
    expect("Python hears that the daemon has gone", "closed" in lost.reason or "reset" in lost.reason, lost)
    again = serve()
    begin = time.monotonic()
    next(reading for reading in readings if isinstance(reading, lodestone.Heading))
    took = time.monotonic() - begin
    expect("and goes on with the next one", took < 3, took, f"{took:.2f} s after it serves")
    readings.close()
    expect("a stream that was closed has ended", list(readings) == [])
    try:
        lodestone.stream(["bearing"])
        expect("a kind that there is not is refused", False)
    except ValueError:
        expect("a kind that there is not is refused", True)
    try:
        next(lodestone.stream(["heading"], path="/nowhere", reconnects=False))
        expect("no daemon is an error", False)
    except lodestone.LodestoneError as error:
        expect("no daemon is an error", "/nowhere" in str(error), error)
    try:
        next(lodestone.stream(["heading"], path="/nowhere", timeout=0.2).__iter__())
        for _ in lodestone.stream(["heading"], path="/nowhere", timeout=0.2):
            pass
        expect("a time limit ends the wait", False)
    except TimeoutError:
        expect("a time limit ends the wait", True)
    return again


def air():
    """What a weather station reads: humidity and the pressure at sea level, where the board can say them."""
    readings = lodestone.stream(["altitude", "absoluteAltitude"], path=STREAM, timeout=20)
    altitude = next(reading for reading in readings if isinstance(reading, lodestone.Altitude))
    expect("a barometer without humidity gives None", altitude.humidity is None and 80 < altitude.pressure < 110, altitude)
    absolute = next(reading for reading in readings if isinstance(reading, lodestone.AbsoluteAltitude))
    expect("the pressure at sea level has an error bar", 90 < absolute.sea_level_pressure < 110
           and 0 < absolute.sea_level_pressure_accuracy < 5, absolute)
    readings.close()
    line = (b'{"monotonic":1,"kind":"hello"}\n{"monotonic":1,"kind":"subscription"}\n'
            b'{"monotonic":1,"kind":"altitude","relativeAltitude":1,"pressure":101.3,"humidity":45.5}\n')
    found = next(reading for reading in lodestone.stream(["altitude"], path=fake(line), timeout=5))
    expect("humidity is read", getattr(found, "humidity", None) == 45.5, found)


def fake(lines):
    """A daemon that sends some bytes to each reader, and nothing more. Returns its path."""
    place = str(path / f"fake{len(os.listdir(path))}")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen()

    def run():
        kept = []
        while True:
            connection, _ = listener.accept()
            kept.append(connection)
            connection.sendall(lines)

    threading.Thread(target=run, daemon=True).start()
    return place


def python_manners():
    """What a program in Python relies on when the daemon does not do as it should."""
    begun = time.monotonic()
    readings, timeouts = [], 0
    stream = lodestone.stream(["altitude"], rate=1, path=STREAM, timeout=0.3)
    while time.monotonic() < begun + 6:
        try:
            readings.append(next(stream))
        except TimeoutError:
            timeouts += 1
    sequence = [reading.line["sequence"] for reading in readings if reading.line]
    expect("a time limit keeps the connection", timeouts > 5 and len(sequence) > 2 and sequence == sorted(set(sequence)), (timeouts, sequence))
    waiting = lodestone.stream(["error"], path=STREAM)
    threading.Timer(0.5, waiting.close).start()
    begun = time.monotonic()
    expect("a stream that another thread closes ends", list(waiting) == [] and time.monotonic() < begun + 3)
    greeting = b'{"monotonic":1,"kind":"hello"}\n{"monotonic":1,"kind":"subscription"}\n'
    for line in (
        '{"monotonic":null}', '{"monotonic":"1"}', '{"kind":"heading","monotonic":1,"magneticHeading":"x"}', "[" * 100_000,
        '{"kind":"motion","monotonic":1,"force":[1]}', '{"kind":"sky","monotonic":1,"inView":[{}]}', "no JSON",
        '{"kind":"heading","monotonic":1,"time":"yesterday"}', '{"kind":"heading","monotonic":1' + "0" * 400 + "}",
    ):
        found = next(lodestone.stream(["heading"], path=fake(greeting + line.encode() + b"\n"), timeout=5))
        expect(f"{line[:40]} is a loss", isinstance(found, lodestone.Lost), found)
    begun = time.monotonic()
    found = next(lodestone.stream(["heading"], path=fake(b"")))
    expect("a daemon that says nothing is a loss", isinstance(found, lodestone.Lost) and time.monotonic() < begun + 8, found)
    for wrong in ({"kinds": []}, {"rate": math.inf}, {"rate": True}, {"rate": 0}, {"timeout": math.nan}, {"timeout": 1e300}):
        try:
            lodestone.stream(**{"kinds": ["heading"], **wrong})
            expect(f"{wrong} is a mistake", False)
        except ValueError:
            expect(f"{wrong} is a mistake", True)


begin = time.monotonic()
daemon = serve()
python_manners()
air()
daemon = python_module(daemon)
daemon.send_signal(signal.SIGTERM)
daemon.wait(10)
finish("python-client.py", time.monotonic() - begin)
