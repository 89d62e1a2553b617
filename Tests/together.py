#!/usr/bin/env python3
"""Everything at once on one board: together.py FOLDER, where Scripts/build.sh has put the programs.

A daemon owns the simulated board. At the same time run two programs of CoreLocation, the map on a phone's screen (a headless Chromium; a
plain WebSocket where there is none), a WebSocket of lines, a recording and a calibration. Then the daemon is killed.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from stream_reader import FOLDER, HERE, SOCKET, Reader
from checks import COMMAND, environment, expect, finish
from command_line import folder, path
import chromium
import live_map

PHONE = (390, 844, 2)
with socket.create_server(("127.0.0.1", 0)) as probe:
    PORT = probe.getsockname()[1]
STATE = path / "state"
ENVIRONMENT = environment(LODESTONE_SOCKET=SOCKET, STATE_DIRECTORY=str(STATE))


def board():
    """The simulated board, which stands still for its first half minute."""
    head, rest = (HERE.parent / "Boards/simulated.yaml").read_text().split("  legs:\n")
    _, tail = rest.split("  # To rehearse", 1)
    legs = "  legs:\n    - {seconds: 3, fix: false}\n    - {seconds: 37, fix: true}\n    - {seconds: 600, turn: 3600, speed: 1.4}\n"
    (path / "board.yaml").write_text(head + legs + "  # To rehearse" + tail)


class Daemon:
    def __init__(self, positions="exact"):
        (path / "serve.yaml").write_text(
            f"schema: 1\nboard: {path / 'board.yaml'}\nsocket: {SOCKET}\n"
            f"web: {{address: 127.0.0.1, port: {PORT}, positions: {positions}}}\n")
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--configuration", str(path / "serve.yaml")], cwd=folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=ENVIRONMENT)
        self.lines = []
        end = time.monotonic() + 20
        while time.monotonic() < end:
            self.lines.append(self.process.stdout.readline().strip())
            if "token" in self.lines[-1] or not self.lines[-1]:
                break
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.port = PORT
        self.token = (STATE / "map-token").read_text().strip()


class Program:
    """A program whose lines are dated."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", *command], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        self.lines = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.strip()))

    def gap(self, begin, end, word=""):
        """The longest time without a line that has a word."""
        moments = [when for when, line in self.lines if begin <= when <= end and word in line]
        return max((b - a for a, b in zip([begin, *moments], [*moments, end])), default=end - begin)


