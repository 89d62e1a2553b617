#!/usr/bin/env python3
"""Geodesics by GeographicLib's GeodSolve (Debian: geographiclib-tools), to hold ours against.

  Scripts/geodesics.py --all      prints 10,000 pairs of points and 500 lines that go on round the earth
  Scripts/geodesics.py            writes Tests/GeodesyTests/geodesics.txt: the hardest of them and a sample

GeodSolve runs with -E: elliptic integrals, where ours are series, in double precision, good to some 10 nm. Its
direct solution has to lead where its inverse one comes from. Seeded: the same points every time.

A row: kind, latitude and longitude of both points, azimuth at the first and at the second (degrees), distance,
reduced length (metres: how far the end moves across for a radian at the start).
"""
import math
import random
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "Tests/GeodesyTests/geodesics.txt"
HARDEST, SAMPLE = 250, 250
RADIUS, FLATTENING = 6378137.0, 1 / 298.257223563
# The longitude up to which the equator is shortest.
CUT = 180 * (1 - FLATTENING)

chance = random.Random(1783)


def latitude():
    return math.degrees(math.asin(chance.uniform(-1, 1)))


def longitude():
    return chance.uniform(-180, 180)


def tiny(low, high):
    """Either sign, each power of ten from low to high equally likely."""
    return chance.choice((-1, 1)) * 10 ** chance.uniform(low, high)


def bounded(lat):
    return max(-90.0, min(90.0, lat))


def random_pair():
    return latitude(), longitude(), latitude(), longitude()


def short():
    # A micrometre to a kilometre.
    lat, lon = latitude(), longitude()
    return lat, lon, bounded(lat + tiny(-11, -2)), lon + tiny(-11, -2)


def meridian():
    lon = longitude()
    return latitude(), lon, latitude(), lon + chance.choice((0, 180))


def equator():
    lon = longitude()
    turn = chance.choice((longitude(), tiny(-9, 1), CUT + tiny(-9, -1), chance.uniform(CUT, 180)))
    return 0.0, lon, 0.0, lon + turn


def near_equator():
    lon = longitude()
    turn = chance.choice((longitude(), CUT + tiny(-9, -1), chance.uniform(CUT, 180)))
    return tiny(-13, -1), lon, tiny(-13, -1), lon + turn


def pole():
    pole = chance.choice((-90, 90))
    near = pole - math.copysign(abs(tiny(-11, 1)) * chance.choice((0, 1)), pole)
    other = chance.choice((latitude(), 90 - abs(tiny(-11, 1)), abs(tiny(-11, 1)) - 90))
    return near, longitude(), other, longitude()


def parallel():
    lat = latitude()
    return lat, longitude(), chance.choice((-1, 1)) * lat, longitude()


def date_line():
    return latitude(), 180 - abs(tiny(-9, 1)), latitude(), abs(tiny(-9, 1)) - 180


def same():
    lat, lon = latitude(), longitude()
    return lat, lon, lat, lon + chance.choice((0, 360))


def nearly_antipodal():
    # The astroid is 0.6 degrees wide: inside, outside, and on its axes.
    lat, lon = latitude(), longitude()
    spread = chance.choice((-12, -9, -6, -3, -1))
    north = tiny(spread, 0.7) * chance.choice((0, 1, 1, 1))
    east = tiny(spread, 0.7) * chance.choice((0, 1, 1, 1))
    return lat, lon, bounded(north - lat), lon + 180 + east


def conjugate():
    # Around the cusps of the astroid, where no azimuth leads elsewhere.
    lat, lon = latitude(), longitude()
    width = 180 * FLATTENING * math.cos(math.radians(lat))
    return lat, lon, bounded(-lat + tiny(-9, -2)), lon + 180 + width * (1 + tiny(-9, -1))


def antipodal():
    lat, lon = latitude(), longitude()
    return lat, lon, -lat, lon + 180


