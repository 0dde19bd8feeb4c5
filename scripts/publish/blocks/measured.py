"""The tables of a guide of what was measured of its step; single numbers stand in its sentences (inline.py)."""

import re

from labtools.files import RESULTS, step_named
from labtools.numbers import as_told, significant, spread
from labtools.table import Table

STALLS = ("largest stall", "second", "third")
# What a table of counted kernels has: words, column, unit.
COUNTERS = (("DRAM bytes per point", "dram_bytes_per_point", None), ("DRAM, share of peak", "dram_percent", " %"),
            ("compute, share of peak", "compute_percent", " %"), ("occupancy", "occupancy_percent", " %"),
            ("no eligible warp (cycles)", "no_eligible_percent", " %"), ("L1 hits", "l1_hit_percent", " %"),
            ("L2 hits", "l2_hit_percent", " %"), *((title, title, None) for title in STALLS))
# Guide 05 has the first such table, and explains no other counter than these.
SHARES = (("compute, share of peak", "compute_percent", " %"), ("memory, share of peak", "memory_percent", " %"),
          ("DRAM, share of peak", "dram_percent", " %"))


def rows_of(name, step):
    """(facts, the step's rows) of a table."""
    table = Table(RESULTS / f"{name}.tsv")
    return table.facts, [row for row in table.rows if row["step"] == step]


def named(constants):
    """Such as "kRows = 8, kAhead = 3"."""
    return constants.replace("=", " = ").replace(" k", ", k")


