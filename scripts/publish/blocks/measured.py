"""The tables of a guide of what was measured of its step; single numbers stand in its sentences (inline.py)."""

import re

from blocks.published import KERNELS, LARGE, ROOFLINE, TUNING, step_before
from labtools.numbers import as_told, significant, spread
from labtools.table import read_table

STALLS = ("largest stall (cycles per issued instruction)", "second", "third")


def rows_of(path, step):
    """(facts, the step's rows) of a table."""
    facts, rows = read_table(path)
    return facts, [row for row in rows if row["step"] == step]


def named(constants):
    """Such as "kRows = 8, kAhead = 3"."""
    return constants.replace("=", " = ").replace(" k", ", k")


def tuning_lines(step):
    """What other constants bring, as scripts/publish/experiments.py measured it."""
    facts, rows = rows_of(TUNING, step)
    rows[1:] = sorted(rows[1:], key=lambda row: float("inf") if row["ms"] == "-" else float(row["ms"]))
    rows[1:] = [row for row in rows[1:] if not row["constants"].startswith("as it is, n=")]
    own = named(rows[0]["constants"].removeprefix("as it is: "))
    lines = ["", f"Other constants, the solution first (it has {own}), then the fastest first "
             f"(scripts/publish/experiments.py, n = {facts['n']}, medians, in one run; copy {significant(facts['copy_gb_per_s'], 4)} GB/s):",
             "", "| constants | registers per thread | bytes spilled | ms per sweep | × copy |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        names = "the solution" if row is rows[0] else named(row["constants"]).replace("as it is", "the solution")
        lines.append(f"| {names} | {row['registers']} | {row['spilled_bytes']} | {significant(row['ms'])} | {significant(row['x_copy'])} |")
    return lines


def large_lines():
    """Steps on large grids, as scripts/publish/experiments.py measured them."""
    facts, rows = read_table(LARGE)
    sizes = list(dict.fromkeys(row["n"] for row in rows))
    found = {(row["step"], row["n"]): row for row in rows}
    lines = ["", f"Large grids: 10⁹ points updated per second, and in brackets how many times the copy bandwidth that is at 8 bytes per "
             f"point ({significant(facts['copy_gb_per_s'], 4)} GB/s in that run; medians; the spread is the "
             "widest middle half of a row):", "",
             f"| step | {' | '.join(f'n = {n}' for n in sizes)} | spread |", f"|---|{'--:|' * len(sizes)}--:|"]
    for step in dict.fromkeys(row["step"] for row in rows):
        cells, widest = [], 0
        for n in sizes:
            row = found[step, n]
            cells.append("–" if row["ms"] == "-" else f"{significant(row['glups'])} ({significant(row['x_copy'])})")
            widest = max(widest, spread(row) if row["ms"] != "-" else 0)
        lines.append(f"| {step} | {' | '.join(cells)} | {widest:.1f} % |")
    return lines


def counted_kernels(step):
    """(facts, the rows of kernels.tsv of a step, each with the bytes of DRAM per point and the words for its stalls)."""
    facts, rows = rows_of(KERNELS, step)
    counted = {row["kernel"]: row["dram_bytes"] for row in rows_of(ROOFLINE, step)[1] if row["counted_by"] == "ncu"}
    for row in rows:
        dram, points = counted.get(row["kernel"], "-"), int(row["n"]) ** 2
        row["dram_bytes_per_point"] = "-" if dram == "-" else significant(float(dram) / points)
        told = re.sub(r"([a-z_]+) ([0-9.]+)", lambda match: f"{match[1].replace('_', ' ')} {as_told(match[2])}", row["stalls"])
        row.update(zip(STALLS, told.split(", ")))
    return facts, rows


def kernel_lines(step):
    """What ncu counted in each kernel of a step, and in the previous step's of the same n."""
    facts, rows = counted_kernels(step)
    quantities = [(title, name, unit) for title, name, unit in (
        ("DRAM bytes per point", "dram_bytes_per_point", None), ("DRAM, share of peak", "dram_percent", " %"),
        ("compute, share of peak", "compute_percent", " %"), ("occupancy", "occupancy_percent", " %"),
        ("cycles without an eligible warp", "no_eligible_percent", " %"), ("L1 hits", "l1_hit_percent", " %"),
        ("L2 hits", "l2_hit_percent", " %"), *((title, title, None) for title in STALLS))
        if any(row.get(name, "-") != "-" for row in rows)]
    if not quantities:
        return []
    names = {row["kernel"].partition("<")[0] for row in rows}
    before = [row for row in counted_kernels(step_before(step))[1] if row["n"] == rows[0]["n"]]
    before = [row for row in before if row["kernel"].partition("<")[0] in names] or [
        row for row in before if "copy" not in row["kernel"]]
    columns = [(f"`{row['kernel']}`", row) for row in rows]
    columns += [(f"step {step_before(step)[:2]}: `{row['kernel']}`", row) for row in before]

    def cell(row, name, unit):
        value = row.get(name, "-")
        return "–" if value == "-" else value if unit is None else f"{as_told(value)}{unit}"

    lines = ["", f"Counted with ncu {facts.get('ncu', '')} at n = {rows[0]['n']}:", "",
             f"| per launch | {' | '.join(title for title, _ in columns)} |", f"|---|{'--:|' * len(columns)}"]
    return lines + [f"| {title} | {' | '.join(cell(row, name, unit) for _, row in columns)} |"
                    for title, name, unit in quantities]


def measured_block(step):
    """The tables of one step."""
    return (kernel_lines(step) + (tuning_lines(step) if step[:2] in ("12", "13") else []) +
            (large_lines() if step[:2] == "13" else []))[1:]
