#!/usr/bin/env python3
"""Attacks `lodestone map` with connections that lack the token, while a viewer that has the token streams.

usage: map-hostile.py LODESTONE

The viewer must never wait for a second, and the server must stay below 100 MB and its limit of descriptors. All connections use
loopback addresses. The viewer runs in a separate process, so that its pauses are those of the server. Takes 40 s."""
import os
import resource
import select
import signal
import socket
import struct
import threading
import time

import checks
from live_map import connect, request, upgrade
from measured_map import DESCRIPTORS, LONGEST_PAUSE, Server, Viewer, attack, expect

MEMORY = 100
PLACES = 64
STRANGERS = [f"127.0.0.{last}" for last in range(2, 10)]


def answer(connection, seconds=10):
    """Receives until the connection is closed or reset. Returns the bytes and the time in seconds, None if it stays open."""
    start = time.monotonic()
    data = b""
    try:
        while time.monotonic() - start < seconds:
            connection.settimeout(max(0.01, seconds - (time.monotonic() - start)))
            piece = connection.recv(65536)
            if not piece:
                return data, time.monotonic() - start
            data += piece
    except TimeoutError:
        return data, None
    except OSError:
        pass
    return data, time.monotonic() - start


def send(connection, data):
    """Sends until the server closes the connection."""
    try:
        connection.sendall(data)
    except OSError:
        pass


def flood(server, data, count, sources=("127.0.0.1",)):
    """Opens connections one after another and sends the same on each. Returns the answers."""
    answers = []
    for index in range(count):
        connection = connect(server, sources[index % len(sources)])
        send(connection, data)
        answers.append(answer(connection, 8))
        connection.close()
    return answers


def is_refusal(found, *codes):
    data, took = found
    return took is not None and (not data or data.split(b" ")[1:2] in [[str(code).encode()] for code in codes])


def long_lines(server, viewer):
    for name, data, count in [
        ("two lines of 2.5 MB", b"GET / HTTP/1.1\r\nX: " + b"a" * 2_500_000, 2),
        ("two methods of 2.5 MB", b"G" * 2_500_000, 2),
        ("two targets of 2.5 MB", b"GET /" + b"a" * 2_500_000, 2),
        ("2.5 MB of small lines", b"GET / HTTP/1.1\r\n" + b"".join(b"X%07d: 1\r\n" % index for index in range(192_000)), 2),
    ]:
        before = server.cpu()

        def body():
            answers = flood(server, data, count)
            expect(f"{name}: refused", all(is_refusal(found, 431) for found in answers), [found[0][:40] for found in answers])

        attack(name, server, viewer, body)
        expect(f"{name}: little CPU", server.cpu() - before < 2, f"{server.cpu() - before:.2f} s")


def nonsense(server, viewer):
    host = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    cases = {
        "bare line feeds": b"GET / HTTP/1.1\n" + host.replace(b"\r", b"") + b"\n",
        "bare carriage returns": b"GET / HTTP/1.1\r" + host.replace(b"\n", b"") + b"\r",
        "null bytes": b"\0" * 4096,
        "a null byte in a value": b"GET / HTTP/1.1\r\n" + host + b"X: \0\r\n\r\n",
        "a folded line": b"GET / HTTP/1.1\r\n" + host + b" more\r\n\r\n",
        "two hosts": b"GET / HTTP/1.1\r\n" + host + host + b"\r\n",
        "a target without a slash": b"GET http://127.0.0.1/ HTTP/1.1\r\n" + host + b"\r\n",
        "bytes of TLS": bytes.fromhex("16030100f8010000f40303") + os.urandom(200),
    }

    def body():
        for name, data in cases.items():
            found, = flood(server, data, 1)
            expect(f"{name}: refused at once", is_refusal(found, 400) and found[1] < 2, (found[0][:40], found[1]))

    attack("nonsense", server, viewer, body)


