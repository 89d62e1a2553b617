"""Clients of a daemon that come and go: programs, readers of its stream, commands, and strangers that send no valid request.

Not a check by itself: soak.py imports it."""
import collections
import json
import math
import os
import re
import selectors
import signal
import socket
import subprocess
import time

from checks import COMMAND, environment

# Seconds that a client lives, and those after which one that has heard nothing is reported.
LIVES, PATIENCE = (5.0, 180.0), 20.0
KINDS = ["heading", "attitude", "location", "altitude", "absoluteAltitude", "sky", "motion", "waves", "sample", "sensor", "error"]
LASTING = {"heading", "attitude", "location", "altitude", "motion", "sample"}
# Lines per second, and how often each is chosen. Few readers ask for every line: writing these takes most of the daemon's time.
RATES = {None: 1, 0.2: 4, 1: 6, 2: 6, 5: 6, 10: 3, 20: 2}
# How many of each sort there are, 100 in all. A named program has an executable of its own, so that its regions outlive it.
SORTS = {"named": 10, "crowd": 22, "headings": 5, "stopped": 4, "prompt": 30, "network": 6, "slow": 9, "deaf": 9, "mute": 2,
         "rude": 2, "command": 1}
NAMES = 12
COMMANDS = [["monitor", "--seconds", "3"], ["monitor", "--format", "json", "--seconds", "3"], ["serve", "--status"],
            ["gnss", "--seconds", "2"]]


def between(dice, low, high):
    """A random number whose logarithm is evenly distributed."""
    return math.exp(dice.uniform(math.log(low), math.log(high)))


class Process:
    """A program that uses Core Location, or a command."""

    def __init__(self, fleet, sort):
        self.fleet, self.sort, self.name = fleet, sort, None
        self.output = fleet.path / f"output-{fleet.number}"
        dice = fleet.dice
        self.born = time.monotonic()
        life = between(dice, *LIVES)
        command = [fleet.folder / "crowd-program", "52.5163", "13.3777", "30"]
        if sort == "command":
            command, life = [COMMAND, *dice.choice(COMMANDS)], 30.0
        elif sort == "named":
            command[0] = self.name = dice.choice(sorted(fleet.names - {client.name for client in fleet.clients}))
        elif sort == "headings" or sort == "stopped" and dice.random() < 0.5:
            # It ends by itself after a minute.
            command, life = [fleet.folder / "facade-program", "run-loop", "1000000000"], min(life, 55.0)
        self.label = f"lodestone {command[1]}" if sort == "command" else sort
        self.ends = self.born + life
        self.stops = self.born + dice.uniform(0.1, 5) if sort == "stopped" else math.inf
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=fleet.path,
                env=environment(LODESTONE_SOCKET=fleet.socket, HOME=str(fleet.path)))

    def look(self, now):
        """Does what is due. Returns whether the process goes on."""
        code = self.process.poll()
        if code is not None:
            self.fleet.endings[f"{self.label}: exit code {code}"] += 1
            return False
        if now >= self.stops:
            self.stops = math.inf
            self.process.send_signal(signal.SIGSTOP)
        return now < self.ends

    def end(self):
        now = time.monotonic()
        if self.process.poll() is None:
            if self.sort == "command" and now >= self.ends:
                self.fleet.endings[f"{self.label}: too long"] += 1
            kill = self.sort == "stopped" or self.fleet.dice.random() < 0.3
            self.process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.fleet.endings[f"{self.label}: SIGTERM ignored"] += 1
                self.process.kill()
                self.process.wait(10)
        if self.sort in ("named", "crowd", "headings") and now > self.born + PATIENCE and not self.output.stat().st_size:
            self.fleet.unheard.append(self.output.name)
        self.output.unlink()


