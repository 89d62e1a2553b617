#!/usr/bin/env python3
"""The page of `lodestone map` in a headless Chromium: what it shows is what the board says, whatever comes loose.

usage: map-page.py LODESTONE [--screenshots FOLDER]

Skipped where there is no Chromium. Takes less than a minute of real time."""
import base64
import fcntl
import http.client
import json
import math
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chromium  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = os.path.abspath(sys.argv[1])
PICTURES = pathlib.Path(sys.argv[sys.argv.index("--screenshots") + 1]) if "--screenshots" in sys.argv else None
SIZES = {"desktop": (1280, 800, 1), "phone": (390, 844, 2)}
failures = []


def expect(what, holds, detail=""):
    print(("ok      " if holds else "FAILED  ") + what + (f" ({' '.join(str(detail).split())})" if holds and detail else ""), flush=True)
    if not holds:
        failures.append(f"{what}: {detail}")


# Where the token is kept; all servers have the same one.
STATE = tempfile.TemporaryDirectory()
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}, "STATE_DIRECTORY": STATE.name}
TOKEN = pathlib.Path(STATE.name) / "map-token"


class Server:
    """A running `lodestone map`."""

    def __init__(self, board, *options):
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [COMMAND, "map", "--board", str(board), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=ENVIRONMENT)
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


def get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def knock(port, token="", origin=None, source="127.0.0.1"):
    """Opens a WebSocket. Returns the connection and the answer's first line."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(source, 0))
    key = base64.b64encode(os.urandom(16)).decode()
    origin = origin or f"http://127.0.0.1:{port}"
    connection.sendall(
        f"GET /live?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nOrigin: {origin}\r\n\r\n".encode())
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


def place_on_screen(browser):
    """Where the marker is drawn, as latitude and longitude by the map's own centre, zoom and turn."""
    seen = browser.evaluate(
        "(() => { const map = document.getElementById('map'); const box = map.getBoundingClientRect();"
        " const [x, y] = document.getElementById('marker').getAttribute('transform').match(/-?[0-9.]+/g).map(Number);"
        " return {x: x - box.width / 2, y: y - box.height / 2, ...map.dataset,"
        " needle: document.getElementById('needle').getAttribute('transform'),"
        " half: document.getElementById('cone').dataset.halfWidth,"
        " radius: Number(document.getElementById('accuracy').getAttribute('r'))}; })()")
    scale = 256 * 2 ** float(seen["zoom"])
    latitude, longitude = math.radians(float(seen["latitude"])), float(seen["longitude"])
    turned = math.radians(float(seen["turned"]))
    east = seen["x"] * math.cos(turned) - seen["y"] * math.sin(turned)
    south = seen["x"] * math.sin(turned) + seen["y"] * math.cos(turned)
    y = math.asinh(math.tan(latitude)) - south / scale * 2 * math.pi
    seen["place"] = (math.degrees(math.atan(math.sinh(y))), longitude + east / scale * 360)
    seen["perMetre"] = scale / (2 * math.pi * 6378137 * math.cos(latitude))
    seen["heading"] = float(re.search(r"-?[0-9.]+", seen["needle"])[0]) + float(seen["turned"])
    return seen


def metres(a, b):
    return math.hypot((a[0] - b[0]) * 111195, (a[1] - b[1]) * 111195 * math.cos(math.radians(a[0])))


def said(browser, kind):
    """What the WebSockets of the page have brought, by kind."""
    lines = (json.loads(event["response"]["payloadData"]) for event in browser.of("Network.webSocketFrameReceived")
             if event["response"]["opcode"] == 1)
    return [line for line in lines if line["kind"] == kind]


def pictures(browser, name):
    for size, (width, height, ratio) in SIZES.items() if PICTURES else ():
        for is_dark in (False, True):
            browser.resize(width, height, ratio, is_dark)
            browser.listen(0.3)
            browser.screenshot(PICTURES / f"{name}-{size}-{'dark' if is_dark else 'light'}.png")
    browser.resize(*SIZES["desktop"], False)


def text(browser, name):
    return browser.evaluate(f"document.getElementById('{name}').innerText.trim()")


