#!/usr/bin/env python3
"""`protocol: signalk` of `lodestone serve` against peers that others have written: signalk-peer.py LODESTONE [SCHEMAS]

    python3 -m venv /tmp/signalk && /tmp/signalk/bin/pip install websockets==15.0.1 jsonschema==4.26.0
    git clone https://github.com/SignalK/specification    # read at adf1f204 (1.8.2); its folder `schemas` is the argument
    /tmp/signalk/bin/python Tests/peers/signalk-peer.py LODESTONE specification/schemas

A simulated board is served over TCP, as datagrams, and to a server whose stream is the one of the package `websockets`. That server
answers as signalk-server does (src/interfaces/rest.js, src/serverroutes.ts): it lists its endpoints, has a person approve the board,
takes deltas with the token only, is restarted, forgets the token, denies, knows no such password, and has a certificate of another
name. Each message is held against Signal K's schemas if there are any. What a person reads of each failure is looked for in
`lodestone serve --status`. Takes about a minute of real time."""
import http.server
import json
import os
import pathlib
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import COMMAND, environment, expect, finish  # noqa: E402

import websockets.exceptions  # noqa: E402
import websockets.sync.server  # noqa: E402

SCHEMAS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
TOKEN, LOGIN_TOKEN = "eyJhbGciOiJIUzI1NiIs.BAP8bt3tNBT1WiIttm3qM", "eyJhbGciOiJIUzI1NiIs.login"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def until(holds, seconds=20):
    """Whether something comes to hold within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


def validators():
    """The schemas of hello and delta, or `None` without their folder."""
    if SCHEMAS is None:
        print("        no folder of schemas: messages are only read", flush=True)
        return None
    import jsonschema
    documents = {p.relative_to(SCHEMAS).as_posix(): json.loads(p.read_text()) for p in SCHEMAS.rglob("*.json")}

    def plain(node):
        if isinstance(node, dict):
            return {k: plain(v) for k, v in node.items() if k != "id" or not isinstance(v, str)}
        return [plain(v) for v in node] if isinstance(node, list) else node

    documents = {name: plain(document) for name, document in documents.items()}
    store = {}
    for name, document in documents.items():
        document["id"] = "https://signalk.test/schemas/" + name
        store[document["id"]] = document

    def validator(name):
        resolver = jsonschema.RefResolver(documents[name]["id"], documents[name], store=store)
        return jsonschema.Draft4Validator(documents[name], resolver=resolver, format_checker=jsonschema.FormatChecker())

    return {"hello": validator("hello.json"), "delta": validator("delta.json")}


CHECKS = validators()


invalid, validated = [], 0


def sound(message):
    """Reads a message, held against its schema."""
    global validated
    read = json.loads(message)
    if CHECKS:
        validated += 1
        invalid.extend(error.message for error in CHECKS["hello" if "roles" in read else "delta"].iter_errors(read))
    return read


def values(messages):
    return [(v["path"], v["value"]) for m in messages for u in m.get("updates", []) for v in u.get("values", [])]


class Server:
    """A Signal K server: HTTP at one port, the stream at another."""

    def __init__(self, ports=None, secure=None):
        self.requests, self.heard, self.tokens, self.connections, self.ends = [], [], [], [], []
        self.security, self.answer, self.known, self.password = True, "PENDING", {TOKEN, LOGIN_TOKEN}, "mast:right"
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def reply(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json; charset=utf-8")
                # As Node does for what it has not measured.
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data))
                self.close_connection = True

            def do_GET(self):
                server.requests.append(("GET", self.path))
                if self.path == "/signalk":
                    stream = f"ws://{self.headers['Host'].split(':')[0]}:{server.ports[1]}/signalk/v1/stream"
                    self.reply(200, {"endpoints": {"v1": {"version": "2.13.0", "signalk-ws": stream}},
                                     "server": {"id": "peer", "version": "1"}})
                elif self.path == "/signalk/v1/requests/7":
                    if server.answer == "PENDING":
                        self.reply(200, {"state": "PENDING", "requestId": "7", "href": self.path})
                    else:
                        access = {"permission": server.answer}
                        if server.answer == "APPROVED":
                            access["token"] = TOKEN
                        self.reply(200, {"state": "COMPLETED", "statusCode": 200, "accessRequest": access})
                else:
                    self.reply(404, {})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append(("POST", self.path, body))
                if self.path == "/signalk/v1/access/requests":
                    self.reply(202, {"state": "PENDING", "requestId": "7", "href": "/signalk/v1/requests/7"})
                elif self.path == "/signalk/v1/auth/login":
                    if f"{body['username']}:{body['password']}" == server.password:
                        self.reply(200, {"token": LOGIN_TOKEN, "timeToLive": 86400})
                    else:
                        self.reply(401, {"message": "Invalid Username/Password"})
                else:
                    self.reply(404, {})

            def log_message(self, *arguments):
                pass

        class Pages(http.server.ThreadingHTTPServer):
            allow_reuse_address = True

            def handle_error(self, request, address):
                pass

        self.pages = Pages(("127.0.0.1", ports[0] if ports else 0), Handler)
        if secure:
            self.pages.socket = secure.wrap_socket(self.pages.socket, server_side=True, do_handshake_on_connect=False)

        def authorize(connection, request):
            header = request.headers.get("Authorization", "")
            server.tokens.append(header)
            if server.security and header.removeprefix("Bearer ") not in server.known:
                return connection.respond(401, "Unauthorized\n")

        def talk(connection):
            server.connections.append(connection)
            connection.send(json.dumps({"name": "peer", "version": "2.13.0", "roles": ["master"], "self": "vessels.self"}))
            try:
                for message in connection:
                    server.heard.append(message)
            except websockets.exceptions.ConnectionClosed as error:
                server.ends.append(error)

        self.stream = websockets.sync.server.serve(
            talk, "127.0.0.1", ports[1] if ports else 0, process_request=authorize, close_timeout=1)
        self.ports = (self.pages.server_address[1], self.stream.socket.getsockname()[1])
        for serve in (self.pages.serve_forever, self.stream.serve_forever):
            threading.Thread(target=serve, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.ports[0]}"

    def stop(self):
        self.pages.shutdown()
        self.pages.server_close()
        self.stream.shutdown()
        for connection in self.connections:
            connection.close()

    def asked(self, *start):
        return [r for r in self.requests if r[:len(start)] == start]


class Daemon:
    """`lodestone serve` with outputs, on a simulated board."""

    def __init__(self, outputs, **more):
        self.socket = str(folder / "daemon.sock")
        text = f"schema: 1\nboard: simulated\nsocket: {self.socket}\nstream: none\noutputs:\n"
        (folder / "serve.yaml").write_text(text + "".join(f"  - {output}\n" for output in outputs))
        self.environment = environment(STATE_DIRECTORY=str(folder / "state"), **more)
        self.log = open(folder / "serve.log", "ab")
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--configuration", str(folder / "serve.yaml")], stdout=self.log, stderr=self.log,
            env=self.environment)

    def outputs(self):
        result = subprocess.run([COMMAND, "serve", "--status", "--format", "json", "--socket", self.socket],
                                capture_output=True, text=True, env=self.environment, timeout=20)
        return json.loads(result.stdout).get("outputs", []) if result.returncode in (0, 1) and result.stdout else []

    def problem(self, words):
        return until(lambda: any(words in (o.get("problem") or "") for o in self.outputs()), 30)

    def shown(self):
        return [o.get("problem") for o in self.outputs()]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()
        return self.process.returncode


def listen_to_port():
    port, target = free_port(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    target.bind(("127.0.0.1", 0))
    target.settimeout(10)
    daemon = Daemon([f"{{protocol: signalk, port: {port}, positions: exact}}",
                     f"{{protocol: signalk, transport: udp, address: 127.0.0.1, port: {target.getsockname()[1]}, positions: exact}}"])
    connection = None

    def connect():
        nonlocal connection
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            return True
        except OSError:
            return False

    expect("the port of Signal K is open", until(connect))
    lines = connection.makefile("rb")
    expect("it greets", "roles" in sound(lines.readline()))
    rule = {"path": "navigation.*", "period": 500, "policy": "ideal", "minPeriod": 200}
    connection.sendall(json.dumps({"context": "vessels.self", "subscribe": [rule]}).encode() + b"\r\n")
    told, end = [], time.monotonic() + 20
    wanted = {"navigation.position", "navigation.headingMagnetic"}
    while time.monotonic() < end and not wanted <= {path for path, value in values(told) if value is not None}:
        line = lines.readline()
        expect_line(line)
        told.append(sound(line))
    paths = {path for path, _ in values(told)}
    expect("a subscriber gets positions and headings", wanted <= paths, paths, len(told))
    expect("and nothing else", all(p.startswith("navigation.") for p in paths), paths)
    connection.close()
    datagrams = [target.recv(65_536) for _ in range(40)]
    read = [sound(datagram) for datagram in datagrams]
    expect("each datagram is a delta of at most 1,402 bytes", all(len(d) <= 1_402 and d.endswith(b"\r\n") for d in datagrams))
    expect("datagrams tell values", len(values(read)) > 0, read[:2], len(values(read)))
    expect("the daemon ends", daemon.stop() == 0)


def expect_line(line):
    if not line.endswith(b"\r\n"):
        expect("a line ends with CR LF", False, line)


def be_an_input():
    server = Server()
    output = f"{{protocol: signalk, server: '{server.url}', label: mast, positions: exact}}"
    daemon = Daemon([output])
    expect("it asks for access", until(lambda: server.asked("POST", "/signalk/v1/access/requests")))
    body = server.asked("POST")[0][2]
    expect("it says who asks", body["description"] == "mast" and len(body["clientId"]) == 36, body)
    expect("a person reads what to do", daemon.problem("approve 'mast'"), daemon.shown())
    expect("nothing is sent before", not server.heard)
    server.answer = "APPROVED"
    expect("deltas come", until(lambda: any("navigation.position" in m for m in server.heard)), daemon.shown())
    read = [sound(message) for message in list(server.heard)]
    expect("each is one of Signal K's", len(read) > 0 and any("meta" in u for m in read for u in m["updates"]), shown=len(read))
    expect("with the token in the handshake, and in no delta",
           server.tokens[-1] == f"Bearer {TOKEN}" and not any(TOKEN in m for m in server.heard), server.tokens)
    expect("all is well", until(lambda: all(o.get("problem") is None for o in daemon.outputs())), daemon.shown())
    kept = list((folder / "state" / "signalk").iterdir())
    expect("the token is kept for its owner only",
           len(kept) == 1 and stat.S_IMODE(kept[0].stat().st_mode) == 0o600 and TOKEN in kept[0].read_text(), kept)

    server.stop()
    expect("its close is answered", not server.ends, server.ends)
    expect("a server that is away is said", daemon.problem("connection refused"), daemon.shown())
    again = Server(server.ports)
    expect("behind its restart deltas come again, without a new request",
           until(lambda: again.heard, 40) and not again.asked("POST"), again.requests)
    expect("and meta data", until(lambda: any('"meta"' in m for m in again.heard)))
    expect("the daemon ends", daemon.stop() == 0)

    again.known, again.answer = {LOGIN_TOKEN}, "DENIED"
    daemon = Daemon([output])
    expect("a token that is not accepted is said", daemon.problem("not accept the token any more (401)"), daemon.shown())
    expect("access is asked for again", until(lambda: again.asked("POST", "/signalk/v1/access/requests"), 30))
    expect("with the same identifier", again.asked("POST")[0][2]["clientId"] == body["clientId"])
    expect("a denial is said", daemon.problem("denied"), daemon.shown())
    expect("the token is forgotten", TOKEN not in kept[0].read_text())
    expect("the daemon ends", daemon.stop() == 0)

    password = folder / "password"
    password.write_text("mast:wrong\n")
    password.chmod(0o600)
    daemon = Daemon([output.replace("label: mast", f"label: mast, credentials: {password}")])
    expect("a wrong password is said", daemon.problem("does not accept the name and password"), daemon.shown())
    expect("and not told", "wrong" not in json.dumps(daemon.outputs()))
    again.heard.clear()
    password.write_text("mast:right\n")
    expect("the right one is used without a restart", until(lambda: again.heard, 90), daemon.shown())
    password.chmod(0o644)
    expect("the daemon ends", daemon.stop() == 0)
    again.stop()


def be_deceived():
    """A server whose certificate is good, but for another name."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=other.test", "-addext",
                    "subjectAltName=DNS:other.test", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = Server(secure=context)
    daemon = Daemon([f"{{protocol: signalk, server: 'https://127.0.0.1:{server.ports[0]}'}}"], SSL_CERT_FILE=str(certificate))
    expect("a certificate of another name is said", daemon.problem("certificate is not accepted"), daemon.shown(), daemon.shown())
    expect("and nothing is asked over it", not server.requests, server.requests)
    expect("the daemon ends", daemon.stop() == 0)
    server.stop()


began = time.monotonic()
os.environ.pop("SSL_CERT_FILE", None)
listen_to_port()
be_an_input()
be_deceived()
if CHECKS:
    expect("every message is valid by Signal K's schemas", validated and not invalid, invalid[:3], validated)
finish("signalk-peer", time.monotonic() - began)
