"""What a guide says that was measured of its step."""

import re

from blocks.ladder import notes
from blocks.published import COUNTERS, KERNELS, LARGE, ROOFLINE, TRACER, TUNING, is_job, step_before
from labtools.files import steps
from labtools.numbers import as_told, duration, significant, spread
from labtools.table import job_of, read_table

# From this step on a kernel may be limited by what its schedulers issue.
FIRST_SCHEDULED = "09"


def rows_of(path, step):
    """(facts, the step's rows) of a table."""
    facts, rows = read_table(path)
    return facts, [row for row in rows if row["step"] == step]


def traced_lines(step):
    """What the tracer saw of a step: its kernels, and the pages that migrated."""
    rows = rows_of(TRACER, step)[1]
    lines = []
    kernels = [f"`{row['name']}` {duration(float(row['tracer']))}" for row in rows if row["table"] == "kernels"]
    if kernels:
        lines.append(f"Kernels, median, as `make trace` shows them: {', '.join(kernels)}.")
    moved = {row["name"]: float(row["tracer"]) for row in rows if row["table"] == "migration"}
    # At large n the driver reports less than both fields, all of which must go to the GPU: some records are lost.
    if moved and moved.get("host to device", 0) >= 8 * int(rows[0]["n"]) ** 2:
        both = ", ".join(f"{significant(1e-6 * size, 4 if size >= 1e9 else 3)} MB {name}"
                         for name, size in sorted(moved.items(), reverse=True))
        lines.append(f"Pages that migrated in a run of {rows[0]['iterations']} sweeps: {both}.")
    return lines


def counter_lines(step):
    """Sectors per request of each kernel of a step, as ncu counted them."""
    rows = rows_of(COUNTERS, step)[1]
    n = max((int(row["n"]) for row in rows), default=0)
    counts = {(row["kernel"], row["quantity"]): int(row["ncu"]) for row in rows if int(row["n"]) == n}
    each = []
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        ratios = []
        for access in ("load", "store"):
            sectors, requests = (counts.get((kernel, f"{access} {what}")) for what in ("sectors", "requests"))
            if sectors and requests:
                ratios.append(f"{sectors / requests:.2f} per {access}")
        if ratios:
            each.append(f"`{kernel}` {', '.join(ratios)}")
    if not each:
        return []
    return [f"Sectors per request (ncu, n = {n}): {'; '.join(each)}."]