def tokens(folder, board):
    """Where the token is, and where it is not."""
    server = Server(board, "--port", "0")
    token = server.token
    expect("128 random bits", re.fullmatch("[0-9a-f]{32}", token), token)
    expect("that nobody else can read", TOKEN.stat().st_mode & 0o777 == 0o600, oct(TOKEN.stat().st_mode))
    arguments = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    expect("nor see in the list of processes", token.encode() not in arguments)
    statuses = [get(server.port, path)[0].status for path in ("/", "/main.js", "/live", f"/?token={token[:-1]}")]
    expect("without it this machine gets nothing either", set(statuses) == {403}, statuses)
    code, _ = server.end(signal.SIGTERM)
    rest = server.process.stdout.read() + server.process.stderr.read()
    expect("no journal has it", code == 0 and "token=" not in server.said and token not in rest and str(TOKEN) in rest, rest)
    again = Server(board, "--port", "0")
    expect("a bookmark outlives a restart", again.token == token and get(again.port, f"/?token={token}")[0].status == 200)
    again.end(signal.SIGTERM)
    new = Server(board, "--port", "0", "--new-token")
    expect("--new-token closes the old one out", new.token != token and get(new.port, f"/?token={token}")[0].status == 403
           and get(new.port, f"/?token={new.token}")[0].status == 200)
    new.end(signal.SIGTERM)

    given = folder / "token"
    given.write_text("correct-Horse_battery9\n")
    given.chmod(0o600)
    server = Server(board, "--port", "0", "--token-file", str(given))
    expect("--token-file", get(server.port, "/?token=correct-Horse_battery9")[0].status == 200
           and get(server.port, f"/?token={TOKEN.read_text().strip()}")[0].status == 403)
    server.end(signal.SIGTERM)
    made = folder / "new-token"
    server = Server(board, "--port", "0", "--token-file", str(made))
    expect("--token-file makes one", get(server.port, f"/?token={made.read_text().strip()}")[0].status == 200
           and made.stat().st_mode & 0o777 == 0o600)
    server.end(signal.SIGTERM)
    given.chmod(0o644)
    result = subprocess.run([COMMAND, "map", "--board", str(board), "--port", "0", "--token-file", str(given)],
                            capture_output=True, text=True, timeout=20, env=ENVIRONMENT)
    expect("a token that others can read is none", result.returncode == 74 and "chmod 600" in result.stderr and not result.stdout,
           result.stderr)

    shown = on_terminal(board)
    expect("a terminal gets the whole URL, and no QR code of this machine's own address",
           f"http://127.0.0.1:{shown.port}/?token={TOKEN.read_text().strip()}" in shown.text and "\u2580" not in shown.text, shown.text)
    shown = on_terminal(board, "--address", "0.0.0.0")
    lines = [line for line in shown.text.splitlines() if "\u2580" in line or "\u2588" in line]
    expect("a QR code where others can reach it", len(lines) >= 15 and len({len(line) for line in lines}) == 1, len(lines))
    expect("with a quiet zone", lines and lines[0] == lines[1] and lines[0].count("\u2588") > 30, lines[:1])
    expect("--qr asks for it", "\u2580" in on_terminal(board, "--qr").text)
    narrow = on_terminal(board, "--qr", columns=30)
    expect("and says where there is no room", "\u2580" not in narrow.text and "columns" in narrow.text, narrow.text)


class Shown:
    def __init__(self, text):
        self.text = text
        self.port = urllib.parse.urlsplit(text.split("\r\n")[0]).port


