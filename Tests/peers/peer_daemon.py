"""A daemon on the simulated board with outputs, for the scripts of this folder whose first argument is the path of `lodestone`."""
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from checks import COMMAND, environment  # noqa: E402

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="lodestone-peer-"))
_processes = []


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def variables():
    return environment(STATE_DIRECTORY=str(FOLDER / "state"), LODESTONE_SOCKET=str(FOLDER / "s"))


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    return None


def serve(*outputs):
    """Starts the daemon with outputs, each the text of a mapping, and waits until it serves."""
    lines = "".join(f"  - {output}\n" for output in outputs)
    file = FOLDER / "serve.yaml"
    file.write_text(
        f"schema: 1\nboard: simulated\nsocket: {FOLDER / 's'}\nstream: none\noutputs:\n{lines}")
    log = open(FOLDER / "serve.log", "w")
    process = subprocess.Popen(
        [COMMAND, "serve", "--configuration", str(file)], stdout=log, stderr=subprocess.STDOUT, env=variables())
    _processes.append(process)
    if not wait_for(lambda: "serving" in (FOLDER / "serve.log").read_text()):
        sys.exit("the daemon does not serve:\n" + (FOLDER / "serve.log").read_text())
    return process


def status():
    """What `lodestone serve --status` says of the outputs, as text."""
    return subprocess.run(
        [COMMAND, "serve", "--status", "--format", "json", "--socket", str(FOLDER / "s")],
        capture_output=True, text=True, env=variables(), timeout=30).stdout


def end():
    for process in _processes:
        if process.poll() is None:
            process.terminate()
            process.wait(15)


def run(*arguments, **more):
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, cwd=FOLDER, timeout=120,
        env={**os.environ, **variables(), **more})
