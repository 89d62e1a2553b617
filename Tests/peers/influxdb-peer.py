#!/usr/bin/env python3
"""Points at a server that answers as InfluxDB 2 does, and as datagrams; the lines are read by the rules of the line protocol.

usage: influxdb-peer.py LODESTONE

Where `influxd` of InfluxDB 1 is installed, it gets the datagrams, and where `openssl` is, the points go over TLS as well.

With INFLUXDB_URL, INFLUXDB_TOKEN, INFLUXDB_ORG and INFLUXDB_BUCKET the points go to a database instead, which must then have them.
"""
import csv
import http.server
import io
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import peer_daemon
from checks import expect, finish

# docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol: no value here has an escaped separator in it but in strings.
LINE = re.compile(
    r'^(?P<name>[a-z_]+)(?P<tags>(,[a-z_]+=([^ ,=\\]|\\.)+)*) '
    r'(?P<fields>[a-z_]+=(-?\d+(\.\d+)?|-?\d+i|true|false|"([^"\\]|\\.)*")'
    r'(,[a-z_]+=(-?\d+(\.\d+)?|-?\d+i|true|false|"([^"\\]|\\.)*"))*)( (?P<time>\d{19}))?$')


class Database(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    status = 204
    requests = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.requests.append((time.monotonic(), self.path, self.headers, body, self.status))
        self.send_response(self.status)
        if self.status != 204:
            text = b'{"code":"internal error","message":"try later"}'
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.status != 204:
            self.wfile.write(text)

    def log_message(self, *arguments):
        pass


def check(lines, what):
    wrong = [line for line in lines if not LINE.match(line)]
    expect(f"{what}: every line is one of the protocol", lines and not wrong, wrong[:3], f"{len(lines)} lines")
    names = {LINE.match(line)["name"] for line in lines if LINE.match(line)}
    return names


def local():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Database)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(30)
    token = peer_daemon.FOLDER / "token"
    token.write_text("se-cret==\n")
    token.chmod(0o600)
    peer_daemon.serve(
        f"{{protocol: influxdb, server: 'http://127.0.0.1:{server.server_port}', organization: home, bucket: a boat, "
        f"tokenFile: {token}, interval: 0.5, positions: exact, board: boat}}",
        f"{{protocol: influxdb, transport: udp, address: 127.0.0.1, port: {receiver.getsockname()[1]}, interval: 0.5}}")
    expect("the database gets points", peer_daemon.wait_for(lambda: len(Database.requests) > 10, 60))
    _, target, headers, _, _ = Database.requests[0]
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query)
    expect(
        "at the address of version 2", target.startswith("/api/v2/write?")
        and query == {"org": ["home"], "bucket": ["a boat"], "precision": ["ns"]}, target)
    expect("with the token", headers["Authorization"] == "Token se-cret==", dict(headers))
    lines = [line for entry in Database.requests for line in entry[3].splitlines()]
    names = check(lines, "HTTP")
    expect("of position, atmosphere and sensors", {"position", "atmosphere", "sensor"} <= names, names)
    Database.status = 503
    before = len(Database.requests)
    peer_daemon.wait_for(lambda: len(Database.requests) > before + 2, 40)
    refused = [entry for entry in Database.requests if entry[4] == 503]
    pauses = [later[0] - sooner[0] for sooner, later in zip(refused, refused[1:])]
    expect("a request that fails is repeated, with growing pauses", len(pauses) >= 2 and pauses[1] > pauses[0] > 1.5, pauses)
    status = peer_daemon.status()
    expect("the status says why, and not the token", "503" in status and "se-cret" not in status, status)
    Database.status = 204
    count = len(Database.requests)
    expect("and goes on when the database is back", peer_daemon.wait_for(
        lambda: any(entry[4] == 204 for entry in Database.requests[count:]), 60))
    datagrams = [receiver.recv(65_536).decode() for _ in range(12)]
    names = check([line for datagram in datagrams for line in datagram.splitlines()], "UDP")
    expect("without positions there is no position", "position" not in names and "latitude" not in "".join(datagrams), names)
    expect("datagrams are short", max(len(datagram) for datagram in datagrams) <= 1_400)


INFLUXD = """
reporting-disabled = true
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
[http]
  bind-address = "127.0.0.1:{http}"
[[udp]]
  enabled = true
  bind-address = "127.0.0.1:{udp}"
  database = "boat"
  batch-timeout = "1s"
"""