def tuning_lines(step):
    """What other constants bring, as scripts/publish/experiments.py measured it."""
    facts, rows = rows_of(TUNING, step)
    rows[1:] = sorted(rows[1:], key=lambda row: float("inf") if row["ms"] == "-" else float(row["ms"]))
    # Of the rows that change the same constants, the fastest and the slowest say most.
    same = {}
    for row in rows[1:]:
        same.setdefault(re.sub(r"=\d+", "", row["constants"]), []).append(row)
    shown = [row for group in same.values() for row in (group[0], group[-1])]
    rows[1:] = [row for row in rows[1:] if row in shown and not row["constants"].startswith("as it is, n=")]
    lines = ["", f"Other constants, of each kind the best and the worst, the fastest first (scripts/publish/experiments.py, n = {facts['n']}, medians, in one run; copy {significant(facts['copy_gb_per_s'], 4)} GB/s):",
             "", "| constants | registers per thread | bytes spilled | ms per sweep | × copy |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        names = row["constants"].replace("=", " = ").replace(" k", ", k")
        names = names.replace(":,", ":").replace("as it is:", "what the others change:")
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


def sweep_kernels(rows):
    """Those that sweep, and do not only copy."""
    return [row for row in rows if "copy" not in row["kernel"]]


def counted_kernels(step):
    """(facts, the rows of kernels.tsv of a step, each with the bytes of DRAM per point and the words for its stalls)."""
    facts, rows = rows_of(KERNELS, step)
    counted = {row["kernel"]: row["dram_bytes"] for row in rows_of(ROOFLINE, step)[1] if row["counted_by"] == "ncu"}
    for row in rows:
        dram, points = counted.get(row["kernel"], "-"), int(row["n"]) ** 2
        row["dram_bytes_per_point"] = "-" if dram == "-" else significant(float(dram) / points)
        row["stalls"] = re.sub(r"([a-z_]+) ([0-9.]+)",
                               lambda match: f"{match[1].replace('_', ' ')} {as_told(match[2])}", row["stalls"])
    return facts, rows


def kernel_lines(step):
    """What ncu counted in each kernel of a step, and in the previous step's of the same n."""
    facts, rows = counted_kernels(step)
    quantities = [(title, name, unit) for title, name, unit in (
        ("DRAM bytes per point", "dram_bytes_per_point", None), ("DRAM, share of peak", "dram_percent", " %"),
        ("compute, share of peak", "compute_percent", " %"), ("occupancy", "occupancy_percent", " %"),
        ("cycles without an eligible warp", "no_eligible_percent", " %"), ("L1 hits", "l1_hit_percent", " %"),
        ("L2 hits", "l2_hit_percent", " %"), ("largest stalls (cycles per issued instruction)", "stalls", None))
        if any(row.get(name, "-") != "-" for row in rows)]
    if not quantities:
        return []
    names = {row["kernel"].partition("<")[0] for row in rows}
    before = [row for row in counted_kernels(step_before(step))[1] if row["n"] == rows[0]["n"]]
    before = [row for row in before if row["kernel"].partition("<")[0] in names] or sweep_kernels(before)
    columns = [(f"`{row['kernel']}`", row) for row in rows]
    columns += [(f"step {step_before(step)[:2]}: `{row['kernel']}`", row) for row in before]

    def cell(row, name, unit):
        value = row.get(name, "-")
        return "–" if value == "-" else value if unit is None else f"{as_told(value)}{unit}"

    lines = ["", f"Counted with ncu {facts.get('ncu', '')} at n = {rows[0]['n']}:", "",
             f"| per launch | {' | '.join(title for title, _ in columns)} |", f"|---|{'--:|' * len(columns)}"]
    lines += [f"| {title} | {' | '.join(cell(row, name, unit) for _, row in columns)} |" for title, name, unit in quantities]
    others = facts.get(f"row {step[:2]}")
    return lines + (["", f"That is {others}."] if others else [])


def scheduler_lines(step):
    """What the schedulers issue, from step 09 to this one."""
    found = [row for name, *_ in steps() if FIRST_SCHEDULED <= name <= step
             for row in sweep_kernels(rows_of(KERNELS, name)[1]) if row.get("eligible_warps", "-") != "-"]
    lines = ["", "What each scheduler issues, counted with ncu:", "",
             "| step | kernel | n | warp instructions per 32 points and sweep | eligible warps per cycle | issue slots busy |",
             "|---|---|--:|--:|--:|--:|"]
    return lines + [f"| {row['step'][:2]} | `{row['kernel']}` | {row['n']} | {significant(row['instructions_per_32_points'])} "
                    f"| {float(row['eligible_warps']):.2f} | {100 - float(row['no_eligible_percent']):.0f} % |" for row in found]


def measured_block(ladder, row):
    """All that was measured of one step; row is its row of the ladder."""
    facts, on_gpu = ladder.facts, row["percent_of_copy"] != "-"
    where = f"On an {facts['gpu']} (CUDA {facts['cuda']})" if on_gpu else \
        f"On one CPU core of the machine with the {facts['gpu']} ({facts['cpu']})"
    job, before = job_of(row), ""
    if job:
        ranks, gpus = job
        where = (f"{'As' if ranks > gpus else 'On'} {f'{ranks} ranks on ' * (ranks > gpus)}"
                 f"{'one' if gpus == 1 else gpus} {facts['gpu']}{'s' * (gpus > 1)}"
                 f"{', one rank per GPU' * (ranks == gpus > 1)} (CUDA {facts['cuda']})")
        before = " with as many ranks" if is_job(step_before(row["step"])) else " on one GPU"
    text = (f"{where}, n = {row['n']}: {significant(row['ms'])} ms per iteration, "
            f"{significant(row['gb_per_s'])} GB/s at 8 bytes per point")
    if on_gpu:
        text += f", {significant(row['percent_of_copy'])} % of the copy bandwidth"
        text += " of all of them together" if job and job[1] > 1 else ""
    text += "."
    if row["x_before"] != "-":
        text += (f" The previous step, at this n{before}: {significant(row['before_ms'])} ms, "
                 f"so the speed-up is {significant(row['x_before'])}.")
    text += "".join(f" Note: {note}." for note in notes(ladder, row["step"][:2]))
    lines = [text] + traced_lines(row["step"]) + counter_lines(row["step"])
    # A blank line between two sentences keeps them apart when the guide is shown.
    lines = [part for line in lines for part in (line, "")][:-1]
    number = row["step"][:2]
    # Step 04 is a first kernel: what its warps wait for is a question of later steps.
    lines += kernel_lines(row["step"]) if number != "04" else []
    lines += scheduler_lines(row["step"]) if number in ("10", "12", "13") else []
    lines += tuning_lines(row["step"]) if number in ("12", "13") else []
    return lines + (large_lines() if number == "13" else [])
