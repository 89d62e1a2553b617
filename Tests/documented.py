#!/usr/bin/env python3
"""Checks that every public symbol of the package's libraries is documented.

It fails on a public symbol without a comment, but for what the compiler has made; and on one that `api-inventory.txt` calls
`not on a board` and whose comment does not speak of the board. The modules have to be built for debugging.

    Tests/documented.py [the folder that `swift build --show-bin-path` prints]
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import inventory

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
MODULES = [
    "CoreLocation", "CoreMotion", "MapKit", "FoundationCombine", "Lodestone", "LocationServices", "SensorTypes",
    "LinearAlgebra", "Geodesy", "Geomagnetism", "FusionCore", "CalibrationCore", "GNSSProtocol",
]


def symbols(bin_path):
    """Every public symbol of the modules that a person has written: module, name, place, comment."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [os.path.join(ROOT, "Scripts/symbol-graphs.sh"), bin_path, folder, *MODULES], check=True)
        # What a module adds to another one's types is a graph of its own: Lodestone@SensorHub.
        for path in sorted(glob.glob(os.path.join(folder, "*.symbols.json"))):
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
            module = content["module"]["name"]
            written = [s for s in content["symbols"] if "location" in s]
            if content["symbols"] and not written:
                sys.exit(f"{module} was built without the places of its symbols: build it for debugging")
            for symbol in written:
                place = symbol["location"]
                file = os.path.relpath(place["uri"].removeprefix("file://"), ROOT)
                lines = symbol.get("docComment", {}).get("lines", [])
                yield (
                    module, ".".join(symbol["pathComponents"]),
                    f"{file}:{place['position']['line'] + 1}",
                    " ".join(line["text"] for line in lines).strip())


def absent():
    """What the inventory calls not on a board: module and name."""
    with open(inventory.FILE, encoding="utf-8") as file:
        for line in inventory.Inventory(file.read()).lines:
            if line.state == "not on a board":
                yield line.module, line.name


def main():
    bin_path = sys.argv[1] if len(sys.argv) > 1 else subprocess.run(
        ["swift", "build", "--show-bin-path"], check=True, capture_output=True, text=True,
        cwd=ROOT).stdout.strip()
    missing = set(absent())
    problems, counts, said = [], dict.fromkeys(MODULES, 0), 0
    for module, name, place, comment in symbols(bin_path):
        counts[module] += 1
        if not comment:
            problems.append(f"{place}: {name} has no comment")
        elif (module, name) in missing:
            said += 1
            if "board" not in comment:
                problems.append(f"{place}: {name} is not on a board, and does not say so")
    for text in sorted(problems):
        print(f"FAILED  {text}")
    parts = ", ".join(f"{module} {count}" for module, count in counts.items())
    print(
        f"{sum(counts.values())} public symbols ({parts}), {said} of them not on a board: "
        + (f"{len(problems)} do not say what they are" if problems else "each says what it is"))
    return 1 if problems or not all(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
