"""A daemon with its stream, and readers of it.

Not a check by itself: stream.py and python-client.py import it."""
import json
import pathlib
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(sys.argv[1]).resolve()
sys.argv[1] = str(FOLDER / "lodestone")

from checks import COMMAND, environment, expect  # noqa: E402
from command_line import folder, path  # noqa: E402

sys.path.insert(0, str(HERE.parent / "Clients/Python"))

SOCKET, STREAM = str(path / "s"), str(path / "stream.sock")
STATE = {"STATE_DIRECTORY": str(path / "state"), "LODESTONE_SOCKET": SOCKET}


def serve(*arguments, board="simulated", **more):
    daemon = subprocess.Popen(
        [COMMAND, "serve", "--board", board, "--socket", SOCKET, *arguments], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(**{**STATE, **more}))
    said = daemon.stdout.readline()
    expect("the daemon serves", "serving Simulated board" in said, said)
    return daemon


class Reader:
    """A connection to the stream."""

    def __init__(self, request=None, at=STREAM):
        self.socket = socket.socket(socket.AF_INET if isinstance(at, tuple) else socket.AF_UNIX)
        self.socket.connect(at)
        self.bytes = b""
        if request is not None:
            self.ask(request)

    def ask(self, request):
        text = request if isinstance(request, (bytes, str)) else json.dumps(request)
        self.socket.sendall((text if isinstance(text, bytes) else text.encode()) + b"\n")

    def read(self, seconds, until=None):
        """The lines that come within a time, or until one is as wanted."""
        end = time.monotonic() + seconds
        lines = []
        while time.monotonic() < end:
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            try:
                arrived = self.socket.recv(1 << 16)
            except (TimeoutError, ConnectionError):
                break
            if not arrived:
                break
            self.bytes += arrived
            *whole, self.bytes = self.bytes.split(b"\n")
            lines += [json.loads(line) for line in whole]
            if until is not None and any(map(until, lines)):
                break
        return lines


def is_kind(kind):
    return lambda line: line["kind"] == kind
