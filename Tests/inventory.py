#!/usr/bin/env python3
"""Checks the inventory of the facades against what is public in them.

`api-inventory.txt` has a line for every public symbol of CoreLocation, CoreMotion and MapKit:

    module | symbol | declaration | where the SDK declares it | what it is on a board     the SDK's symbols
    module | symbol | declaration                                                         ours, after the line "# Ours"

The first three columns are generated from the symbol graphs of the built modules; the other two are written by hand.
The check fails, with a line for each, if a public symbol is not in the file, if a symbol of the file is not public, if a
declaration differs, if the test that is named for a symbol does not exist or its file does not mention the symbol, and
if more than a twentieth of the SDK's symbols, or one that the documents declare, is not on a board.

    Tests/inventory.py [BIN]            checks
    Tests/inventory.py --write [BIN]    regenerates the file

BIN is the folder that `swift build --show-bin-path` prints (the default); the modules have to be built.

`--write` keeps the hand-written columns of every symbol that is still public, prints and drops the lines of the others,
and appends a symbol that is new to "# Ours". To add a symbol of the SDK, write its line first, with an empty declaration.

A declaration is what `swift symbolgraph-extract` prints, after its access level: types with their superclass and their
conformances, requirements of protocols that have a default implementation as `optional`, as the SDK declares them, and
deprecated symbols with `@available(*, deprecated)`. An override that adds nothing to the API needs no line. Whitespace,
backticks and the conformances that a compiler adds by itself are left out, because they differ between compilers. The
file names the compiler that it was written with, which is CI's. Another one is held against the same declarations; if
they differ, the check fails and names both compilers, because the difference may be one of spelling only.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

TESTS = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(TESTS, "api-inventory.txt")
MODULES = ["CoreLocation", "CoreMotion", "MapKit"]
SOURCES = {"documents", "2016", "today"}
STATES = ("behaves", "compiles", "not on a board")
LEAST = 20  # at most one symbol out of this many may be "not on a board"
OURS = "# Ours"
COMPILER = re.compile(r"# The declarations are spelled as Swift (\S+) prints them\.")

# What every class has from NSObject, and what compilers since 6.0 add to types by themselves.
OF_OBJECTS = {"NSObjectProtocol", "Equatable", "Hashable", "CVarArg", "CustomStringConvertible",
              "CustomDebugStringConvertible"}
OF_COMPILERS = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}


class Graph:
    """The public symbols of a module: `symbols` has their declarations by name, and whether each only overrides."""

    def __init__(self, contents):
        self.symbols = defaultdict(dict)
        self.compiler = None
        for content in contents:
            self.read(content)

    def read(self, content):
        self.compiler = re.search(r"Swift version (\S+)", content["metadata"]["generator"])[1]
        names = {s["identifier"]["precise"]: ".".join(s["pathComponents"]) for s in content["symbols"]}
        targets = defaultdict(lambda: defaultdict(list))
        for relation in content["relationships"]:
            targets[relation["kind"]][relation["source"]].append(relation)
        spelled = {s["identifier"]["precise"]: spelling(s) for s in content["symbols"]}
        # A requirement and its default implementation are one symbol of the API: an optional method.
        optional, defaults = set(), set()
        for source, relations in targets["defaultImplementationOf"].items():
            for target in (relation["target"] for relation in relations):
                if spelled.get(source) and spelled.get(source) == spelled.get(target):
                    optional.add(target)
                    defaults.add(source)

        def parents(kind, source):
            for relation in targets[kind][source]:
                name = names.get(relation["target"]) or relation["targetFallback"].split(".", 1)[-1]
                yield name, relation["target"]

        def conformances(source):
            return {name for name, _ in parents("conformsTo", source)} - OF_COMPILERS

        for symbol in content["symbols"]:
            identifier = symbol["identifier"]["precise"]
            if identifier in defaults:
                continue
            text = spelled[identifier]
            if identifier in optional:
                text = "optional " + text
            if symbol["kind"]["identifier"] in ("swift.class", "swift.struct", "swift.enum"):
                above = list(parents("inheritsFrom", identifier))
                extra = conformances(identifier)
                for _, superclass in above:
                    extra -= OF_OBJECTS | conformances(superclass)
                if above or extra:
                    text += " : " + ", ".join([name for name, _ in above] + sorted(extra))
            text = f"{symbol['accessLevel']} {text}"
            if any(a.get("isUnconditionallyDeprecated") for a in symbol.get("availability", [])):
                text = "@available(*, deprecated) " + text
            name = ".".join(symbol["pathComponents"])
            self.symbols[name][text] = identifier in targets["overrides"]


def spelling(symbol):
    """A symbol's declaration as the compiler prints it, on one line."""
    text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
    return " ".join(text.replace("`", "").split())


