#!/usr/bin/env python3
"""Calibrating at the command line: boards at rest, questions at the keyboard, signals, and how the chips are mounted.

usage: command-line-calibrate.py LODESTONE
"""
import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

from checks import COMMAND, environment, expect, finish
from command_line import AT_REST, BOARDS, BOAT, KEPT, calibrate, folder, path, run, says, write_board, write_still_board

HEADING = ["heading", "40", "--latitude", "52.5163", "--longitude", "13.3777", "--seconds", "2"]


def at_rest():
    result, lines = calibrate("gyro", *AT_REST)
    expect(
        "a gyro at rest", result.returncode == 0 and lines[0]["accepted"] and lines[0]["saved"]
        and lines[0]["v"] == 1 and lines[0]["kind"] == "calibration" and lines[0]["record"] == "gyro"
        and os.path.isfile(lines[0]["file"]) and result.stderr == "", result.stderr)
    expect(
        "a program hears how far it is", result.stdout.startswith('{"v":1,"kind":"progress","seconds":1.'),
        result.stdout)
    result, lines = calibrate("level", *AT_REST)
    expect(
        "a board at rest", result.returncode == 0 and lines[0]["tilt"] < 2 and lines[0]["method"] == "onePosition",
        result.stderr)
    result = run(
        "calibrate", "gyro", "--yes", "--seconds", "3", "--board", "still.yaml", STATE_DIRECTORY=str(path / "words"))
    expect(
        "and in words", result.returncode == 0 and "saved: /" in result.stdout
        and "held still for 2 of 3 s" in result.stderr, result.stdout + result.stderr)
    for what in ["gyro", "level"]:
        result, lines = calibrate(what, *AT_REST, board="turning.yaml")
        expect(
            f"{what} on a board that turns", result.returncode == 1 and not lines[0]["accepted"]
            and "deg" in lines[0]["reason"], result.stdout + result.stderr)
        result, lines = calibrate(what, *AT_REST, board="boat.yaml")
        expect(
            f"{what} on a board without the chip", result.returncode == 1
            and ("accelerometer" in lines[0]["reason"] or "gyro" in lines[0]["reason"]), result.stdout)


def nobody():
    for what in [["gyro"], ["level"], ["mount"], ["planar"], ["heading", "75"], ["deviation"], ["course"]]:
        begun = time.monotonic()
        says(
            f"nobody at the keyboard, {what[0]}", ["calibrate", *what, "--board", "still.yaml"], 64,
            "nobody is at the keyboard")
        expect("which is said at once", time.monotonic() - begun < 3)
    says("two positions by nobody", ["calibrate", "level", "--two-positions", "--yes"], 64, "not with --yes")


