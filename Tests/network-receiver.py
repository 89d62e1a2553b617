#!/usr/bin/env python3
"""A receiver on the network: network-receiver.py PATH-TO-LODESTONE

A feeder of this process sends NMEA over TCP and UDP on the loopback interface, and at pseudo terminals. `lodestone monitor` must have
its fixes, say that the server has ended the connection, be back when it listens again, and read one of two senders. `doctor` and
`scan` say what they find. Takes about a minute of real time."""
import json
import pathlib
import os
import pty
import socket
import subprocess
import tempfile
import threading
import time
import tty

from checks import COMMAND, environment, expect, finish

TCP, GONE, BACK = 6.0, 4.0, 6.0


def sentence(body):
    total = 0
    for byte in body.encode():
        total ^= byte
    return f"${body}*{total:02X}\r\n"


def epoch(latitude):
    """RMC and GGA of this second, in the place that a latitude of whole minutes stands for."""
    now = time.gmtime()
    clock = time.strftime("%H%M%S.00", now)
    place = f"52{latitude:07.4f},N,01323.0000,E"
    return (sentence(f"GPRMC,{clock},A,{place},0.0,0.0,{time.strftime('%d%m%y', now)},,,A")
            + sentence(f"GPGGA,{clock},{place},1,09,0.9,34.0,M,40.0,M,,"))


class Server:
    """A server of NMEA for one client after the other."""

    def __init__(self, port=0):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", port))
        self.listener.listen(4)
        self.port = self.listener.getsockname()[1]
        self.is_on, self.speaks = True, True
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        clients = []
        self.listener.settimeout(0.2)
        due = time.monotonic()
        while self.is_on:
            try:
                clients.append(self.listener.accept()[0])
            except OSError:
                pass
            if time.monotonic() < due:
                continue
            due += 1
            for client in list(clients):
                try:
                    if self.speaks:
                        client.sendall(epoch(30.0).encode())
                except OSError:
                    clients.remove(client)
        for client in clients:
            client.close()
        self.listener.close()

    def stop(self):
        self.is_on = False


class Sender:
    """A program that sends a datagram a second."""

    def __init__(self, port, latitude, prefix=b""):
        self.port, self.latitude, self.prefix, self.is_on = port, latitude, prefix, True
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while self.is_on:
            self.socket.sendto(self.prefix + epoch(self.latitude).encode(), ("127.0.0.1", self.port))
            time.sleep(1)


def board(folder, name, host):
    path = pathlib.Path(folder) / f"{name}.yaml"
    path.write_text(f"schema: 1\nname: {name}\nsensors:\n  - {{chip: NMEA, host: '{host}', rate: 1}}\n")
    return str(path)


