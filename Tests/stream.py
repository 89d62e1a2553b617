#!/usr/bin/env python3
"""The stream of JSON lines of `lodestone serve`: the schema, rates, slow readers, who may not know the place, the network, calibration.

usage: stream.py FOLDER, where Scripts/build.sh has put the programs
"""
import collections
import json
import math
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

try:
    import jsonschema
except ImportError:
    # What apt-get has installed belongs to Debian's own Python.
    if os.environ.get("LODESTONE_PYTHON") is None and os.access("/usr/bin/python3", os.X_OK):
        os.execve(
            "/usr/bin/python3", ["/usr/bin/python3", *sys.argv], {**os.environ, "LODESTONE_PYTHON": "debian"})
    sys.exit("stream.py needs python3-jsonschema: Scripts/prepare.sh oracles")

from stream_reader import HERE, SOCKET, STATE, STREAM, Reader, is_kind, serve  # noqa: E402
from checks import COMMAND, environment, expect, finish  # noqa: E402
from command_line import folder, path  # noqa: E402
import lodestone  # noqa: E402

SCHEMA = json.loads((HERE.parent / "Documentation/stream.schema.json").read_text())
NUMBERS = ("heading", "attitude", "location", "altitude", "absoluteAltitude", "sky", "motion", "waves", "sample")