def version_one():
    program = shutil.which("influxd")
    if not program:
        print("skipped: influxd is not installed")
        return
    folder = peer_daemon.FOLDER / "influxd"
    folder.mkdir()
    http_port, udp_port = peer_daemon.free_port(), peer_daemon.free_port(socket.SOCK_DGRAM)
    (folder / "influxdb.conf").write_text(INFLUXD.format(folder=folder, http=http_port, udp=udp_port).replace(
        "[meta]", f'bind-address = "127.0.0.1:{peer_daemon.free_port()}"\n[meta]', 1))
    process = subprocess.Popen(
        [program, "-config", str(folder / "influxdb.conf")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    daemon = peer_daemon.serve(
        f"{{protocol: influxdb, transport: udp, address: 127.0.0.1, port: {udp_port}, interval: 0.5, positions: exact, board: boat}}")

    def measurements():
        try:
            address = f"http://127.0.0.1:{http_port}/query?" + urllib.parse.urlencode(
                {"db": "boat", "q": "SELECT last(latitude), count(latitude) FROM position WHERE board = 'boat'"})
            with urllib.request.urlopen(address, timeout=10) as answer:
                series = json.load(answer)["results"][0].get("series")
            return series[0]["values"][0] if series else None
        except OSError:
            return None

    try:
        found = peer_daemon.wait_for(measurements, 60)
        expect("InfluxDB 1 has the position from datagrams", found and abs(found[1]) <= 90, found, found)
    finally:
        daemon.terminate()
        daemon.wait(15)
        # It takes its time to end, and nobody needs what it has.
        process.kill()
        process.wait(20)


def encrypted():
    if not shutil.which("openssl"):
        print("skipped: openssl is not installed")
        return
    folder = peer_daemon.FOLDER
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key", "-out", folder / "certificate",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Database)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate", folder / "key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Database.status = 204
    Database.requests.clear()
    os.environ["SSL_CERT_FILE"] = str(folder / "certificate")
    entry = f"bucket: b, tokenFile: {folder / 'token'}, interval: 0.5}}"
    daemon = peer_daemon.serve(f"{{protocol: influxdb, server: 'https://localhost:{server.server_port}', {entry}")
    expect("points go over TLS", peer_daemon.wait_for(lambda: len(Database.requests) > 3, 30), peer_daemon.status())
    daemon.terminate()
    daemon.wait(15)
    Database.requests.clear()
    daemon = peer_daemon.serve(f"{{protocol: influxdb, server: 'https://127.0.0.1:{server.server_port}', {entry}")
    said = peer_daemon.wait_for(lambda: "certificate" in peer_daemon.status().lower() or "address" in peer_daemon.status(), 20)
    expect("a server of another name gets nothing, and that is said", said and not Database.requests, peer_daemon.status())
    daemon.terminate()
    daemon.wait(15)


def real(url):
    token = peer_daemon.FOLDER / "token"
    token.write_text(os.environ["INFLUXDB_TOKEN"] + "\n")
    token.chmod(0o600)
    board = f"peer{os.getpid()}"
    peer_daemon.serve(
        f"{{protocol: influxdb, server: '{url}', organization: {os.environ['INFLUXDB_ORG']}, "
        f"bucket: {os.environ['INFLUXDB_BUCKET']}, tokenFile: {token}, interval: 1, positions: exact, board: {board}}}")
    query = (
        f'from(bucket: "{os.environ["INFLUXDB_BUCKET"]}") |> range(start: -5m) '
        f'|> filter(fn: (r) => r.board == "{board}")')

    def found():
        request = urllib.request.Request(
            f"{url}/api/v2/query?org={urllib.parse.quote(os.environ['INFLUXDB_ORG'])}", data=query.encode(),
            headers={"Authorization": f"Token {os.environ['INFLUXDB_TOKEN']}", "Content-Type": "application/vnd.flux"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
        return {row.get("_measurement") for row in rows} >= {"position", "sensor"}

    expect("the database has the points", peer_daemon.wait_for(found, 60), peer_daemon.status())


try:
    if "INFLUXDB_URL" in os.environ:
        real(os.environ["INFLUXDB_URL"])
    else:
        local()
        peer_daemon.end()
        version_one()
        encrypted()
finally:
    peer_daemon.end()
finish("influxdb-peer")
