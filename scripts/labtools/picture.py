"""Draws the field of a run's record, and how far it is from the exact solution: as PNG, and in the terminal.

  python3 -m labtools.picture RECORD OUT    writes OUT_field.png and, if there is an exact solution, OUT_error.png

On a terminal with 256 colours it draws with half blocks, elsewhere with plain characters. $COLUMNS is the width, at
most 80.
"""

import json
import math
import os
import pathlib
import re
import struct
import sys
import zlib

from labtools.numbers import significant
from labtools.process import fail, must_write

LARGEST = 512  # pixels per side at most; of a larger field some rows and columns are left out

# From cold to hot: blue, nearly white at zero, red.
COLD_TO_HOT = ((20, 48, 112), (66, 135, 200), (242, 242, 238), (226, 122, 62), (125, 16, 24))
CHARACTERS = " .:-=+*#%@"  # by magnitude


def exact(problem, n):
    """The exact solution u(i, j) of a problem, as lab/src/problem.cpp has it; None if it has none."""
    if problem == "harmonic":
        return lambda i, j: float(i * i - j * j)
    if problem != "laplace":
        return None
    h, pi = 1 / (n - 1), math.pi
    sine = [math.sin(pi * k * h) for k in range(n)]
    sine2 = [math.sin(2 * pi * k * h) for k in range(n)]
    down = [math.sinh(pi * (1 - k * h)) / math.sinh(pi) for k in range(n)]
    right = [math.sinh(2 * pi * k * h) / math.sinh(2 * pi) for k in range(n)]
    return lambda i, j: sine[i] * down[j] + sine2[j] * right[i]


def palette():
    """256 colours (red, green, blue)."""
    def between(k, nth):
        return tuple(round(low + (high - low) * (4 * k / 255 - nth))
                     for low, high in zip(COLD_TO_HOT[nth], COLD_TO_HOT[nth + 1]))

    return [between(k, min(3, 4 * k // 255)) for k in range(256)]


def shade(value, most):
    """The place of a value from -most to most in the palette; what is no number is drawn as the hottest."""
    return min(255, max(0, round(127.5 + 127.5 * value / most))) if math.isfinite(value) else 255


def png(rows, most):
    """A PNG of these rows of values, from -most to most; the first row is the lowest."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + bytes(shade(value, most) for value in row) for row in reversed(rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", bytes(part for colour in palette() for part in colour)) +
            chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def greatest(rows):
    """The greatest magnitude in these rows; 1 if all are 0 or no numbers."""
    return max((abs(value) for row in rows for value in row if math.isfinite(value)), default=0) or 1.0


def samples(n, pixels):
    """At most `pixels` of n indices, the first and the last among them."""
    count = min(n, pixels)
    return [k * (n - 1) // (count - 1) for k in range(count)]


def read_record(folder):
    """(what run.json says, the rows of the field at samples(n, LARGEST))."""
    try:
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        n, kind = run["n"], run["field"]
        if kind != "full":
            fail(f"{folder}: has no whole field: record it with --record-field full", 2)
        if not isinstance(n, int) or n < 3 or (folder / "field.f32").stat().st_size != 4 * n * n:
            raise ValueError("field.f32 is not complete")
        chosen, rows = samples(n, LARGEST), []
        with open(folder / "field.f32", "rb") as file:
            for j in chosen:
                file.seek(4 * n * j)
                row = struct.unpack(f"<{n}f", file.read(4 * n))
                rows.append([row[i] for i in chosen])
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}: no record of a run (--record DIR leaves one)", 2)
    except (ValueError, KeyError, TypeError, struct.error) as error:
        fail(f"{folder}: is not the record of a run: {error}", 2)
    return run, rows


def nearest_of_256(colour):
    """The number of the colour in a terminal's cube of 6 x 6 x 6 colours, of which each is 0, 95, 135, ... or 255."""
    red, green, blue = (min(range(6), key=lambda k: abs((0, 95, 135, 175, 215, 255)[k] - part)) for part in colour)
    return 16 + 36 * red + 6 * green + blue


def shows_colours():
    """Whether standard output is a terminal that shows 256 colours and half blocks."""
    locale = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    colours = "256color" in os.environ.get("TERM", "") or os.environ.get("COLORTERM")
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and bool(colours) and \
        re.search("utf-?8", locale, re.IGNORECASE) is not None


def drawn(rows, most, width, coloured):
    """Lines of `width` characters; each stands for two rows of as many pixels."""
    chosen = samples(len(rows), width)
    shown = [[rows[j][i] for i in chosen] for j in reversed(chosen)]
    if len(shown) % 2:
        shown.append(shown[-1])
    if not coloured:
        return ["".join(CHARACTERS[min(9, int(10 * abs(value) / most))] if math.isfinite(value) else "!"
                        for value in row) for row in shown[::2]]
    colours = [nearest_of_256(colour) for colour in palette()]
    return ["".join(f"\033[38;5;{colours[shade(a, most)]};48;5;{colours[shade(b, most)]}m\u2580"
                    for a, b in zip(upper, lower)) + "\033[0m" for upper, lower in zip(shown[::2], shown[1::2])]


def show(pictures, n):
    """Draws the pictures on standard output, side by side: [(name, words, rows, the greatest magnitude)]."""
    columns, coloured = os.environ.get("COLUMNS", ""), shows_colours()
    wide = min(n, (max(30, min(80, int(columns) if columns.isdigit() else 80)) - 2) // 2)
    print()
    print("  ".join(f"{words:<{wide}.{wide}}" for _, words, *_ in pictures).rstrip())
    for lines in zip(*(drawn(rows, most, wide, coloured) for *_, rows, most in pictures)):
        print("  ".join(lines).rstrip())
    scales = (f"from -{significant(most, 2)} to {significant(most, 2)}" for *_, most in pictures)
    print("  ".join(f"{scale:<{wide}.{wide}}" for scale in scales).rstrip())
    print()


def main(folder, out):
    run, rows = read_record(pathlib.Path(folder))
    n, problem = run["n"], run.get("problem")
    solution = exact(problem, n)
    pictures = [("field", "the field", rows, greatest(rows))]
    if solution:
        chosen = samples(n, LARGEST)
        error = [[value - solution(i, j) for i, value in zip(chosen, row)] for j, row in zip(chosen, rows)]
        pictures.append(("error", "minus the exact solution", error, greatest(error)))
    print(f"{run.get('step')}, problem {problem}, n = {n}, after {run.get('iterations')} iterations")
    show(pictures, n)
    if not solution:
        print(f"The problem {problem} has no exact solution to compare with.")
    elif run.get("distance_to_exact") is not None:
        print(f"The field is {significant(100 * run['distance_to_exact'])} % away from the exact solution.")
    for name, _, values, most in pictures:
        path = pathlib.Path(f"{out}_{name}.png")
        must_write(path, png(values, most), code=4)
        print(os.path.relpath(path))


if __name__ == "__main__":
    main(*sys.argv[1:])
