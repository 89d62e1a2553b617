#!/usr/bin/env python3
"""Holds the code in the articles of the facades' documentation against the compiler.

A listing of Swift with `<!-- Examples/... -->` above it has to be a part of that file, line by line, which the build compiles;
one below `<!-- manifest -->` has to be a manifest that the package manager reads; any other has to compile by itself.
Listings of XML have to be property lists, those of sh to be understood by bash. The modules have to be built for debugging.

    Tests/listings.py [the folder that `swift build --show-bin-path` prints]
"""
import glob
import os
import plistlib
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LISTING = re.compile(r"(?:^<!-- (?P<source>\S+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


def run(*command):
    """What a command has against it; nothing where it is content."""
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr + done.stdout).strip() or "is refused"


def compiles(text, bin_path):
    bin_path = os.path.realpath(bin_path)
    maps = glob.glob(os.path.join(bin_path, "*.build", "module.modulemap"))
    maps += glob.glob(os.path.join(bin_path, "../../checkouts/*/Sources/*/include/module.modulemap"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "main.swift")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return run(
            "swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-I", os.path.join(bin_path, "Modules"),
            *(word for path in maps for word in ("-Xcc", "-fmodule-map-file=" + path)), path)


def is_manifest(text):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "Package.swift"), "w", encoding="utf-8") as file:
            file.write(text)
        return run("swift", "package", "--package-path", folder, "dump-package")


def is_part(text, path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return "" if f"\n{text}" in "\n" + file.read() else f"is no part of {path}"


def is_property_list(text):
    try:
        plistlib.loads(text.encode())
        return ""
    except Exception as error:
        return f"is no property list: {error}"


def judge(listing, bin_path):
    text, source = listing["text"], listing["source"]
    match listing["language"]:
        case "swift" if source == "manifest":
            return is_manifest(text)
        case "swift" if source:
            return is_part(text, source)
        case "swift":
            return compiles(text, bin_path)
        case "xml":
            return is_property_list(text)
        case "sh":
            return run("bash", "-n", "-c", text)
        case language:
            return f"is in {language}, of which nothing is known here"


def main():
    bin_path = sys.argv[1] if len(sys.argv) > 1 else subprocess.run(
        ["swift", "build", "--show-bin-path"], check=True, capture_output=True, text=True,
        cwd=ROOT).stdout.strip()
    articles = sorted(glob.glob(os.path.join(ROOT, "Sources/*/*.docc/*.md")))
    count, failed = 0, 0
    for path in articles:
        with open(path, encoding="utf-8") as file:
            article = file.read()
        for listing in LISTING.finditer(article):
            count += 1
            problem = judge(listing, bin_path)
            if problem:
                failed += 1
                line = article.count("\n", 0, listing.start("text")) + 1
                print(f"FAILED  {os.path.relpath(path, ROOT)}:{line}: {problem}")
    print(f"{count} listings in {len(articles)} pages: " + (f"{failed} fail" if failed else "each compiles"))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
