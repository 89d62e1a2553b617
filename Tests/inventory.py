#!/usr/bin/env python3
"""Holds the inventory of the facades against what is public in them, and counts it.

`api-inventory.txt` has a line a symbol: its module and name, where it is declared (the documents, the interfaces of 2016,
today's documentation), and what it is on a board. It fails where a symbol is not public, where the test that is named for
it is not there or does not speak of it, where no test uses it, and where more than a twentieth, or anything of the
documents, is not on a board. With `--ours` it lists what is public beside the SDK's.

    Tests/inventory.py [--ours] [the folder that `swift build --show-bin-path` prints]
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.abspath(__file__))
MODULES = ["CoreLocation", "CoreMotion", "MapKit"]
SOURCES = {"documents", "2016", "today"}
STATES = ("behaves", "compiles", "not on a board")
LEAST = 20  # one of so many may be not on a board


def graph(module, bin_path, folder):
    """The public symbols of a module by name, with those that only override something marked. What it adds to Foundation's types
    is a graph of its own."""
    subprocess.run([os.path.join(os.path.dirname(TESTS), "Scripts/symbol-graphs.sh"), bin_path, folder, module], check=True)
    symbols = {}
    for path in (os.path.join(folder, module + end) for end in (".symbols.json", "@Foundation.symbols.json")):
        if path.endswith("@Foundation.symbols.json") and not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        overriding = {r["source"] for r in content["relationships"] if r["kind"] == "overrides"}
        for symbol in content["symbols"]:
            name = ".".join(symbol["pathComponents"])
            symbols[name] = symbols.get(name, True) and symbol["identifier"]["precise"] in overriding
    return symbols


def table():
    """The lines of the inventory: number, module, name, sources, state, reason."""
    with open(os.path.join(TESTS, "api-inventory.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            parts = [part.strip() for part in line.split("|")]
            state, _, reason = (parts[3] if len(parts) == 4 else "").partition(":")
            if len(parts) != 4 or not set(parts[2].split()) <= SOURCES or not parts[2] or state not in STATES:
                yield number, None, line, set(), "", ""
            else:
                yield number, parts[0], parts[1], set(parts[2].split()), state, reason.strip()


def word(name):
    """What a program writes to use a symbol: its own name; of an initialiser the type's; of one of a delegate's methods,
    which are all called the same, the label."""
    path = name.split(".")
    base, _, labels = path[-1].partition("(")
    if base == "init":
        return labels.split(":")[0] if labels.split(":")[0] not in ("_", ")") else path[-2]
    if base in ("locationManager", "mapView"):
        return labels.split(":")[1]
    return base.strip("`")


def speaks(text, name):
    base = word(name)
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(base)}(?![A-Za-z0-9_])", text) is not None


def tests():
    """Each file of tests by its module and name, with what its target has beside tests; and the text of the inventory's own.
    What the inventories share stands in FacadeTestSupport."""
    with open(os.path.join(TESTS, "FacadeTestSupport", "Inventory.swift"), encoding="utf-8") as file:
        shared = file.read()
    suites, used = {}, shared
    for folder in MODULES:
        texts = {}
        for path in glob.glob(os.path.join(TESTS, folder + "Tests", "*.swift")):
            with open(path, encoding="utf-8") as file:
                texts[os.path.basename(path)[:-len(".swift")]] = file.read()
        spies = "\n".join([shared] + [text for text in texts.values() if "@Test" not in text])
        suites.update({(folder, name): (text, spies) for name, text in texts.items()})
        used += "\n".join(text for name, text in texts.items() if name.startswith("Inventory"))
    used = re.sub(r"//.*", "", used)
    return suites, used


def main():
    arguments = [a for a in sys.argv[1:] if a != "--ours"]
    bin_path = arguments[0] if arguments else subprocess.run(
        ["swift", "build", "--show-bin-path"], check=True, capture_output=True, text=True,
        cwd=os.path.dirname(TESTS)).stdout.strip()
    suites, used = tests()
    with tempfile.TemporaryDirectory() as folder:
        public = {module: graph(module, bin_path, folder) for module in MODULES}

    problems, seen = [], set()
    counts = {state: 0 for state in STATES}
    for number, module, name, sources, state, reason in table():
        def problem(text):
            problems.append(f"line {number}: {name}: {text}")

        if module is None:
            problem("is not `module | symbol | documents 2016 today | behaves: test`")
            continue
        counts[state] += 1
        if (module, name) in seen:
            problem("stands there twice")
        seen.add((module, name))
        if name not in public.get(module, {}):
            problem(f"is not public in {module}")
        if not speaks(used, name):
            problem("is used in no inventory test")
        if state == "behaves":
            suite, _, test = reason.partition(".")
            text, spies = suites.get((module, suite), ("", ""))
            if not test or not re.search(rf"func {re.escape(test)}\(", text):
                problem(f"there is no test {reason}")
            elif not speaks(text + spies, name):
                problem(f"neither the file of {reason} nor its spies speak of it")
        if state == "not on a board" and (not reason or "documents" in sources):
            problem("is declared in the documents, and has to be on a board" if reason else "says not why")

    total = sum(counts.values())
    if counts["not on a board"] * LEAST > total:
        problems.append(f"{counts['not on a board']} of {total} symbols are not on a board: more than a {LEAST}th")
    ours = sorted(
        f"{module} {name}" for module, symbols in public.items() for name, overrides in symbols.items()
        if (module, name) not in seen and not overrides)
    if "--ours" in sys.argv:
        for name in ours:
            print(f"ours    {name}")
    for text in problems:
        print(f"FAILED  {text}")
    share = 100 * counts["not on a board"] / max(total, 1)
    print(
        f"{total} symbols of the SDK: {counts['behaves']} behave, {counts['compiles']} compile, "
        f"{counts['not on a board']} are not on a board ({share:.1f} %); {len(ours)} are ours")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
