#!/usr/bin/env python3
"""Which test proves what the facades promise: a table of the promises and the tests that name them.

A test names a promise by its number, before the colon of its name (`M15 D3: locations wait ...`), or in a comment that
begins with it (`// D17: ...`, `# D8: ...`). A promise without a test fails, unless it stands in OPEN with the reason;
one that stands there and has a test fails too.
"""
import os
import re
import sys

# The numbers of the project's list of what Apple's pages promise, with a word for each.
ROWS = {
    "D1": "didUpdateLocations: at least one, the oldest first",
    "D2": "didFailWithError: locationUnknown, headingFailure, denied",
    "D3": "didFinishDeferredUpdatesWithError, once a deferral",
    "D4": "didUpdateToLocation:fromLocation:, for delegates that have no newer one",
    "D5": "locationManagerDidPauseLocationUpdates",
    "D6": "locationManagerDidResumeLocationUpdates, before the first location",
    "D7": "didUpdateHeading, by the filter",
    "D8": "locationManagerShouldDisplayHeadingCalibration, and the prompt",
    "D9": "didEnterRegion and didExitRegion, of all managers",
    "D10": "didDetermineState, at crossings and when asked",
    "D11": "monitoringDidFailFor",
    "D12": "didStartMonitoringFor",
    "D13": "didRange and didRangeBeacons",
    "D14": "didFailRangingFor and rangingBeaconsDidFailFor",
    "D15": "didVisit",
    "D16": "didChangeAuthorization, at first and at changes",
    "D17": "the thread on which a delegate is called",
    "M1": "init and delegate; a released manager has stopped",
    "M2": "start and stop of locations; hardware that nobody uses rests",
    "M3": "requestLocation: exactly one answer",
    "M4": "desiredAccuracy: the cheapest that meets it",
    "M5": "distanceFilter, unless accuracy has improved",
    "M6": "headingFilter and headingOrientation",
    "M7": "start and stop of headings; true needs a place",
    "M8": "what this board really has",
    "M9": "dismissHeadingCalibrationDisplay",
    "M10": "authorization",
    "M11": "significant changes",
    "M12": "regions: twenty, beyond the program's end",
    "M13": "ranging of beacons",
    "M14": "visits",
    "M15": "deferral",
    "M16": "pauses, activity, background",
    "M17": "location: the newest, and how old it is",
    "M18": "the asynchronous sequences",
    "L": "values: immutable, comparable, archived",
    "A1": "isRelativeAltitudeAvailable",
    "A2": "relative altitudes, one a second, the first zero",
    "A3": "data or an error",
    "A4": "the stop lets go of queue and handler",
    "A5": "suspension",
    "K1": "a map's switches: gestures, pitch, rotation, types; the delegate",
    "K2": "region and centre: fitted to the frame",
    "K3": "rectangles of the map say the same in projected points",
    "K4": "the camera: shown at once, read as a copy",
    "K5": "the board on the map, and how the map follows it",
    "K6": "annotations and their views, found fast and used again",
    "K7": "overlays by level, their order and their renderers",
    "K8": "coordinates and points, there and back",
    "K9": "what a map's delegate is told and asked",
    "S": "the application's state",
    "B1": "an application asks for accuracy, never for a technique",
    "B2": "the least hardware that meets what all ask for",
    "B3": "the way travelled as a line on a map",
    "B4": "what came meanwhile arrives in a batch",
}

# What is known to have no test, and why.
OPEN = {}

NAME = re.compile(r'@Test\(\s*"((?:[^"\\]|\\.)*)"')
NUMBERS = re.compile(r"^((?:[A-Z]\d{0,2}(?:-[A-Z]?\d{1,2})?[, ]*)+):")
COMMENT = re.compile(r"^\s*(?://+|#)\s*((?:[A-Z]\d{0,2}(?:-[A-Z]?\d{1,2})?[, ]*)+:.*)$", re.M)


def numbers(text):
    """The numbers before the colon: `D9-D12` is four."""
    head = NUMBERS.match(text)
    for word in re.split(r"[, ]+", head[1].strip()) if head else []:
        span = re.fullmatch(r"([A-Z])(\d+)-[A-Z]?(\d+)", word)
        if span:
            yield from (f"{span[1]}{n}" for n in range(int(span[2]), int(span[3]) + 1))
        elif word in ROWS:
            yield word


def tests(folder):
    """Each file below `folder` with the names and comments of its tests."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(files):
            if not name.endswith((".swift", ".py", ".sh")) or name == "rows.py":
                continue
            with open(os.path.join(path, name), encoding="utf-8") as file:
                text = file.read()
            for found in [*NAME.finditer(text), *COMMENT.finditer(text)]:
                yield name, found[1].strip()


def main():
    proofs = {row: [] for row in ROWS}
    for file, name in tests(os.path.dirname(os.path.abspath(__file__))):
        for row in numbers(name):
            proofs[row].append((file, name.split(":", 1)[1].strip()))
    problems = []
    for row, words in ROWS.items():
        print(f"{row:4}{words}")
        for file, name in proofs[row]:
            print(f"      {file}: {name}")
        if not proofs[row] and row not in OPEN:
            problems.append(f"{row} ({words}) has no test that names it")
        elif not proofs[row]:
            print(f"      open: {OPEN[row]}")
        elif row in OPEN:
            problems.append(f"{row} has a test: take it off the list of what is open")
    for problem in problems:
        print(f"FAILED  {problem}")
    count = sum(1 for row in ROWS if proofs[row])
    print(f"{count} of {len(ROWS)} promises have their tests, {sum(map(len, proofs.values()))} in all")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
