#!/usr/bin/env python3
"""A board at a real broker: `lodestone serve` with an output of MQTT, Mosquitto as the broker, mosquitto_sub as Home Assistant.

    apt-get install mosquitto mosquitto-clients openssl     # tried with Mosquitto 2.0.11
    python3 Tests/peers/mqtt-peer.py LODESTONE

What is published and kept, restarts of the broker, refusals, TLS with a wrong name and an unknown authority, brokers that send
nonsense. Takes about two minutes. Exit code 1 if a check fails.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
BOARD = pathlib.Path(__file__).resolve().parents[2] / "Boards" / "simulated.yaml"
MOSQUITTO = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
folder = tempfile.TemporaryDirectory(prefix="mqtt-peer-")
path = pathlib.Path(folder.name)
failures = []
running = []


def expect(name, is_so, detail=""):
    print(f"{'ok  ' if is_so else 'FAIL'} {name}" + (f": {detail}" if detail and not is_so else ""), flush=True)
    if not is_so:
        failures.append(name)


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    """Mosquitto on a port of this machine, with users `board` and `home`."""

    def __init__(self, *lines, anonymous=False, users=True):
        self.port = free_port()
        number = len(running)
        text = [f"listener {self.port} 127.0.0.1", "persistence false", f"allow_anonymous {str(anonymous).lower()}", *lines]
        if users:
            passwords = path / f"passwords{number}"
            passwords.write_text("board:secret\nhome:secret\n")
            subprocess.run(["mosquitto_passwd", "-U", str(passwords)],
                           check=True, capture_output=True)
            passwords.chmod(0o644)
            text.append(f"password_file {passwords}")
        self.file = path / f"broker{number}.conf"
        self.file.write_text("\n".join(text) + "\n")
        path.chmod(0o755)
        self.start()

    def start(self):
        self.process = subprocess.Popen([MOSQUITTO, "-c", str(self.file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running.append(self.process)

        def answers():
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                return False
        expect("the broker runs", wait_for(answers, 5))

    def kill(self):
        self.process.kill()
        self.process.wait(5)


class Home:
    """mosquitto_sub: what comes, as (seconds, topic, retained, quality, payload)."""

    def __init__(self, port, *more):
        self.messages = []
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", "mosquitto_sub", "-V", "mqttv5", "-h", "127.0.0.1", "-p", str(port), "-u", "home", "-P", "secret", "-q", "1",
             "-t", "homeassistant/device/#", "-t", "lodestone/#", "-F", "%t|%r|%q|%p", *more],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        running.append(self.process)
        threading.Thread(target=self.read, daemon=True).start()
        time.sleep(0.5)

    def read(self):
        for line in self.process.stdout:
            parts = line.rstrip("\n").split("|", 3)
            if len(parts) == 4:
                self.messages.append((time.monotonic(), *parts))

    def of(self, end):
        return [message for message in list(self.messages) if message[1].endswith(end)]

    def texts(self, end):
        return [message[4] for message in self.of(end)]

    def end(self):
        self.process.kill()
        self.process.wait(5)


def publish(port, topic, text):
    subprocess.run(["mosquitto_pub", "-V", "mqttv5", "-h", "127.0.0.1", "-p", str(port), "-u", "home", "-P", "secret", "-t", topic,
                    "-m", text], check=True, timeout=10)


class Board:
    """`lodestone serve` on a simulated board."""

    def __init__(self, port, positions="exact", password="secret", **keys):
        number = len(running)
        self.socket = path / f"s{number}"
        credentials = path / f"credentials{number}"
        credentials.write_text(f"board:{password}\n")
        credentials.chmod(0o600)
        settings = {"protocol": "mqtt", "address": "127.0.0.1", "port": port, "name": "boat", "interval": 2, "positions": positions}
        if password:
            settings["credentials"] = str(credentials)
        settings.update(keys)
        file = path / f"serve{number}.yaml"
        entry = ", ".join(f"{key}: {json.dumps(value)}" for key, value in settings.items())
        file.write_text(f"schema: 1\nboard: {BOARD}\nstream: none\noutputs:\n  - {{{entry}}}\n")
        self.log = open(path / f"log{number}", "w+")
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--configuration", str(file), "--socket", str(self.socket)], stdout=self.log, stderr=subprocess.STDOUT,
            env={**os.environ, "STATE_DIRECTORY": str(path / "state")})
        running.append(self.process)

    def output(self):
        result = subprocess.run([COMMAND, "serve", "--status", "--format", "json", "--socket", str(self.socket)], capture_output=True,
                                text=True, timeout=20)
        try:
            return json.loads(result.stdout)["outputs"][0]
        except (ValueError, KeyError, IndexError):
            return {}

    def problem(self):
        return self.output().get("problem") or ""

    def says(self, words, seconds=20):
        return wait_for(lambda: words in self.problem(), seconds)

    def text(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


def publishing():
    broker = Broker()
    home = Home(broker.port)
    board = Board(broker.port)
    expect("the board is online", wait_for(lambda: "online" in home.texts("boat/availability")), board.problem() + board.text())
    expect("no problem is said", wait_for(lambda: board.output() and not board.problem()), board.problem())
    expect("it is described", wait_for(lambda: home.of("boat/config")))
    time.sleep(12)
    config = json.loads(home.texts("boat/config")[-1])
    entities = config["cmps"]
    expect("its entities", {"magnetic_heading", "true_heading", "position", "pressure", "chip_0"} <= entities.keys(), str(list(entities)))
    expect("what discovery needs", {"dev", "o", "availability_topic"} <= config.keys() and config["dev"]["ids"] == ["boat"])
    expect("each entity has a platform and an identifier",
           all({"p", "unique_id", "name"} <= entity.keys() for entity in entities.values()))
    expect("what is not repeated expires",
           all(entity.get("expire_after", 0) >= 10 for entity in entities.values() if entity["p"] != "device_tracker"))
    topics = {message[1] for message in home.messages}
    wanted = {entity.get(key) for entity in entities.values() for key in ("state_topic", "json_attributes_topic")} - {None}
    expect("every topic of an entity has values", wanted <= topics, str(wanted - topics))
    headings = [json.loads(text) for text in home.texts("boat/heading")]
    expect("headings are numbers or null", all({"magnetic", "true", "accuracy"} <= h.keys() for h in headings), str(headings[:2]))
    expect("a heading came", any(isinstance(h["magnetic"], (int, float)) for h in headings), str(headings[-2:]))
    seconds = home.messages[-1][0] - home.messages[0][0]
    # One for each time that it is lost or found, besides one a second.
    expect("headings come at most once a second", len(headings) <= seconds + 6, f"{len(headings)} in {seconds:.1f} s")
    positions = [json.loads(text) for text in home.texts("boat/position")]
    expect("a position with its accuracy", any(p.get("latitude") and p.get("gps_accuracy") for p in positions), str(positions[-2:]))
    expect("pressure", any(json.loads(t)["pressure"] for t in home.texts("boat/air")))
    expect("configuration and events have quality 1", all(m[3] == "1" for m in home.of("/config") + home.of("/availability")))
    expect("measurements have quality 0", all(m[3] == "0" for m in home.of("/heading") + home.of("/air")))

    late = Home(broker.port, "--retained-only")
    wait_for(lambda: len(late.messages) >= 2, 5)
    expect("the broker keeps description and availability, and no value",
           {(m[1], m[2]) for m in late.messages} == {("homeassistant/device/boat/config", "1"), ("lodestone/boat/availability", "1")},
           str([m[1] for m in late.messages]))
    late.end()
    count = len(home.of("/config"))
    publish(broker.port, "homeassistant/status", "online")
    expect("after Home Assistant's start the description comes again", wait_for(lambda: len(home.of("/config")) > count, 12))
    return broker, home, board


def restarting(broker, home, board):
    home.end()
    broker.kill()
    expect("a broker that is gone is said", board.says("connection refused: nobody listens there")
           or board.says("has ended it", 1), board.problem())
    time.sleep(3)
    broker.start()
    home = Home(broker.port)
    expect("after the broker's restart the board is back", wait_for(lambda: home.of("boat/config") and home.of("boat/heading"), 40),
           board.problem())
    expect("and online", wait_for(lambda: "online" in home.texts("boat/availability"), 5))
    board.end(signal.SIGKILL)
    expect("a killed board is offline by its last will", wait_for(lambda: home.texts("boat/availability")[-1] == "offline", 15))
    board = Board(broker.port)
    expect("a new one is online", wait_for(lambda: home.texts("boat/availability")[-1] == "online"), board.problem())
    began = time.monotonic()
    code = board.end()
    expect("a board that is stopped says so at once",
           wait_for(lambda: home.texts("boat/availability")[-1] == "offline", 3) and time.monotonic() - began < 4, f"exit {code}")
    home.end()
    broker.kill()


def withheld():
    broker = Broker()
    home = Home(broker.port)
    board = Board(broker.port, positions="none")
    expect("without positions: headings come", wait_for(lambda: any('"magnetic":' in t and '"magnetic":null' not in t
                                                                   for t in home.texts("boat/heading"))), board.problem())
    time.sleep(7)
    everything = " ".join(m[4] for m in home.messages if not m[1].endswith("/config"))
    everything += home.texts("boat/config")[-1]
    first = json.loads(home.texts("boat/config")[0])["cmps"]
    expect("an entity of an earlier configuration is removed", first.get("position") == {"p": "device_tracker"}, str(first))
    for secret in ("latitude", "device_tracker", "true_heading", '"true":', "sea_level_pressure\":1"):
        expect(f"without positions: no {secret}", secret not in everything)
    board.end()
    home.end()
    broker.kill()


def refusing():
    broker = Broker()
    wrong, none = Board(broker.port, password="hunter2"), Board(broker.port, password="", name="other")
    nobody = Board(free_port(), name="third")
    host = Board(1883, address="broker.invalid", name="fourth")
    expect("a wrong password", wrong.says("wrong user name or password"), wrong.problem())
    expect("the password stays secret", "hunter2" not in wrong.problem() + wrong.text())
    expect("no password", none.says("wants a user name and a password"), none.problem())
    expect("nobody listens", nobody.says("connection refused: nobody listens there"), nobody.problem())
    expect("no such host", host.says("there is no host of this name", 30), host.problem())
    for each in (wrong, none, nobody, host):
        expect("ends", each.end() == 0)
    two = [Board(broker.port), Board(broker.port)]
    expect("two boards of one name",
           wait_for(lambda: any("does another client call itself 'lodestone-boat'" in b.problem() for b in two), 40),
           str([b.problem() for b in two]))
    for each in two:
        each.end()
    broker.kill()
    rules = path / "acl"
    rules.write_text("user board\ntopic write lodestone/#\nuser home\ntopic #\n")
    broker = Broker(f"acl_file {rules}")
    board = Board(broker.port)
    expect("a topic that the broker does not allow", board.says("the broker does not take homeassistant/device/boat/config"),
           board.problem())
    board.end()
    broker.kill()


def certificates():
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=path)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test")
    for name in ("localhost", "other.example"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (path / "extensions").write_text(f"subjectAltName=DNS:{name}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", "extensions", "-out", f"{name}.pem")
        (path / f"{name}.key").chmod(0o644)


def encrypted():
    certificates()
    authorities = str(path / "ca.pem")

    def broker(name):
        return Broker(f"certfile {path}/{name}.pem", f"keyfile {path}/{name}.key", f"cafile {authorities}")

    good, other = broker("localhost"), broker("other.example")
    home = Home(good.port, "--cafile", authorities, "-h", "localhost")
    board = Board(good.port, address="localhost", tls=True, caFile=authorities)
    expect("TLS: online", wait_for(lambda: "online" in home.texts("boat/availability")), board.problem())
    expect("TLS: values", wait_for(lambda: len(home.of("boat/heading")) > 3, 10))
    wrong = Board(other.port, address="localhost", tls=True, caFile=authorities, name="a")
    stranger = Board(good.port, address="localhost", tls=True, name="b")
    missing = Board(good.port, address="localhost", tls=True, caFile=str(path / "nowhere.pem"), name="c")
    plain = Board(good.port, address="localhost", name="d")
    expect("TLS with a wrong name", wrong.says("its certificate is not accepted: hostname mismatch: it is for other.example: the address"),
           wrong.problem())
    expect("TLS of an unknown authority", stranger.says("its certificate is not accepted: ")
           or stranger.says("install ca-certificates", 1), stranger.problem())
    expect("TLS without its file of authorities", missing.says("nowhere.pem: No such file"), missing.problem())
    expect("no TLS where the broker wants it", plain.says("does it want 'tls: true'?"), plain.problem())
    for each in (board, wrong, stranger, missing, plain):
        each.end()
    unencrypted = Broker()
    board = Board(unencrypted.port, address="localhost", tls=True, caFile=authorities)
    expect("TLS where the broker has none", board.says("before encryption was agreed upon"), board.problem())
    board.end()
    home.end()


class Liar:
    """A broker that sends what it likes."""

    def __init__(self, answer):
        self.answer = answer
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            connection.recv(4096)
            for piece in self.answer():
                connection.sendall(piece)
            while connection.recv(65536):
                pass
        except OSError:
            pass


def lying():
    accepted = bytes([0x20, 3, 0, 0, 0])
    message = struct.pack(">BBBH", 0x30, 0xF7, 0x07, 20) + b"homeassistant/status" + b"\0" + b"x" * 992
    brokers = {
        "nonsense": (Liar(lambda: [os.urandom(10_000)]), ""),
        "a CONNACK of MQTT 3.1.1": (Liar(lambda: [bytes([0x20, 2, 0, 1])]), "does not speak MQTT 5"),
        "nothing": (Liar(lambda: []), "has not answered within 10 s"),
        "a packet without end": (Liar(lambda: [accepted, bytes([0x30, 0xFF, 0xFF, 0xFF, 0x7F])]), "nobody asked for"),
        "messages without end": (Liar(lambda: [accepted] + [message] * 100_000), "more than was asked for"),
        "HTTP": (Liar(lambda: [b"HTTP/1.1 400 Bad Request\r\n\r\n"]), "does not keep to MQTT 5"),
    }
    boards = {name: Board(liar.port, name=f"liar{index}") for index, (name, (liar, _)) in enumerate(brokers.items())}
    for name, board in boards.items():
        words = brokers[name][1]
        # What is said may be superseded by the next attempt, and comes again.
        expect(f"a broker that sends {name}", board.says(words, 25) and board.process.poll() is None, board.problem())
    time.sleep(3)
    for name, board in boards.items():
        status = pathlib.Path(f"/proc/{board.process.pid}/status").read_text()
        resident = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
        expect(f"memory with {name} is bounded", resident < 150_000, f"{resident} kB")
        expect(f"few attempts at {name}", brokers[name][0].connections < 15, str(brokers[name][0].connections))
        expect("ends", board.end() == 0)


def main():
    restarting(*publishing())
    withheld()
    refusing()
    encrypted()
    lying()


try:
    main()
finally:
    for process in running:
        if process.poll() is None:
            process.kill()
print(f"mqtt-peer: {len(failures)} failed" if failures else "mqtt-peer: all right")
sys.exit(1 if failures else 0)
