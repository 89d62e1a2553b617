"""`lodestone serve` on the simulated board, with outputs that a script names.

Not a check by itself: scripts of this folder whose first argument is the path of `lodestone` use it."""
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import checks  # noqa: E402

# The start of the simulated board; its walk stays within a kilometre.
START = (52.5163, 13.3777)


def wait_for(condition, seconds=20):
    """Waits until a condition holds, for a number of seconds at most. Returns what it was last."""
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds


def is_near(latitude, longitude):
    """Whether a place in degrees is on the walk of the simulated board."""
    north = (latitude - START[0]) * 111_195
    east = (longitude - START[1]) * 111_195 * math.cos(math.radians(START[0]))
    return math.hypot(north, east) < 1_000


class Daemon:
    """The daemon, with its socket, its state and what it says. `outputs` are lines of YAML, a mapping each."""

    def __init__(self, *outputs):
        self.scratch = tempfile.TemporaryDirectory(prefix="lodestone-peer-")
        self.folder = pathlib.Path(self.scratch.name)
        self.outputs = list(outputs)
        self.lines = []
        self.process = None

    def __enter__(self):
        text = "schema: 1\nboard: simulated\nstream: none\noutputs:\n" + "".join(f"  - {line}\n" for line in self.outputs)
        (self.folder / "serve.yaml").write_text(text)
        self.environment = checks.environment(
            STATE_DIRECTORY=str(self.folder / "state"), LODESTONE_SOCKET=str(self.folder / "s"))
        self.process = subprocess.Popen(
            [checks.COMMAND, "serve", "--configuration", str(self.folder / "serve.yaml"), "--socket", str(self.folder / "s")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
        threading.Thread(target=self.read, daemon=True).start()
        if not wait_for(lambda: any("serving" in line for line in self.lines)):
            self.__exit__()
            sys.exit(f"the daemon does not serve: {self.lines}")
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
        self.scratch.cleanup()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def output(self, index=0):
        """What `--status` says of an output; an empty dictionary where it says nothing."""
        result = subprocess.run(
            [checks.COMMAND, "serve", "--status", "--socket", str(self.folder / "s"), "--format", "json"],
            capture_output=True, text=True, timeout=20, env=self.environment)
        try:
            return json.loads(result.stdout)["outputs"][index]
        except (ValueError, KeyError, IndexError):
            return {}

    def problem(self, words, index=0, seconds=20):
        """Waits until an output has a problem that contains words, or none where these are `None`. Returns the output."""
        def seen():
            output = self.output(index)
            found = output.get("problem")
            return output if output and ((found is None) if words is None else words in (found or "")) else None
        return wait_for(seen, seconds)

    def memory(self):
        """Resident memory in bytes."""
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def processor(self):
        """Seconds of a processor since the start."""
        words = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
