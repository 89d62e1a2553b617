#!/usr/bin/env python3
"""How `lodestone hil run` behaves at a terminal and when it is ended before its end.

usage: hil-manners.py LODESTONE

The board is a receiver behind a pseudo terminal, which speaks for as long as a test wants."""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tty

COMMAND = os.path.abspath(sys.argv[1])
failures = []


def expect(what, holds, detail=""):
    print(("ok      " if holds else "FAILED  ") + what)
    if not holds:
        failures.append(f"{what}: {detail}")


def sentence(body):
    total = 0
    for byte in body.encode():
        total ^= byte
    return f"${body}*{total:02X}\r\n".encode()


class Receiver:
    """Stands in Berlin, an epoch every 200 ms."""

    def __init__(self, folder):
        self.controller, self.port = pty.openpty()
        tty.setraw(self.port)
        self.board = pathlib.Path(folder) / "board.yaml"
        self.board.write_text("schema: 1\nname: Desk\nsensors:\n  - {chip: NMEA, port: "
                              f"{os.ttyname(self.port)}, baudRate: 9600, rate: 5}}\n")
        # Only lodestone has the port open: the doctor would name this program otherwise.
        os.close(self.port)
        self.is_over = False
        threading.Thread(target=self.speak, daemon=True).start()

    def speak(self):
        while not self.is_over:
            clock = time.strftime("%H%M%S", time.gmtime()) + f".{int(time.time() * 10 % 10)}0"
            day = time.strftime("%d%m%y", time.gmtime())
            try:
                os.write(self.controller,
                         sentence(f"GPGGA,{clock},5230.9780,N,01322.6620,E,1,08,1.00,36.0,M,44.0,M,,")
                         + sentence(f"GPRMC,{clock},A,5230.9780,N,01322.6620,E,0.00,,{day},,,A"))
            except OSError:
                pass
            time.sleep(0.2)


class Terminal:
    """lodestone with a terminal of its own, and everything that it shows."""

    def __init__(self, folder, *arguments):
        master, slave = pty.openpty()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}
        environment["STATE_DIRECTORY"] = folder
        self.master = master
        self.process = subprocess.Popen([COMMAND, "hil", "run", *arguments], stdin=slave, stdout=slave, stderr=slave,
                                        cwd=folder, env=environment, start_new_session=True)
        os.close(slave)
        self.text = ""
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while data := os.read(self.master, 4096):
                self.text += data.decode(errors="replace")
        except OSError:
            pass

    def wait(self, text, seconds=20, times=1):
        end = time.monotonic() + seconds
        while self.text.count(text) < times and time.monotonic() < end:
            time.sleep(0.02)
        return self.text.count(text) >= times

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self, seconds=20):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None
        time.sleep(0.1)
        return code


SCENARIO = """schema: 1
name: wires
steps:
  - fault: {chip: NMEA, kind: noAnswer, seconds: 1}
  - fault: {chip: NMEA, kind: receiverSilent, seconds: 1}
  - fault: {chip: NMEA, kind: noAnswer, seconds: 2}
"""
QUESTION = "s skips the step: "

# A shell's background jobs ignore SIGINT, and so would the command.
signal.signal(signal.SIGINT, signal.default_int_handler)