class Socket:
    """A WebSocket of lines of JSON."""

    def __init__(self, daemon, query):
        self.connection = live_map.connect(daemon)
        key = "dGhlIHNhbXBsZSBub25jZQ=="
        self.connection.sendall((
            f"GET /stream?token={daemon.token}&{query} HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.connection.recv(1)
        self.status = int(answer.split()[1])

    def say(self, request):
        text = json.dumps(request).encode()
        self.connection.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)

    def read(self, seconds, until=None):
        end, lines = time.monotonic() + seconds, []
        while time.monotonic() < end:
            self.connection.settimeout(max(0.01, end - time.monotonic()))
            try:
                kind, data = live_map.frame(self.connection)
            except (TimeoutError, EOFError, ConnectionError):
                break
            if kind == 8:
                lines.append({"kind": "close", "code": int.from_bytes(data[:2], "big")})
                break
            lines.append(json.loads(data))
            if until and until(lines[-1]):
                break
        return lines


def counted(lines, kind):
    return sum(line["kind"] == kind for line in lines)


def sockets(daemon):
    refused = [Socket(daemon, query).status for query in ("subscribe=nothing", "rate=5", "subscribe=heading&rate=x")]
    expect("a WebSocket without a choice, or with a wrong one, is refused", refused == [400, 400, 400], refused)
    stranger = live_map.get(daemon, "/stream?subscribe=heading")[0].status
    expect("and one without the token", stranger == 403, stranger)
    live = Socket(daemon, "subscribe=heading%2Clocation&rate=10")
    lines = live.read(20, lambda line: line["kind"] == "location" and "latitude" in line)
    lines += live.read(3)
    kinds = [line["kind"] for line in lines]
    expect("lines of JSON come over a WebSocket", live.status == 101 and kinds[:2] == ["hello", "subscription"], lines[:2])
    rate = counted(lines, "heading") / (lines[-1]["monotonic"] - lines[0]["monotonic"])
    expect("at the rate that was asked for", 8 < rate < 12, rate, f"{rate:.1f} a second")
    expect("no line is missing", [line["sequence"] for line in lines] == list(range(len(lines))))
    live.say({"subscribe": ["altitude"]})
    lines = live.read(3, lambda line: line["kind"] == "subscription")
    rest = live.read(2)
    expect("a reader chooses anew by a message", {line["kind"] for line in rest} == {"altitude"} and len(rest) > 20, rest[:3], len(rest))
    live.say({"record": True})
    end = live.read(5, lambda line: line["kind"] == "error")
    expect("nobody records from elsewhere", "may record the board" in end[-1].get("message", ""), end[-2:])
    return Socket(daemon, "subscribe=heading&rate=5")


class Page:
    """The map in a browser, or what it would be sent."""

    def __init__(self, daemon):
        self.browser = chromium.Browser() if chromium.path() else None
        if self.browser:
            self.browser.resize(*PHONE, False)
            self.browser.call("Page.navigate", url=f"http://127.0.0.1:{daemon.port}/?token={daemon.token}")
        else:
            self.connection, self.answer = live_map.knock(daemon, daemon.token)

    def has_fix(self):
        if self.browser:
            return self.browser.wait("document.getElementById('notice').hidden && document.body.dataset.connection === 'connected'", 25)
        end = time.monotonic() + 25
        while time.monotonic() < end:
            line = json.loads(live_map.frame(self.connection)[1])
            if line["kind"] == "location" and "latitude" in line:
                return True
        return False

    def is_lost(self):
        if self.browser:
            return self.browser.wait("document.body.dataset.connection === 'lost'", 6)
        self.connection.settimeout(6)
        try:
            while live_map.frame(self.connection)[0] != 8:
                pass
        except (EOFError, ConnectionError):
            pass
        self.connection, _ = None, self.connection.close()
        return True

    def is_back(self, daemon):
        if self.browser:
            return self.browser.wait(
                "document.body.dataset.connection === 'connected' && document.querySelector('#position-card .age').hidden", 25)
        if self.connection is None:
            self.connection, _ = live_map.knock(daemon, daemon.token)
        return self.has_fix()

    def picture(self, file):
        if self.browser:
            self.browser.screenshot(file)

    def close(self):
        if self.browser:
            self.browser.close()
        else:
            self.connection.close()


def status():
    """What the daemon says of itself."""
    said = subprocess.run(
        [COMMAND, "serve", "--status", "--socket", SOCKET, "--format", "json"], capture_output=True, text=True, timeout=20,
        env=ENVIRONMENT, cwd=folder)
    return json.loads(said.stdout)


def everything(daemon):
    altimeter, program = Program(FOLDER / "altimeter"), Program(FOLDER / "facade-program", "run-loop", "1000000")
    page = Page(daemon)
    expect("the page on a phone has its fix", page.has_fix())
    live = sockets(daemon)
    begin = time.monotonic()
    lines_of_place = Reader({"subscribe": ["location"]})
    recording = subprocess.Popen(
        [COMMAND, "record", str(path / "run.trace"), "--seconds", "20"], cwd=folder, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env=ENVIRONMENT)
    time.sleep(2)
    calibration = subprocess.run(
        [COMMAND, "calibrate", "gyro", "--yes", "--seconds", "3", "--format", "json"], cwd=folder, text=True, capture_output=True,
        timeout=60, env=ENVIRONMENT)
    last = json.loads(calibration.stdout.splitlines()[-1]) if calibration.stdout else {}
    expect("a calibration meanwhile, stored by the daemon", calibration.returncode == 0 and last.get("saved"), calibration)
    second = subprocess.run(
        [COMMAND, "record", str(path / "other.trace"), "--seconds", "3"], cwd=folder, text=True, capture_output=True, timeout=60,
        env=ENVIRONMENT)
    expect("a second recording is refused in words", second.returncode == 74 and "recorded already" in second.stderr, second)
    shown = status()
    expect("the status shows page and recording", shown["pages"] == 1 and any(
        reader["kinds"] == ["recording"] for reader in shown["readers"]), shown)
    lines = live.read(4)
    said = recording.communicate(timeout=60)[0]
    end = time.monotonic()
    size = (path / "run.trace").stat().st_size
    expect("a recording meanwhile", recording.returncode == 0 and size > 300_000, said[-400:], f"{size} bytes")
    for name, who, word in (("the altimeter", altimeter, ""), ("the program", program, "heading")):
        gap = who.gap(begin, end, word)
        expect(f"{name} hears on all the time", gap < (1 if word else 2), gap, f"{gap:.2f} s at most")
    places = [line for line in lines_of_place.read(0.1) if "latitude" in line]
    gaps = [b["monotonic"] - a["monotonic"] for a, b in zip(places, places[1:])]
    expect("positions too", len(places) > 60 and max(gaps) < 8, gaps[-5:], f"{max(gaps, default=0):.2f} s at most")
    expect("the WebSocket too", counted(lines, "heading") > 12, len(lines))
    expect("and the page", page.is_back(daemon))
    if "--screenshot" in sys.argv:
        page.picture(pathlib.Path(sys.argv[-1]))
    replay = subprocess.run(
        [COMMAND, "replay", str(path / "run.trace")], cwd=folder, text=True, capture_output=True, timeout=120, env=environment())
    kinds = [json.loads(line)["kind"] for line in replay.stdout.splitlines()]
    good = replay.returncode == 0 and kinds.count("heading") > 1_000 and kinds.count("location") > 30 and kinds.count("altitude") > 200
    expect("the recording replays", good, replay.stderr[-300:], {kind: kinds.count(kind) for kind in set(kinds)})
    return altimeter, program, page


def killed(daemon, program, page):
    recording = subprocess.Popen(
        [COMMAND, "record", str(path / "long.trace"), "--rotate", "10M", "--keep", "3", "--seconds", "15"], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    time.sleep(4)
    daemon.process.kill()
    daemon.process.wait(10)
    expect("the page says that it lost its board", page.is_lost())
    begin = time.monotonic()
    daemon = Daemon()
    expect("it comes back by itself", page.is_back(daemon))
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and program.gap(begin, time.monotonic(), "heading") >= time.monotonic() - begin - 0.01:
        time.sleep(0.05)
    gap = program.gap(begin, time.monotonic(), "heading")
    expect("the program hears again", gap < 5, gap, f"after {gap:.2f} s")
    said = recording.communicate(timeout=60)[0]
    files = sorted(path.glob("long*.trace*"))
    expect("a series of recordings goes on behind the daemon's death", len(files) == 2 and "daemon has gone" in said, (files, said[-600:]))
    for file in files:
        replay = subprocess.run(
            [COMMAND, "replay", str(file)], cwd=folder, text=True, capture_output=True, timeout=120, env=environment())
        expect("each replays", '"kind":"heading"' in replay.stdout, replay.stderr[-300:])
    return daemon


def restarted(daemon):
    """A recording without end leaves the board to the daemon, and to a daemon that is started again after SIGTERM."""
    recording = subprocess.Popen(
        [COMMAND, "record", str(path / "on.trace"), "--keep-trying"], cwd=folder, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env=ENVIRONMENT)
    time.sleep(3)
    daemon.process.send_signal(signal.SIGTERM)
    expect("a daemon that records ends", daemon.process.wait(15) == 0)
    time.sleep(1)
    daemon = Daemon()
    reader = Reader({"subscribe": ["heading"]})
    lines = reader.read(10, lambda line: "magneticHeading" in line)
    expect("the next one has its board", any("magneticHeading" in line for line in lines), lines[-3:])
    time.sleep(2)
    begin = time.monotonic()
    recording.send_signal(signal.SIGTERM)
    said = recording.communicate(timeout=20)[0]
    expect("the recording ends at once", time.monotonic() - begin < 6 and "goes on when it is back" in said, said[-500:])
    runs = (path / "on.trace").read_text().count("lodestone-trace ")
    expect("and holds both runs, without a word of the daemon's in between", runs == 2 and '"kind"' not in (path / "on.trace").read_text(), runs)
    return daemon


def sleeps(daemon, page):
    """When the last page is closed nobody observes the board for it."""
    reader = Reader({"subscribe": ["sensor"]})
    states = {line["chip"]: line["state"] for line in reader.read(3) if line["kind"] == "sensor"}
    expect("the chips run for a page", status()["pages"] == 1 and set(states.values()) == {"running"}, states)
    page.close()
    for line in reader.read(15, lambda line: line["kind"] == "sensor" and line["chip"] == "u-blox" and line["state"] == "idle"):
        if line["kind"] == "sensor":
            states[line["chip"]] = line["state"]
    for line in reader.read(2):
        if line["kind"] == "sensor":
            states[line["chip"]] = line["state"]
    expect("and sleep when it is closed", status()["pages"] == 0 and set(states.values()) == {"idle"}, states)


def reduced():
    """A page that may not know the place exactly, or not at all."""
    for positions in ("reduced", "none"):
        daemon = Daemon(positions)
        live = Socket(daemon, "subscribe=location")
        lines = live.read(20, lambda line: line["kind"] == "location" and (positions == "none" or "latitude" in line))
        connection, _ = live_map.knock(daemon, daemon.token)
        said, end = [], time.monotonic() + 8
        connection.settimeout(8)
        while time.monotonic() < end:
            said.append(json.loads(live_map.frame(connection)[1]))
        places = [line for line in said + lines if line["kind"] == "location"]
        text = json.dumps(said + lines)
        if positions == "none":
            held = not any("latitude" in line for line in places) and "13.377" not in text
            held = held and all(line.get("trueHeading", -1) == -1 for line in said + lines)
        else:
            held = all(line["horizontalAccuracy"] >= 1_000 for line in places if "latitude" in line) and "13.3777" not in text
        expect(f"positions: {positions} holds on the page and the WebSocket", places and held, (places[-2:], said[-3:]))
        daemon.process.send_signal(signal.SIGTERM)
        end = live.read(5, lambda line: line["kind"] == "close")
        expect("the end of the daemon is said", end[-1:] and end[-1]["kind"] == "close", end[-2:])
        expect("and comes soon", daemon.process.wait(10) == 0)


def taken_away():
    """After the rules have taken the position away, a page that comes gets nothing of before."""
    rules = path / "conf/authorization.yaml"
    rules.parent.mkdir(exist_ok=True)
    rules.write_text("schema: 1\nrules:\n  - user: nobody\n    authorization: always\n")
    ENVIRONMENT["LODESTONE_AUTHORIZATION"] = str(rules)
    daemon = Daemon()
    first, _ = live_map.knock(daemon, daemon.token)
    first.settimeout(20)
    end = time.monotonic() + 20
    while time.monotonic() < end and b"latitude" not in live_map.frame(first)[1]:
        pass
    time.sleep(2)
    for words in ("denied", "always\n    accuracy: reduced"):
        rules.write_text(f"schema: 1\nrules:\n  - user: nobody\n    authorization: {words}\n")
        daemon.process.send_signal(signal.SIGHUP)
        time.sleep(1)
        second, _ = live_map.knock(daemon, daemon.token)
        second.settimeout(4)
        said, end = b"", time.monotonic() + 3
        while time.monotonic() < end:
            said += live_map.frame(second)[1]
        held = all(word not in said for word in (b"52.516", b"13.377", b"last position", b"ellipsoidal"))
        expect(f"a page gets nothing of before ({words.split()[-1]})", held and b"heading" in said, said[:600])
        second.close()
    first.close()
    del ENVIRONMENT["LODESTONE_AUTHORIZATION"]
    daemon.process.send_signal(signal.SIGTERM)
    daemon.process.wait(15)


def main():
    begin = time.monotonic()
    shutil.rmtree(STATE, ignore_errors=True)
    board()
    daemon = Daemon()
    expect("the daemon says where its page is, and not the token",
           any(f":{PORT}/" in line for line in daemon.lines) and not any(daemon.token in line for line in daemon.lines), daemon.lines)
    altimeter, program, page = everything(daemon)
    daemon = killed(daemon, program, page)
    for one in (altimeter, program):
        one.process.kill()
    sleeps(daemon, page)
    daemon = restarted(daemon)
    daemon.process.send_signal(signal.SIGTERM)
    expect("the daemon ends", daemon.process.wait(15) == 0)
    reduced()
    taken_away()
    finish("together.py", time.monotonic() - begin)


main()
