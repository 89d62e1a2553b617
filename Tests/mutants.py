#!/usr/bin/env python3
"""Plants small faults in the sources and counts how many of them the tests notice.

    mutants.py run [--only N,N..] [--list L] [--folder F]   builds a copy with every fault of Tests/mutants.tsv, and tries them
    mutants.py check [--list L]                             says which of them cannot be planted
    mutants.py propose SEED NUMBER [--target T] [--first N] prints as many lines for that list, numbered from N

A fault is one line that says something else: `+` for `-`, `<` for `>`, another constant, a statement left out. All of them are
compiled into one copy of the project, each behind a switch (schemata: R. Untch and others, "Mutation analysis using mutant
schemata", 1993). A byte a fault, in a file that every process maps, says whether it is on, and the code says there that it was
reached. Each fault is tried with the tests of its own target first; as long as none fails, with those of every other target
that reach it, the quick ones first. A slow target is taken suite by suite.

A fault is noticed when the run has reached it, a test fails, crashes, or does not come to an end in four times its time and half a
minute, and the same tests pass without the fault right afterwards. Recorded figures are left aside at first and tried last,
because they show that something has changed and not that it is wrong. What only they notice is noticed by the tests all the
same; the last line says both. The exit code is 0 if all compile and at least 85 of 100 are noticed, else 1.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mutant_list import LIST, ROOT, propose, read_list

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


def plant(mutants, folder):
    """Makes the copy with all faults in it. Returns what cannot be planted, each with the reason."""
    stale = []
    for path in sorted({mutant.path for mutant in mutants}):
        file = folder / path
        lines = file.read_text().split("\n") if file.exists() else []
        for mutant in (mutant for mutant in mutants if mutant.path == path):
            places = [index for index, line in enumerate(lines) if line.strip() == mutant.line]
            planted = mutant.planted(lines[places[0]]) if len(places) == 1 else None
            if planted is None or mutant.fault == mutant.line:
                where = f"the line stands there {len(places)} times" if len(places) != 1 else \
                    "it says the same" if mutant.fault == mutant.line else "its form cannot be put behind a switch"
                stale.append((mutant, where))
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
        """The numbers of the faults that the last run has come by."""
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

    def noticed(self, number, pattern, limit, figures):
        """Whether tests notice a fault: "passed", "noticed" or "late", the seconds, and the first test that failed."""
        outcome, seconds, failed = self.run(number, pattern, limit, figures)
        if outcome == "passed" or number not in self.reached():
            return "passed", seconds, ""
        # What fails without the fault says nothing of it.
        without, more, _ = self.run(None, pattern, limit, figures)
        if without != "passed":
            print(f"mutants: {pattern} has {without} without a fault, after {number}", file=sys.stderr, flush=True)
            outcome = "passed"
        return outcome, seconds + more, failed

    def run(self, number, pattern, limit, figures=True):
        """Runs tests with one fault. Returns "passed", "noticed", "late" or "broken", the seconds, and the first test that failed."""
        self.set(number)
        begun = time.monotonic()
        command = ["Scripts/build.sh", "--test", "--filter", pattern]
        environment = {**os.environ, "LODESTONE_MUTANTS": str(self.switches)}
        environment.pop("LODESTONE_WRITE_FIGURES", None)
        environment["LODESTONE_FIGURES"] = "held" if figures else "ignored"
        with open(self.folder / "mutants.log", "w+", errors="replace") as log:
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                return "late", time.monotonic() - begun, ""
            finally:
                # What a crash leaves behind would mark the faults of the next run.
                kill_session(process.pid)
                process.wait()
            log.seek(0)
            outcome, failed = verdict(code, log.read())
        return outcome, time.monotonic() - begun, failed


def kill_session(leader):
    """Kills every process of a session: the runner of the tests has a process group of its own in it, and so have its children."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            # Behind the name, which may hold anything: state, parent, group, session.
            session = int((entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[3])
            if session == leader:
                os.kill(int(entry.name), signal.SIGKILL)
        except (OSError, IndexError, ValueError):
            continue


def verdict(code, text):
    """What the exit code and the output of a run of tests mean: the outcome, and the first test that failed."""
    failed = re.search(r"^\S*✘\S* Test (.+?) (?:recorded an issue|failed after)", text, re.MULTILINE)
    if code == 0:
        return "passed", ""
    if failed:
        return "noticed", failed.group(1)
    # A build that failed or a full disk is nobody's notice.
    return ("noticed", "a crash") if re.search(r"unexpected signal code|Fatal error", text) else ("broken", "")


def figure_patterns(patterns):
    """Those of some patterns in which recorded figures are compared."""
    def compares(pattern):
        target, _, suite = pattern.lstrip("^").partition("\\.")
        suite = re.split(r"[\[(/]", suite)[0].replace("\\", "")
        files = (ROOT / "Tests" / target).rglob(f"{suite}*.swift" if suite else "*.swift")
        return any("RecordedFigures(" in file.read_text() for file in files)
    return [pattern for pattern in patterns if compares(pattern)]


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
    for mutant, why in stale:
        print(f"mutant {mutant.number}: {mutant.path}: {why}: {mutant.line}", file=sys.stderr)
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
    counts = {"oracle": 0, "figures": 0}
    for mutant in mutants:
        by, text = tried(mutant, trial, reaches)
        print(text, flush=True)
        if by:
            counts[by] += 1
    noticed = sum(counts.values())
    share = 100 * noticed / max(1, len(mutants))
    print(f"mutants: {noticed} of {len(mutants)} noticed ({share:.0f} %), {counts['oracle']} without recorded figures")
    return 0 if share >= 85 and not uncompiled else 1


def tried(mutant, trial, reaches):
    """Tries a fault. Returns what noticed it, if anything did, and a line about it."""
    own = f"^{mutant.target}Tests\\."
    suites = [suite for suite in reaches if mutant.number in reaches[suite][1]]
    suites.sort(key=lambda suite: (not suite.startswith(own), reaches[suite][0]))
    seconds = 0
    for by, patterns in ("oracle", suites), ("figures", figure_patterns(suites)):
        for where in patterns:
            outcome, more, failed = trial.noticed(mutant.number, where, 30 + 4 * reaches[where][0], by == "figures")
            seconds += more
            if outcome == "passed":
                continue
            said = {"late": "does not end", "noticed": "noticed", "broken": "NOT TRIED"}[outcome]
            if by == "figures":
                said += " by figures"
            text = f"{mutant.number:3d}  {said}  {seconds:5.0f} s  {where}  {mutant.path}  {failed}"
            return None if outcome == "broken" else by, text
    where = f"{len(suites)} suites reach it" if suites else "no test reaches it"
    return None, (f"{mutant.number:3d}  NOT NOTICED  {seconds:5.0f} s  {where}  {mutant.path}\n"
                  f"       {mutant.line}\n       {mutant.fault or '(left out)'}\n       {mutant.reason}")


def check(arguments):
    """Says which faults of a list cannot be planted in the sources as they are."""
    mutants = read_list(arguments.list)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in {mutant.path for mutant in mutants}:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / path).is_file():
                shutil.copyfile(ROOT / path, folder / path)
        stale = plant(mutants, folder)
    for mutant, why in stale:
        print(f"mutant {mutant.number}: {mutant.path}: {why}: {mutant.line}")
    print(f"mutants: {len(mutants) - len(stale)} of {len(mutants)} can be planted")
    return 1 if stale else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("--only", help="the numbers of those that are tried, with commas")
    running.add_argument("--list", default=LIST, help="another list in the form of Tests/mutants.tsv")
    running.add_argument("--folder", help="where the copy is built; by default LODESTONE_CACHE")
    checking = commands.add_parser("check")
    checking.add_argument("--list", default=LIST)
    proposing = commands.add_parser("propose")
    proposing.add_argument("seed", type=int)
    proposing.add_argument("number", type=int)
    proposing.add_argument("--target")
    proposing.add_argument("--first", type=int, default=1)
    arguments = parser.parse_args()
    return {"propose": propose, "check": check, "run": run}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())
