#!/usr/bin/env python3
"""Errors of a run with truth: lodestone monitor --board simulated --seconds 60 --format json --truth | this.

Prints root mean square and worst error of heading, relative altitude and position, the share of
headings whose truth lies inside their error bar, and exits 1 where a limit of the first argument set
is broken (see LIMITS)."""
import json
import math
import sys

LIMITS = {"heading rms": 1.0, "heading worst": 3.0, "altitude rms": 0.15, "altitude worst": 0.5}


def difference(a, b):
    return (a - b + 180) % 360 - 180


def main():
    heading, altitude, position = [], [], []
    inside = early_true = false_fix = 0
    first_fix = None
    start = None
    for text in sys.stdin:
        line = json.loads(text)
        assert line["v"] == 1
        truth = line.get("truth", {})
        time = line["monotonic"]
        kind = line["kind"]
        if kind == "heading" and "magneticHeading" in line:
            start = time if start is None else start
            if first_fix is None and line["trueHeading"] >= 0:
                early_true += 1
            if time - start < 2:
                continue
            error = difference(line["magneticHeading"], truth["magneticHeading"])
            tilted = max(abs(truth["pitch"]), abs(truth["roll"]))
            heading.append((error, time, tilted, line["headingAccuracy"]))
            inside += line["headingAccuracy"] >= abs(error)
        elif kind == "altitude" and "relativeAltitude" in line:
            altitude.append((line["relativeAltitude"] - truth["relativeAltitude"], time))
        elif kind == "location" and "latitude" in line and line["horizontalAccuracy"] >= 0:
            first_fix = time if first_fix is None else first_fix
            false_fix += not truth["hasFix"]
            north = (line["latitude"] - truth["latitude"]) * 111_300
            east = (line["longitude"] - truth["longitude"]) * 111_300 * math.cos(math.radians(truth["latitude"]))
            position.append((math.hypot(north, east), time))

    def show(name, rows):
        if not rows:
            print(f"{name}: nothing")
            return math.nan, math.nan
        rms = math.sqrt(sum(row[0] ** 2 for row in rows) / len(rows))
        worst = max(rows, key=lambda row: abs(row[0]))
        print(f"{name}: {len(rows)} values, rms {rms:.3f}, worst {abs(worst[0]):.3f} at {worst[1]:.1f} s")
        return rms, abs(worst[0])

    found = {}
    found["heading rms"], found["heading worst"] = show("heading deg", heading)
    for low, high in ((0, 5), (5, 30), (30, 50)):
        show(f"  tilted {low} to {high} deg", [row for row in heading if low <= row[2] < high])
    found["altitude rms"], found["altitude worst"] = show("relative altitude m", altitude)
    show("position m", position)
    if heading:
        untrusted = sum(row[3] < 0 for row in heading)
        bar = sum(row[3] for row in heading if row[3] >= 0) / max(1, len(heading) - untrusted)
        print(f"inside the bar: {100 * inside / len(heading):.1f} %, mean half-width {bar:.2f} deg, not trusted {untrusted}")
    print(f"first fix at {first_fix} s, true headings before it: {early_true}, positions while there was no sky: {false_fix}")
    broken = [name for name, limit in LIMITS.items() if not found[name] <= limit]
    if early_true or false_fix:
        broken.append("a value that was invented")
    if broken:
        print("broken:", ", ".join(broken))
        sys.exit(1)


main()