def validators():
    """A validator for each kind of line: trying all of them for each line would take minutes."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return {kind: jsonschema.Draft202012Validator(schema) for kind, schema in SCHEMA["$defs"].items()}


VALIDATORS = validators()


def every_line():
    """Every line of every kind is what the schema says, and nothing is missing in between."""
    reader = Reader({"subscribe": list(lodestone.KINDS)})
    lines = reader.read(45, lambda line: line["kind"] == "location" and "latitude" in line)
    lines += reader.read(8)
    counts = collections.Counter(line["kind"] for line in lines)
    wrong = []
    for line in lines:
        error = next(VALIDATORS[line["kind"]].iter_errors(line), None)
        if error is not None:
            wrong.append(f"{error.message} in {json.dumps(line)[:300]}")
    expect("every line is what the schema says", not wrong, wrong[:3], f"{len(lines)} lines")
    missing = set(SCHEMA["$defs"]) - set(counts) - {"error", "recording", "end"}
    expect("every kind comes", not missing, (missing, counts), dict(counts))
    expect("no line is missing", [line["sequence"] for line in lines] == list(range(len(lines))))
    span = lines[-1]["monotonic"] - lines[0]["monotonic"]
    rates = {kind: counts[kind] / span for kind in ("attitude", "heading", "motion")}
    expect("attitudes come at the rate of the gyro", rates["attitude"] > 95, rates, f"{rates['attitude']:.0f} a second")
    # The oracle of the attitude is the heading beside it.
    headings = [(line["monotonic"], line["magneticHeading"]) for line in lines if line["kind"] == "heading" and "magneticHeading" in line]
    differences = []
    for line in lines:
        if line["kind"] == "attitude" and "magneticHeading" in line and headings:
            when, heading = min(headings, key=lambda pair: abs(pair[0] - line["monotonic"]))
            if abs(when - line["monotonic"]) < 0.02:
                differences.append(abs((line["magneticHeading"] - heading + 180) % 360 - 180))
    expect("attitude and heading agree", differences and max(differences) < 1, max(differences, default=math.nan))
    return next(line for line in reversed(lines) if line["kind"] == "location" and "latitude" in line)


def rates():
    reader = Reader({"subscribe": ["heading", "attitude", "motion"], "rate": 5})
    reader.read(5, is_kind("attitude"))
    counts = collections.Counter(line["kind"] for line in reader.read(4))
    good = all(16 <= counts[kind] <= 24 for kind in ("heading", "attitude", "motion"))
    expect("a reader chooses its rate", good, counts, dict(counts))
    reader.ask({"subscribe": ["altitude"]})
    reader.read(5, is_kind("subscription"))
    expect("and other kinds later", {line["kind"] for line in reader.read(2)} == {"altitude"})


def mistakes():
    reader = Reader()
    for request in ("no JSON", "{}", '{"subscribe":["bearing"]}', '{"subscribe":["heading"],"rate":-1}', b"\xff\x00\x1b"):
        reader.ask(request)
        lines = reader.read(5, is_kind("error"))
        expect(f"{request!r} is answered", any(map(is_kind("error"), lines)), lines)
    flood = Reader()
    flood.socket.settimeout(5)
    try:
        for _ in range(64):
            flood.socket.sendall(b"x" * 65_536)
        flood.ask("")
    except OSError:
        pass
    lines = flood.read(5)
    expect("4 MB without an end are given up", any("4096 bytes" in line.get("message", "") for line in lines), lines)


def memory(daemon):
    for line in pathlib.Path(f"/proc/{daemon.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return math.nan


def slow_readers(daemon):
    """Readers that never read cost the daemon little, and others nothing."""
    before = memory(daemon)
    stalled = [Reader({"subscribe": list(NUMBERS)}) for _ in range(50)]
    honest = Reader({"subscribe": ["heading"]})
    honest.read(5, is_kind("heading"))
    late = []
    for line in honest.read(6):
        if line["kind"] == "heading":
            late.append(time.monotonic() - line["monotonic"])
    after = memory(daemon)
    expect("50 readers that never read take little", after - before < 25, (before, after), f"{after - before:.1f} MB")
    stalled[0].socket.settimeout(5)
    lines = stalled[0].read(2)
    skipped = sum(line.get("skipped", 0) for line in lines)
    expect("a late reader is told what it has missed", skipped > 100, skipped, skipped)
    expect("and hears all others", len(late) > 200, len(late), f"{len(late)} headings")


def who_may_not_know(place):
    """Every byte that a reader of another user gets while the rules keep the place from it."""
    if os.geteuid() != 0:
        return print("skipped the reader that is another user: this one is not root")
    program = (
        "import socket,sys,time\n"
        f"s=socket.socket(socket.AF_UNIX); s.connect({STREAM!r})\n"
        f"s.sendall({(json.dumps({'subscribe': list(lodestone.KINDS)}) + chr(10)).encode()!r})\n"
        "s.settimeout(1); end=time.monotonic()+40\n"
        "while time.monotonic()<end:\n"
        "  try: sys.stdout.buffer.write(s.recv(65536))\n"
        "  except TimeoutError: pass\n")
    rules = "schema: 1\nrules:\n  - user: nobody\n    authorization: denied\n"
    (path / "conf").mkdir(exist_ok=True)
    (path / "conf/authorization.yaml").write_text(rules)
    os.chmod(path, 0o755)
    os.chmod(path / "conf", 0o755)
    daemon = serve(LODESTONE_AUTHORIZATION=str(path / "conf/authorization.yaml"))
    # A reader that may know it keeps the receiver busy.
    allowed = Reader({"subscribe": ["location"], "rate": 1})
    denied = subprocess.Popen(["/usr/bin/python3", "-c", program], stdout=subprocess.PIPE, user=65534, group=65534, extra_groups=[])
    allowed.read(40, lambda line: "latitude" in line)
    text = denied.communicate(timeout=60)[0].decode()
    lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    kinds = collections.Counter(line["kind"] for line in lines)
    expect("a reader that may not know the place hears the board", kinds["heading"] > 100 and kinds["attitude"] > 100, kinds, dict(kinds))
    known = allowed.read(3)
    expect("while another one gets positions", any("latitude" in line for line in known), known[-1:])
    forbidden = {"latitude", "longitude", "course", "speed", "satellites", "inView", "declination", "ellipsoidalAltitude", "fixAge"}
    told = {key for line in lines for key in line} & forbidden
    expect("no key of the place", not told, told)
    true = [line for line in lines if line.get("trueHeading", -1) != -1]
    expect("no true heading", not true, true[:1])
    words = " ".join(value for line in lines for value in line.values() if isinstance(value, str))
    numbers = [f"{place[key]:.2f}" for key in ("latitude", "longitude")] + [f"{place['altitude']:.1f}"]
    found = [number for number in numbers if number in words]
    expect("no number of the place in words", not found, (found, words[:300]))
    expected = [line for line in lines if "expected" in line.get("reason", "")]
    expect("no field that a model expects there", not expected, expected[:1])
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(10)


def manners():
    """A reader that says nothing is greeted; one that closes its side early reads on."""
    lines = Reader().read(5, is_kind("hello"))
    expect("the first line comes at once", any(map(is_kind("hello"), lines)), lines)
    half = Reader({"subscribe": ["heading"]})
    half.socket.shutdown(socket.SHUT_WR)
    lines = half.read(3)
    expect("a reader that closes its side early reads on", sum(map(is_kind("heading"), lines)) > 50, len(lines))
    blunt = Reader()
    blunt.socket.sendall(b'{"subscribe":["heading"]}')
    blunt.socket.shutdown(socket.SHUT_WR)
    lines = blunt.read(3)
    expect("a last request needs no end of its line", any(map(is_kind("heading"), lines)), lines[:3])
    for kinds in (["sensor"], ["absoluteAltitude"], ["sample"]):
        lines = Reader({"subscribe": kinds}).read(60, is_kind(kinds[0]))
        expect(f"{kinds[0]} alone comes", any(map(is_kind(kinds[0]), lines)), lines)
    crowd = [Reader({"subscribe": ["sensor"]}) for _ in range(20)]
    status = subprocess.run(
        [COMMAND, "serve", "--status"], cwd=folder, text=True, capture_output=True, timeout=20, env=environment(**STATE))
    expect("--status shows the readers", status.stdout.count("reads sensor") >= 20, status)
    del crowd


def attached(daemon):
    """Commands show the daemon's board while others read it."""
    def command(*arguments):
        return subprocess.run(
            [COMMAND, *arguments], cwd=folder, text=True, capture_output=True, timeout=40, env=environment(**STATE))

    result = command("monitor", "--format", "json", "--seconds", "3")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = collections.Counter(line["kind"] for line in lines)
    expect("monitor shows the daemon's board", result.returncode == 0 and kinds["heading"] > 50, result, dict(kinds))
    result = command("gnss", "--seconds", "2")
    expect("gnss as well", "Simulated board" in result.stdout, result)
    result = command("monitor", "--truth", "--format", "json")
    expect("the truth is only for a board of its own", result.returncode == 64, result)
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(10)
    result = command("monitor", "--seconds", "1")
    expect(
        "without the daemon a command says what is missing",
        result.returncode not in (0, 1) and SOCKET in result.stderr, result)