def on_terminal(board, *options, columns=100):
    """What a terminal shows in the first second."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([COMMAND, "map", "--board", str(board), "--port", "0", *options],
                               stdout=child, stderr=child, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
    os.close(child)
    text = b""
    until = time.monotonic() + 20
    # It says all of it at once.
    while time.monotonic() < until and select.select([parent], [], [], 0.7 if text else 20)[0]:
        text += os.read(parent, 65536)
    process.send_signal(signal.SIGINT)
    process.wait(10)
    os.close(parent)
    return Shown(text.decode())


def manners(folder, board):
    """What needs no browser."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    for what, options, code, word in [
        ("a port that is in use", ["--port", str(taken.getsockname()[1])], 74, "is in use"),
        # An address of the documentation's: no machine has it.
        ("an address of another machine", ["--port", "0", "--address", "203.0.113.1"], 64, "not an address of this machine"),
        ("a port that is none", ["--port", "65536"], 64, "--port"),
        ("an address that is none", ["--address", "board.example"], 64, "--address"),
        ("a file without a token", ["--port", "0", "--token-file", "/dev/null"], 65, "--new-token"),
        ("a token in a folder that is not there", ["--port", "0", "--token-file", f"{STATE.name}/slip/token"], 74, "slip"),
        ("a folder for a token", ["--port", "0", "--token-file", STATE.name], 74, "--token-file"),
    ]:
        result = subprocess.run([COMMAND, "map", "--board", str(board), *options], capture_output=True, text=True, timeout=20, env=ENVIRONMENT)
        lines = result.stderr.strip().splitlines()
        expect(what, result.returncode == code and word in lines[0] and (code == 64 or len(lines) == 1) and not result.stdout, result.stderr)
    taken.close()

    tokens(folder, board)
    server = Server(board, "--port", "0")
    query = f"?token={server.token}"
    response, body = get(server.port, "/" + query)
    policy = response.headers["Content-Security-Policy"]
    expect("the page's headers", response.status == 200 and "default-src 'none'" in policy and "unsafe" not in policy
           and response.headers["Cache-Control"] == "no-store" and response.headers["X-Content-Type-Options"] == "nosniff"
           and response.headers["Referrer-Policy"] == "no-referrer", str(response.headers))
    expect("no handler stands in the page", not re.search(rb"\son[a-z]+=|javascript:|<style|style=", body))
    for what, path, headers, status in [
        ("a foreign name for this machine", "/", {"Host": "board.example"}, 403),
        ("this machine's name", "/main.js", {"Host": "localhost:1"}, 200),
        ("a tile that is not there", "/tiles/3/4/2", {}, 404),
        ("a way out of the page's files", "/../../etc/passwd", {}, 404),
    ]:
        response, _ = get(server.port, path + query, **headers)
        expect(what, response.status == status, response.status)
    connection, answer = knock(server.port, server.token, origin="http://board.example")
    expect("a WebSocket of another page", " 403 " in answer, answer)
    connection.close()
    open_ones = [knock(server.port, server.token)[0] for _ in range(16)]
    # From one address there are no more connections than that.
    late, _ = knock(server.port, server.token, source="127.0.0.2")
    kind, payload = frame(late)
    expect("one page too many", kind == 8 and payload[:2] == struct.pack("!H", 1013) and b"16 pages" in payload, str(payload))
    first = json.loads(frame(open_ones[0])[1])
    expect("a snapshot comes first", first["kind"] == "board" and first["name"] == "Simulated board", str(first))
    code, took = server.end(signal.SIGINT)
    expect("Ctrl-C while 16 pages are open", code == 0 and took < 2, f"{code} in {took:.1f} s")
    for connection in [late, *open_ones]:
        connection.close()


def first_fix(browser, server):
    browser.resize(*SIZES["desktop"], False)
    browser.call("Page.navigate", url=server.url)
    expect("connected", browser.wait("document.body.dataset.connection === 'connected'", 5))
    browser.wait("!document.getElementById('notice').hidden", 3)
    notice = text(browser, "notice")
    expect("before the first fix the map says why", "No position" in notice and "\n" in notice, notice)
    hidden = browser.evaluate("getComputedStyle(document.getElementById('marker')).display")
    expect("and draws no position", hidden == "none" and "–" == text(browser, "position-place"), hidden)
    pictures(browser, "before-fix")
    expect("the first fix", browser.wait("document.getElementById('notice').hidden", 15))