with tempfile.TemporaryDirectory() as folder:
    receiver = Receiver(folder)
    wires = pathlib.Path(folder) / "wires.yaml"
    wires.write_text(SCENARIO)
    common = ["--board", str(receiver.board), "--brief", "--seconds", "1", "--interactive", "--scenario", str(wires)]

    # Typeahead: what was pressed before a question does not answer it.
    run = Terminal(folder, *common, "--report", "report")
    run.wait("measuring for 1 s: let the board lie still")
    run.type("\n\n\ns\n")
    expect("a first question", run.wait(QUESTION))
    time.sleep(1)
    expect("keys that were pressed before are no answer", "skipped" not in run.text and "is to be off" not in run.text, run.text)
    run.type("s\n")
    expect("s skips", run.wait("skipped by the person") and run.wait(QUESTION, times=2), run.text)
    # Ctrl-D: input has ended, which is said once.
    run.type("\x04")
    code = run.end()
    expect("what is left is skipped, once, with the reason",
           code == 2 and run.text.count("input ended: the remaining") == 1 and "NOT PASSED" in run.text, f"{code} {run.text}")
    report = json.loads((pathlib.Path(folder) / "report/report.json").read_text())
    expect("the report says it too", report["result"] == "not passed"
           and [c["outcome"] for c in report["checks"][-3:]] == ["skipped"] * 3, report["checks"][-3:])
    expect("the terminal says where the report is", re.search(r"report: \S+/report/report.html", run.text) is not None)

    # A wire that is not pulled, and the question after it; signals there, in the measurement, at a question.
    run = Terminal(folder, *common, "--report", "asked")
    run.wait(QUESTION)
    run.type("\n")
    expect("a failed step says why and may be repeated",
           run.wait("no loss was said", 30) and run.wait("was the wire pulled") and run.wait("r repeats the step"), run.text)
    run.process.send_signal(signal.SIGINT)
    expect("SIGINT at that question ends it", run.end(5) == 130 and "BROKEN OFF" in run.text, run.text)
    for what, mark, number, word, code in [
            ("in the measurement", "measuring for", signal.SIGINT, "SIGINT", 130),
            ("at a question", QUESTION, signal.SIGTERM, "SIGTERM", 143)]:
        run = Terminal(folder, *common, "--report", word)
        run.wait(mark)
        time.sleep(0.3)
        run.process.send_signal(number)
        found = run.end(5)
        expect(f"{word} {what} ends in order", found == code and f"BROKEN OFF: by {word}" in run.text, f"{found} {run.text}")
        report = json.loads((pathlib.Path(folder) / word / "report.json").read_text())
        expect(f"{word} {what} leaves a report", report["result"] == "broken off" and report["brokenOff"]["signal"] == word
               and any(c["group"] == "wiring" for c in report["checks"])
               and "errors=\"1\"" in (pathlib.Path(folder) / word / "junit.xml").read_text(), report)
    receiver.is_over = True

    def plain(*arguments, seconds=20):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LODESTONE")}
        begin = time.monotonic()
        result = subprocess.run([COMMAND, "hil", "run", *arguments], capture_output=True, text=True, timeout=seconds,
                                stdin=subprocess.DEVNULL, env=environment, cwd=folder)
        return result.returncode, result.stdout + result.stderr, time.monotonic() - begin

    code, text, took = plain("--board", "simulated", "--report", "/proc/foo")
    expect("a report that cannot be written is said at once", code == 74 and "/proc/foo" in text and took < 2, f"{code} {took} {text}")
    code, text, _ = plain("--interactive")
    expect("questions need a terminal", code == 64 and "no terminal" in text, text)
    run = Terminal(folder, "--board", "simulated", "--interactive")
    expect("a simulated board has no hands", run.end() == 64 and "nobody can turn" in run.text, run.text)
    code, text, took = plain("--board", str(receiver.board), "--scenario", str(wires))
    expect("a scenario that nobody can play is refused at once", code == 78 and f"{wires}:4: nobody is there" in text and took < 2, text)
    code, text, _ = plain("--report", "none")
    report = json.loads((pathlib.Path(folder) / "none/report.json").read_text())
    expect("no board leaves a report with the cause", code == 1 and report["result"] == "failed"
           and "no board file" in report["checks"][0]["detail"] and report["checks"][0]["mend"], report)

    # Wires that lead nowhere: names that stay whatever is wrong, one failure a chip, the doctor's own words.
    (pathlib.Path(folder) / "bare.yaml").write_text(
        "schema: 1\nname: bare\nlevel: true\nsensors:\n  - {chip: LIS3MDL, bus: /dev/i2c-99, address: 0x1c}\n")
    code, text, _ = plain("--board", "bare.yaml", "--seconds", "1", "--report", "bare", seconds=40)
    checks = {check["name"]: check for check in json.loads((pathlib.Path(folder) / "bare/report.json").read_text())["checks"]}
    expect("a wiring check has a name, and the cause in its detail", code == 1
           and "/dev/i2c-99 does not exist" in checks["LIS3MDL at /dev/i2c-99:0x1c answers"]["detail"], checks)
    expect("a chip that never ran fails once", "LIS3MDL without errors" not in checks and "LIS3MDL delivers" in checks, checks.keys())
    doctor = checks["lodestone doctor --board bare.yaml"]
    expect("the doctor is quoted by what is wrong", "/dev/i2c-99 does not exist" in doctor["detail"]
           and "i2c_arm" in doctor["mend"], doctor)

    # What fills up while it runs: the summary is there all the same. (A folder that goes away, for a full disk.)
    run = Terminal(folder, "--board", "simulated", "--brief", "--seconds", "1", "--report", "gone")
    run.wait("measuring for")
    (pathlib.Path(folder) / "gone").rmdir()
    (pathlib.Path(folder) / "gone").write_text("")
    code = run.end()
    expect("a report that cannot be written in the end costs no summary",
           code == 74 and 0 < run.text.find("PASSED:") < run.text.find("the report cannot be written"), f"{code} {run.text}")

for failure in failures:
    print(failure, file=sys.stderr)
print(f"hil run: {'FAILED' if failures else 'passed'}")
sys.exit(1 if failures else 0)
