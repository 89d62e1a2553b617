#!/usr/bin/env python3
"""Unplugs chips of the simulated board in a running `lodestone monitor`: monitor-unplug.py PATH-TO-LODESTONE

One chip after the other is off for ten seconds. Said must be the loss, within 2 s (a receiver: three
periods or 2 s, and the time of one message); back must be the sensor within 5 s of its return (a receiver:
its messages); and meanwhile what the other chips feed goes on without a gap. Takes a minute of real time."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LENGTH, PAUSE = 10.0, 6.0
# Chip, what it alone feeds, the longest time until its loss is said.
CHIPS = [("BMP280", "altitude", 2.0), ("u-blox", "location", 2.0), ("LIS3MDL", "heading", 2.0), ("LSM6DSOX", "heading", 2.0)]
FIRST = 10.0


def main():
    starts = {chip: FIRST + index * (LENGTH + PAUSE) for index, (chip, _, _) in enumerate(CHIPS)}
    end = FIRST + len(CHIPS) * (LENGTH + PAUSE)
    text = (ROOT / "Boards/simulated.yaml").read_text()
    # Under the open sky all the time: a gap is then the wire's doing.
    text = text.replace("fix: false", "fix: true")
    text += "\n  faults:\n" + "".join(
        f"    - {{chip: {chip}, fault: unplugged, from: {start}, seconds: {LENGTH}}}\n" for chip, start in starts.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        board = pathlib.Path(folder) / "unplug.yaml"
        board.write_text(text)
        command = [sys.argv[1], "monitor", "--board", str(board), "--seconds", str(end), "--format", "json"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=end + 60)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    broken = [] if run.returncode == 0 else [f"monitor ended with {run.returncode}: {run.stderr}"]
    for chip, feeds, limit in CHIPS:
        begin, back = starts[chip], starts[chip] + LENGTH
        states = [(line["monotonic"], line["state"], line.get("reason", "")) for line in lines
                  if line["kind"] == "sensor" and line["chip"] == chip and begin <= line["monotonic"]]
        lost = next((row for row in states if row[1] == "failed"), None)
        again = next((row for row in states if row[1] == "running" and row[0] >= back), None)
        gaps = {}
        for kind, longest in (("heading", 0.5), ("altitude", 0.5), ("location", 1.0)):
            if kind == feeds:
                continue
            times = [line["monotonic"] for line in lines if line["kind"] == kind and begin <= line["monotonic"] <= back]
            times = [begin] + times + [back]
            gaps[kind] = max(b - a for a, b in zip(times, times[1:]))
            if gaps[kind] > longest:
                broken.append(f"{kind} paused for {gaps[kind]:.2f} s while {chip} was off")
        said = lost[0] - begin if lost else float("inf")
        returned = again[0] - back if again else float("inf")
        print(f"{chip}: loss said after {said:.2f} s ({lost[2] if lost else 'never'}), back {returned:.2f} s after its return, "
              + ", ".join(f"longest gap of {kind} {gap:.2f} s" for kind, gap in gaps.items()))
        if said > limit:
            broken.append(f"{chip}: the loss was said after {said:.2f} s")
        if returned > 5:
            broken.append(f"{chip}: was back after {returned:.2f} s")
    if broken:
        sys.exit("broken: " + "; ".join(broken))


main()