def network():
    """The stream on a port, for readers whom nobody knows."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (path / "serve.yaml").write_text(f"schema: 1\ntcp: {{port: {port}, positions: none}}\n")
    daemon = serve("--configuration", str(path / "serve.yaml"))
    reader = Reader({"subscribe": ["heading", "location", "sky"]}, at=("127.0.0.1", port))
    lines = reader.read(4)
    kinds = collections.Counter(line["kind"] for line in lines)
    expect("a reader over the network gets headings", kinds["heading"] > 50, kinds, dict(kinds))
    reasons = [line.get("reason") for line in lines if line["kind"] in ("location", "sky")]
    told = [line for line in lines if "latitude" in line or line.get("trueHeading", -1) != -1]
    expect("and why it gets no position", len(reasons) > 1 and all(reasons) and not told, (reasons, told[:1]))
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(10)
    for text, code in (("tcp: {address: 1.2.3, port: 99}", 78), ("tcp: {port: 0}", 78), ("tcp: {}", 78), ("tcp: {port: 1, positions: all}", 78)):
        (path / "serve.yaml").write_text(f"schema: 1\n{text}\n")
        result = subprocess.run(
            [COMMAND, "serve", "--board", "simulated", "--socket", SOCKET, "--configuration", str(path / "serve.yaml")],
            cwd=folder, text=True, capture_output=True, timeout=20, env=environment(**STATE))
        expect(f"{text} is a mistake", result.returncode == code and "serve.yaml" in result.stderr or "tcp" in result.stderr, result)


def calibration():
    """A board of the daemon is calibrated while a program reads it, and what is stored is the daemon's."""
    board = (HERE.parent / "Boards/simulated-hand.yaml").read_text().replace("/tmp/lodestone-hand", str(path / "hand"))
    (path / "hand.yaml").write_text(board)
    daemon = serve(board="hand.yaml")
    reader = Reader({"subscribe": ["sample", "heading"], "rate": 20})
    reader.read(5, is_kind("sample"))
    for what in (["gyro"], ["level"]):
        result = subprocess.run(
            [COMMAND, "calibrate", *what, "--yes", "--seconds", "3", "--format", "json"], cwd=folder, text=True,
            capture_output=True, timeout=60, env=environment(LODESTONE_SOCKET=SOCKET))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        expect(
            f"calibrate {what[0]} through the daemon", result.returncode == 0 and lines[-1]["accepted"] and lines[-1]["saved"],
            result)
        file = pathlib.Path(lines[-1].get("file") or "/nowhere")
        expect("the record is the daemon's", file.exists() and str(path / "state") in str(file), file)
    result = subprocess.run(
        [COMMAND, "calibrate", "list"], cwd=folder, text=True, capture_output=True, timeout=60, env=environment(LODESTONE_SOCKET=SOCKET))
    expect("calibrate list finds the daemon's records", result.returncode == 0 and "LSM6DSOX" in result.stdout, result)
    kinds = collections.Counter(line["kind"] for line in reader.read(2))
    expect("and programs read on", kinds["sample"] > 20, kinds, dict(kinds))
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(10)


begin = time.monotonic()
daemon = serve()
place = every_line()
manners()
rates()
mistakes()
slow_readers(daemon)
attached(daemon)
network()
calibration()
who_may_not_know(place)
finish("stream.py", time.monotonic() - begin)
