#!/usr/bin/env python3
"""Plants small faults in the sources and counts how many of them the tests notice.

    mutants.py run [--only N,N..] [--list L] [--folder F]   builds a copy with every fault of Tests/mutants.tsv, and tries them
    mutants.py propose SEED NUMBER [--target T]             prints as many lines for that list

A fault is one line that says something else: `+` for `-`, `<` for `>`, another constant, a statement left out. All of them are
compiled into one copy of the project, each behind a switch (schemata: R. Untch and others, "Mutation analysis using mutant
schemata", 1993). A byte a fault, in a file that every process maps, says whether it is on, and the code says there that it was
reached. Each fault is tried with the tests of its own target first; as long as none fails, with those of every other target
that reach it, the quick ones first. A slow target is taken suite by suite.

A fault is noticed when a test fails, crashes, or does not come to an end in four times its time. The exit code is 0 if all compile and
at least 85 of 100 are noticed, else 1.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "Tests" / "mutants.tsv"
# Sources that are data, and programs that tests run as processes of another build.
EXCLUDED_TARGETS = {"CLinuxIO", "CMapDrawing", "FoundationCombine", "LodestoneProgram", "ImportNames"}
# Targets whose tests take longer, in seconds, are run suite by suite.
SLOW = 15
SWITCH = '''\
// Made by Tests/mutants.py: which of the planted faults are on.

import Glibc

/// A byte a fault: 1 where it is on, 2 is added once it was reached.
private nonisolated(unsafe) let mutantBytes: UnsafeMutablePointer<UInt8>? = {
  guard let path = getenv("LODESTONE_MUTANTS") else { return nil }
  let file = open(path, O_RDWR | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  guard let map = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED
  else { return nil }
  return map.assumingMemoryBound(to: UInt8.self)
}()

@inline(never) func isMutant(_ number: Int) -> Bool {
  guard let mutantBytes else { return false }
  let byte = mutantBytes[number]
  if byte & 2 == 0 { mutantBytes[number] = byte | 2 }
  return byte & 1 != 0
}
'''


class Mutant:
    """A line of the list: number, file, the line as it is, the line as it is planted, why no test can tell."""

    def __init__(self, number, path, line, fault, reason=""):
        self.number, self.path, self.line, self.fault, self.reason = int(number), path, line, fault, reason

    @property
    def target(self):
        return self.folder.name

    @property
    def folder(self):
        """Where the sources of its target are."""
        return Path(*Path(self.path).parts[: 3 if self.path.startswith("Tests/Rig/") else 2])

    def planted(self, line):
        """The line with both behind the switch; `None` where its form is not known."""
        indent = line[: len(line) - len(line.lstrip())]
        switch = f"isMutant({self.number})"
        if not self.fault:
            return f"{indent}if !{switch} {{ {self.line} }}"
        for form in FORMS:
            was, now = form.fullmatch(self.line), form.fullmatch(self.fault)
            if was and now and was["head"] == now["head"] and was["tail"] == now["tail"]:
                return f"{indent}{was['head']}({switch} ? ({now['value']}) : ({was['value']})){was['tail']}"
        if ASSIGNMENT.match(self.line) and ASSIGNMENT.match(self.fault):
            return f"{indent}if {switch} {{ {self.fault} }} else {{ {self.line} }}"
        return None


VALUE = r"(?P<value>[^{}]+)"
FORMS = [
    re.compile(r"(?P<head>return )" + VALUE + r"(?P<tail>)"),
    re.compile(r"(?P<head>(?:(?:package|public|private|static) )*(?:let|var) \w+(?:: [\w<>.\[\]? ]+)? = )" + VALUE
               + r"(?P<tail>)"),
    re.compile(r"(?P<head>(?:if|while|\} else if) (?!let |var |case |#))(?P<value>[^{},]+)(?P<tail> \{.*)"),
    re.compile(r"(?P<head>(?:package |public |private )?(?:static )?(?:var|func) [^{}]*\{ )(?P<value>[^{};]+)(?P<tail> \})"),
    re.compile(r"(?P<head>guard (?!let |var |case ))(?P<value>[^{},]+)(?P<tail> else \{.*)"),
]
ASSIGNMENT = re.compile(r"[\w.\[\]() +*-]+ [-+*/&|]?= [^{}]+|[\w.]+\(.*\)|[\w.]+ \+= .*")


def balanced(text):
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return False
    return depth == 0


NUMBER = r"(?<![\w.])(\d[\d_]*(?:\.\d+)?(?:e-?\d+)?)(?![\w.])"


def changed_number(match, generator):
    text = match.group(1).replace("_", "")
    if "." in text or "e" in text:
        return repr(float(text) * generator.choice([0.5, 2.0, 3.0])) if float(text) else "1.0"
    return str(int(text) + generator.choice([1, -1]) if int(text) else 1)


def swap(old, new):
    return (re.compile(re.escape(old)), lambda match, generator: new)


OPERATORS = [
    swap(" + ", " - "), swap(" - ", " + "), swap(" * ", " / "), swap(" / ", " * "), swap(" < ", " >= "), swap(" > ", " <= "),
    swap(" <= ", " < "), swap(" >= ", " > "), swap(" < ", " <= "), swap(" > ", " >= "), swap(" == ", " != "),
    swap(" != ", " == "), swap(" && ", " || "), swap(" || ", " && "), swap("min(", "max("), swap("max(", "min("),
    swap("sin(", "cos("), swap("cos(", "sin("), swap(" << ", " >> "), swap(" >> ", " << "), swap(" & ", " | "), swap(" | ", " & "),
    swap("true", "false"), swap("false", "true"), swap(".first", ".last"), swap(".last", ".first"),
    swap("..<", "..."), swap(" += ", " -= "), swap(" -= ", " += "), swap(".up", ".down"), swap(".down", ".up"),
    (re.compile(r"(?<![\w)])!(?=[\w(])"), lambda match, generator: ""),
    (re.compile(r"(?<![\w) ])-(?=[\w(])"), lambda match, generator: ""),
    (re.compile(NUMBER), changed_number), (re.compile(NUMBER), changed_number),
]


def mutations(line, generator):
    """What a line could say instead, one fault each."""
    found = []
    for pattern, replace in OPERATORS:
        for match in pattern.finditer(line):
            fault = line[: match.start()] + replace(match, generator) + line[match.end():]
            if fault != line:
                found.append(fault)
    if re.fullmatch(r"\w+(?:\.\w+)*(?:\.\w+\(.*\)| = [\w.]+| [-+]= .+)", line) and balanced(line) \
            and not re.match(r"(self|super|return|case|throw|break|continue|default)\b", line) and not line.endswith(","):
        found.append("")
    return found


def propose(arguments):
    generator = random.Random(arguments.seed)
    sources = {}
    twins = (ROOT / "Tests/Rig/TwinServing").rglob("*.swift")
    for path in sorted((ROOT / "Sources").glob("*/**/*.swift")) + sorted(twins):
        target = Mutant(0, str(path.relative_to(ROOT)), "", "").target
        if target in EXCLUDED_TARGETS or arguments.target not in (None, target):
            continue
        lines = path.read_text().split("\n")
        if sum(bool(re.match(r"\s*(0x|[-\d\"])", line)) for line in lines) > len(lines) / 4:
            continue
        sources.setdefault(target, []).append((path, lines))
    targets = sorted(sources)
    # Large targets get more, small ones are not forgotten.
    weights = [sum(len(lines) for _, lines in sources[target]) ** 0.5 for target in targets]
    proposed, seen, tries = [], set(), 0
    while len(proposed) < arguments.number and tries < 1000 * arguments.number:
        tries += 1
        target = generator.choices(targets, weights)[0]
        path, lines = generator.choices(sources[target], [len(lines) for _, lines in sources[target]])[0]
        index = generator.randrange(len(lines))
        line = lines[index].strip()
        comment = line.startswith("//") or "//" in line or '"' in line or not line or not balanced(line)
        if comment or (path, index) in seen or lines.count(lines[index]) > 1:
            continue
        if index and re.search(r"(&&|\|\||[-+*/=?:,(\[])$", lines[index - 1].rstrip()):
            continue
        if index + 1 < len(lines) and re.match(r"\s*(&&|\|\||[-+*/?:.] ?|\.)", lines[index + 1]):
            continue
        number = len(proposed) + arguments.first
        choices = [Mutant(number, str(path.relative_to(ROOT)), line, fault) for fault in mutations(line, generator)]
        choices = [choice for choice in choices if choice.planted(lines[index])]
        if choices:
            seen.add((path, index))
            proposed.append(generator.choice(choices))
    for mutant in proposed:
        print(mutant.number, mutant.path, mutant.line, mutant.fault, sep="\t")


def read_list(path=LIST):
    mutants = []
    for text in Path(path).read_text().splitlines():
        if text and not text.startswith("#"):
            number, path, line, fault, reason = (text.split("\t") + ["", ""])[:5]
            mutants.append(Mutant(number, path, line, fault, reason))
    return mutants


def plant(mutants, folder):
    """Makes the copy with all faults in it. Returns what stands nowhere any more, or more than once."""
    stale = []
    for path in sorted({mutant.path for mutant in mutants}):
        file = folder / path
        lines = file.read_text().split("\n") if file.exists() else []
        for mutant in (mutant for mutant in mutants if mutant.path == path):
            places = [index for index, line in enumerate(lines) if line.strip() == mutant.line]
            planted = mutant.planted(lines[places[0]]) if len(places) == 1 else None
            if planted is None:
                stale.append(mutant)
                continue
            lines[places[0]] = planted
        if lines:
            file.write_text("\n".join(lines))
    for place in {mutant.folder for mutant in mutants}:
        (folder / place / "MutantSwitch.swift").write_text(SWITCH)
    return stale


class Trial:
    """Runs of the built copy."""

    def __init__(self, folder, mutants):
        self.folder = folder
        self.switches = folder / "mutants.bin"
        self.switches.write_bytes(bytes(4096))
        self.mutants = mutants

    def build(self):
        """Returns the paths of the sources that the compiler refuses; a path that is empty says that the build failed otherwise."""
        built = subprocess.run(["Scripts/build.sh", "--tests"], cwd=self.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        print(built.stdout, end="", flush=True)
        if built.returncode == 0:
            return set()
        refused = re.findall(rf"^{re.escape(str(self.folder))}/(\S+\.swift):\d+:\d+: error", built.stdout, re.MULTILINE)
        return set(refused) or {""}

    def set(self, number):
        data = bytearray(4096)
        if number is not None:
            data[number] = 1
        with open(self.switches, "r+b") as file:
            file.write(data)

    def reached(self):
        """The numbers of the faults that a run has come by."""
        data = self.switches.read_bytes()
        return {mutant.number for mutant in self.mutants if data[mutant.number] & 2}

    def suites(self, target):
        """The patterns of a target's suites, one each."""
        listed = subprocess.run(["swift", "test", "list", "--skip-build", "-c", "release", "-Xswiftc", "-enable-testing"],
                                cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        names = {re.split(r"[/(]", line)[0] for line in listed.stdout.splitlines() if line.startswith(target + ".")}
        return [f"^{re.escape(name)}[/(]" for name in sorted(names)]

    def measured(self, pattern, limit):
        """Runs tests without a fault: the outcome, the seconds, the first test that failed, and the faults that were reached."""
        return *self.run(None, pattern, limit), self.reached()

    def run(self, number, pattern, limit):
        """Runs tests with one fault. Returns "noticed", "late" or "passed", the seconds, and the first test that failed."""
        self.set(number)
        begun = time.monotonic()
        command = ["Scripts/build.sh", "--test", "--filter", pattern]
        environment = {**os.environ, "LODESTONE_MUTANTS": str(self.switches)}
        environment.pop("LODESTONE_WRITE_FIGURES", None)
        with open(self.folder / "mutants.log", "w+", errors="replace") as log:
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                # The runner of the tests has a process group of its own, in the same session.
                subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
                process.wait()
                return "late", time.monotonic() - begun, ""
            log.seek(0)
            text = log.read()
        failed = re.search(r"Test (\S.*?) (?:failed|recorded an issue)", text)
        crashed = "" if failed or code == 0 else "a crash"
        return ("passed" if code == 0 else "noticed"), time.monotonic() - begun, failed.group(1) if failed else crashed


def run(arguments):
    mutants = read_list(arguments.list)
    folder = Path(arguments.folder or os.environ.get("LODESTONE_CACHE", str(Path.home() / ".cache/lodestone"))) / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    fresh = folder.parent / "mutants.new"
    shutil.rmtree(fresh, ignore_errors=True)
    for name in names:
        if (ROOT / name).is_file():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, fresh / name)
            shutil.copymode(ROOT / name, fresh / name)
    stale = plant(mutants, fresh)
    for mutant in stale:
        print(f"mutant {mutant.number}: {mutant.path} has no such line, or several: {mutant.line}", file=sys.stderr)
    if stale:
        return 1
    subprocess.run([ROOT / "Scripts" / "mirror.py", fresh, folder, "mutants.bin", "mutants.log"], check=True)
    shutil.rmtree(fresh)
    os.environ.setdefault("LODESTONE_SHARED", str((ROOT / "../shared").resolve()))
    trial = Trial(folder, mutants)
    uncompiled = []
    while refused := trial.build():
        broken = [mutant for mutant in mutants if mutant.path in refused]
        if not broken:
            print("mutants: the copy does not build", file=sys.stderr)
            return 1
        # The others are tried all the same.
        for path in {mutant.path for mutant in broken}:
            shutil.copyfile(ROOT / path, folder / path)
        mutants = [mutant for mutant in mutants if mutant not in broken]
        uncompiled += broken
    trial.mutants = mutants
    if arguments.only:
        # All are planted, so that the same build serves the next run.
        wanted = {int(number) for number in arguments.only.split(",")}
        mutants = [mutant for mutant in mutants if mutant.number in wanted]
    for mutant in uncompiled:
        print(f"{mutant.number:3d}  does not compile, or another fault of {mutant.path}", flush=True)
    # By what can be run alone: how long it takes, and which faults it reaches. The tests of the architecture read the sources, in
    # which the faults stand, and run none of them.
    reaches = {}
    for target in sorted(path.name for path in (ROOT / "Tests").glob("*Tests") if path.name != "ArchitectureTests"):
        measured = {f"^{target}\\.": trial.measured(f"^{target}\\.", SLOW)}
        if any(outcome == "late" for outcome, *_ in measured.values()):
            measured = {pattern: trial.measured(pattern, 1200) for pattern in trial.suites(target)}
        for pattern, (outcome, seconds, failed, reached) in measured.items():
            if outcome != "passed":
                print(f"mutants: without a fault {pattern} has {outcome} {failed}", file=sys.stderr)
                return 1
            reaches[pattern] = seconds, reached
    whole = sum(seconds for seconds, _ in reaches.values())
    print(f"all tests without a fault: {whole:.0f} s", flush=True)
    survivors, noticed = [], 0
    for mutant in mutants:
        own = f"^{mutant.target}Tests\\."
        suites = [suite for suite in reaches if mutant.number in reaches[suite][1]]
        suites.sort(key=lambda suite: (not suite.startswith(own), reaches[suite][0]))
        outcome, seconds, failed, where = "passed", 0, "", "no test reaches it"
        for where in suites:
            outcome, tried, failed = trial.run(mutant.number, where, 30 + 4 * reaches[where][0])
            seconds += tried
            if outcome != "passed":
                break
        else:
            where = f"{len(suites)} suites reach it" if suites else where
        said = {"passed": "NOT NOTICED", "late": "does not end", "noticed": "noticed"}[outcome]
        print(f"{mutant.number:3d}  {said}  {seconds:5.0f} s  {where}  {mutant.path}  {failed}", flush=True)
        if outcome == "passed":
            survivors.append(mutant)
            print(f"       {mutant.line}\n       {mutant.fault or '(left out)'}\n       {mutant.reason}", flush=True)
        else:
            noticed += 1
    share = 100 * noticed / max(1, len(mutants))
    print(f"mutants: {noticed} of {len(mutants)} noticed ({share:.0f} %)")
    return 0 if share >= 85 and not uncompiled else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("--only", help="the numbers of those that are tried, with commas")
    running.add_argument("--list", default=LIST, help="another list in the form of Tests/mutants.tsv")
    running.add_argument("--folder", help="where the copy is built; by default LODESTONE_CACHE")
    proposing = commands.add_parser("propose")
    proposing.add_argument("seed", type=int)
    proposing.add_argument("number", type=int)
    proposing.add_argument("--target")
    proposing.add_argument("--first", type=int, default=1)
    arguments = parser.parse_args()
    return propose(arguments) if arguments.command == "propose" else run(arguments)


if __name__ == "__main__":
    sys.exit(main())
