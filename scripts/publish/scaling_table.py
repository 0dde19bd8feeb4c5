"""How steps 14 and 15 scale, as it was measured: its file, and the picture. tables.py writes both into the guides."""

import math

from labtools import charts
from labtools.table import Table

STRONG = (16384, 32768, 65536)
WEAK = {1: (16384, 32768), 2: (23170, 46341), 4: (32768, 65536)}  # n * n / ranks is the same in each column


def often(rows):
    """The sweeps from one residual to the next that all sizes were timed with: as many as a pass has."""
    return min(int(row["check_every"]) for row in rows)


def points_of(rows, step, column, sizes):
    """[(ranks, percent)] of a step's rows with as many sweeps a check as the others; sizes: {ranks: n}."""
    return sorted((float(row["ranks"]), float(row[column])) for row in rows
                  if row["step"][:2] == step and row[column] != "-" and int(row["check_every"]) == often(rows)
                  and sizes.get(int(row["ranks"])) == int(row["n"]))


def drawn_of(gpu, links, rows):
    """The charts of what was measured on these GPUs: strong scaling of each n, and weak scaling, in percent."""
    ranks = sorted({int(row["ranks"]) for row in rows})
    strong, weak = [], []
    for step, shape in (("14", "square"), ("15", "circle")):
        strong += [(f"step {step}, n = {n}", colour, shape, points_of(rows, step, "efficiency", dict.fromkeys(ranks, n)))
                   for n, colour in zip(STRONG, ("orange", "blue", "green"))]
        weak += [(f"step {step}, {sizes[0]}² per GPU", colour, shape,
                  points_of(rows, step, "weak_efficiency", dict(zip(WEAK, sizes))))
                 for sizes, colour in zip(zip(*WEAK.values()), ("orange", "blue"))]
    drawn = []
    for name, series, title, subtitle, tall in (
            ("scaling-strong", strong, "Strong scaling: efficiency in percent",
             f"step 13 on one GPU is 100; {gpu}, {links}", 300),
            ("scaling-weak", weak, "Weak scaling: efficiency in percent",
             "the step itself on one GPU is 100; as many points per GPU", 240)):
        series = [one for one in series if any(r > 1 for r, _ in one[3])]
        if series:
            values = [percent for *_, points in series for _, percent in points]
            step = 5 if min(values) >= 75 else 10
            percents = range(step * int(min(*values, 95) // step), step * math.ceil(max(*values, 100) / step) + 1, step)
            drawn.append(charts.lines(name, series, title, subtitle, "GPUs", tall, lambda value: f"{value:.0f}",
                                      [float(r) for r in ranks], True, y_values=percents))
    return drawn


def picture(path):
    """The text of scaling.svg."""
    table = Table(path)
    # Of other ways to exchange than the program's own it has no line.
    drawn = drawn_of(table.fact("gpu"), table.fact("links"), [row for row in table.rows if row["way"] == "-"])
    return charts.stacked(drawn, "scaling", f"How steps 14 and 15 scale on {table.fact('gpu')}s")