def simulated_board():
    # The simulated board sets off after four seconds. The refusal names the board to use instead, which works.
    for what, more in [("level", ()), ("gyro", ("--format", "json"))]:
        says(
            f"{what} on the simulated board", ["calibrate", what, "--yes", "--seconds", "8", *more, "--board", "simulated"],
            1, "a simulated board goes the way of its file")
        says(
            f"{what} on the one that lies still",
            ["calibrate", what, "--yes", "--seconds", "5", "--board", "hand.yaml"], 0, "not kept")
    result = run("calibrate", "level", "--yes", "--board", "hand.yaml")
    expect(
        "that nothing is kept is said before the work", result.stdout.startswith("a simulated board: nothing is kept"),
        result.stdout)
    # Lines are no longer than the terminal, which would break them within words.
    master, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    process = subprocess.Popen(
        [COMMAND, "calibrate", "level", "--yes", "--seconds", "8", "--board", "simulated"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=terminal, cwd=folder)
    os.close(terminal)
    said = b""
    try:
        while piece := os.read(master, 4096):
            said += piece
    except OSError:
        pass
    os.close(master)
    refusal = said.decode().replace("\r", "")
    refusal = refusal[refusal.find("Error: "):].rstrip("\n").split("\n")
    expect(
        "a long refusal is broken between words", process.wait() == 1 and len(refusal) > 2
        and max(map(len, refusal)) <= 60 and "a simulated board goes the way of its file" in " ".join(refusal),
        refusal)
    says(
        "a vehicle without a receiver", ["calibrate", "mount", "--vehicle", "--yes", "--board", "hand.yaml"], 1,
        "this board has no receiver")


def at_terminal(*arguments, board="still.yaml", state=KEPT, **more):
    """Starts a calibration whose standard input is a terminal. Returns the terminal's other end and the process."""
    master, terminal = os.openpty()
    process = subprocess.Popen(
        [COMMAND, "calibrate", *arguments, "--board", board], stdin=terminal, stderr=subprocess.PIPE, cwd=folder,
        env=environment(**state), **more)
    os.close(terminal)
    return master, process


def two_positions(board):
    """Answers both questions. Returns the exit code, standard error and standard output."""
    master, process = at_terminal(
        "level", "--two-positions", "--seconds", "2", board=board, stdout=subprocess.PIPE, text=True)
    asked = ""
    for line in process.stderr:
        asked += line
        if "Press Return" in line:
            os.write(master, b"\n")
    output = process.stdout.read()
    os.close(master)
    return process.wait(timeout=30), asked, output


def questions():
    # There is a question for each position. Without a compass nothing shows that the board was not turned in between.
    blind = re.sub(r"  - chip: LIS3MDL\n(    .*\n)+", "", (path / "still.yaml").read_text())
    (path / "blind.yaml").write_text(blind)
    code, asked, output = two_positions("blind.yaml")
    expect(
        "two positions at a terminal", code == 0 and asked.count("Press Return") == 2 and "twoPositions" in output
        and "deg from level" in output, asked + output)
    code, asked, output = two_positions("still.yaml")
    expect(
        "two positions that are one", code == 1 and "was not turned by half" in " ".join(asked.split()), asked + output)
    # Neither the end of input, Ctrl-D at a terminal, nor a "q" is a Return.
    for what, key, words in [
        (what, *end) for what in ["mount", "level"]
        for end in [(b"\x04", b"nobody answers; what was stored stays"), (b"q\n", b"given up; what was stored stays")]]:
        master, process = at_terminal(what, stdout=subprocess.DEVNULL)
        said = b""
        while b"Return" not in said:
            said += os.read(process.stderr.fileno(), 4096) or b"Return at the end of its words"
        os.write(master, key)
        try:
            said += process.communicate(timeout=8)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said += b" and no end"
        os.close(master)
        expect(
            f"{key} ends {what}", process.wait() == 1 and words in said, repr(said))
    # An answer that is neither yes nor no saves nothing: the question comes again.
    master, process = at_terminal(*HEADING, state={"STATE_DIRECTORY": str(path / "asked")}, stdout=subprocess.PIPE)
    said = b""
    for answer in [b"quit\n", b"ls -l\n", b"n\n"]:
        while not said.endswith((b"[Y/n] ", b"[y/N] ")):
            said += os.read(process.stderr.fileno(), 4096) or b" and an end [Y/n] "
        said += b"\n"
        os.write(master, answer)
    output, more = process.communicate(timeout=20)
    os.close(master)
    expect(
        "an answer that is none", said.count(b"/") >= 3 and b"not saved" in output and b"saved: " not in output,
        repr(said + output + more))
    # A swing: an answer that is no heading is refused, and the question comes again.
    process = subprocess.Popen(
        [COMMAND, "calibrate", "deviation", "--yes", "--board", "still.yaml"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment(**KEPT))
    output, errors = process.communicate("banana\n400\nq\n", timeout=30)
    expect(
        "an answer that is no heading",
        "'banana' is no heading: a number from 0 to 360" in output and "'400' is no heading" in output
        and output.count("turn to N") == 3, output + errors)


def control_line():
    """The control line of a hand moves a single board."""
    process = subprocess.Popen(
        [COMMAND, "monitor", "--board", "hand.yaml", "--seconds", "20"], stdout=subprocess.PIPE, text=True, cwd=folder)
    process.stdout.readline()
    says("a second program on one control line", ["monitor", "--board", "hand.yaml", "--seconds", "1"], 74, "another program")
    expect("and the first one keeps it", (path / "hand").is_socket())
    process.terminate()
    process.communicate(timeout=20)


def interrupted(what, arguments, text, number, presses=0):
    """Presses Return at as many questions as `presses`, and sends a signal once `text` has been printed."""
    master, process = at_terminal(*arguments, stdout=subprocess.DEVNULL)
    said, end = b"", time.monotonic() + 20
    while time.monotonic() < end:
        if not select.select([process.stderr], [], [], 0.2)[0]:
            continue
        piece = os.read(process.stderr.fileno(), 4096)
        if not piece:
            break
        said += piece
        for _ in range(piece.count(b"Press Return") if presses > 0 else 0):
            presses -= 1
            os.write(master, b"\n")
        if text in said and presses <= 0:
            process.send_signal(number)
            text = b"\0 never"
    code = process.wait(timeout=20)
    os.close(master)
    expect(what, code == 128 + number and said.count(b"interrupted; what was stored stays") == 1, f"{code}: {said[-300:]}")


def interruptions():
    # While the board is read, at a question, and at a question after that.
    at_the_desk = ["level", "--two-positions", "--seconds", "2"]
    interrupted("Ctrl-C at rest", ["gyro", "--yes"], b"held still for 1", signal.SIGINT)
    interrupted("Ctrl-C while a turn is watched", ["planar", "--yes"], b"1 s  N[", signal.SIGINT)
    interrupted("a stop at a question", at_the_desk, b"Press Return", signal.SIGTERM)
    interrupted("Ctrl-C at a question after a run", at_the_desk, b"half a turn", signal.SIGINT, presses=1)
    interrupted("Ctrl-C at a question before saving", HEADING, b"[Y/n]", signal.SIGINT)


def mounts():
    says(
        "no mount without an accelerometer", ["calibrate", "mount", "--yes", "--board", str(BOARDS / "lis3mdl-level.yaml")],
        1, "no accelerometer")
    # A program gets an object that says so.
    lone = (BOARDS / "lis3mdl-level.yaml").read_text()
    (path / "lone.yaml").write_text("\n".join(row for row in lone.split("\n") if not row.startswith("level:")))
    for command in [["mount"], ["heading", "90"], ["course"]]:
        result = run("calibrate", *command, "--yes", "--format", "json", "--board", "lone.yaml")
        line = json.loads(result.stdout or "{}")
        expect(
            f"no {command[0]} without an accelerometer, as JSON",
            result.returncode == 1 and line.get("reason") and not line.get("accepted") and not line.get("sure"),
            result.stdout + result.stderr)
    says("no time for a mount", ["calibrate", "mount", "--board", "simulated", "--seconds", "1"], 64, "from 5 to 300")
    says(
        "no mount from a board that nobody handles",
        ["calibrate", "mount", "--yes", "--board", "simulated", "--seconds", "6"], 1, "not found: ")
    handling = str(BOARDS / "simulated-handling.yaml")
    handled = run("calibrate", "mount", "--yes", "--format", "json", "--board", handling, seconds=120)
    lines = [json.loads(line) for line in handled.stdout.splitlines()]
    mounts = [line for line in lines if line["kind"] == "mount"]
    expect(
        "the mounts of a board that is handled as asked",
        handled.returncode == 0 and len(mounts) == 2 and all(line["sure"] and not line["differs"] for line in mounts)
        and sum(line["kind"] == "progress" for line in lines) > 20, handled.stdout[-600:] + handled.stderr)
    print("        " + ", ".join(f"{line['chip']} {line['mount']} margin {line['margin']}" for line in mounts if line["sure"]))


write_still_board()
write_board("turning.yaml", "seconds: 60, turn: 2400, fix: false")
(path / "boat.yaml").write_text(BOAT)
hand = (BOARDS / "simulated-hand.yaml").read_text()
(path / "hand.yaml").write_text(hand.replace("/tmp/lodestone-hand", str(path / "hand")))
for part in [at_rest, nobody, simulated_board, questions, control_line, interruptions, mounts]:
    part()
finish("command line, calibrate")