def monitor(path, seconds, lines, **more):
    """Starts `monitor`, whose lines come with the second in which they came."""
    begin = time.monotonic()
    process = subprocess.Popen([COMMAND, "monitor", "--board", path, "--format", "json", "--seconds", str(seconds)],
                               env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    reader = threading.Thread(target=lambda: lines.extend((time.monotonic() - begin, json.loads(line)) for line in process.stdout))
    reader.start()
    return process, reader, begin


def command(*arguments, **more):
    done = subprocess.run([COMMAND, *arguments], env=environment(**more), capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def latitudes(lines, since=0.0, until=1e9):
    return {round(row["latitude"], 6) for when, row in lines if row["kind"] == "location" and "latitude" in row and since <= when <= until}


def states(lines, since=0.0, until=1e9):
    return [(row["state"], row.get("reason", "")) for when, row in lines if row["kind"] == "sensor" and since <= when <= until]


def over_tcp(folder):
    server, lines = Server(), []
    path = board(folder, "tcp", f"tcp://127.0.0.1:{server.port}")
    process, reader, begin = monitor(path, TCP + GONE + BACK, lines, STATE_DIRECTORY=folder)
    time.sleep(TCP)
    server.stop()
    lost = time.monotonic() - begin
    time.sleep(GONE)
    server = Server(server.port)
    back = time.monotonic() - begin
    reader.join(timeout=TCP + GONE + BACK + 20)
    process.kill()
    process.wait()
    expect("a server's sentences are positions", latitudes(lines, 0, lost) == {52.5}, lines[-3:])
    away = states(lines, lost, back)
    expect("the end of a connection is said", any(state == "failed" and "no connection" in why for state, why in away), away)
    expect("and the connection is made again", latitudes(lines, back) == {52.5}, states(lines, back))
    code, text = command("doctor", "--board", path, STATE_DIRECTORY=folder)
    expect("the doctor hears a server", "NMEA comes from 127.0.0.1" in text, text)
    code, text = command("scan", "--board", path)
    expect("so does scan", "NMEA comes from 127.0.0.1" in text, text)
    server.speaks = False
    code, text = command("doctor", "--board", path, STATE_DIRECTORY=folder)
    expect("a silent server is a problem", code == 1 and "connected, and nothing comes" in text, text)
    server.stop()
    time.sleep(0.5)
    code, text = command("doctor", "--board", path, STATE_DIRECTORY=folder)
    expect("nobody at a port is a problem", code == 1 and "nobody listens there" in text, text)
    code, text = command("doctor", "--board", board(folder, "nobody", "tcp://nobody.invalid:10110"), STATE_DIRECTORY=folder)
    expect("a name that nobody has is a problem", code == 1 and "name" in text, text)


def over_udp(folder):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    path, lines = board(folder, "udp", f"udp://:{port}"), []
    process, reader, begin = monitor(path, 10, lines, STATE_DIRECTORY=folder)
    time.sleep(2)
    # As IEC 61162-450 has it, with a tag block; s:GP0001 has the sum 5f.
    first = Sender(port, 30.0, b"UdPbC\0\\s:GP0001*5F\\")
    time.sleep(3)
    second = Sender(port, 40.0)
    code, text = command("doctor", "--board", path, STATE_DIRECTORY=folder)
    reader.join(timeout=30)
    process.kill()
    process.wait()
    first.is_on = second.is_on = False
    expect("datagrams are positions, of one sender alone", latitudes(lines) == {52.5}, latitudes(lines))
    said = [row for _, row in lines if row["kind"] == "error" and "follows one" in row["message"]]
    expect("and that there is another is said once", len(said) == 1, [row for _, row in lines if row["kind"] == "error"])
    expect("a port that is in use is a problem, with its owner", code == 1 and f"UDP port {port} is in use by " in text and "lodestone (process" in text, text)
    code, text = command("doctor", "--board", board(folder, "silent", f"udp://:{port}"), STATE_DIRECTORY=folder)
    expect("a port to which nobody sends is a problem", code == 1 and "no datagram" in text and "tcpdump" in text, text)


class Greeter:
    """A server that greets each client with these bytes; without any it ends the connection."""

    def __init__(self, greeting):
        self.greeting = greeting
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        clients = []
        while True:
            client, _ = self.listener.accept()
            if not self.greeting:
                client.close()
                continue
            client.sendall(self.greeting)
            clients.append(client)


class Line:
    """A pseudo terminal at which bytes come every half second."""

    def __init__(self, make):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        os.close(slave)
        os.set_blocking(self.master, False)
        self.make = make
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                os.write(self.master, self.make())
            except OSError:
                pass
            time.sleep(0.5)


def other_services(folder):
    for name, greeting, words, mend in (
            ("ssh", b"SSH-2.0-OpenSSH_9.6\r\n", "an SSH server", "host: tcp://HOST:PORT"),
            ("gpsd", b'{"class":"VERSION","release":"3.25","rev":"3.25","proto_major":3,"proto_minor":15}\r\n', "gpsd", "chip: gpsd"),
            ("sums", b"$GPRMC,101500,V,,,,,,,,,,N*00\r\n" * 3, "wrong check sums", "cable"),
            ("closed", b"", "ended", "nc 127.0.0.1")):
        path = board(folder, name, f"tcp://127.0.0.1:{Greeter(greeting).port}")
        code, text = command("doctor", "--board", path, STATE_DIRECTORY=folder)
        expect(f"the doctor and {name}: what it is, and a step", code == 1 and words in text and mend in text, text)


def at_lines(folder):
    def line(name, make, keys=""):
        path = pathlib.Path(folder) / f"{name}.yaml"
        path.write_text(f"schema: 1\nname: {name}\nsensors:\n  - {{chip: NMEA, port: {Line(make).path}{keys}}}\n")
        return command("doctor", "--board", str(path), STATE_DIRECTORY=folder)

    for name, make, keys, code, words in (
            ("heard", lambda: epoch(30.0).encode(), "", 0, "positions come"),
            ("silent", lambda: b"", ", baudRate: 9600", 1, "nothing comes at 9600 baud"),
            ("noise", lambda: bytes(byte | 128 for byte in os.urandom(200)), ", baudRate: 9600", 1, "no message at"),
            ("talker", lambda: epoch(30.0).encode(), ", talker: II", 1, "from the talker II, but from GP"),
            ("heading", lambda: epoch(30.0).encode(), ", antennas: 0", 1, "no heading"),
            ("still", lambda: sentence("GPRMC,101500,A,5230.0,N,01323.0,E,0,0,230326,,,A").encode(), "", 1, "stands still"),
            ("satellites", lambda: sentence("GPGSV,1,1,00").encode(), "", 1, "none has a position")):
        result, text = line(name, make, keys)
        # Where the machine's own state is not well, the code is 1 in any case.
        expect(f"a line that is {name}: '{words}'", words in text and (code == 0 or result == 1), text)
    for what in (folder, __file__):
        path = pathlib.Path(folder) / "port.yaml"
        path.write_text(f"schema: 1\nname: port\nsensors:\n  - {{chip: NMEA, port: {os.path.abspath(what)}}}\n")
        code, text = command("doctor", "--board", str(path), STATE_DIRECTORY=folder)
        expect("a port that is no device is a problem", code == 1 and "not a serial port" in text, text)


def main():
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        threads = []
        for part in (over_tcp, over_udp, other_services, at_lines):
            own = os.path.join(folder, part.__name__)
            os.mkdir(own)
            threads.append(threading.Thread(target=part, args=(own,)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finish("network-receiver", time.monotonic() - begin)


main()