def follows(browser):
    # A drag: from then on it is the marker that moves.
    for kind, x, y in [("mousePressed", 300, 300), ("mouseMoved", 340, 330), ("mouseReleased", 340, 330)]:
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    expect("a drag ends the following", browser.evaluate("document.getElementById('follow').ariaPressed === 'false'"))
    browser.listen(0.5)
    start = place_on_screen(browser)
    worst = {"place": 0.0, "heading": 0.0}
    headings = []
    way = turn = 0.0
    until = time.monotonic() + 15
    while time.monotonic() < until and not (way > 2 and turn > 20):
        browser.listen(0.4)
        seen = place_on_screen(browser)
        headings.append(seen["heading"])
        # The page may be a little behind what has come, or ahead of what was listened to.
        locations = [line for line in said(browser, "location") if "latitude" in line][-12:]
        all_headings = said(browser, "heading")[-40:]
        worst["place"] = max(worst["place"], min(
            metres(seen["place"], (line["latitude"], line["longitude"])) for line in locations))
        worst["heading"] = max(worst["heading"], min(
            abs(math.remainder(seen["heading"] - line["trueHeading"], 360)) for line in all_headings))
        way = metres(start["place"], seen["place"])
        turn = max(abs(math.remainder(a - headings[0], 360)) for a in headings)
    nearest = min(locations, key=lambda line: metres(seen["place"], (line["latitude"], line["longitude"])))
    expect("the drawn position is the one that was said, and moves", way > 2 and worst["place"] < 0.05,
           f"{way:.1f} m of way, at most {worst['place'] * 100:.1f} cm off")
    expect("the drawn heading is the one that was said, and turns", turn > 20 and worst["heading"] < 0.02,
           f"{turn:.0f} degrees, at most {worst['heading']:.3f} off")
    radius = nearest["horizontalAccuracy"] * seen["perMetre"]
    expect("the circle is to scale", abs(radius / seen["radius"] - 1) < 0.05, f"{seen['radius']} px for {radius:.2f}")
    halves = {round(line["headingAccuracy"], 3) for line in all_headings}
    expect("the cone is as wide as the error bar", round(float(seen["half"]), 3) in halves, seen["half"])
    browser.evaluate("document.getElementById('turn').click()")
    browser.listen(0.5)
    seen = place_on_screen(browser)
    expect("heading up", abs(math.remainder(seen["heading"] - float(seen["turned"]), 360)) < 0.02, str(seen))
    browser.evaluate("document.getElementById('turn').click(); document.getElementById('follow').click()")
    browser.listen(0.4)
    seen = place_on_screen(browser)
    expect("following again", abs(seen["x"]) < 0.02 and abs(seen["y"]) < 0.02, str(seen))


def unplugged(browser):
    row = "document.querySelector('#sensors [data-chip=BMP280]')"
    reason = browser.wait(f"{row}.dataset.state === 'failed' && {row}.innerText", 20)
    expect("an unplugged chip, with its reason", bool(reason) and len(reason.split("\n")) > 1 and "BMP280" in reason, reason)
    altitude = browser.wait("(!document.getElementById('altitude-reason').hidden) && document.getElementById('altitude-reason').innerText", 5)
    expect("no altitude, and why", bool(altitude) and text(browser, "altitude-relative") == "–", altitude)
    pictures(browser, "unplugged")
    expect("it comes back", browser.wait(f"{row}.dataset.state === 'running' && document.getElementById('altitude-reason').hidden", 20))


def in_vain(browser):
    """The WebSockets that nobody has answered."""
    opened = {event["requestId"] for event in browser.of("Network.webSocketHandshakeResponseReceived")}
    return {event["requestId"] for event in browser.of("Network.webSocketCreated")} - opened


def lost(browser, server, board):
    before = text(browser, "position-place")
    server.process.kill()
    server.process.wait(10)
    words = browser.wait("document.body.dataset.connection === 'lost' && document.getElementById('connection-words').innerText", 6)
    expect("the loss of the connection is said", bool(words) and "connection lost" in words, words)
    aged = browser.wait("!document.querySelector('#position-card .age').hidden && document.querySelector('#position-card').innerText", 5)
    stale = browser.evaluate("document.getElementById('overlay').dataset.stale")
    hidden = browser.evaluate("getComputedStyle(document.getElementById('cone')).display")
    expect("what is shown is marked as old", bool(aged) and "old" in aged and stale == "true" and hidden == "none", aged)
    counted = browser.wait("/trying again in [1-5] s/.test(document.getElementById('connection-words').innerText)", 6)
    expect("and when it is tried again", counted)
    deadline = time.monotonic() + 6
    while not in_vain(browser) and time.monotonic() < deadline:
        browser.listen(0.1)
    expect("it is tried in vain", in_vain(browser))
    pictures(browser, "disconnected")
    again = Server(board, "--port", str(server.port))
    expect("the same port again", again.port == server.port, again.url)
    expect("everything comes back by itself", browser.wait(
        "document.body.dataset.connection === 'connected' && document.querySelector('#position-card .age').hidden"
        " && document.getElementById('overlay').dataset.stale === 'false'", 8), before)
    return again