def graph(module, bin_path, folder):
    """The graph of a built module, with that of what it adds to Foundation's types."""
    script = os.path.join(os.path.dirname(TESTS), "Scripts/symbol-graphs.sh")
    subprocess.run([script, bin_path, folder, module], check=True)
    contents = []
    for path in sorted(glob.glob(os.path.join(folder, module + "*.symbols.json"))):
        with open(path, encoding="utf-8") as file:
            contents.append(json.load(file))
    return Graph(contents)


class Line:
    """A line of the inventory. `fault` says what is wrong with its columns."""

    def __init__(self, number, text, is_ours):
        parts = [part.strip() for part in text.split("|")]
        self.number, self.is_ours, self.fault = number, is_ours, None
        self.module, self.name, self.declaration = (parts + ["", ""])[:3]
        self.columns = parts[3:]
        self.state, _, self.reason = (self.columns[1] if len(self.columns) == 2 else "").partition(":")
        self.reason = self.reason.strip()
        if is_ours and len(parts) != 3:
            self.fault = "is not `module | symbol | declaration`"
        elif not is_ours and (len(parts) != 5 or self.state not in STATES or not self.sources
                              or not self.sources <= SOURCES):
            self.fault = "is not `module | symbol | declaration | documents 2016 today | behaves: test`"

    @property
    def sources(self):
        return set(self.columns[0].split()) if self.columns else set()

    @property
    def key(self):
        order = MODULES.index(self.module) if self.module in MODULES else len(MODULES)
        return order, self.name, self.declaration

    def __str__(self):
        return " | ".join([self.module, self.name, self.declaration] + self.columns)


class Inventory:
    """The file: its comments before each section, and its lines."""

    def __init__(self, text):
        self.comments, self.lines, self.compiler = {False: [], True: []}, [], None
        is_ours = False
        for number, line in enumerate(text.splitlines(), 1):
            is_ours = is_ours or line == OURS
            self.compiler = self.compiler or (match[1] if (match := COMPILER.match(line)) else None)
            if line.startswith("#"):
                self.comments[is_ours].append(line)
            elif line.strip():
                self.lines.append(Line(number, line, is_ours))

    def __str__(self):
        sections = []
        for is_ours in (False, True):
            lines = sorted((line for line in self.lines if line.is_ours == is_ours), key=lambda line: line.key)
            sections.append("\n".join(self.comments[is_ours] + [""] + [str(line) for line in lines]))
        return "\n\n".join(sections) + "\n"

    def rewrite(self, graphs):
        """Takes over what is public; returns a line for each that is new, dropped or declared differently. Of overloads that
        are declared differently nobody can tell which is which: their lines are dropped, to be written by hand."""
        by_name, said = defaultdict(list), []
        for line in self.lines:
            by_name[line.module, line.name].append(line)
        self.lines = []
        for module, public in graphs.items():
            for name, declarations in public.symbols.items():
                lines = by_name.pop((module, name), [])
                left = [d for d in sorted(declarations) if d not in [line.declaration for line in lines]]
                changed = [line for line in lines if line.declaration not in declarations]
                self.lines += [line for line in lines if line not in changed]
                if len(left) == len(changed) == 1:
                    said.append(f"declared {module} {name}: {left[0]}, before: {changed[0].declaration or 'nothing'}")
                    changed[0].declaration = left.pop()
                    self.lines += changed
                else:
                    said += [f"dropped  {line}" for line in changed]
                for declaration in left:
                    if not declarations[declaration]:
                        self.lines.append(Line(0, f"{module} | {name} | {declaration}", True))
                        said.append(f"ours     {module} {name}: {declaration}")
        said += [f"dropped  {line}" for lines in by_name.values() for line in lines]
        written = f"# The declarations are spelled as Swift {next(iter(graphs.values())).compiler} prints them."
        self.comments[False] = [written if COMPILER.match(c) else c for c in self.comments[False]]
        return said


def words(name):
    """What a program writes to use a symbol: its own name; of an initialiser the type's or the first label; of a delegate's
    methods, which all have one name, the label; of what only archives call, the archives."""
    path = name.split(".")
    base, _, labels = path[-1].partition("(")
    label = labels.split(":")[0]
    if base == "encode":
        return ["NSKeyedArchiver"]
    if path[-1] == "init(coder:)":
        return ["coder", "NSKeyedUnarchiver"]
    if base == "init":
        return [label if label not in ("_", ")") else path[-2]]
    if base in ("locationManager", "mapView"):
        return [labels.split(":")[1]]
    return [base]