def idle(server, viewer):
    held = []
    before = server.files()

    def body():
        for index in range(1_200):
            held.append(connect(server, STRANGERS[index % len(STRANGERS)]))
        files = server.files()
        expect("1,200 idle connections: few are kept", files < PLACES + 64, f"{files} descriptors")
        # These take the places of the viewer's own address.
        held.extend(connect(server) for _ in range(200))
        status, took = server.page()
        expect("and a page opens meanwhile", status == 200 and took < LONGEST_PAUSE, f"{status} in {took:.2f} s")
        time.sleep(6)
        files = server.files()
        expect("after six seconds none is left", files <= before, f"{files} descriptors")

    attack("1,200 idle connections", server, viewer, body)
    for connection in held:
        connection.close()


def exhausted(server, viewer):
    """Leaves the process three free descriptors."""
    held = []
    highest = max(int(name) for name in os.listdir(f"/proc/{server.process.pid}/fd"))
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (highest + 3, DESCRIPTORS))

    def body():
        before = server.cpu()
        start = time.monotonic()
        held.extend(connect(server, STRANGERS[index % len(STRANGERS)]) for index in range(200))
        status, took = server.page()
        expect("without a descriptor left: a page opens", status == 200 and took < LONGEST_PAUSE, f"{status} in {took:.2f} s")
        time.sleep(2)
        share = (server.cpu() - before) / (time.monotonic() - start)
        expect("without a descriptor left: the server does not spin", share < 0.5, f"{share * 100:.0f} % of a core")

    attack("no descriptor left", server, viewer, body)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    for connection in held:
        connection.close()


def slow_heads(server, viewer):
    held = []

    def body():
        for index in range(10_000):
            connection = connect(server, STRANGERS[index % len(STRANGERS)])
            connection.send(b"GET / HTTP/1.1\r\nX-Slow: ")
            held.append(connection)
            if len(held) >= 400:
                held.pop(0).close()
        status, took = server.page()
        expect("10,000 slow heads: a page opens meanwhile", status == 200 and took < LONGEST_PAUSE, f"{status} in {took:.2f} s")
        for _ in range(4):
            for connection in held:
                send(connection, b"a")
            time.sleep(0.5)

    attack("10,000 slow heads", server, viewer, body)
    for connection in held:
        connection.close()


def drip(server):
    """Sends a byte every 0.25 s. Returns the time until the server closes the connection."""
    connection = connect(server, "127.0.0.9")
    start = time.monotonic()
    try:
        for byte in request(server, more="X: " + "a" * 200):
            connection.send(bytes([byte]))
            ready, _, _ = select.select([connection], [], [], 0.25)
            if ready and not connection.recv(65536):
                break
    except OSError:
        pass
    return time.monotonic() - start


def kept_open(server):
    """Sends a request with the token, then half of another one. Returns the status of the first and the time of the second."""
    connection = connect(server, "127.0.0.8")
    connection.sendall(request(server, "/icon.svg", server.token) + b"\r\n")
    first = connection.recv(65536)
    start = time.monotonic()
    connection.sendall(b"GET /page.css HTTP/1.1\r\nX: ")
    return first[9:12], answer(connection)[1], time.monotonic() - start


