"""A running `lodestone map`, and what clients send to it.

Not a check by itself: map-page.py, map-hostile.py and their modules use it."""
import base64
import http.client
import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import time
import urllib.parse

import checks

# The token is kept here: all servers of a script have the same one.
STATE = tempfile.TemporaryDirectory()
ENVIRONMENT = checks.environment(STATE_DIRECTORY=STATE.name)
TOKEN = pathlib.Path(STATE.name) / "map-token"


def expect(what, holds, detail=""):
    """A check that shows what was found if it is right."""
    checks.expect(what, holds, detail, shown=detail if holds else "")


class Server:
    """A running `lodestone map`."""

    def __init__(self, board, *options, stderr=subprocess.PIPE, preexec_fn=None):
        self.process = subprocess.Popen(
            [checks.COMMAND, "map", "--board", str(board), *options], stdout=subprocess.PIPE, stderr=stderr, text=True,
            env=ENVIRONMENT, preexec_fn=preexec_fn)
        self.said = self.process.stdout.readline().strip()
        self.port = urllib.parse.urlsplit(self.said).port
        self.token = TOKEN.read_text().strip()
        self.url = f"{self.said}?token={self.token}"

    def end(self, number):
        """Sends a signal. Returns the exit code and how long it took."""
        start = time.monotonic()
        self.process.send_signal(number)
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "none in 10 s"
        return code, time.monotonic() - start


def get(server, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def connect(server, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", server.port), timeout=10, source_address=(source, 0))


def request(server, path="/", token="", method="GET", more=""):
    return f"{method} {path}?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{more}".encode()


def upgrade(server, token, origin=None):
    """The request that opens a WebSocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    return request(server, "/live", token, more=(
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        f"Origin: {origin or f'http://127.0.0.1:{server.port}'}\r\n\r\n"))


def knock(server, token="", origin=None, source="127.0.0.1"):
    """Opens a WebSocket. Returns the connection and the answer's first line."""
    connection = connect(server, source)
    connection.sendall(upgrade(server, token, origin))
    answer = b""
    while b"\r\n\r\n" not in answer:
        piece = connection.recv(1)
        if not piece:
            break
        answer += piece
    return connection, answer.split(b"\r\n")[0].decode()


def frame(connection):
    """The next frame of a server: its kind and what is in it."""
    def take(count):
        data = b""
        while len(data) < count:
            piece = connection.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    first, length = take(2)
    if length == 126:
        length = struct.unpack("!H", take(2))[0]
    elif length == 127:
        length = struct.unpack("!Q", take(8))[0]
    return first & 15, take(length)
