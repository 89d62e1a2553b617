"""What `lodestone map` does without a browser: its arguments and its token, a terminal, requests and WebSockets.

Not a check by itself: map-page.py uses it."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import time
import urllib.parse

from checks import COMMAND
from live_map import ENVIRONMENT, STATE, TOKEN, Server, expect, frame, get, knock


def refused(board, *options):
    """The result of a command that has to end by itself."""
    return subprocess.run(
        [COMMAND, "map", "--board", str(board), *options], capture_output=True, text=True, timeout=20, env=ENVIRONMENT)


def tokens(folder, board):
    """Where the token is, and where it is not."""
    server = Server(board, "--port", "0")
    token = server.token
    expect("128 random bits", re.fullmatch("[0-9a-f]{32}", token), token)
    expect("that nobody else can read", TOKEN.stat().st_mode & 0o777 == 0o600, oct(TOKEN.stat().st_mode))
    arguments = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    expect("nor see in the list of processes", token.encode() not in arguments)
    statuses = [get(server, path)[0].status for path in ("/", "/main.js", "/live", f"/?token={token[:-1]}")]
    expect("without it this machine gets nothing either", set(statuses) == {403}, statuses)
    code, _ = server.end(signal.SIGTERM)
    rest = server.process.stdout.read() + server.process.stderr.read()
    expect("no journal has it", code == 0 and "token=" not in server.said and token not in rest and str(TOKEN) in rest, rest)
    again = Server(board, "--port", "0")
    expect("a bookmark outlives a restart", again.token == token and get(again, f"/?token={token}")[0].status == 200)
    again.end(signal.SIGTERM)
    new = Server(board, "--port", "0", "--new-token")
    expect("--new-token closes the old one out", new.token != token and get(new, f"/?token={token}")[0].status == 403
           and get(new, f"/?token={new.token}")[0].status == 200)
    new.end(signal.SIGTERM)

    given = folder / "token"
    given.write_text("correct-Horse_battery9\n")
    given.chmod(0o600)
    server = Server(board, "--port", "0", "--token-file", str(given))
    expect("--token-file", get(server, "/?token=correct-Horse_battery9")[0].status == 200
           and get(server, f"/?token={TOKEN.read_text().strip()}")[0].status == 403)
    server.end(signal.SIGTERM)
    made = folder / "new-token"
    server = Server(board, "--port", "0", "--token-file", str(made))
    expect("--token-file makes one", get(server, f"/?token={made.read_text().strip()}")[0].status == 200
           and made.stat().st_mode & 0o777 == 0o600)
    server.end(signal.SIGTERM)
    given.chmod(0o644)
    result = refused(board, "--port", "0", "--token-file", str(given))
    expect("a token that others can read is none", result.returncode == 74 and "chmod 600" in result.stderr and not result.stdout,
           result.stderr)

    shown = on_terminal(board)
    url = f"http://127.0.0.1:{shown.port}/?token={TOKEN.read_text().strip()}"
    expect("a terminal gets the whole URL, and no QR code of this machine's own address",
           url in shown.text and "\u2580" not in shown.text, shown.text)
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
    # All of the text comes at once.
    while time.monotonic() < until and select.select([parent], [], [], 0.7 if text else 20)[0]:
        text += os.read(parent, 65536)
    process.send_signal(signal.SIGINT)
    process.wait(10)
    os.close(parent)
    return Shown(text.decode())


def manners(folder, board):
    """Runs all checks of this file."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    for what, options, code, word in [
        ("a port that is in use", ["--port", str(taken.getsockname()[1])], 74, "is in use"),
        # An address for documentation: no machine has it.
        ("an address of another machine", ["--port", "0", "--address", "203.0.113.1"], 64, "not an address of this machine"),
        ("a port that is none", ["--port", "65536"], 64, "--port"),
        ("an address that is none", ["--address", "board.example"], 64, "--address"),
        ("a file without a token", ["--port", "0", "--token-file", "/dev/null"], 65, "--new-token"),
        ("a token in a folder that is not there", ["--port", "0", "--token-file", f"{STATE.name}/slip/token"], 74, "slip"),
        ("a folder for a token", ["--port", "0", "--token-file", STATE.name], 74, "--token-file"),
    ]:
        result = refused(board, *options)
        lines = result.stderr.strip().splitlines()
        expect(what, result.returncode == code and word in lines[0] and (code == 64 or len(lines) == 1) and not result.stdout,
               result.stderr)
    taken.close()

    tokens(folder, board)
    server = Server(board, "--port", "0")
    query = f"?token={server.token}"
    response, body = get(server, "/" + query)
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
        response, _ = get(server, path + query, **headers)
        expect(what, response.status == status, response.status)
    connection, answer = knock(server, server.token, origin="http://board.example")
    expect("a WebSocket of another page", " 403 " in answer, answer)
    connection.close()
    open_ones = [knock(server, server.token)[0] for _ in range(16)]
    # The server keeps no more connections from one address.
    late, _ = knock(server, server.token, source="127.0.0.2")
    kind, payload = frame(late)
    expect("one page too many", kind == 8 and payload[:2] == struct.pack("!H", 1013) and b"16 pages" in payload, str(payload))
    first = json.loads(frame(open_ones[0])[1])
    expect("a snapshot comes first", first["kind"] == "board" and first["name"] == "Simulated board", str(first))
    code, took = server.end(signal.SIGINT)
    expect("Ctrl-C while 16 pages are open", code == 0 and took < 2, f"{code} in {took:.1f} s")
    for connection in [late, *open_ones]:
        connection.close()
