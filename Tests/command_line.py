"""Runs the command and looks at its exit codes and messages.

Not a check by itself: the command-line-*.py scripts import it. They run in a temporary folder."""
import json
import pathlib
import signal
import subprocess
import tempfile

from checks import COMMAND, environment, expect

# A shell starts background jobs with SIGINT ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

scratch = tempfile.TemporaryDirectory()
folder = scratch.name
path = pathlib.Path(folder)

BOARDS = pathlib.Path(__file__).resolve().parents[1] / "Boards"
SIMULATED = (BOARDS / "simulated.yaml").read_text()
# A board with one chip, on a bus that no machine has.
BARE = "schema: 1\nname: bare\nsensors:\n  - {chip: LIS3MDL, bus: /dev/i2c-99, address: 0x1c}\n"
BOAT = BARE.replace("name: bare\n", "name: boat\nlevel: true\n")


def run(*arguments, seconds=30, **more):
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, timeout=seconds, env=environment(**more), cwd=folder)


def says(what, arguments, code, text, **more):
    result = run(*arguments, **more)
    output = result.stdout + result.stderr
    expect(what, result.returncode == code and text in output, f"{result.returncode}: {output[-300:]}")


# Calibrations of simulated boards whose records are kept.

KEPT = {"STATE_DIRECTORY": str(path / "kept")}
AT_REST = ("--yes", "--format", "json", "--seconds", "3")


def write_board(name, leg):
    """Writes a file of the simulated board, which goes one leg instead of its way."""
    legs = SIMULATED.index("  legs:\n") + len("  legs:\n")
    (path / name).write_text(SIMULATED[:legs] + f"    - {{{leg}}}\n")


def write_still_board():
    write_board("still.yaml", "seconds: 60, fix: false")


def calibrate(*arguments, board="still.yaml"):
    """Runs a calibration command. Returns its result and the objects that it printed, without those of its progress."""
    result = run("calibrate", *arguments, "--board", board, **KEPT)
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return result, [line for line in lines if line.get("kind") != "progress"]