def deadlines(server, viewer):
    def body():
        results = {}
        threads = [threading.Thread(target=lambda: results.update(drip=drip(server))),
                   threading.Thread(target=lambda: results.update(kept=kept_open(server)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        expect("a request has five seconds", 4 < results.get("drip", 99) < 6.5, results.get("drip"))
        status, took, _ = results.get("kept", (b"", None, 0))
        expect("so has a later one", status == b"200" and took is not None and 4 < took < 6.5, results.get("kept"))

    attack("a byte now and then", server, viewer, body)


def half_open(server, viewer):
    def body():
        before = server.files()
        held = []
        for index in range(200):
            connection = connect(server, STRANGERS[index % len(STRANGERS)])
            connection.send(b"GET / HTTP/1.1\r\n")
            if index % 2:
                # This closes with a reset.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            else:
                connection.shutdown(socket.SHUT_WR)
                held.append(connection)
        time.sleep(0.3)
        after = server.files()
        expect("a peer that is gone costs nothing", after <= before, f"{before} descriptors before, {after} after")
        for connection in held:
            connection.close()

    attack("half-open connections", server, viewer, body)


def bodies(server, viewer):
    def body():
        for name, token, code in [("without the token", "", 403), ("with it", server.token, 405)]:
            for more in ["Content-Length: 1000000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"]:
                connection = connect(server, "127.0.0.7")
                connection.sendall(request(server, "/", token, "POST", more))
                start = time.monotonic()
                data = connection.recv(65536)
                try:
                    while time.monotonic() - start < 8:
                        connection.send(b"a" * 1000)
                        time.sleep(0.05)
                except OSError:
                    pass
                took = time.monotonic() - start
                expect(f"a body {name}, {more.split(':')[0]}", data[9:12] == str(code).encode() and took < 3, (data[:12], took))
        # Without the token only the first request is answered.
        found, = flood(server, (request(server) + b"\r\n") * 1000, 1)
        expect("a thousand requests without the token at once", found[0].count(b"HTTP/1.1 403") <= 1, found[0].count(b"HTTP/1.1"))
        connection = connect(server, "127.0.0.7")
        connection.sendall((request(server, "/nothing", server.token) + b"\r\n") * 1000
                           + request(server, "/nothing", server.token, more="Connection: close\r\n\r\n"))
        data, _ = answer(connection)
        expect("a thousand with it", data.count(b"HTTP/1.1 404") == 1001, data.count(b"HTTP/1.1"))

    attack("bodies and pipelines", server, viewer, body)


def frames(server, viewer):
    def opened():
        connection = connect(server, "127.0.0.6")
        connection.sendall(upgrade(server, server.token))
        return connection

    def end(connection, data):
        send(connection, data)
        data, _ = answer(connection, 5)
        place = data.rfind(b"\x88\x02")
        return struct.unpack("!H", data[place + 2:place + 4])[0] if place >= 0 else data[-20:]

    def body():
        for name, data, code in [
            ("a frame of 8 exabytes", b"\x82\xff" + struct.pack("!Q", 2 ** 63 - 1) + b"\0" * 4, 1009),
            ("a frame without a mask", b"\x81\x01a", 1002),
            ("a frame of no known kind", b"\x83\x80" + b"\0" * 4, 1002),
            ("an end", b"\x88\x82" + b"\0" * 4 + struct.pack("!H", 1000), 1000),
        ]:
            found = end(opened(), data)
            expect(name, found == code, found)
        connection = opened()
        send(connection, (b"\x89\xfd" + b"\0" * 4 + b"p" * 125) * 10_000)
        expect("after 1.3 MB of pings it ends politely", end(connection, b"\x88\x80" + b"\0" * 4) == 1000)

    attack("frames", server, viewer, body)


def slow_readers(server, held):
    for _ in range(8):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.bind(("127.0.0.5", 0))
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(upgrade(server, server.token))
        held.append(connection)


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    start = time.monotonic()
    server = Server()
    viewer = Viewer(server)
    files = server.files()
    slow = []
    slow_readers(server, slow)
    began = time.monotonic()
    for part in [nonsense, long_lines, half_open, bodies, frames, deadlines, idle, exhausted, slow_heads]:
        part(server, viewer)
    time.sleep(max(0, 30 - (time.monotonic() - began)))
    expect("viewers that read nothing are closed", server.files() <= files, f"{server.files()} descriptors, {files} at first")
    memory = server.status("VmHWM") / 1024
    expect("memory", memory < MEMORY, f"{memory:.0f} MB at most")
    pause, is_over = viewer.pause()
    expect("the viewer is there at the end", not is_over and pause < LONGEST_PAUSE, f"{pause:.2f} s")
    code, _ = server.end(signal.SIGINT)
    expect("Ctrl-C", code == 0, code)
    for connection in slow:
        connection.close()
    checks.finish("map hostile", time.monotonic() - start)


main()
