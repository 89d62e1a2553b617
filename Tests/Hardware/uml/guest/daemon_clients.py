"""In the guest: a daemon, its clients in other processes, and the control line of the rig.

daemon.py uses it. Every line of a client becomes an `Event` with the moment at which it arrived."""
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
import typing

FOLDER = pathlib.Path(tempfile.mkdtemp())
SOCKET, STREAM = str(FOLDER / "s"), str(FOLDER / "stream.sock")
# With LODESTONE_BOARD a client would open the board itself.
ENVIRONMENT = {**{key: value for key, value in os.environ.items() if key != "LODESTONE_BOARD"}, "LODESTONE_SOCKET": SOCKET}
KINDS = ["heading", "attitude", "location", "altitude", "sample", "sensor", "error"]
# What a line of JSON has if it is a measurement, and not the reason why there is none.
VALUES = {"heading": "magneticHeading", "attitude": "magneticHeading", "location": "latitude", "altitude": "relativeAltitude"}
# What a program loses with each chip of the board file, and the code of CLError by which it is told.
LOST = ["heading", "heading", "altitude", "location"]
CODES = {"0": "location", "3": "heading"}
# Of the wall clock of the guest, which nobody sets.
ZERO = time.time() - time.monotonic()
processes = []


class Event(typing.NamedTuple):
    """A line of a client. Times are in seconds of CLOCK_MONOTONIC."""
    when: float
    kind: str
    # The time of the measurement, if the line has one.
    dated: float | None = None
    has_value: bool = False
    # The place of the chip in the board file.
    sensor: int | None = None
    # The state of the chip, or what an error of a program is about.
    state: str | None = None
    reason: str | None = None


def wait_for(condition, seconds):
    """Waits until a condition holds, for a number of seconds at most. All processes of the guest share a processor, this one too."""
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds


def start(command, **more):
    """Starts a process, whose lines are passed to `take` by a thread, its `reader`."""
    take = more.pop("take")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT, **more)
    processes.append(process)

    def read():
        for line in process.stdout:
            take(time.monotonic(), line.rstrip())
    process.reader = threading.Thread(target=read, daemon=True)
    process.reader.start()
    return process


def end_all():
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait(10)


class Rig:
    """The control line."""

    def __init__(self):
        self.line = os.open(os.environ["LODESTONE_RIG_CONTROL"], os.O_RDWR | os.O_NOCTTY)

    def ask(self, request):
        os.write(self.line, request.encode() + b"\n")
        deadline, answer = time.monotonic() + 3, b""
        while not answer.endswith(b"\n"):
            if not select.select([self.line], [], [], max(0, deadline - time.monotonic()))[0]:
                raise SystemExit(f"daemon: the rig does not answer to '{request}'")
            answer += os.read(self.line, 1000)
        if answer.startswith(b"error"):
            raise SystemExit(f"daemon: {request}: {answer.decode().strip()}")
        return answer.decode().strip()

    def stood(self):
        """The number of seconds for which the machine of the rig kept it from its work so far."""
        return float(self.ask("stood").split()[1])


class Daemon:
    """`lodestone serve`."""

    def __init__(self, board):
        self.lines, begin = [], time.monotonic()
        self.process = start(
            ["lodestone", "serve", "--board", board, "--socket", SOCKET], take=lambda when, line: self.lines.append((when, line)))
        if not wait_for(lambda: any("serving" in line for _, line in self.lines), 20):
            raise SystemExit(f"daemon: it does not serve: {self.lines}")
        self.served = next(when for when, line in self.lines if "serving" in line)
        self.start_took = self.served - begin

    @property
    def is_running(self):
        return self.process.poll() is None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def status(self):
        """What `--status` says, or None and what it said instead."""
        result = subprocess.run(
            ["lodestone", "serve", "--status", "--socket", SOCKET, "--format", "json"], capture_output=True, text=True, timeout=20,
            env=ENVIRONMENT)
        try:
            return json.loads(result.stdout), result.stderr
        except ValueError:
            return None, result.stdout + result.stderr


