#!/usr/bin/env python3
"""Makes Sources/Geodesy/EGM96.swift, the geoid in 0.5 MB of text.

  Scripts/make-geoid.py           writes the file
  Scripts/make-geoid.py --check   compares; 0 where it is the same, or where the grid is not at hand

The grid is NGA's 15-minute one of EGM96 (F. G. Lemoine et al., NASA/TP-1998-206861), in the public domain,
as Debian's package proj-data has it. Plain Python and only the four operations of arithmetic, in a fixed order:
every machine makes the same bytes.

What is kept is not points of the grid but the coefficients of a bicubic B-spline, fitted to all of them by
least squares, a coefficient every 22.5 minutes. A sphere has no edge: beyond a pole the rows go on, half a turn
further east, so that both directions are circles.

Coefficients are coded by blocks of 4 by 4 as 19 digits to the base 91, the characters `$` to `~`: two digits of
the lowest value, in steps of 24 mm from -110 m; one of the block's step, whose square is the step in units of
0.06 mm; 16 of how many steps a coefficient is above the lowest, eastward from the southern row up. Blocks go eastward from -180 degrees, from
the south pole up, five a line. The last row of blocks is filled up with rows from beyond the pole.
"""
import hashlib
import struct
import sys
from array import array
from math import floor
from pathlib import Path

GRID = Path("/usr/share/proj/egm96_15.gtx")
GRID_SHA256 = "c02a6eb70a7a78efebe5adf3ade626eb75390e170bb8b3f36136a2c28f5326a0"
TARGET = Path(__file__).resolve().parent.parent / "Sources/Geodesy/EGM96.swift"

ROWS, COLUMNS = 721, 1440  # of the grid
COUNT = 960  # coefficients a circle
BLOCK, BASE, FIRST, BLOCKS_PER_LINE = 4, 91, "$", 5
UNIT, LOW_UNITS, LOWEST = 0.00006, 400, -110.0  # metres, units of UNIT, metres

HEAD = """\
// swift-format-ignore-file
// One literal, made by Scripts/make-geoid.py, which says how it is coded.

/// The geoid of the Earth Gravitational Model 1996, by NASA, NIMA (today NGA) and Ohio State University
/// (F. G. Lemoine et al., NASA/TP-1998-206861), a work of the United States' government and in the public
/// domain; fitted to NGA's 15-minute grid.
enum EGM96 {
  static let table: StaticString = #\"\"\"
"""
TAIL = '"""#\n}\n'


def read(path):
    """The grid's rows from south to north, each from -180 degrees eastward, in metres."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != GRID_SHA256:
        return None
    if struct.unpack(">4d2i", data[:40]) != (-90, -180, 0.25, 0.25, ROWS, COLUMNS):
        return None
    values = array("f", data[40:])
    if sys.byteorder == "little":
        values.byteswap()
    return [values[r * COLUMNS : (r + 1) * COLUMNS].tolist() for r in range(ROWS)]


def basis(t):
    """The cubic B-spline at `t` knots from its centre."""
    t = abs(t)
    if t < 1:
        return 2 / 3 - t * t + t * t * t / 2
    return (2 - t) * (2 - t) * (2 - t) / 6 if t < 2 else 0.0


def total(terms):
    # The built-in sum compensates since Python 3.12: other bytes.
    result = 0.0
    for term in terms:
        result += term
    return result


def fit(lines):
    """The least-squares coefficients along a circle of len(lines) samples, for each column by itself."""
    samples = len(lines)
    # The circle is cut open and goes on beyond both ends: there the error halves with every coefficient or two.
    margin = 96
    size = COUNT + 2 * margin
    # By coefficient: the samples that it has a part in, and the normal equations' band.
    ratio = samples / COUNT
    part = []
    for j in range(-margin, COUNT + margin):
        near = range(floor((j - 2) * ratio), floor((j + 2) * ratio) + 2)
        part.append({i: w for i in near if (w := basis(i / ratio - j)) != 0})
    band = [
        [total(w * part[j + k].get(i, 0.0) for i, w in part[j].items()) if j + k < size else 0.0
         for k in range(4)]
        for j in range(size)
    ]
    # band = L D L': lower[j][k] is L[j + k][j].
    lower, diagonal = [], []
    for j in range(size):
        def known(a, b):
            """Of the product's element (a, b), what the columns before j give."""
            return total(
                lower[m][a - m] * diagonal[m] * lower[m][b - m] for m in range(max(0, a - 3), j)
            )
        diagonal.append(band[j][0] - known(j, j))
        lower.append(
            [1.0] + [(band[j][k] - known(j + k, j)) / diagonal[j] for k in range(1, 4)])

    solved = []
    for j in range(size):
        row = [0.0] * len(lines[0])
        for i, w in part[j].items():
            row = [x + w * y for x, y in zip(row, lines[i % samples])]
        for k in range(1, min(3, j) + 1):
            w = lower[j - k][k]
            row = [x - w * y for x, y in zip(row, solved[j - k])]
        solved.append(row)
    for j in reversed(range(size)):
        w = 1 / diagonal[j]
        row = [x * w for x in solved[j]]
        for k in range(1, min(3, size - 1 - j) + 1):
            w = lower[j][k]
            row = [x - w * y for x, y in zip(row, solved[j + k])]
        solved[j] = row
    return solved[margin : margin + COUNT]


def transposed(rows):
    return [list(column) for column in zip(*rows)]


def digits(value, count):
    text = ""
    for _ in range(count):
        value, digit = divmod(value, BASE)
        text = chr(ord(FIRST) + digit) + text
    assert value == 0
    return text


def block(values):
    units = [(v - LOWEST) / UNIT for v in values]
    lowest = floor(min(units) / LOW_UNITS)
    above = [u - lowest * LOW_UNITS for u in units]
    # Half a step beyond the highest digit still rounds to it.
    root = next(d for d in range(1, BASE) if d * d * (BASE - 0.5) > max(above))
    step = root * root
    return digits(lowest, 2) + digits(root, 1) + "".join(
        digits(floor(a / step + 0.5), 1) for a in above)


def made(grid):
    half = COLUMNS // 2
    beyond = [row[half:] + row[:half] for row in grid[-2:0:-1]]
    by_latitude = fit(grid + beyond)
    # Only rows that are kept, and those that fill up the last blocks.
    rows = COUNT // 2 + 1
    rows += -rows % BLOCK
    table = transposed(fit(transposed(by_latitude[:rows])))
    blocks = [
        block([table[r + i][c + k] for i in range(BLOCK) for k in range(BLOCK)])
        for r in range(0, rows, BLOCK)
        for c in range(0, COUNT, BLOCK)
    ]
    lines = [
        "".join(blocks[i : i + BLOCKS_PER_LINE]) for i in range(0, len(blocks), BLOCKS_PER_LINE)]
    return HEAD + "\n".join(lines) + "\n" + TAIL


def main():
    checks = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not checks:
        sys.exit(__doc__)
    grid = read(GRID) if GRID.exists() else None
    if grid is None:
        text = "is not there" if not GRID.exists() else "is another grid than the table was made from"
        print(f"skipped: {GRID} (Debian: proj-data) {text}")
        sys.exit(0 if checks else 1)
    text = made(grid)
    if not checks:
        TARGET.write_text(text, encoding="ascii")
        print(f"{TARGET}: {len(text)} bytes")
    elif TARGET.read_text(encoding="ascii") != text:
        sys.exit(f"{TARGET} is not what {sys.argv[0]} makes")
    else:
        print(f"{TARGET.name} is what {Path(sys.argv[0]).name} makes of {GRID}")


main()