def clean(browser, ports):
    """Nothing from elsewhere, nothing wrong."""
    elsewhere = [event["request"]["url"] for event in browser.of("Network.requestWillBeSent")
                 if urllib.parse.urlsplit(event["request"]["url"]).netloc not in {f"127.0.0.1:{port}" for port in ports}]
    count = len(browser.of("Network.requestWillBeSent"))
    expect("no request to anywhere else", count > 15 and not elsewhere, f"{count} requests" if not elsewhere else str(elsewhere))
    entries = [event["entry"]["text"] for event in browser.of("Log.entryAdded") if event["entry"]["level"] == "error"]
    refused = [entry for entry in entries if "WebSocket connection to" in entry and "ERR_CONNECTION_REFUSED" in entry]
    tries = in_vain(browser)
    expect("the refused connections, and no others, are in the log", len(refused) == len(tries) > 0,
           f"{len(refused)} refused, {len(tries)} tried in vain")
    others = [entry for entry in entries if entry not in refused]
    others += [str(event) for event in browser.of("Runtime.exceptionThrown")]
    others += [str(event) for event in browser.of("Runtime.consoleAPICalled") if event["type"] in ("error", "assert")]
    expect("no error, no exception", not others, str(others))


def with_token(browser, board):
    server = Server(board, "--port", "0", "--address", "0.0.0.0")
    token = server.token
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    answers = [get(server.port, path + query)[0].status
               for path in ("/", "/main.js", "/tiles/1/0/0", "/live") for query in ("", f"?token={wrong}", "?token=")]
    connection, answer = knock(server.port)
    connection.close()
    expect("403 without it, and with another one", set(answers) == {403} and " 403 " in answer, f"{answers} {answer}")
    browser.call("Page.navigate", url=f"http://127.0.0.1:{server.port}/?token={token}")
    expect("the page works with it", browser.wait(
        "document.body.dataset.connection === 'connected' && document.getElementById('board').innerText === 'Simulated board'", 8))
    code, took = server.end(signal.SIGTERM)
    expect("SIGTERM while the page is open", code == 0 and took < 2, f"{code} in {took:.1f} s")
    return server.port


def main():
    if not chromium.path():
        print("map page: skipped: no chromium (Debian's package of that name)")
        return
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    simulated = (ROOT / "Boards/simulated.yaml").read_text()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        fixed = folder / "fixed.yaml"
        fixed.write_text(simulated.replace("fix: false", "fix: true"))
        # No fix on the first two legs, eight seconds; none is lost later.
        waiting = folder / "waiting.yaml"
        head, tail = simulated.split("speed: 1.4, fix: true", 1)
        waiting.write_text(head + "speed: 1.4, fix: true" + tail.replace("fix: false", "fix: true")
                           + "\n  faults:\n    - {chip: BMP280, fault: unplugged, from: 20, seconds: 5}\n")
        manners(folder, fixed)
        browser = chromium.Browser()
        servers = []
        try:
            servers.append(Server(waiting, "--port", "0"))
            first_fix(browser, servers[0])
            follows(browser)
            pictures(browser, "live")
            browser.resize(360, 640, 2, False)
            width = browser.evaluate("document.documentElement.scrollWidth")
            expect("360 pixels are wide enough", width == 360, width)
            zoom = browser.evaluate("document.getElementById('map').dataset.zoom")
            browser.call("Input.dispatchKeyEvent", type="keyDown", key="+", text="+")
            expect("the plus key zooms", browser.wait(f"document.getElementById('map').dataset.zoom > {zoom}", 2), zoom)
            browser.resize(*SIZES["desktop"], False)
            unplugged(browser)
            servers.append(lost(browser, servers[0], fixed))
            ports = [servers[0].port, with_token(browser, fixed)]
            clean(browser, ports)
        finally:
            browser.close()
            for server in servers:
                if server.process.poll() is None:
                    server.end(signal.SIGTERM)
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"map page: {'FAILED' if failures else 'passed'} in {time.monotonic() - start:.0f} s")
    sys.exit(1 if failures else 0)


main()
