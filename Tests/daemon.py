#!/usr/bin/env python3
"""The daemon as real processes: `lodestone serve`, programs of the examples, systemd's side, an agent at a terminal.

usage: daemon.py FOLDER, where Scripts/build.sh has put the programs
"""
import json
import os
import pathlib
import pty
import select
import signal
import socket
import subprocess
import sys
import threading
import time

FOLDER = pathlib.Path(sys.argv[1]).resolve()
sys.argv[1] = str(FOLDER / "lodestone")

from checks import COMMAND, environment, expect, finish  # noqa: E402
from command_line import folder, path, run, says  # noqa: E402

SOCKET = str(path / "s")
STATE = {"STATE_DIRECTORY": str(path / "state"), "LODESTONE_SOCKET": SOCKET}


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


class Program:
    """A process whose lines are kept, each with the time at which it came."""

    def __init__(self, *command, **more):
        descriptors = more.pop("pass_fds", ())
        prepare = more.pop("preexec_fn", None)
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
            env=environment(**{**STATE, **more}), pass_fds=descriptors, preexec_fn=prepare)
        self.lines = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.rstrip()))

    def says(self, text, seconds=20):
        return wait_for(lambda: any(text in line for _, line in self.lines), seconds)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(10)


def example(name, **more):
    # Without a terminal the examples would write a page at a time.
    return Program("stdbuf", "-oL", str(FOLDER / name), **more)


def serve(*arguments, **more):
    daemon = Program(COMMAND, "serve", "--board", "simulated", "--socket", SOCKET, *arguments, **more)
    expect("the daemon serves", daemon.says("serving Simulated board"), str(daemon.lines))
    return daemon


def headings(program):
    return [when for when, line in program.lines if "+-" in line]


def sharing():
    daemon = serve()
    compass, altimeter = example("compass"), example("altimeter")
    expect("a compass and an altimeter run at once", wait_for(lambda: headings(compass)) and altimeter.says("hPa"))
    result = run("serve", "--status", "--format", "json", **STATE)
    status = json.loads(result.stdout)
    names = sorted(os.path.basename(program["client"]["executable"]) for program in status["programs"])
    expect("the status names them", names == ["altimeter", "compass", "lodestone"], result.stdout)
    says("the status in words", ["serve", "--status"], 0, "altimeter", **STATE)
    says("a second daemon", ["serve", "--board", "simulated", "--socket", SOCKET], 74, "another daemon listens there", **STATE)

    worst = 0
    for _ in range(5):
        daemon.end(signal.SIGKILL)
        killed = time.monotonic()
        daemon = serve()
        served = time.monotonic()
        wait_for(lambda: any(when > served for when in headings(compass)))
        worst = max([worst] + [when - served for when in headings(compass) if when > served][:1])
    expect("after kill -9 a compass goes on within a second", 0 < worst < 1, f"{worst:.2f} s")
    expect("and was told that the daemon was away", compass.says("daemon"), str([line for _, line in compass.lines if "+-" not in line]))
    expect("SIGTERM ends it with 0", daemon.end() == 0, str(daemon.lines[-3:]))
    expect("its socket is gone", not os.path.exists(SOCKET))
    says("no daemon", ["serve", "--status"], 74, "no daemon", **STATE)
    for program in (compass, altimeter):
        program.process.kill()


def configuration():
    for text, error in [
        ("schema: 1\nbord: a\n", "unknown key 'bord'"),
        ("schema: 2\n", "needs 'schema: 1'"),
        ("schema: 1\nagents: [nobody-of-this-name]\n", "no user 'nobody-of-this-name'"),
        ("schema: 1\ngroup: no-such-group\n", "no group 'no-such-group'"),
        ("schema: 1\nsocket: here\n", "a path from the root"),
        ("schema: 1\nrealtime: 99\n", "from 1 to 50"),
        ("schema: 1\nboard: no-such-board\n", "no board called"),
    ]:
        (path / "serve.yaml").write_text(text)
        says(error, ["serve", "--configuration", "serve.yaml", "--socket", SOCKET], 78, error, **STATE)
    says("a configuration that is missing", ["serve", "--configuration", "gone.yaml"], 78, "gone.yaml", **STATE)
    (path / "rules.yaml").write_text("schema: 1\nrules:\n  - user: nobody-of-this-name\n    authorization: ask\n")
    says("rules that cannot be used", ["serve", "--board", "simulated", "--socket", SOCKET], 78, "nobody-of-this-name",
         LODESTONE_AUTHORIZATION="rules.yaml", **STATE)
    says("a folder that is missing", ["serve", "--board", "simulated", "--socket", "/no/such/folder/s"], 74, "no such folder",
         **STATE)


