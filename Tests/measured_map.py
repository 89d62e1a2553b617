"""A `lodestone map` that is measured under attack, and an honest viewer of it.

Not a check by itself: map-hostile.py uses it."""
import http.client
import multiprocessing
import os
import pathlib
import resource
import select
import socket
import time

import checks
import live_map

# The usual limit.
DESCRIPTORS = 1024
LONGEST_PAUSE = 1.0


def expect(what, holds, detail=""):
    """A check that always shows what was found."""
    checks.expect(what, holds, detail, shown=detail)


class Server(live_map.Server):
    """A running `lodestone map`, under the usual limit of descriptors."""

    def __init__(self):
        super().__init__(
            "simulated", "--port", "0", stderr=None,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)))

    def status(self, name):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def page(self):
        """Opens the page as a browser would. Returns the status and how long it took."""
        start = time.monotonic()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            connection.request("GET", f"/?token={self.token}")
            status = connection.getresponse().status
            connection.close()
        except OSError as problem:
            status = repr(problem)
        return status, time.monotonic() - start


class Viewer:
    """An honest viewer: a process with a WebSocket, which measures the pauses between messages."""

    def __init__(self, server):
        self.pipe, end = multiprocessing.Pipe()
        handshake = live_map.upgrade(server, server.token)
        self.process = multiprocessing.Process(target=self.watch, args=(server.port, handshake, end), daemon=True)
        self.process.start()
        expect("the viewer is let in", self.pipe.poll(10) and self.pipe.recv() == "open")

    @staticmethod
    def watch(port, handshake, end):
        connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        connection.sendall(handshake)
        end.send("open" if connection.recv(65536).startswith(b"HTTP/1.1 101") else "refused")
        last = time.monotonic()
        longest, is_over = 0.0, False
        while True:
            ready, _, _ = select.select([end] if is_over else [connection, end], [], [], 0.05)
            now = time.monotonic()
            longest = max(longest, now - last)
            if connection in ready:
                is_over = not connection.recv(65536)
                last = last if is_over else now
            if end in ready:
                end.recv()
                end.send((longest, is_over))
                longest = 0.0

    def pause(self):
        """Returns the longest pause since the last call, and whether the connection is closed."""
        self.pipe.send("?")
        return self.pipe.recv() if self.pipe.poll(10) else (float("inf"), True)


def attack(name, server, viewer, body):
    """Runs an attack. The viewer must not notice it, and a page must open right after it."""
    start = time.monotonic()
    viewer.pause()
    before = server.cpu()
    body()
    status, took = server.page()
    pause, is_over = viewer.pause()
    expect(f"{name}: the viewer goes on", not is_over and pause < LONGEST_PAUSE, f"longest pause {pause:.2f} s")
    expect(f"{name}: a page opens", status == 200 and took < LONGEST_PAUSE,
           f"{status} in {took:.2f} s; {server.cpu() - before:.2f} s of CPU, {time.monotonic() - start:.1f} s in all")
