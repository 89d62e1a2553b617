#!/usr/bin/env python3
"""Who keeps a user out of a bus: only who has it open, and by the kernel's word.

usage: Tests/bus-lock.py LODESTONE

A file stands for the bus's node, since no machine of a check has an I2C bus; the command refuses it as a bus only after it
has locked it. Root runs once and must leave nothing behind; then another user's run has the same error. A process that
holds the lock is named by its number, and a file that claims to be a lock of process 1 changes nothing.
"""

import fcntl
import os
import pathlib
import subprocess
import sys
import tempfile

lodestone = os.path.abspath(sys.argv[1])
failures = 0


def expect(what, holds, why=""):
    global failures
    failures += not holds
    print(("ok      " if holds else "FAILED  ") + what + (f": {why}" if why and not holds else ""), flush=True)


def run(board, user=None):
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "STATE_DIRECTORY": str(board.parent / "state")}
    if user is not None:
        environment["STATE_DIRECTORY"] = str(board.parent / "other")
    arguments = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
    result = subprocess.run(
        [str(board.parent / "lodestone"), "monitor", "--board", str(board), "--seconds", "1"], capture_output=True,
        text=True, timeout=30, env=environment, stdin=subprocess.DEVNULL, **arguments)
    return result.stdout + result.stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        # The other user has to be able to read the program.
        (folder / "lodestone").write_bytes(pathlib.Path(lodestone).read_bytes())
        (folder / "lodestone").chmod(0o755)
        (folder / "other").mkdir(mode=0o777)
        (folder / "other").chmod(0o777)
        node = folder / "i2c-9"
        node.write_bytes(b"")
        node.chmod(0o666)
        board = folder / "board.yaml"
        board.write_text(
            f"schema: 1\nname: bus\nsensors:\n  - {{chip: LIS3MDL, bus: {node}, address: 0x1c}}\n")
        before = set(os.listdir("/run/lock")) if os.path.isdir("/run/lock") else set()
        first = run(board)
        after = set(os.listdir("/run/lock")) if os.path.isdir("/run/lock") else set()
        left = {entry for entry in after - before if "lodestone" in entry}
        expect("a run leaves no lock behind", not left, left)
        expect("the node is no bus, and said to be none", "in use" not in first and str(node) in first, first)
        if os.getuid() == 0:
            second = run(board, user=65534)
            expect("another user gets as far as root did", "in use" not in second and str(node) in second, second)

        # What anybody may write is not believed.
        places = [pathlib.Path("/run/lock"), pathlib.Path("/tmp")]
        claim = str(node).strip("/").replace("/", "-")
        made = []
        for place in places:
            if os.access(place, os.W_OK):
                path = place / f"lodestone-{claim}.lock"
                path.write_text("1\n")
                made.append((path, open(path)))
                fcntl.flock(made[-1][1], fcntl.LOCK_EX)
        third = run(board)
        for path, file in made:
            file.close()
            path.unlink()
        expect("a foreign lock file keeps nobody out", "in use" not in third, third)

        with open(node, "r+b") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            fourth = run(board)
        expect("who really holds the bus is named", f"(process {os.getpid()})" in fourth and "in use" in fourth, fourth)
        expect("and with it goes the lock", "in use" not in run(board))
    return 1 if failures else 0


sys.exit(main())
