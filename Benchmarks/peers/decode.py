#!/usr/bin/env python3
"""Receivers' logs through `lodestone decode` and gpsd's `gpsdecode`, in turns: decode.py [FOLDER] [--repetitions 7] [--no-memory]

FOLDER: the logs (*.log), else data/gps/gpsd of $LODESTONE_SHARED, else of ../shared beside the checkout. They are joined
and repeated to 26 MB, from a file in memory where /dev/shm is; output goes to /dev/null. What is compared is the time on
the processor (user and system), which other programs on the machine disturb less than the clock on the wall; the clock's
is printed too. `decode-speed` lexes and decodes the same bytes and prints nothing of them.

Then memory: 100 MB and 1 GB through a pipe, and how much `lodestone decode` had resident at most (VmHWM).

$LODESTONE and $DECODE_SPEED name programs that are built already. The last line is JSON. Exit code 1 where
`lodestone decode` is slower than gpsdecode, lexing and decoding less than 3 times as fast, or memory grows by more than
1 MB from the one to the other."""
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
SIZE = 26_000_000


def build(package, product):
    # A plan that SwiftPM has kept knows nothing of files that were added to the package above.
    command = ["swift", "build", "-c", "release", "--disable-build-manifest-caching", "--package-path", str(package)]
    subprocess.run([*command, "--product", product], check=True, stdout=sys.stderr)
    return subprocess.run(
        [*command, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip() + "/" + product


def run(arguments, log):
    """Seconds on the processor, and on the wall."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(log, "rb") as source:
        subprocess.run(arguments, stdin=source, stdout=subprocess.DEVNULL, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def resident(command, block, size, form):
    """The most that the command had resident, kB, when it had taken so many bytes through a pipe."""
    process = subprocess.Popen(
        [command, "decode", "-", "--format", form], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    for _ in range(-(-size // len(block))):
        process.stdin.write(block)
    process.stdin.flush()
    # All but what the pipe holds is read.
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    process.stdin.close()
    if process.wait() != 0:
        sys.exit(f"lodestone decode --format {form} failed")
    return int(status.split("VmHWM:")[1].split()[0])


def main():
    words = sys.argv[1:]
    repetitions = int(words[words.index("--repetitions") + 1]) if "--repetitions" in words else 7
    folders = [word for word in words[:1] if not word.startswith("--")]
    shared = pathlib.Path(os.environ.get("LODESTONE_SHARED", PACKAGE.parent / "../shared"))
    folder = pathlib.Path(folders[0]) if folders else shared / "data/gps/gpsd"
    logs = sorted(folder.glob("*.log"))
    if not logs:
        sys.exit(f"decode.py: no logs in {folder}")
    if not shutil.which("gpsdecode"):
        sys.exit("decode.py: gpsdecode is missing (Debian: apt-get install gpsd-clients)")
    lodestone = os.environ.get("LODESTONE") or build(PACKAGE.parent, "lodestone")
    speed = os.environ.get("DECODE_SPEED") or build(PACKAGE, "decode-speed")
    once = b"".join(log.read_bytes() for log in logs)
    block = once * max(1, -(-SIZE // len(once)))
    programs = {
        "gpsdecode": ["gpsdecode"],
        "lodestone decode": [lodestone, "decode", "-", "--format", "json"],
    }
    times = {name: [] for name in [*programs, "lexing and decoding"]}
    walls = {name: [] for name in programs}
    with tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as log:
        log.write(block)
        log.flush()
        for _ in range(repetitions):
            for name, arguments in programs.items():
                used, wall = run(arguments, log.name)
                times[name].append(used)
                walls[name].append(wall)
            output = subprocess.run([speed, log.name], check=True, capture_output=True, text=True).stdout
            times["lexing and decoding"].append(json.loads(output.splitlines()[-1])["best"])
    size = len(block) / 1e6
    print(f"{len(logs)} logs, {size:.1f} MB, {repetitions} runs of each in turns; seconds on the processor")
    for name, values in times.items():
        best, median = min(values), statistics.median(values)
        wall = f"; on the wall {min(walls[name]):.2f} / {statistics.median(walls[name]):.2f}" if name in walls else ""
        print(f"{name:20} min {best:.3f}  median {median:.3f}  {size / median:6.0f} MB/s{wall}")
    reference = statistics.median(times["gpsdecode"])
    ratio = reference / statistics.median(times["lodestone decode"])
    alone = reference / statistics.median(times["lexing and decoding"])
    print(f"lodestone decode is {ratio:.2f} times as fast, lexing and decoding alone {alone:.1f} times")
    report = {"bytes": len(block), "ratio": round(ratio, 3), "lexingRatio": round(alone, 2)}
    failed = ratio < 1 or alone < 3
    if "--no-memory" not in words:
        for form in ("json", "gpx"):
            small, large = (resident(lodestone, block, bytes, form) for bytes in (100_000_000, 1_000_000_000))
            print(f"resident at most, --format {form}: {small} kB after 100 MB, {large} kB after 1 GB")
            report[form + "Resident"] = [small, large]
            failed = failed or large > small + 1_000
    print(json.dumps(report))
    return 1 if failed else 0


sys.exit(main())