# Kind, how many, decimals of a degree.
KINDS = [
    ("random", random_pair, 2000, 9), ("short", short, 1500, 13), ("meridian", meridian, 800, 9),
    ("equator", equator, 700, 11), ("near-equator", near_equator, 600, 14), ("pole", pole, 700, 12),
    ("parallel", parallel, 500, 9), ("date-line", date_line, 400, 10), ("same", same, 100, 9),
    ("nearly-antipodal", nearly_antipodal, 1900, 13), ("conjugate", conjugate, 500, 12),
    ("antipodal", antipodal, 300, 9),
]


def written(degrees, decimals):
    text = f"{degrees:.{decimals}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def pairs():
    for kind, make, count, decimals in KINDS:
        for _ in range(count):
            # Rounded before half a turn is added, so that what is opposite stays so.
            lat1, lon1, lat2, lon2 = make()
            lat1, turn = round(lat1, decimals), round(lon2 - lon1, decimals)
            lon1 = round(lon1, 3)
            lon2 = round((lon1 + turn + 180) % 360 - 180, decimals)
            yield kind, [written(x, decimals) for x in (lat1, lon1, lat2, lon2)]


def onward():
    for _ in range(500):
        distance = chance.choice((-1, 1)) * chance.uniform(2e7, 1e8)
        yield "onward", [
            written(latitude(), 9), written(longitude(), 9), written(longitude(), 9),
            f"{distance:.3f}"]


def solved(inputs, *options):
    command = ["GeodSolve", "-E", "-f", "-p", "10", *options]
    text = "\n".join(" ".join(row) for row in inputs) + "\n"
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    # lat1 lon1 azi1 lat2 lon2 azi2 s12 a12 m12 ...
    return [line.split() for line in answer.splitlines()]


def apart(lat1, lon1, lat2, lon2):
    east = math.remainder(lon2 - lon1, 360) * math.cos(math.radians(lat1))
    return math.radians(math.hypot(lat2 - lat1, east)) * RADIUS


def rows():
    given = list(pairs())
    for (kind, place), line in zip(given, solved([p for _, p in given], "-i")):
        yield kind, [*place, written(float(line[2]), 14), written(float(line[5]), 14), line[6], f"{float(line[8]):.4g}"]
    given = list(onward())
    for (kind, _), line in zip(given, solved([g for _, g in given])):
        yield kind, [line[0], line[1], line[3], line[4], line[2], line[5], line[6], f"{float(line[8]):.4g}"]


def checked(table):
    ends = solved([[row[0], row[1], row[4], row[6]] for _, row in table])
    worst = max(
        apart(float(row[2]), float(row[3]), float(line[3]), float(line[4]))
        for (_, row), line in zip(table, ends))
    # A hundred million metres have digits of 15 nm.
    if not worst < 5e-8:
        sys.exit(f"GeodSolve contradicts itself by {worst} m")
    return worst


def main():
    if sys.argv[1:] not in ([], ["--all"]):
        sys.exit(__doc__)
    table = list(rows())
    worst = checked(table)
    if sys.argv[1:]:
        for kind, row in table:
            print(kind, *row)
        return

    def ratio(index):
        """Small where a line's end tells little of its start; a short line is never so."""
        distance, reduced = float(table[index][1][6]), float(table[index][1][7])
        return abs(reduced / distance) if distance else 1

    order = sorted(range(len(table)), key=ratio)
    hardest, others = order[:HARDEST], sorted(order[HARDEST:])
    step = len(others) / SAMPLE
    chosen = sorted(hardest + [others[int(i * step)] for i in range(SAMPLE)])
    version = subprocess.run(["GeodSolve", "--version"], capture_output=True, text=True).stdout
    with TARGET.open("w") as file:
        print(f"# Made by Scripts/geodesics.py, which says what is in it; {version.strip()}", file=file)
        for index in chosen:
            kind, row = table[index]
            print(kind, *row, file=file)
    print(f"{TARGET}: {len(chosen)} lines; GeodSolve leads back within {worst:.1e} m")


main()