class Reader:
    """A connection to the stream, or one that sends no valid request."""
    name = None

    def __init__(self, fleet, sort, kinds=None, rate=None, life=None):
        self.fleet, self.sort = fleet, sort
        dice = fleet.dice
        self.born = self.next = time.monotonic()
        self.ends = self.born + (life or between(dice, *LIVES))
        self.isGone = False
        self.head, self.tail, self.rest, self.lines = b"", b"", b"", 0
        self.states = {}
        # What is asked for first, as it stands in lines, values or losses. Lines of other kinds need not come while chips fail.
        self.wanted, self.hears = [], False
        kinds = kinds or self.choose(dice.randint(1, 5))
        self.wanted = [f'"kind":"{kind}"'.encode() for kind in kinds if kind in LASTING]
        rate = rate or dice.choices(list(RATES), list(RATES.values()))[0]
        at = fleet.network if sort == "network" else dice.choice([fleet.socket, fleet.stream]) if sort == "rude" else fleet.stream
        self.socket = socket.socket(socket.AF_INET if sort == "network" else socket.AF_UNIX)
        self.socket.settimeout(5)
        self.socket.connect(at)
        if sort == "rude":
            junk = dice.randbytes(dice.randint(1, 9_000))
            self.send(dice.choice([b"", b"\n", b'{"subscribe"', b"{}\n" * 40, junk]))
        elif sort != "mute":
            self.ask(kinds, rate)
        if sort in ("prompt", "network", "watch"):
            self.socket.setblocking(False)
            fleet.selector.register(self.socket, selectors.EVENT_READ, self)

    def choose(self, count):
        """Random kinds. Over TCP the daemon notices that a reader has gone when it writes a line, or by keepalive after a minute or two.
        Some kinds are too rare for a checkpoint."""
        kinds = self.fleet.dice.sample(KINDS, count)
        return kinds if self.sort != "network" or "heading" in kinds else ["heading", *kinds[1:]]

    def ask(self, kinds, rate):
        self.send(json.dumps({"subscribe": kinds, **({"rate": rate} if rate else {})}).encode() + b"\n")

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            self.isGone = True

    def read(self, most=65_536):
        try:
            data = self.socket.recv(most)
        except (BlockingIOError, TimeoutError):
            return
        except OSError:
            data = b""
        if not data:
            self.isGone = True
            self.stop_reading()
        self.lines += data.count(b"\n")
        if len(self.head) < 2_000:
            self.head += data
        self.tail = (self.tail + data)[-2_000:]
        self.hears |= any(kind in data for kind in self.wanted)
        if self.sort == "watch":
            self.watch(data)

    def watch(self, data):
        """Keeps the state of each sensor."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in map(json.loads, lines):
            if line["kind"] == "sensor":
                self.states[line["chip"]] = (line["state"], line.get("reason"))

    def stop_reading(self):
        if self.socket.fileno() in self.fleet.selector.get_map():
            self.fleet.selector.unregister(self.socket)

    def look(self, now):
        """Does what is due. Returns whether the connection stays."""
        if self.sort == "slow" and now >= self.next:
            self.next = now + 0.5
            self.socket.settimeout(0.001)
            self.read(512)
        elif self.sort in ("prompt", "network") and self.lines > 2 and self.fleet.dice.random() < 0.0005:
            # Other kinds now and then, every 100 s on average.
            self.ask(self.choose(2), 2)
        if self.isGone and self.sort not in ("rude", "mute"):
            messages = re.findall(rb'"message":"([^"]*)"', self.tail)
            self.fleet.endings[f"{self.sort}: closed, {messages[-1].decode() if messages else 'without a reason'}"] += 1
        return not self.isGone and now < self.ends

    def end(self):
        isServed = b'"hello"' in self.head and b'"subscription"' in self.head and (self.hears or not self.wanted)
        if self.sort in ("prompt", "network", "watch") and time.monotonic() > self.born + PATIENCE and not isServed:
            self.fleet.unheard.append(f"{self.sort}: {self.head[:200]}")
        self.stop_reading()
        self.socket.close()


class Fleet:
    """The clients of a daemon.

    `folder` has the programs, `path` has the daemon's sockets and takes the clients' files, `network` is the TCP address of the stream."""

    def __init__(self, dice, folder, path, network):
        self.dice, self.folder, self.path, self.network = dice, folder, path, network
        self.socket, self.stream = str(path / "s"), str(path / "stream.sock")
        self.selector = selectors.DefaultSelector()
        self.clients, self.number, self.next = [], 0, 0.0
        self.counts, self.endings, self.unheard = collections.Counter(), collections.Counter(), []
        self.names = {path / f"program-{number}" for number in range(NAMES)}
        program = path / "program"
        program.write_bytes((folder / "crowd-program").read_bytes())
        program.chmod(0o755)
        for name in self.names:
            os.link(program, name)

    def live(self, now, most):
        """Reads what comes within 50 ms, ends the clients whose time is up, and has one more come if there are too few."""
        for key, _ in self.selector.select(0.05):
            key.data.read()
        for client in [client for client in self.clients if not client.look(now)]:
            self.clients.remove(client)
            client.end()
        # At most ten a second, so that they do not all begin and end together.
        if len(self.clients) < most and now >= self.next:
            self.next = now + 0.1
            self.add()

    def add(self):
        present = collections.Counter(client.sort for client in self.clients)
        missing = {sort: max(0, most - present[sort]) for sort, most in SORTS.items()}
        if not any(missing.values()):
            return
        sort = self.dice.choices(list(missing), list(missing.values()))[0]
        self.counts[sort] += 1
        self.number += 1
        isProcess = sort in ("named", "crowd", "headings", "stopped", "command")
        self.clients.append(Process(self, sort) if isProcess else Reader(self, sort))

    def watch(self):
        """Adds a reader that keeps the states of the sensors, and stays."""
        reader = Reader(self, "watch", ["sensor", "heading", "location", "altitude"], rate=1, life=math.inf)
        self.clients.append(reader)
        return reader

    def leave(self):
        for client in self.clients:
            client.end()
        self.clients.clear()
