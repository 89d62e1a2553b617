#!/usr/bin/env python3
"""Many honest clients of gpsd, NMEA 0183 and Signal K in one process: when does each message reach them?

Not a check by itself: load.py starts it. usage: load_clients.py JSON, of {"gpsd": [PORT, COUNT], "nmea0183": ..., "signalk": ..., "seconds": S}.
It says "ready" once all are connected and hear something, listens for S seconds, and prints what it measured as JSON: by protocol the
messages of each client, the clients whose connection ended, and the delays in seconds from the moment that a message is of to the one at which it
is read, as values and counts. The moments are those of the daemon's clock, which is this machine's.
"""
import json
import re
import selectors
import socket
import sys
import time

GREETINGS = {
    "gpsd": b'?WATCH={"enable":true,"json":true};\n',
    "nmea0183": b"",
    "signalk": json.dumps({"context": "vessels.self", "subscribe": [
        {"path": "navigation.*", "period": 1000, "policy": "ideal", "minPeriod": 100}]}).encode() + b"\r\n",
}
# A message with a heading, and the moment that it is of: hour, minute, second.
MOMENTS = {
    "gpsd": re.compile(rb'^\{"class":"ATT".*?"time":"[^T]*T(\d\d):(\d\d):([\d.]+)Z".*"mheading"'),
    "nmea0183": re.compile(rb"^\$PASHR,(\d\d)(\d\d)([\d.]+),[\d.]+"),
    "signalk": re.compile(rb'"timestamp":"[^T]*T(\d\d):(\d\d):([\d.]+)Z".*"navigation.headingMagnetic","value":[\d.]'),
}
DAY = 86_400


class Client:
    def __init__(self, kind, port):
        self.kind, self.rest, self.messages, self.ended = kind, b"", 0, False
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.socket.sendall(GREETINGS[kind])
        self.socket.setblocking(False)

    def read(self, delays):
        try:
            data = self.socket.recv(262_144)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        now = time.time() % DAY
        if not data:
            self.ended = True
            return
        *lines, self.rest = (self.rest + data).split(b"\n")
        self.messages += len(lines)
        moment = MOMENTS[self.kind]
        for line in lines:
            found = moment.search(line)
            if found:
                hour, minute, second = found.groups()
                delay = (now - (int(hour) * 3600 + int(minute) * 60 + float(second)) + DAY / 2) % DAY - DAY / 2
                delay = round(delay, 3)
                delays[delay] = delays.get(delay, 0) + 1


def main():
    wanted = json.loads(sys.argv[1])
    seconds = wanted.pop("seconds")
    selector = selectors.DefaultSelector()
    clients = [Client(kind, port) for kind, (port, count) in wanted.items() for _ in range(count)]
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
    delays = {kind: {} for kind in wanted}

    def listen(until):
        while time.monotonic() < until():
            for key, _ in selector.select(0.2):
                key.data.read(delays[key.data.kind])
                if key.data.ended:
                    selector.unregister(key.fileobj)

    # Chips wake up with the first client, and a receiver takes its time.
    deadline = time.monotonic() + 60
    listen(lambda: 0 if all(delays.values()) else deadline)
    begin = time.monotonic()
    listen(lambda: begin + 3)
    for kind in delays:
        delays[kind].clear()
    for client in clients:
        client.messages = 0
    print("ready", flush=True)
    begin, used = time.monotonic(), time.process_time()
    listen(lambda: begin + seconds)
    print(json.dumps({
        "processor": (time.process_time() - used) / seconds,
        "clients": {kind: {
            "messages": [client.messages for client in clients if client.kind == kind],
            "ended": sum(client.ended for client in clients if client.kind == kind),
            "delays": sorted(delays[kind].items())} for kind in wanted}}), flush=True)


main()
