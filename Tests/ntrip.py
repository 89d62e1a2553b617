#!/usr/bin/env python3
"""Corrections from real casters on loopback to a receiver at a pseudo terminal: ntrip.py LODESTONE

A receiver that says RTK fixed once it gets good RTCM frames, and casters that are right, refuse, want another password, say nothing,
send noise, and break off in the middle of a frame. The casters of versions 1 and 2 are pygnssutils' (PyPI) where it is installed, and
the check's own otherwise. TLS has certificates that openssl makes: a wrong name and an unknown authority are refused. Takes a minute."""
import json
import queue
import shutil
import subprocess
import threading
import time

from checks import COMMAND, environment, expect, finish
from command_line import path, run
from ntrip_caster import MOUNT, PASSWORD, USER, Caster, Receiver, frame, frames, free_port

try:
    from pygnssutils.socket_server import runserver
except ImportError:
    runserver = None

begin = time.monotonic()
spoken = []


def credentials(name, text=f"{USER}:{PASSWORD}\n", mode=0o600):
    file = path / name
    file.write_text(text)
    file.chmod(mode)
    return str(file)


GOOD, WRONG = credentials("good"), credentials("wrong", f"{USER}:guessed\n")


class Run:
    """`lodestone gnss` with a receiver and corrections, for so many seconds."""

    def __init__(self, name, caster, seconds, login=GOOD, mountpoint=MOUNT, **more):
        self.receiver = Receiver()
        board = path / f"{name}.yaml"
        board.write_text(
            f"schema: 1\nname: {name}\nsensors:\n  - chip: NMEA\n    port: {self.receiver.path}\n    corrections:\n"
            f"      caster: '{caster}'\n      mountpoint: {mountpoint}\n      credentials: {login}\n")
        self.process = subprocess.Popen(
            [COMMAND, "gnss", "--board", str(board), "--format", "json", "--seconds", str(seconds)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(STATE_DIRECTORY=str(path / f"{name}-state"), **more))
        self.seconds = seconds

    def end(self):
        """Waits for the end; what was said is kept."""
        out, err = self.process.communicate(timeout=self.seconds + 30)
        spoken.append(out + err)
        self.rows = [json.loads(line) for line in out.splitlines()]
        self.kinds = []
        for row in self.rows:
            kind = row.get("fixKind")
            if kind and kind != (self.kinds[-1] if self.kinds else None):
                self.kinds.append(kind)
        self.states = [row for row in self.rows if "corrections" in row]
        self.reasons = [row["correctionReason"] for row in self.states if "correctionReason" in row]
        self.said = [row.get("message", "") for row in self.rows if row["kind"] == "error"]
        self.numbers, self.stray = frames(self.receiver.heard)
        return self

    @property
    def detail(self):
        return f"kinds {self.kinds}, reasons {self.reasons}, said {self.said}, {self.numbers} and {self.stray} bytes"


def right(what, result):
    expect(f"{what}: the receiver goes from autonomous to RTK fixed", result.kinds[:2] == ["autonomous", "rtkFixed"], result.detail)
    expect(f"{what}: it gets whole frames and nothing else", len(result.numbers) >= 5 and result.stray == 0, result.detail)
    expect(f"{what}: the state is told", any(row["corrections"] == "receiving" for row in result.states), result.detail)


def fails(what, result, words):
    expect(f"{what}: '{words}'", any(words in reason for reason in result.reasons), result.detail)
    expect(f"{what}: said once in a message", sum(words in line for line in result.said) == 1, result.detail)
    expect(f"{what}: positions come all the same", result.kinds == ["autonomous"] and not result.numbers, result.detail)


def their_caster(version):
    """pygnssutils' server with frames to give."""
    port, messages = free_port(), queue.Queue()
    threading.Thread(
        target=runserver, args=("127.0.0.1", port, messages),
        kwargs={"ntripmode": 1, "ntripversion": version, "ntripuser": USER, "ntrippassword": PASSWORD}, daemon=True).start()

    def feed():
        while True:
            for number, size in ((1005, 19), (1077, 400), (1087, 300)):
                messages.put(frame(number, size))
            time.sleep(1)

    threading.Thread(target=feed, daemon=True).start()
    return port


def plain():
    own = [Caster(), Caster(version=1), Caster("cut"), Caster("slow"), Caster("garbage"), Caster("closed")]
    two, one, cut, slow, garbage, closed = own
    runs = {
        "own-2": Run("own-2", f"localhost:{two.port}", 16), "own-1": Run("own-1", f"ntrip://127.0.0.1:{one.port}", 16),
        "cut": Run("cut", f"127.0.0.1:{cut.port}", 16), "slow": Run("slow", f"127.0.0.1:{slow.port}", 16),
        "garbage": Run("garbage", f"127.0.0.1:{garbage.port}", 8),
        "refused": Run("refused", f"127.0.0.1:{free_port()}", 8),
        "password": Run("password", f"127.0.0.1:{two.port}", 8, login=WRONG),
        "echo": Run("echo", f"127.0.0.1:{closed.port}", 8),
        "mountpoint": Run("mountpoint", f"127.0.0.1:{two.port}", 8, mountpoint="NOWHERE"),
        "host": Run("host", "nobody.invalid:2101", 12),
        "open": Run("open", f"127.0.0.1:{two.port}", 8, login=credentials("open", mode=0o644)),
    }
    if runserver:
        runs |= {f"theirs-{v[0]}": Run(f"theirs-{v[0]}", f"127.0.0.1:{their_caster(v)}", 14) for v in ("1.0", "2.0")}
    else:
        print("ntrip: pygnssutils is not installed (pip install pygnssutils): the check's own caster alone")
    for each in runs.values():
        each.end()
    right("a caster of version 2", runs["own-2"])
    right("a caster of version 1", runs["own-1"])
    for name in ("theirs-1", "theirs-2"):
        if name in runs:
            right(f"pygnssutils' caster, version {name[-1]}", runs[name])
    expect("version 1 was asked in version 2 first", [t.split("\r\n")[0] for t in one.requests[:2]]
           == [f"GET /{MOUNT} HTTP/1.1", f"GET /{MOUNT} HTTP/1.0"], str(one.requests))
    for name, caster in (("2", two), ("1", one)):
        expect(f"version {name} gets the position", any(p.startswith("$GPGGA,12") and ",4807.03800,N," in p for p in caster.positions),
               str(caster.positions))
    fails("nobody listens", runs["refused"], "connection refused")
    fails("no such host", runs["host"], "there is no host of this name")
    fails("a wrong password", runs["password"], "wrong user name or password (401)")
    fails("a caster that repeats the password", runs["echo"], "wrong user name or password (401)")
    fails("no such mountpoint", runs["mountpoint"], f"there is no mountpoint 'NOWHERE'; there are {MOUNT}, OTHER")
    fails("a caster that says nothing", runs["slow"], "the caster has not answered within 10 s")
    fails("a caster that sends noise", runs["garbage"], "is no NTRIP caster: it sends bytes that are no text")
    fails("credentials that others can read", runs["open"], "other users can open it: close it with chmod 600")
    back = runs["cut"]
    expect("cut off in a frame: said", any("the connection was cut off" in reason for reason in back.reasons), back.detail)
    expect("cut off in a frame: back", len(cut.requests) == 2 and len(back.numbers) > 10 and back.stray == 0, back.detail)


def certificates():
    """An authority, and a certificate of localhost and one of another name that it has signed."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=path)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test")
    for name in ("localhost", "other.example"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (path / "extensions").write_text(f"subjectAltName=DNS:{name}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", "extensions", "-out", f"{name}.pem")
    return {name: (str(path / f"{name}.pem"), str(path / f"{name}.key")) for name in ("localhost", "other.example")}


def encrypted():
    if not shutil.which("openssl"):
        print("ntrip: openssl is not installed: TLS is not tried")
        return
    made = certificates()
    good, other = Caster(certificate=made["localhost"]), Caster(certificate=made["other.example"])
    store = {"SSL_CERT_FILE": str(path / "ca.pem")}
    runs = {
        "tls": Run("tls", f"ntrips://localhost:{good.port}", 14, **store),
        "name": Run("name", f"ntrips://localhost:{other.port}", 8, **store),
        "authority": Run("authority", f"ntrips://localhost:{good.port}", 8),
        "unencrypted": Run("unencrypted", f"ntrips://localhost:{Caster('garbage').port}", 8, **store),
        "store": Run("store", f"ntrips://localhost:{good.port}", 8, SSL_CERT_FILE="/nonexistent", SSL_CERT_DIR="/nonexistent"),
    }
    for each in runs.values():
        each.end()
    right("an encrypted caster", runs["tls"])
    fails("a certificate of another name", runs["name"],
          "its certificate is not accepted: hostname mismatch: it is for other.example: the address in the configuration")
    fails("a certificate of an unknown authority", runs["authority"], "its certificate is not accepted: ")
    fails("a caster without encryption", runs["unencrypted"], "no encryption can be agreed upon")
    fails("a machine without certificates", runs["store"], "install ca-certificates")
    expect("no password went to a caster that is not the right one", not other.requests, str(other.requests))
    listed = run("gnss", "--ntrip-sources", f"ntrips://localhost:{good.port}", "--ntrip-credentials", GOOD, **store)
    expect("the table comes encrypted", listed.returncode == 0 and MOUNT in listed.stdout, listed.stderr)


def sources():
    def table(caster, *more, login=GOOD):
        result = run("gnss", "--ntrip-sources", caster, *(["--ntrip-credentials", login] if login else []), *more)
        spoken.append(result.stdout + result.stderr)
        return result

    casters = [Caster(), Caster(version=1)]
    for caster, version in zip(casters, (2, 1)):
        result = table(f"127.0.0.1:{caster.port}")
        lines = result.stdout.splitlines()
        expect(f"the source table of version {version}", result.returncode == 0 and lines[0].startswith("mountpoint")
               and [line.split()[0] for line in lines[1:]] == [MOUNT, "OTHER"], result.stdout + result.stderr)
    rows = [json.loads(line) for line in table(f"127.0.0.1:{casters[0].port}", "--format", "json").stdout.splitlines()]
    expect("the table as JSON", [row["mountpoint"] for row in rows] == [MOUNT, "OTHER"] and rows[0]["wantsPosition"] is True
           and all(row["v"] == 1 for row in rows)
           and rows[0]["latitude"] == 48.1 and rows[0]["needsPassword"] is True, str(rows))
    if runserver:
        for version in ("1.0", "2.0"):
            port = their_caster(version)
            time.sleep(0.5)
            result = table(f"127.0.0.1:{port}")
            expect(f"the table of pygnssutils, version {version}", result.returncode == 0 and MOUNT in result.stdout,
                   result.stdout + result.stderr)
    for what, caster, login, code, words in (
            ("nobody listens", f"127.0.0.1:{free_port()}", GOOD, 74, "connection refused"),
            ("a caster that says nothing", f"127.0.0.1:{Caster('slow').port}", GOOD, 74, "it does not answer"),
            ("a wrong password", f"127.0.0.1:{casters[0].port}", WRONG, 77, "wrong user name or password"),
            ("no password", f"127.0.0.1:{casters[0].port}", None, 77, "--ntrip-credentials FILE"),
            ("noise", f"127.0.0.1:{Caster('garbage').port}", GOOD, 65, "it is no NTRIP caster"),
            ("a password in the address", "me:hush-hush@127.0.0.1", None, 64, "no user name and password in an address"),
            ("no caster", "a b", None, 64, "HOST:PORT"),
            ("a port out of range", "127.0.0.1:99999", None, 64, "HOST:PORT"),
            ("a caster that is overloaded", f"127.0.0.1:{Caster('busy').port}", GOOD, 74, "it answers 503"),
            ("credentials that others can read", "127.0.0.1:1", credentials("seen", mode=0o644), 65, "chmod 600"),
            ("credentials that hold something else", "127.0.0.1:1", credentials("odd", "hello\n"), 65, "USER:PASSWORD"),
            ("credentials that are a folder", "127.0.0.1:1", str(path), 66, "is a directory"),
            ("a table without streams", f"127.0.0.1:{Caster('empty').port}", GOOD, 1, "it has no streams"),
            ("a table that was cut off", f"127.0.0.1:{Caster('half').port}", GOOD, 0, "may be incomplete"),
            ("credentials that are missing", "127.0.0.1:1", "/nonexistent/file", 66, "no such file"),
    ):
        result = table(caster, login=login)
        # The parser's own message shows the value that was given; it is the user's own terminal.
        if "@" in caster:
            spoken.pop()
        expect(f"--ntrip-sources, {what}: exit code {code}", result.returncode == code and words in result.stderr,
               f"{result.returncode}: {result.stdout}{result.stderr}")


    result = table(f"127.0.0.1:{casters[0].port}", "--board", "simulated")
    expect("--board does not go with it", result.returncode == 64 and "--board does not go with it" in result.stderr, result.stderr)


def doctor():
    receiver, caster = Receiver(), Caster()
    for what, login, words in (("good", GOOD, "ok"), ("bad", WRONG, "wrong user name or password (401)")):
        board = path / "doctor.yaml"
        board.write_text(
            f"schema: 1\nname: doctor\nsensors:\n  - chip: NMEA\n    port: {receiver.path}\n    corrections:\n"
            f"      caster: '127.0.0.1:{caster.port}'\n      mountpoint: {MOUNT}\n      credentials: {login}\n")
        result = run("doctor", "--board", str(board), STATE_DIRECTORY=str(path / "doctor-state"))
        spoken.append(result.stdout + result.stderr)
        lines = [line for line in result.stdout.splitlines() if "corrections" in line]
        expect(f"doctor tries the corrections: {what}", any(words in line for line in lines), result.stdout + result.stderr)


parts = [threading.Thread(target=part) for part in (plain, encrypted, sources, doctor)]
for part in parts:
    part.start()
for part in parts:
    part.join()
expect("the password is in nothing that was said", not any(PASSWORD in text or "guessed" in text for text in spoken),
       str([text for text in spoken if PASSWORD in text][:1])[:500])
finish("ntrip", time.monotonic() - begin)