def manager():
    """What systemd does: readiness, the watchdog, reload, and a socket that is there before the daemon."""
    notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notes.bind(str(path / "notify"))
    notes.settimeout(10)
    daemon = serve(NOTIFY_SOCKET=str(path / "notify"), WATCHDOG_USEC="600000")
    heard = [notes.recv(4096).decode() for _ in range(4)]
    expect("READY=1 comes first", heard[0].startswith("READY=1"), str(heard))
    expect("then the watchdog hears of it", heard[1:].count("WATCHDOG=1") == 3, str(heard))
    daemon.process.send_signal(signal.SIGHUP)
    expect("SIGHUP reloads", daemon.says("read again"))
    rest = []
    while not rest or not rest[-1].startswith("READY=1"):
        rest.append(notes.recv(4096).decode())
    expect("which the manager hears", any(note.startswith("RELOADING=1") for note in rest), str(rest))
    expect("it ends", daemon.end() == 0)

    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path / "activated"))
    listener.listen(10)
    early = example("compass", LODESTONE_SOCKET=str(path / "activated"))

    def prepare():
        os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)

    # The process's number is known to itself alone: a shell puts it in.
    daemon = Program(
        "sh", "-c", f'LISTEN_PID=$$ LISTEN_FDS=1 exec "{COMMAND}" serve --board simulated',
        pass_fds=(3, listener.fileno()), preexec_fn=prepare)
    expect("a socket that is handed over is served", daemon.says("at /"), str(daemon.lines))
    expect("a program that came before the daemon is served", wait_for(lambda: headings(early)), str(early.lines))
    expect("the socket stays when the daemon ends", daemon.end() == 0 and os.path.exists(path / "activated"))
    early.process.kill()


def agent():
    """A rule asks, and a person answers at a terminal."""
    (path / "ask.yaml").write_text(
        f"schema: 1\nrules:\n  - executable: {FOLDER / 'trip-recorder'}\n    authorization: ask\n"
        "    usage: {NSLocationWhenInUseUsageDescription: It draws your track.}\n")
    daemon = serve(LODESTONE_AUTHORIZATION=str(path / "ask.yaml"))
    says("an agent needs a terminal", ["authorization", "agent"], 64, "terminal", **STATE)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(COMMAND, [COMMAND, "authorization", "agent"], environment(**STATE))
    shown = b""

    def shows(text, seconds=15):
        nonlocal shown
        deadline = time.monotonic() + seconds
        while text not in shown and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 4096)
        return text in shown

    expect("the agent is there", shows(b"prompts of Simulated board appear here"), str(shown))
    program = example("trip-recorder")
    expect("the prompt appears at its terminal", shows(b"wants to know where this board is"), f"{shown} {program.lines}")
    expect("with what the rule says of it", shows(b"It draws your track."), str(shown))
    os.write(terminal, b"1\n")
    answered = wait_for(lambda: "whenInUse" in run("serve", "--status", **STATE).stdout)
    expect("the answer reaches the program", answered, run("serve", "--status", **STATE).stdout)
    os.kill(pid, signal.SIGINT)
    os.waitpid(pid, 0)
    program.process.kill()
    daemon.end()


def tests():
    """`doctor` and `hil run` of a board that a daemon owns, with a chip that is not there."""
    text = (pathlib.Path(__file__).resolve().parent.parent / "Boards/simulated.yaml").read_text()
    (path / "control.yaml").write_text(f"{text}\n  control: {path / 'control'}\n")
    daemon = Program(COMMAND, "serve", "--board", str(path / "control.yaml"), "--socket", SOCKET)
    expect("the daemon serves", daemon.says("serving"), str(daemon.lines))
    says("doctor asks the daemon", ["doctor"], 0, f"the daemon at {SOCKET} owns the board", **STATE)
    says("which says how its chips are", ["doctor"], 0, "LSM6DSOX at /dev/i2c-1:0x6a runs", **STATE)
    done = run("hil", "run", "--brief", "--seconds", "2", **STATE)
    expect("hil run measures them", done.returncode == 0 and "LIS3MDL delivers at its rate" in done.stdout, done.stdout + done.stderr)
    done = run("hil", "run", "--seconds", "1", "--report", str(path / "report"), **STATE)
    expect("its report has what doctor and monitor say", done.returncode == 0, done.stdout + done.stderr)
    says("one that only --board can play", ["hil", "run", "--scenario", str(scenario())], 78, "nobody", **STATE)
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(path / "control"))
        control.sendall(b"fault BMP280 noAnswer 60\n")
        expect("a chip is unplugged", control.recv(64) == b"ok\n")
        says("doctor names it", ["doctor"], 1, "BMP280 at /dev/i2c-1:0x77: ", **STATE)
        done = run("hil", "run", "--brief", "--seconds", "1", **STATE)
        expect("and so does hil run", done.returncode == 1 and "BMP280" in done.stdout, done.stdout + done.stderr)
        control.sendall(b"mend BMP280\n")
        control.recv(64)
    for name, again in [("started again", True), ("does not answer any more", False)]:
        suite = Program(COMMAND, "hil", "run", "--brief", "--seconds", "3")
        expect("hil run measures", suite.says("measuring for 3 s"), str(suite.lines))
        time.sleep(2.5)
        daemon.end(signal.SIGKILL)
        if again:
            daemon = Program(COMMAND, "serve", "--board", str(path / "control.yaml"), "--socket", SOCKET)
            daemon.says("serving")
        expect(f"a daemon that {name} is named", suite.says(name, 30) and suite.process.wait(10) == 1, str(suite.lines))
    says("without a daemon doctor looks at the board itself", ["doctor", "--board", "simulated"], 0, "nothing to mend", **STATE)
    says("and names a daemon that should be there", ["doctor"], 1, "no daemon can be reached", LODESTONE_SOCKET=SOCKET)


def scenario():
    (path / "scenario.yaml").write_text(
        "schema: 1\nname: loss\nsteps:\n  - fault: {chip: BMP280, kind: noAnswer, seconds: 1}\n")
    return path / "scenario.yaml"


for check in (sharing, configuration, tests, manager, agent):
    check()
finish("daemon")