def tests():
    """The text of each test file by module and name, with the words in it and in the files beside it that have no tests."""
    suites = {}
    for folder in MODULES:
        texts = {}
        for path in glob.glob(os.path.join(TESTS, folder + "Tests", "*.swift")):
            with open(path, encoding="utf-8") as file:
                texts[os.path.basename(path)[:-len(".swift")]] = file.read()
        spoken = {name: set(re.findall(r"[A-Za-z0-9_]+", text)) for name, text in texts.items()}
        spies = set().union(*(spoken[name] for name, text in texts.items() if "@Test" not in text))
        suites.update({(folder, name): (text, spoken[name] | spies) for name, text in texts.items()})
    return suites


def symbol_problems(inventory, graphs):
    """Where the lines and what is public differ."""
    by_name = defaultdict(list)
    for line in inventory.lines:
        if line.fault:
            yield f"line {line.number}: {line.name or line}: {line.fault}"
        by_name[line.module, line.name].append(line)
    for (module, name), lines in by_name.items():
        public = graphs[module].symbols.get(name, {}) if module in graphs else {}
        missing = [d for d in sorted(public) if d not in [line.declaration for line in lines]]
        for index, line in enumerate(lines):
            where = f"line {line.number}: {name}"
            if not public:
                yield f"{where}: is not public in {module}"
            elif line.declaration in [other.declaration for other in lines[:index]]:
                yield f"{where}: has this line twice"
            elif line.declaration not in public:
                declared = f"is declared `{missing.pop(0)}`" if missing else f"is no longer declared in {module}"
                yield f"{where}: {declared}, and the file has `{line.declaration}`"
        for declaration in missing:
            if not public[declaration]:
                yield f"{module} {name}: has no line for `{declaration}`"
    for module, public in graphs.items():
        for name, declarations in sorted(public.symbols.items()):
            for declaration, overrides in sorted(declarations.items()):
                if (module, name) not in by_name and not overrides:
                    yield f"{module} {name}: is public and not in the file: `{declaration}`"


def test_problems(inventory, suites):
    """Where what a symbol is on a board is not shown, or not explained."""
    for line in inventory.lines:
        where = f"line {line.number}: {line.name}"
        if line.state == "behaves":
            suite, _, test = line.reason.partition(".")
            text, spoken = suites.get((line.module, suite), ("", set()))
            if not test or not re.search(rf"func {re.escape(test)}\(", text):
                yield f"{where}: there is no test {line.reason}"
            elif not spoken.intersection(words(line.name)):
                yield f"{where}: neither the file of {line.reason} nor its spies speak of it"
        elif line.state == "not on a board" and not line.reason:
            yield f"{where}: does not say why it is not on a board"
        elif line.state == "not on a board" and "documents" in line.sources:
            yield f"{where}: is declared in the documents, and has to be on a board"


def counts(inventory):
    """The number of symbols in each state; overloads are one symbol."""
    states = {(line.module, line.name): line.state for line in inventory.lines if not line.is_ours}
    ours = {(line.module, line.name) for line in inventory.lines if line.is_ours}
    return {state: list(states.values()).count(state) for state in STATES}, len(ours)


def check(inventory, graphs, suites):
    """Every problem, one a line."""
    problems = [*symbol_problems(inventory, graphs), *test_problems(inventory, suites)]
    compiler = next(iter(graphs.values())).compiler
    if compiler != inventory.compiler and any("is declared `" in text for text in problems):
        problems.append(f"these declarations are Swift {compiler}'s, those of the file Swift {inventory.compiler}'s: "
                        f"where only the spelling differs, check with {inventory.compiler}")
    states, _ = counts(inventory)
    total, absent = sum(states.values()), states["not on a board"]
    if absent * LEAST > total:
        problems.append(f"{absent} of {total} symbols are not on a board: more than a {LEAST}th")
    return problems


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    bin_path = arguments[0] if arguments else subprocess.run(
        ["swift", "build", "--show-bin-path"], check=True, capture_output=True, text=True,
        cwd=os.path.dirname(TESTS)).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        graphs = {module: graph(module, bin_path, folder) for module in MODULES}
    with open(FILE, encoding="utf-8") as file:
        inventory = Inventory(file.read())
    if "--write" in sys.argv:
        for text in inventory.rewrite(graphs):
            print(text)
        with open(FILE, "w", encoding="utf-8") as file:
            file.write(str(inventory))
        return 0
    problems = check(inventory, graphs, tests())
    for text in problems:
        print(f"FAILED  {text}")
    states, ours = counts(inventory)
    total = sum(states.values())
    print(
        f"{total} symbols of the SDK: {states['behaves']} behave, {states['compiles']} compile, "
        f"{states['not on a board']} are not on a board ({100 * states['not on a board'] / max(total, 1):.1f} %); "
        f"{ours} are ours")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