def tuning_lines(step):
    """What other constants bring, as scripts/publish/experiments.py measured it; nothing, if it tried none."""
    facts, rows = rows_of("tuning", step)
    if not rows:
        return []
    rows[1:] = sorted((row for row in rows[1:] if not row["constants"].startswith("as it is, n=")),
                      key=lambda row: float("inf") if row["ms"] == "-" else float(row["ms"]))
    own = named(rows[0]["constants"].removeprefix("as it is: "))
    lines = ["", "</details>", "", "<details><summary>Measured on an H200: other constants</summary>", "",
             f"The solution comes first (it has {own}), then the others, from the fastest to the slowest. Registers and bytes "
             f"spilled are those of a thread, and ms those of a sweep. Times are medians on an {facts['gpu']} at n = {facts['n']}, and "
             "the last column compares them with a copy in the same run (scripts/publish/experiments.py):",
             "", "| constants | registers | spilled | ms | × copy |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        if "--" not in row["constants"]:
            names = "the solution" if row is rows[0] else named(row["constants"])
            lines.append(f"| {names} | {row['registers']} | {row['spilled_bytes']} | {significant(row['ms'])} | {significant(row['x_copy'])} |")
    options = [(row["constants"].removeprefix("as it is, "), significant(row["ms"])) for row in rows if "--" in row["constants"]]
    if options:
        told = ", and ".join(f"{ms} ms with `{option}`" for option, ms in options)
        lines += ["", f"A sweep of the solution takes {told}."]
    return lines


def large_lines():
    """Steps on large grids, as scripts/publish/experiments.py measured them."""
    table = Table(RESULTS / "large.tsv")
    facts, rows = table.facts, table.rows
    sizes = list(dict.fromkeys(row["n"] for row in rows))
    found = {(row["step"], row["n"]): row for row in rows}
    widest = max(spread(row) for row in rows if row["ms"] != "-")
    lines = ["", f"Large grids: 10⁹ points updated per second. In brackets: the same at 8 bytes per point, as a multiple of the copy "
             f"bandwidth ({significant(facts['copy_gb_per_s'], 4)} GB/s in that run). Medians; the middle half of a cell's times "
             f"differs by at most {widest:.1f} %.", "",
             f"| step | {' | '.join(f'n = {n}' for n in sizes)} |", f"|---|{'--:|' * len(sizes)}"]
    for step in dict.fromkeys(row["step"] for row in rows):
        cells = ("–" if row["ms"] == "-" else f"{significant(row['glups'])} ({significant(row['x_copy'])})"
                 for row in (found[step, n] for n in sizes))
        lines.append(f"| {step} | {' | '.join(cells)} |")
    return lines


def counted_kernels(step):
    """(facts, the rows of kernels.tsv of a step, each with the bytes of DRAM per point and the words for its stalls)."""
    facts, rows = rows_of("kernels", step)
    for row in rows:
        counted = row["counted_by"] == "ncu" and row["dram_bytes"] != "-"
        row["dram_bytes_per_point"] = significant(float(row["dram_bytes"]) / int(row["n"]) ** 2) if counted else "-"
        told = re.sub(r"([a-z_]+) ([0-9.]+)", lambda match: f"{match[1].replace('_', ' ')} {as_told(match[2])}", row["stalls"])
        row.update(zip(STALLS, told.split(", ")))
    return facts, rows


def as_before(row, before):
    """Whether a kernel has the counts of the previous step's, within 1 %."""
    def near(one, other):
        return one == other or "-" not in (one, other) and abs(float(one) - float(other)) <= 0.01 * float(one)

    return row["kernel"] == before["kernel"] and all(near(row[name], before[name]) for name in row if name.endswith("_percent"))


def kernel_table(rows, before, quantities):
    """A column per kernel: of the step, then [(words, row)] of the previous one. Arguments of one template are enough as a head."""
    base, arguments = rows[0]["kernel"].partition("<")[0], [re.sub("^[^<]*", "", row["kernel"]) for row in rows]
    short = all(arguments) and all(row["kernel"].startswith(base + "<") for row in rows)
    heads = arguments if short else [row["kernel"] for row in rows]
    columns = [("", head, row) for head, row in zip(heads, rows)] + [(words, row["kernel"], row) for words, row in before]

    def cell(row, name, unit):
        value = row.get(name, "-")
        return "–" if value == "-" else value if unit is None else f"{as_told(value)}{unit}"

    title = f"`{base}`, per launch" if short else "per launch"
    return (["", f"| {title} | {' | '.join(f'{words}`{head}`' for words, head, _ in columns)} |", f"|---|{'--:|' * len(columns)}"] +
            [f"| {name} | {' | '.join(cell(row, column, unit) for *_, row in columns)} |" for name, column, unit in quantities])


def kernel_lines(step):
    """What ncu counted in each kernel of a step, and in the previous step's of the same n."""
    facts, rows = counted_kernels(step)
    step_before, first = step_named(step).before, step[:2] == "05"
    quantities = [(title, name, unit) for title, name, unit in (SHARES if first else COUNTERS)
                  if any(row.get(name, "-") != "-" for row in rows)]
    if not quantities:
        return []
    names = {row["kernel"].partition("<")[0] for row in rows}
    # The guide before the first table has none to compare with.
    before = [] if first else [row for row in counted_kernels(step_before)[1] if row["n"] == rows[0]["n"]]
    before = [row for row in before if row["kernel"].partition("<")[0] in names] or [
        row for row in before if "copy" not in row["kernel"]]
    same = {row["kernel"] for row in rows if any(as_before(row, earlier) for earlier in before)}
    left_out = ""
    if same and len(same) < len(rows):
        left_out = f" Left out, because within 1 % of step {step_before[:2]}: `{'`, `'.join(sorted(same))}`."
        rows, before = ([row for row in of_a_step if row["kernel"] not in same] for of_a_step in (rows, before))
    stalls = " Stalls are in cycles per issued instruction." if STALLS[0] in [name for name, *_ in quantities] else ""
    lines = ["", f"Counted with ncu {facts.get('ncu', '')} at n = {rows[0]['n']}.{stalls}{left_out}"]
    # Three kernels fit side by side into a terminal of 80 columns.
    for group in [rows] if len(rows) + len(before) <= 3 else [[row] for row in rows]:
        earlier = before if group is rows else [row for row in before if row["kernel"] == group[0]["kernel"]]
        lines += kernel_table(group, [(f"step {step_before[:2]}: ", row) for row in earlier], quantities)
    return lines


def measured_block(step):
    """The tables of one step; other constants come last, as the guides comment on them after the block."""
    return (kernel_lines(step) + (large_lines() if step[:2] == "13" else []) + tuning_lines(step))[1:]