class Client:
    """What one client was told. `says` is how it is told of a chip: by its "state" or by an "error"."""

    def __init__(self, name, says):
        self.name, self.says = name, says
        self.events, self.process, self.born = [], None, 0.0

    def note(self, event):
        self.events.append(event)

    def since(self, moment):
        """The events that have arrived since a moment, the oldest first: the order in which the client was told."""
        found = []
        for event in reversed(self.events):
            if event.when < moment:
                break
            found.append(event)
        return found[::-1]

    def values(self, kind, moment):
        return [event for event in self.since(moment) if event.kind == kind and event.has_value]

    def pause(self, kind, moment):
        """The longest time in seconds between two measurements since a moment."""
        moments = [event.when for event in self.values(kind, moment)]
        return max((after - before for before, after in zip(moments, moments[1:])), default=float("inf"))

    def fresh(self, kind, seconds):
        """The number of measurements in the last seconds."""
        return len(self.values(kind, max(self.born, time.monotonic() - seconds)))

    def news(self, sensor, moment):
        """The states of a chip. For a program: the errors that are about what it loses with the chip, and not about the daemon."""
        return [event for event in self.since(moment) if (
            event.kind == "sensor" and event.sensor == sensor if self.says == "state"
            else event.kind == "error" and event.state == LOST[sensor] and "daemon" not in event.reason)]

    def told(self, sensor, moment):
        """When the client was first told that a chip has failed, and the reason."""
        return next((
            (event.when, event.reason) for event in self.news(sensor, moment) if event.kind == "error" or event.state == "failed"), None)

    def is_running(self, sensor):
        states = [event.state for event in self.events if event.kind == "sensor" and event.sensor == sensor]
        return self.says == "error" or (states and states[-1] == "running")


class Program(Client):
    """A program of CoreLocation or CoreMotion. facade-program ends by itself after a minute, so that it is started again."""

    def __init__(self, name, command):
        super().__init__(name, "error")
        self.command = command
        self.run()

    def run(self):
        # Without a terminal it would write a page at a time.
        self.process, self.born = start(["stdbuf", "-oL", *self.command], take=self.take), time.monotonic()

    def run_again(self):
        self.process.kill()
        self.process.wait(10)
        self.process.reader.join(10)
        self.run()

    def take(self, when, line):
        words = line.split()
        # An altimeter says "+0.3 m  1009.1 hPa".
        if re.match(r"[-+]\d+\.\d m ", line):
            self.note(Event(when, "altitude", None, True))
        elif words[:1] in (["heading"], ["location"]):
            # The time of the measurement stands before that of the delegate.
            self.note(Event(when, words[0], float(words[-2]) - ZERO, True))
        elif words[:1] == ["error"]:
            self.note(Event(when, "error", state=CODES.get(words[1]), reason=" ".join(words[2:])))
        elif words[:1] != ["authorization"]:
            # All that an altimeter says besides.
            self.note(Event(when, "error", state="altitude", reason=line))


class LineClient(Client):
    """Somebody who reads lines of JSON. `monotonic` of monitor counts from its start, which is what `zero` is."""

    def __init__(self, name):
        super().__init__(name, "state")
        self.zero = None

    def take(self, when, line):
        try:
            record = json.loads(line)
        except ValueError:
            return self.note(Event(when, "error", reason=line))
        kind = record["kind"]
        dated = record["monotonic"]
        if self.zero is not None:
            # The line that came fastest is the one that is nearest to its own time.
            self.zero = min(self.zero, when - dated)
            dated += self.zero
        self.note(Event(
            when, kind, dated, VALUES.get(kind, "sensor") in record and kind != "sensor", record.get("sensor"), record.get("state"),
            record.get("message", record.get("reason"))))


class Monitor(LineClient):
    """`lodestone monitor`, attached to the daemon."""

    def __init__(self):
        super().__init__("monitor")
        self.zero = float("inf")
        self.process = start(["lodestone", "monitor", "--format", "json"], take=self.take)


class StreamReader(LineClient):
    """A reader of the stream's socket, which connects again when the daemon has gone."""

    def __init__(self):
        super().__init__("stream")
        self.is_over = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while not self.is_over:
            try:
                self.connection()
            except OSError:
                pass
            # Whoever connects to a daemon that starts tries again.
            time.sleep(0.02)

    def connection(self):
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(STREAM)
            end.sendall(json.dumps({"subscribe": KINDS}).encode() + b"\n")
            rest = b""
            while arrived := end.recv(1 << 16):
                *lines, rest = (rest + arrived).split(b"\n")
                for line in lines:
                    self.take(time.monotonic(), line.decode())
        self.note(Event(time.monotonic(), "error", reason="the daemon has closed the stream"))
