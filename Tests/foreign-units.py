#!/usr/bin/env python3
"""Builds code that others wrote for iOS against this package, unmodified, in Swift 5 mode, and runs its tests:
foreign-units.py FOLDER [NAME...] [--package FOLDER] [--errors N] [--daemon COMMAND]

FOLDER holds one folder a unit, by the name of its module: the Swift files, and in `Tests` those of its tests, if there
are any; a file `testTarget` is what the tests' target has besides in the unit's own Package.swift, as
`resources: [.process("Fixtures")]`. Every unit is built by itself, in a package outside of this repository that depends
on the product which the README names; it lies in a temporary folder, or in the one after --package, where a second run
builds no more than what has changed and NAME.log has all that the compiler said. A unit that does not compile, or whose
tests fail, is printed with its first N errors (1); then the exit status is 1. With --daemon the tests do not own their
board: COMMAND, a `lodestone`, serves the simulated one to them.
"""
import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of the compiler and of XCTest, and of Swift Testing.
ERROR = re.compile(r"^(?:.*/)?([^/\n]+\.swift:\d+)(?::\d+)?: error: (.+)$"
                   r"|recorded an issue at ([^/\n]+\.swift:\d+)\S* (.+)$", re.M)
OTHER = re.compile(r"^error: (.+)$", re.M)
PROGRAM = re.compile(r"^\s*@main\b", re.M)
COUNTS = [re.compile(r"Executed (\d+) tests?, with"), re.compile(r"Test run with (\d+) tests?")]
PATIENCE = 1200


def manifest(name, program, tests, more):
    """The package with this one unit."""
    product = f'.product(name: "Lodestone", package: "{os.path.basename(ROOT).lower()}")'
    targets = [f'.{"executableTarget" if program else "target"}(name: "{name}", dependencies: [{product}])']
    if tests:
        targets.append(f'.testTarget(name: "{name}Tests", dependencies: ["{name}", {product}]{more})')
    return ("// swift-tools-version: 6.0\nimport PackageDescription\n"
            f'let package = Package(name: "ForeignUnits", dependencies: [.package(path: "{ROOT}")], targets: [\n  '
            + ",\n  ".join(targets) + "\n], swiftLanguageModes: [.v5])\n")


def swift_files(folder, without=()):
    """The Swift files below `folder`, relative to it."""
    found = []
    for path, folders, files in os.walk(folder):
        if path == folder:
            folders[:] = [each for each in folders if each not in without]
        found += [os.path.relpath(os.path.join(path, each), folder) for each in files if each.endswith(".swift")]
    return sorted(found)


def prepare(unit, name, package):
    """Writes the package for one unit; whether it has tests."""
    for folder in ("Sources", "Tests"):
        shutil.rmtree(os.path.join(package, folder), ignore_errors=True)
    sources = swift_files(unit, without=("Tests",))
    program = False
    for path in sources:
        target = os.path.join(package, "Sources", name, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(unit, path), target)
        with open(target, encoding="utf-8", errors="replace") as file:
            program |= os.path.basename(path) == "main.swift" or bool(PROGRAM.search(file.read()))
    tests = os.path.join(unit, "Tests")
    has_tests, more = bool(swift_files(tests)), ""
    if has_tests:
        shutil.copytree(tests, os.path.join(package, "Tests", name + "Tests"))
    if os.path.exists(os.path.join(unit, "testTarget")):
        with open(os.path.join(unit, "testTarget"), encoding="utf-8") as file:
            more = ", " + file.read().strip()
    with open(os.path.join(package, "Package.swift"), "w", encoding="utf-8") as file:
        file.write(manifest(name, program, has_tests, more))
    return has_tests, sources


def swift(package, *arguments):
    """What the command said, and whether it went well."""
    command = ["swift", *arguments, "--package-path", package]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE,
                              text=True, errors="replace")
    except subprocess.TimeoutExpired as late:
        said = late.stdout or ""
        return (said if isinstance(said, str) else said.decode(errors="replace")) + "\nerror: no end to it\n", False
    return done.stdout, done.returncode == 0


def first(text, count):
    """The first errors, each once."""
    errors = list(dict.fromkeys(f"{a or b}: {what or issue}" for a, what, b, issue in ERROR.findall(text)))
    return (errors or OTHER.findall(text) or text.strip().splitlines()[-1:])[:count]


def check(unit, name, package, count):
    """One unit: what to say of its tests, or the errors."""
    has_tests, sources = prepare(unit, name, package)
    if not sources:
        return "", ["no Swift files"]
    text, fine = swift(package, "build", "--target", name)
    if fine and has_tests:
        more, fine = swift(package, "test", "--no-parallel")
        text += more
    with open(os.path.join(package, name + ".log"), "w", encoding="utf-8") as file:
        file.write(text)
    if not fine:
        return "", first(text, count)
    ran = sum(max(map(int, pattern.findall(text)), default=0) for pattern in COUNTS)
    return f"{ran} of its own tests" if has_tests else "", []


@contextlib.contextmanager
def daemon(command, folder):
    """Serves the simulated board while the context lasts, if there is a command."""
    if not command:
        yield
        return
    path = os.path.join(folder, "daemon.socket")
    clean = {key: value for key, value in os.environ.items() if not key.startswith("LODESTONE")}
    process = subprocess.Popen(
        [command, "serve", "--board", "simulated", "--socket", path], stdout=subprocess.PIPE, text=True,
        env={**clean, "STATE_DIRECTORY": os.path.join(folder, "daemon-state")})
    os.environ.pop("LODESTONE_BOARD", None)
    os.environ["LODESTONE_SOCKET"] = path
    try:
        if not process.stdout.readline():
            sys.exit("the daemon does not serve")
        yield
        if process.poll() is not None:
            sys.exit(f"the daemon has ended with {process.returncode}")
    finally:
        process.terminate()
        process.wait(10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--package")
    parser.add_argument("--errors", type=int, default=1)
    parser.add_argument("--daemon", metavar="COMMAND")
    options = parser.parse_args()
    names = options.names or sorted(each for each in os.listdir(options.folder)
                                    if os.path.isdir(os.path.join(options.folder, each)))
    if not names:
        sys.exit(f"{options.folder} has no units")
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.abspath(options.package or folder)
        os.makedirs(package, exist_ok=True)
        passed = 0
        with daemon(options.daemon, package):
            for name in names:
                tests, errors = check(os.path.join(options.folder, name), name, package, options.errors)
                passed += not errors
                print(f"{'FAILED' if errors else 'passed'}  {name}" + (f" ({tests})" if tests else ""), flush=True)
                for error in errors:
                    print(f"        {error}", flush=True)
    print(f"{passed} of {len(names)} units compile and work unmodified")
    return 0 if passed == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
