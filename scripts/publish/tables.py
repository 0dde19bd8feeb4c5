#!/usr/bin/env python3
"""Writes measured numbers into README.md and the guides: no number there is typed by hand.

Each text has pairs of markers, and what stands between them comes from a file:
    <!-- ladder:begin -->  ...  <!-- ladder:end -->      the whole table (README.md), results/h200/ladder.tsv
    <!-- measured:begin -->  ...  <!-- measured:end -->  one step's (exercises/NN_name/README.md), all of the files below,
                                                         and results/h200/{tile_loading,graph,tuning,large,experiments,kernels,
                                                         roofline}.tsv where they are
    <!-- profile:begin --> ... <!-- profile:end -->      what `make nsys` or `make ncu` print of a report in results/h200/profiles
    <!-- scaling:begin --> ... <!-- scaling:end -->      (steps 14 and 15) results/h200/scaling.tsv, and the model of it;
                                                         scaling.svg is drawn beside it. README.md: some words of it
    <!-- counters:begin --> ... <!-- counters:end -->    (lab/cpu/README.md) results/h200/counters.tsv
    <!-- tracer:begin --> ... <!-- tracer:end -->        (lab/trace/README.md) results/h200/tracer.tsv
    <!-- mistakes:begin --> ... <!-- mistakes:end -->    (validate/tests/bank/README.md)
                                                     validate/tests/bank/found_on_cpu/09_shared_tile.tsv

    tables.py --write    bring the texts up to date
    tables.py --check    exit 1, naming the texts, where they are not
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from labtools import files as lab_files  # noqa: E402
from labtools import scaling_model  # noqa: E402
from labtools.files import ROOT, job_of  # noqa: E402

LADDER = ROOT / "results/h200/ladder.tsv"
TRACER = ROOT / "results/h200/tracer.tsv"
TILE = ROOT / "results/h200/tile_loading.tsv"
GRAPH = ROOT / "results/h200/graph.tsv"
PROFILES = ROOT / "results/h200/profiles"
TUNING = ROOT / "results/h200/tuning.tsv"
LARGE = ROOT / "results/h200/large.tsv"
EXPERIMENTS = ROOT / "results/h200/experiments.tsv"
KERNELS = ROOT / "results/h200/kernels.tsv"
ROOFLINE = ROOT / "results/h200/roofline.tsv"
COUNTERS = ROOT / "results/h200/counters.tsv"
SCALING = ROOT / "results/h200/scaling.tsv"
MISTAKES = ROOT / "validate/tests/bank/found_on_cpu/09_shared_tile.tsv"
# After so many sweeps a run at this n stops by itself, at the default tolerance. It prints that on any machine.
SWEEPS_TO_TOLERANCE = {64: 730, 2048: 181}


def number(step):
    """"04" of "04_jacobi_kernel"."""
    return step[:2]


def step_before(step):
    """The name of the step before, as lab/steps.tsv has it."""
    names = [name for name, *_ in lab_files.steps()]
    return names[names.index(step) - 1]


def read_ladder(path):
    """(facts, serial, rows): {name: value}, {(which, n): ms}, [{column: text}]."""
    facts, serial, rows, columns = {}, {}, [], None
    for line in path.read_text().splitlines():
        fields = line.split("\t")
        if line.startswith("# serial\t"):
            values = dict(zip(fields[2::2], fields[3::2]))
            serial[(fields[1], int(values["n"]))] = float(values["ms"])
        elif line.startswith("# ") and len(fields) > 1:
            facts[fields[0][2:]] = fields[1]
        elif line.startswith("#"):
            continue
        elif columns is None:
            columns = fields
        else:
            rows.append(dict(zip(columns, fields)))
    return facts, serial, rows


def significant(text, digits=3):
    """A number with so many significant digits, without an exponent; '-' stays."""
    if text == "-":
        return "–"
    value = float(text)
    if value == 0:
        return "0"
    decimals = digits - 1
    size = abs(value)
    while size >= 10:
        size /= 10
        decimals -= 1
    while size < 1:
        size *= 10
        decimals += 1
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


def spread(row):
    """The middle half of a row's times, in percent of their median."""
    return 100 * (float(row["ms_q3"]) - float(row["ms_q1"])) / float(row["ms"])


def machine(facts):
    """What was measured on, with what, and when."""
    return f"{facts['gpu']}, CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}"


def other_runs(facts, rows):
    """What scripts/publish/merge_ladders.py noted of rows that come from other runs than the rest, and what somebody did."""
    runs = {}
    for line in LADDER.read_text().splitlines():
        fields = line.split("\t")
        if fields[0] == "# row":
            runs.setdefault((fields[3], fields[5]), []).append(fields[1][:2])
    lines = [f"{'Row' if len(steps) == 1 else 'Rows'} {', '.join(sorted(steps))}: a run of {date} on the same kind of machine, copy "
             f"bandwidth {significant(copy, 4)} GB/s." for (date, copy), steps in sorted(runs.items(), key=lambda run: sorted(run[1]))]
    tuned = [number(row["step"]) for row in rows if row["note"].startswith("timed by")]
    if tuned:
        lines.append(f"Row{'s' if len(tuned) > 1 else ''} {' and '.join(tuned)}: timed by `scripts/publish/tune.py` in that run.")
    if lines:
        lines.append("Such a row's × serial, too, is against the times of the serial code that stand below.")
    return lines + ([f"Note: {facts['note']}."] if facts.get("note") else [])


def on_gpus(row):
    """"on 2 GPUs, a rank each", "4 ranks on 2 GPUs"."""
    ranks, gpus = job_of(row)
    return row["note"] if ranks > gpus else f"on {row['note']}"


def job_lines(rows):
    """On how many GPUs the rows of several GPUs were timed, and what they are told against."""
    jobs, lines = {}, []
    for row in rows:
        if job_of(row):
            jobs.setdefault(on_gpus(row), []).append(row)
    for words, of_job in jobs.items():
        line = f"Row{'s' if len(of_job) > 1 else ''} {', '.join(number(row['step']) for row in of_job)}: {words}"
        if job_of(of_job[0])[1] > 1:
            line += "; % of copy is of all of them together"
            alone = [number(row["step"]) for row in of_job if row["x_before"] != "-" and not is_job(step_before(row["step"]))]
            line += f"; the step before {' and '.join(alone)} ran on one" if alone else ""
        lines.append(line + ".")
    return lines


def is_job(step):
    """Whether a step is a job of several ranks."""
    return any(name == step and needs == "ranks" for name, _, needs, *_ in lab_files.steps())


def ladder_block(facts, serial, rows):
    """The whole ladder, and what there is to say of it."""
    lines = [
        "| step | what changed | n | ms per iteration | spread | million points/s | GB/s | % of copy "
        "| × step before | × best serial | × strided serial |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        if row["ms"] == "-":
            lines.append(f"| {row['step']} | {row['title']} | {row['n']} | {row['verdict']} | | | | | | | |")
            continue
        lines.append(
            f"| {row['step']} | {row['title']} | {row['n']} | {significant(row['ms'])} | {spread(row):.1f} % "
            f"| {significant(row['mpoints_per_s'])} | {significant(row['gb_per_s'])} "
            f"| {significant(row['percent_of_copy'], 2)} | {significant(row['x_before'])} "
            f"| {significant(row['x_best_serial'])} | {significant(row['x_strided_serial'])} |")
    sizes = sorted({n for _, n in serial})
    times = "; ".join(
        f"n = {n}: best {significant(str(serial[('best', n)]))}, strided {significant(str(serial[('strided', n)]))}"
        for n in sizes)
    later = other_runs(facts, rows) + job_lines(rows)
    lines += [
        "",
        f"Measured on: {machine(facts)}; copy bandwidth in the same run "
        f"{significant(facts['copy_gb_per_s'], 4)} GB/s.",
        *later,
        f"Serial code on one core ({facts['cpu']}), ms per iteration: {times}.",
        "",
        "Times are medians; the spread is the interquartile range, as a share of the median. GB/s counts 8 bytes a",
        "point: one float read and one written, the least that a sweep can move. Up to step 09 an iteration also copies",
        "the field, which moves as much again: 50 % of the copy bandwidth is the most that these steps can reach. The",
        "step before was timed again where its own n is another. The best serial code goes through memory row by row",
        "and copies nothing; the strided one is step 00.",
    ]
    if any(row["step"] >= "10" for row in rows):
        lines += [
            "",
            "From step 10 on the fields change roles, and nothing is copied: 100 % is the most for steps that read and write",
            "each point once a sweep. Both fields of step 11 fit in the L2 cache of a large GPU; its row tells of launches.",
        ]
    return lines


def duration(ns):
    """Nanoseconds in a unit that suits them."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{significant(str(ns / size))} {unit}"
    return f"{significant(str(ns))} ns"


def traced_ranges(step):
    """{range: (median in ns, how many)} of the tracer's run of a step."""
    _, rows = read_table(TRACER)
    return {row["name"]: (float(row["tracer"]), int(row["count"])) for row in rows
            if row["step"] == step and row["table"] == "nvtx"}


def share_line(n, iterations, ranges):
    """How much of a run sweeps and copies are."""
    once = sum(time * count for name, (time, count) in ranges.items() if name not in ("jacobi_sweep", "copy_field"))
    sweep = ranges["jacobi_sweep"][0] + ranges["copy_field"][0]
    shares = [(100 * sweeps * sweep / (sweeps * sweep + once), sweeps)
              for sweeps in (iterations, SWEEPS_TO_TOLERANCE[n])]
    traced, whole = [f"{significant(str(share))} % of a run of {sweeps:,} sweeps" for share, sweeps in shares]
    return (f"Sweeps and copies take {traced} (the traced one), and {whole}, where it stops at the default tolerance; "
            "of the time inside all ranges, that is.")


def traced_lines(step):
    """What the tracer saw of a step: its kernels, and the pages that migrated."""
    facts, rows = read_table(TRACER)
    rows = [row for row in rows if row["step"] == step]
    lines = []
    kernels = [f"`{row['name']}` {duration(float(row['tracer']))}" for row in rows if row["table"] == "kernels"]
    if kernels:
        lines.append(f"Kernels, median, as `make trace` shows them: {', '.join(kernels)}.")
    ranges = traced_ranges(step)
    if number(step) == "04":
        before = traced_ranges(step_before(step))
        lines.append("Ranges, median: " + ", ".join(
            f"`{name}` {duration(ranges[name][0])} (step 03: {duration(before[name][0])})"
            for name in ("jacobi_sweep", "copy_field")) + ".")
    elif ranges and number(step) < "04":
        start, sweep, copy = (duration(ranges[name][0]) for name in ("allocate_fields", "jacobi_sweep", "copy_field"))
        lines.append(f"The range `allocate_fields`, CUDA's start-up in it, took {start}; a sweep {sweep}, a copy {copy} "
                     "(medians).")
        lines.append(share_line(int(rows[0]["n"]), int(rows[0]["iterations"]), ranges))
    moved = {row["name"]: float(row["tracer"]) for row in rows if row["table"] == "migration"}
    if moved:
        both = ", ".join(f"{significant(str(1e-6 * size))} MB {name}" for name, size in sorted(moved.items(), reverse=True))
        lines.append(f"Pages that migrated in a run of {rows[0]['iterations']} sweeps: {both}.")
    return lines


def counter_lines(step):
    """Sectors per request of each kernel of a step, as ncu counted them."""
    facts, rows = read_table(COUNTERS)
    rows = [row for row in rows if row["step"] == step]
    if not rows:
        return []
    n = max(int(row["n"]) for row in rows)
    counts = {(row["kernel"], row["quantity"]): int(row["ncu"]) for row in rows if int(row["n"]) == n}
    each = []
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        ratios = []
        for access in ("load", "store"):
            sectors, requests = (counts.get((kernel, f"{access} {what}")) for what in ("sectors", "requests"))
            if sectors and requests:
                ratios.append(f"{sectors / requests:.2f} a {access}")
        if ratios:
            each.append(f"`{kernel}` {', '.join(ratios)}")
    if not each:
        return []
    return [f"Sectors per request (ncu, n = {n}): {'; '.join(each)}."]


def tile_lines():
    """Ways to load the tile, as scripts/publish/tile_loading.py measured them."""
    if not TILE.is_file():
        return []
    facts, rows = read_table(TILE)
    lines = ["", f"The sweep kernel at n = {facts['n']} with its tile loaded in other ways (medians, in one run):", "",
             "| the tile | sweep kernel |", "|---|--:|"]
    for row in rows:
        words = row["what it is"].split(": ", 1)[-1] if row["what it is"].startswith("step") else row["what it is"]
        words = words[0].upper() + words[1:]
        words = words if row["variant"] != "no_tile" else "No tile (step 08)"
        lines.append(f"| {words} | {significant(row['median_ms'])} ms |")
    return lines


def graph_lines():
    """What each change of step 11 brings on small grids, as scripts/publish/graph_table.py measured it."""
    if not GRAPH.is_file():
        return []
    _, rows = read_table(GRAPH)
    micro = {(int(row["n"]), row["variant"]): 1e3 * float(row["ms"]) for row in rows}
    lines = ["", "Time of a sweep on grids of several sizes (medians, in one run), what each change brings, and how many times",
             "step 10's sweeps per second that makes:", "",
             "| n | step 10 | a check every 10 sweeps, waited for | read one check late | and as a graph: step 11 | × step 10 |",
             "|--:|--:|--:|--:|--:|--:|"]
    for n in sorted({n for n, _ in micro}):
        times = [micro[n, variant] for variant in ("step_10", "waits", "late", "step_11")]
        lines.append(f"| {n} | {' | '.join(f'{significant(str(t))} µs' for t in times)} | {significant(str(times[0] / times[-1]))} |")
    return lines


def tuning_lines(step):
    """What other constants bring, as scripts/publish/tune.py measured it."""
    if not TUNING.is_file():
        return []
    facts, rows = read_table(TUNING)
    rows = [row for row in rows if row["step"] == step]
    if not rows:
        return []
    rows[1:] = sorted(rows[1:], key=lambda row: float("inf") if row["ms"] == "-" else float(row["ms"]))
    # Of the rows that change the same constants, the fastest and the slowest say most.
    same = {}
    for row in rows[1:]:
        same.setdefault(re.sub(r"=\d+", "", row["constants"]), []).append(row)
    shown = [row for group in same.values() for row in (group[0], group[-1])]
    rows[1:] = [row for row in rows[1:] if row in shown]
    lines = ["", f"Other constants, of each kind the best and the worst, the fastest first (scripts/publish/tune.py, n = {facts['n']}, medians, in one run; copy {significant(facts['copy_gb_per_s'], 4)} GB/s):",
             "", "| constants | registers a thread | bytes spilled | ms a sweep | × copy |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        names = row["constants"].replace("=", " = ")
        for one in ("k", "unroll"):
            names = names.replace(f" {one}", f", {one}")
        names = names.replace(":,", ":").replace("as it is:", "what the others change:")
        lines.append(f"| {names} | {row['registers']} | {row['spilled_bytes']} | {significant(row['ms'])} | {significant(row['x_copy'])} |")
    return lines


def large_lines():
    """Steps on large grids, as scripts/publish/tune.py measured them."""
    if not LARGE.is_file():
        return []
    facts, rows = read_table(LARGE)
    sizes = list(dict.fromkeys(row["n"] for row in rows))
    found = {(row["step"], row["n"]): row for row in rows}
    spreads = all(row["ms"] == "-" or row["ms_q1"] != "-" for row in rows)  # or nobody has noted them
    told = "; the spread is the widest middle half of a row" if spreads else ""
    lines = ["", f"Large grids: 10⁹ points updated a second, and in brackets how many times the copy bandwidth that is at 8 bytes a "
             f"point ({significant(facts['copy_gb_per_s'], 4)} GB/s in that run; medians{told}):", "",
             f"| step | {' | '.join(f'n = {n}' for n in sizes)} |{' spread |' * spreads}",
             f"|---|{'--:|' * (len(sizes) + spreads)}"]
    for step in dict.fromkeys(row["step"] for row in rows):
        cells, widest = [], 0
        for n in sizes:
            row = found[step, n]
            cells.append("–" if row["ms"] == "-" else f"{significant(row['glups'])} ({significant(row['x_copy'])})")
            widest = max(widest, spread(row) if spreads and row["ms"] != "-" else 0)
        lines.append(f"| {step} | {' | '.join(cells)} |" + (f" {widest:.1f} % |" if spreads else ""))
    if facts.get("constants"):
        lines += ["", f"Measured with these constants: {facts['constants']}."]
    if facts.get("note"):
        lines[-1] += f" The figures are {facts['note']}."
    return lines


def kernel_lines(step):
    """What ncu counted in each kernel of a step."""
    if not KERNELS.is_file():
        return []
    facts, rows = read_table(KERNELS)
    rows = [row for row in rows if row["step"] == step]
    counted = {}
    if ROOFLINE.is_file():
        counted = {(row["step"], row["kernel"]): row["dram_bytes"] for row in read_table(ROOFLINE)[1]
                   if row["counted_by"] == "ncu" and row["dram_bytes"] != "-"}
    lines = []
    for row in rows:
        dram, points = counted.get((step, row["kernel"]), "-"), int(row["n"]) ** 2
        row["dram_bytes_per_point"] = "-" if dram == "-" else str(float(dram) / points)
        row["stalls"] = re.sub(r"([a-z_]+) ([0-9.]+)",
                               lambda match: f"{match[1].replace('_', ' ')} {significant(match[2])}", row["stalls"])
    columns = [(title, name, unit) for title, name, unit in (
        ("DRAM bytes a point", "dram_bytes_per_point", ""), ("DRAM, of peak", "dram_percent", " %"),
        ("compute, of peak", "compute_percent", " %"), ("occupancy", "occupancy_percent", " %"),
        ("cycles without an eligible warp", "no_eligible_percent", " %"), ("L1 hits", "l1_hit_percent", " %"),
        ("L2 hits", "l2_hit_percent", " %"), ("largest stalls (cycles per issued instruction)", "stalls", None))
        if any(row.get(name, "-") != "-" for row in rows)]
    if not columns:
        return []
    lines = ["", f"Counted by ncu {facts.get('ncu', '')} at n = {rows[0]['n']}:", "",
             f"| kernel | {' | '.join(title for title, _, _ in columns)} |", f"|---|{'--:|' * len(columns)}"]
    for row in rows:
        cells = []
        for _, name, unit in columns:
            value = row.get(name, "-")
            cells.append("–" if value == "-" else value if unit is None else f"{significant(value)}{unit}")
        lines.append(f"| `{row['kernel']}` | {' | '.join(cells)} |")
    if ROOFLINE.is_file():
        lines += sweeps_lines([row for row in read_table(ROOFLINE)[1] if row["step"] == step])
    others = facts.get(f"row {number(step)}")
    return lines + (["", f"That is {others}."] if others else [])


def sweeps_lines(rows):
    """What a kernel that makes several sweeps a launch does for a byte: by the algorithm, and as ncu counted."""
    lines = []
    for row in rows:
        if row.get("hand_flops", "-") == "-" or float(row["sweeps"]) <= 1:
            continue
        points, sweeps, flops, moved = (float(row[name]) for name in ("n", "sweeps", "hand_flops", "hand_bytes"))
        points *= points
        text = (f"A launch of `{row['kernel']}` makes {row['sweeps']} sweeps. By the algorithm that is "
                f"{significant(flops / points)} operations for {significant(moved / points)} bytes a point, "
                f"{significant(flops / moved)} a byte, where one sweep has {significant(flops / moved / sweeps)}.")
        if row["counted_by"] == "ncu" and row["dram_bytes"] != "-":
            flops, moved = float(row["flops_float"]) + float(row["flops_double"]), float(row["dram_bytes"])
            text += (f" ncu counted {significant(flops / points)} operations and {significant(moved / points)} bytes of "
                     f"DRAM a point, {significant(flops / moved)} a byte, at "
                     f"{significant(flops / float(row['time_ns']) / 1000)} TFLOP/s.")
        lines += ["", text]
    return lines


def experiment_lines(step):
    """What the guide proposes to try, as scripts/publish/experiments.py measured it."""
    if not EXPERIMENTS.is_file():
        return []
    facts, rows = read_table(EXPERIMENTS)
    rows = [row for row in rows if row["step"] == step]
    if not rows:
        return []
    found = {(row["variant"], int(row["n"]), row["quantity"]): row for row in rows}
    n = max(int(row["n"]) for row in rows)

    def cell(variant, quantity, unit="", size=None, which="median"):
        row = found.get((variant, size or n, quantity))
        return "–" if row is None or row["median"] == "-" else significant(row[which]) + unit

    def name(row):  # without a number the words are the reason
        return row["words"] if row["median"] != "-" else row["variant"].replace("_", " ")

    def both_ends(variant, quantity):
        return f"{cell(variant, quantity, which='least')} to {cell(variant, quantity, ' ms', which='most')}"

    if number(step) == "05":
        return ["", f"The other way, prefetching, between the two (n = {n}, medians, in one run):", "",
                "| variant | ms per iteration |", "|---|--:|",
                *[f"| {name(row)} | {cell(row['variant'], 'iteration')} |"
                  for row in rows]]
    if number(step) == "07":
        lines = ["", "The copy kernel on grids of several sizes (8 bytes a point over its median time; DRAM bytes by ncu):",
                 "", "| n | both fields | copy kernel | DRAM bytes a point |", "|--:|--:|--:|--:|"]
        for size in sorted({int(row["n"]) for row in rows}):
            lines.append(f"| {size} | {significant(str(8e-6 * size * size))} MB "
                         f"| {cell('copy', 'copy kernel', ' GB/s', size)} | {cell('copy', 'DRAM bytes', '', size)} |")
        return lines
    if number(step) != "08":
        return []
    lines = ["", f"The sweep kernel at n = {n} with its sum in other ways (medians, in one run):", "",
             "| variant | sweep kernel |", "|---|--:|"]
    lines += [f"| {name(row)} | {cell(row['variant'], 'sweep kernel', ' ms')} |" for row in rows
              if row["quantity"] == "sweep kernel" and not row["variant"].startswith("threads_")]
    lines += ["", f"Iterations without the first, as it is: {cell('as_it_is', 'iteration', ' ms')} "
              f"({both_ends('as_it_is', 'iteration')}); with the sum set to zero by the CPU: "
              f"{cell('sum_on_host', 'iteration', ' ms')} ({both_ends('sum_on_host', 'iteration')}).", "",
              "Threads a block, for its 32 x 32 points:", "",
              "| threads | occupancy achieved | registers a thread | sweep kernel |", "|--:|--:|--:|--:|"]
    for variant in dict.fromkeys(row["variant"] for row in rows if row["variant"].startswith("threads_")):
        lines.append(f"| 32 x {variant.removeprefix('threads_')} | {cell(variant, 'occupancy', ' %')} "
                     f"| {cell(variant, 'registers').removesuffix('.0')} | {cell(variant, 'sweep kernel', ' ms')} |")
    return lines + ["", f"The copy kernel as it is: {cell('as_it_is', 'copy kernel', ' ms')}; with the loop over y and "
                    f"32 x 4 threads: {cell('copy_with_loop', 'copy kernel', ' ms')}."]


def measured_block(facts, row):
    """All that was measured of one step; row is its row of the ladder."""
    if row["ms"] == "-":
        return [f"Not measured yet ({row['verdict']})."]
    on_gpu = row["percent_of_copy"] != "-"
    where = f"On an {facts['gpu']} (CUDA {facts['cuda']})" if on_gpu else \
        f"On one CPU core of the machine with the {facts['gpu']} ({facts['cpu']})"
    job, before = job_of(row), ""
    if job:
        ranks, gpus = job
        where = (f"{'As' if ranks > gpus else 'On'} {f'{ranks} ranks on ' * (ranks > gpus)}"
                 f"{'one' if gpus == 1 else gpus} {facts['gpu']}{'s' * (gpus > 1)}"
                 f"{', a rank each' * (ranks == gpus > 1)} (CUDA {facts['cuda']})")
        before = " with as many ranks" if is_job(step_before(row["step"])) else " on one GPU"
    text = (f"{where}, n = {row['n']}: {significant(row['ms'])} ms per iteration, "
            f"{significant(row['gb_per_s'])} GB/s at 8 bytes a point")
    if on_gpu:
        text += f", {significant(row['percent_of_copy'], 2)} % of the copy bandwidth"
        text += " of all of them together" if job and job[1] > 1 else ""
    text += "."
    if row["x_before"] != "-":
        text += (f" The step before, at this n{before}: {significant(row['before_ms'])} ms, "
                 f"so the speed-up is {significant(row['x_before'])}.")
    note = facts.get("note", "")
    if re.match(rf"row {number(row['step'])}\b", note):
        text += f" Note: {note}."
    lines = [text] + traced_lines(row["step"]) + counter_lines(row["step"])
    # A blank line between two sentences keeps them apart when the guide is shown.
    lines = [part for line in lines for part in (line, "")][:-1]
    more = {"09": tile_lines, "11": graph_lines, "12": lambda: tuning_lines(row["step"]),
            "13": lambda: tuning_lines(row["step"]) + large_lines()}
    lines += kernel_lines(row["step"]) + experiment_lines(row["step"])
    return lines + (more[number(row["step"])]() if number(row["step"]) in more else [])


def read_table(path):
    """(facts, rows) of a table with its columns' names in the first line that is no comment."""
    facts, rows, columns = {}, [], None
    for line in path.read_text().splitlines():
        fields = line.split("\t")
        if line.startswith("#"):
            if len(fields) > 1:
                facts[fields[0][2:]] = fields[1]
        elif columns is None:
            columns = fields
        else:
            rows.append(dict(zip(columns, fields)))
    return facts, rows


def counters_block():
    """What `make count` counts, against ncu."""
    facts, rows = read_table(COUNTERS)
    sizes = sorted({int(row["n"]) for row in rows})
    apart = {name.removeprefix("not compared: "): why for name, why in facts.items() if name.startswith("not compared: ")}
    compared = [row for row in rows if f"{row['step'][:2]} {row['quantity']}" not in apart]
    worst = max(compared, key=lambda row: abs(float(row["difference_percent"])))
    equal = sum(row["cpu"] == row["ncu"] for row in compared)
    counts = {(row["step"], row["kernel"], int(row["n"]), row["quantity"]): row for row in rows}
    lines = ["| step | kernel | sectors per load request, here | by ncu | per store request, here | by ncu |",
             "|---|---|--:|--:|--:|--:|"]
    n = sizes[-1]
    for step, kernel in dict.fromkeys((row["step"], row["kernel"]) for row in rows):
        cells = []
        for access in ("load", "store"):
            for who in ("cpu", "ncu"):
                sectors, requests = (int(counts.get((step, kernel, n, f"{access} {what}"), {}).get(who, 0))
                                     for what in ("sectors", "requests"))
                cells.append(f"{sectors / requests:.2f}" if sectors and requests else "–")
        lines.append(f"| {step} | {kernel} | {' | '.join(cells)} |")
    lines += [
        "",
        f"n = {n}; by ncu {facts['ncu']} on an {facts['gpu']} (CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}). "
        f"Of {len(compared)} counts at",
        f"n = {' and '.join(map(str, sizes))} (requests, sectors, atomics, shared memory's loads, stores and passes) {equal} are equal;",
        f"the largest difference is {float(worst['difference_percent']):.1f} % ({worst['step']}, {worst['quantity']}).",
    ]
    lines += [f"Not compared: {what} ({why})." for what, why in apart.items()]
    if facts.get("asynchronous"):
        lines += ["The sectors of asynchronous copies to shared memory are not compared: ncu's are more than they read."]
    return lines


def tracer_block():
    """What `make trace` measures, against nsys."""
    facts, rows = read_table(TRACER)
    lines = ["| step | what | times | by the tracer | by nsys | difference |", "|---|---|--:|--:|--:|--:|"]
    for row in rows:
        # What happens once or twice in a run differs from run to run by more than from tool to tool.
        if row["table"] not in ("nvtx", "kernels") or int(row["count"]) < 10:
            continue
        what = "kernel" if row["table"] == "kernels" else "range"
        times = " | ".join(f"{significant(str(1e-3 * float(row[who])), 4)} µs" for who in ("tracer", "nsys"))
        lines.append(f"| {row['step']} | {what} {row['name']} | {row['count']} | {times} | {float(row['difference_percent']):+.1f} % |")
    lines += ["", f"Medians, of two runs of each solution on an {facts['gpu']} (CUDA {facts['cuda']}, driver {facts['driver']}, "
              f"nsys {facts['nsys']}, {facts['date']})."]
    overhead = []
    for line in TRACER.read_text().splitlines():
        fields = line.split("\t")
        if fields[0] == "# overhead":
            values = dict(zip(fields[2::2], fields[3::2]))
            overhead.append((fields[1], float(values["ms_alone"]), float(values["ms_traced"])))
    if overhead:
        most = max(overhead, key=lambda o: o[2] / o[1])
        lines.append(f"An iteration takes at most {100 * (most[2] / most[1] - 1):.1f} % longer when it is traced "
                     f"({most[0]}: {significant(str(1e3 * most[1]))} µs alone).")
    return lines


def profile_block(step):
    """What the profiler's verb prints of the kept report of a step, against the step before from 06 on: its first part.
    Step 11 is for the time line, launches and waits, and so are those with ranks: theirs is rank 0's of two."""
    ranks = is_job(step)
    tool = "nsys" if number(step) < "06" or number(step) == "11" or ranks else "ncu"
    report = PROFILES / f"{tool}_{number(step)}.csv"
    if not report.is_file():
        return ["Not measured yet."]
    variables = {"STEP": number(step), "REPORT": str(report)}
    if number(step) >= "06" and not ranks:
        variables["BASELINE"] = "previous"
    command = [str(ROOT / f"scripts/verbs/{tool}.sh")]
    result = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"tables.py: {' '.join(command)} of {report.name}: {result.stderr.strip()}")
    lines = result.stdout.rstrip().splitlines()
    # The first kernel is the one that the step is about.
    kernels = [k for k, line in enumerate(lines) if re.match(r"\w+, grid ", line)]
    if len(kernels) > 1:
        lines = lines[:kernels[1]] + ["..."]
    while "" in lines[-2:]:
        lines.pop(len(lines) - 1 - lines[::-1].index(""))
    # Of a solution, or of an exercise that had been done: that is what the verb takes by itself.
    which = "solution" if re.search(r"^# which\tsolution$", report.read_text(), re.MULTILINE) else None
    said = " ".join(f"{name}={value}" for name, value in (("STEP", number(step)), ("WHICH", which),
                                                          ("BASELINE", variables.get("BASELINE")), ("RANKS", "2" if ranks else None)) if value)
    return [f"<details><summary>What `make {tool} {said}` prints on {'two H200s' if ranks else 'an H200'}</summary>", "",
            "```text", *lines, "```", "", "</details>"]


def of_cell(row, efficiency=None):
    """"0.0214 (97 %)"; a dash where there is no time."""
    if row is None or row["ms"] == "-":
        return "–"
    percent = row[efficiency] if efficiency else "-"
    return significant(row["ms"]) + ("" if percent == "-" else f" ({float(percent):.1f} %)")


def scaling_block(step):
    """How a step scales; with step 15 the model, too."""
    if not SCALING.is_file():
        return ["Not measured yet."]
    facts, rows = scaling_model.read(SCALING)
    found = {(row["step"][:2], *(int(row[name]) for name in ("n", "ranks", "check_every"))): row for row in rows}
    ranks = sorted({r for _, _, r, _ in found})
    gpus = " | ".join(f"{r} GPU{'s' if r > 1 else ''}" for r in ranks)
    last = number(step) == "15"
    steps = ["14", "15"] if last else [number(step)]
    lines = [f"On {facts['gpus']} {facts['gpu']}s ({facts['links']} between two of them; CUDA {facts['cuda']}, NCCL "
             f"{facts['nccl']}, {facts['mpi']}, driver {facts['driver']}, {facts['date']}). Every field that is timed has "
             "the rows of step 10's." + (f" Note: {facts['note']}." if facts.get("note") else ""), "",
             "Strong scaling: ms a sweep, and in brackets the efficiency: how fast so many GPUs are, as a share of so many "
             "times step 13 on one.", "",
             f"| n | residual every | step 13 | step | {gpus} | GLUPS on {ranks[-1]} | spread |",
             f"|--:|--:|--:|--:|{'--:|' * len(ranks)}--:|--:|"]
    weak = {(one, r): sizes[k] for k, one in enumerate(scaling_model.WEAK[1]) for r, sizes in scaling_model.WEAK.items()}
    only_weak = {n for (_, r), n in weak.items() if r not in (1, max(scaling_model.WEAK))}
    for n, every in sorted({(n, every) for _, n, _, every in found if n not in only_weak}):
        for name in steps:
            of_ranks = [found.get((name, n, r, every)) for r in ranks]
            timed = [row for row in of_ranks if row and row["ms"] != "-"]
            if timed:
                most = timed[-1]["glups"] if timed[-1] is of_ranks[-1] else "-"
                lines.append(f"| {n} | {every} | {of_cell(found.get(('13', n, 1, every)))} | {name} | "
                             f"{' | '.join(of_cell(row, 'efficiency') for row in of_ranks)} | {significant(most)} | "
                             f"{max(spread(row) for row in timed):.1f} % |")
    lines += ["", "Weak scaling, as many points for each GPU: ms a sweep, and in brackets the time of the step itself on one "
              "GPU, as a share of that.", "", f"| points a GPU | step | {gpus} |", f"|--:|--:|{'--:|' * len(ranks)}"]
    for one in scaling_model.WEAK[1]:
        for name in steps:
            cells = [of_cell(found.get((name, weak.get((one, r)), r, scaling_model.CHECK_OFTEN)), "weak_efficiency")
                     for r in ranks]
            if set(cells) != {"–"}:
                lines.append(f"| {one}² | {name} | {' | '.join(cells)} |")
    if last:
        lines += ["", "![Strong and weak scaling of steps 14 and 15](../../results/h200/scaling.svg)", "", *model_lines()]
    return lines


def scaling_words():
    """What README.md says of step 15 on the most GPUs."""
    if not SCALING.is_file():
        return ["How they scale is not measured yet."]
    facts, rows = scaling_model.read(SCALING)
    most = max(int(row["ranks"]) for row in rows)
    of_15 = [row for row in rows if (row["step"][:2], int(row["ranks"])) == ("15", most) and row["ms"] != "-"
             and int(row["check_every"]) == scaling_model.CHECK_OFTEN]
    strong = [f"{float(row['efficiency']):.1f} % at n = {row['n']}" for row in of_15 if row["efficiency"] != "-"]
    fastest = max(of_15, key=lambda row: float(row["glups"]))
    return [f"On {most} {facts['gpu']}s (CUDA {facts['cuda']}, NCCL {facts['nccl']}), with a residual every "
            f"{scaling_model.CHECK_OFTEN} sweeps, step 15 reaches",
            f"{', '.join(strong)} of {most} times the speed of step 13 on one.",
            f"At n = {fastest['n']} it updates {significant(fastest['glups'])} GLUPS (10⁹ points a second; median of "
            f"{fastest['samples']}, spread {spread(fastest):.1f} %)."]


def model_lines():
    """The model's figures, what it says of the points that it was not fitted to, and of many nodes."""
    try:
        model = scaling_model.Model(SCALING)
    except scaling_model.NoModel as error:
        return [f"There is no model of it: {str(error).replace(str(ROOT), '').lstrip('/')}."]
    fitted = [abs(error) for row, _, error in model.compared() if int(row["ranks"]) <= scaling_model.FITTED_RANKS]
    lines = [f"The model (`scripts/publish/scaling.py --model`): {'; '.join(scaling_model.words_of_model(model))}. At the points that "
             f"it was fitted to it is off by at most {max(fitted):.1f} %. Of the others it says:", "",
             "| n | residual every | GPUs | step | measured, ms | by the model | error |", "|--:|--:|--:|--:|--:|--:|--:|"]
    for row, ms, error in sorted(model.compared(), key=lambda one: (int(one[0]["n"]), int(one[0]["check_every"]))):
        if int(row["ranks"]) > scaling_model.FITTED_RANKS:
            lines.append(f"| {row['n']} | {row['check_every']} | {row['ranks']} | {number(row['step'])} "
                         f"| {significant(row['ms'])} | {significant(str(ms))} | {error:+.1f} % |")
    nodes, each = scaling_model.HOSTS
    lines += ["", f"And of {nodes} nodes of {each} GPUs, which nobody has measured: µs of a pass of {scaling_model.PASS} sweeps "
              "with a residual, what of it cannot be hidden, and the efficiency against the step itself on one GPU.", "",
              "| scaling | n | step | rows | exchange | sum | overhead | GLUPS | efficiency |",
              "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for words, n, name, parts, glups, efficiency in model.far():
        times = " | ".join(significant(str(parts[part])) for part in scaling_model.PARTS)
        lines.append(f"| {words} | {n} | {name} | {times} | {significant(str(glups))} | {efficiency:.0f} % |")
    return lines


def mistakes_block():
    """Planted mistakes, and which way to run finds them."""
    _, rows = read_table(MISTAKES)
    ways = ["forward", "reverse", "shuffled", "RACES=1"]
    lines = ["| mistake | " + " | ".join(ways) + " |", "|---|" + "---|" * len(ways)]
    for row in rows:
        lines.append(f"| {row['what it is'].rstrip('.')} | " + " | ".join(row[way] for way in ways) + " |")
    return lines


def replace_block(text, name, lines):
    """text with what stands between the markers of `name` replaced; None where there are no markers."""
    pattern = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    if not pattern.search(text):
        return None
    return pattern.sub(lambda match: match.group(1) + "\n".join(lines) + "\n" + match.group(2), text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    for needed, written_by in ((LADDER, "`make run RESULTS=results/h200`"),
                               (COUNTERS, "`scripts/publish/counters.py --write results/h200`"),
                               (TRACER, "`scripts/publish/tracer.py --write results/h200`"),
                               (MISTAKES, "`scripts/tests/planted_bugs_on_cpu.sh 09_shared_tile --write`")):
        if not needed.is_file():
            sys.exit(f"tables.py: {needed.relative_to(ROOT)} is missing: {written_by} writes it")

    facts, serial, rows = read_ladder(LADDER)
    cpu = ROOT / "lab/cpu/README.md"
    blocks = [(ROOT / "README.md", "ladder", LADDER, ladder_block(facts, serial, rows)),
              (ROOT / "README.md", "scaling", SCALING, scaling_words()),
              (ROOT / "lab/trace/README.md", "tracer", TRACER, tracer_block()),
              (cpu, "counters", COUNTERS, counters_block()),
              (ROOT / "validate/tests/bank/README.md", "mistakes", MISTAKES, mistakes_block())]
    for row in rows:
        blocks.append((ROOT / "exercises" / row["step"] / "README.md", "measured", LADDER, measured_block(facts, row)))

    for step in scaling_model.STEPS.values():
        guide = ROOT / "exercises" / step / "README.md"
        if guide.is_file() and step not in {row["step"] for row in rows}:
            several = ", as one rank on one GPU. On several:" if "<!-- scaling:begin -->" in guide.read_text() else "."
            blocks.append((guide, "measured", LADDER, [f"Not in the ladder yet{several}"]))
        if guide.is_file() and "<!-- profile:begin -->" in guide.read_text():
            blocks.append((guide, "profile", PROFILES, profile_block(step)))
        if guide.is_file() and (number(step) == "15" or "<!-- scaling:begin -->" in guide.read_text()):
            blocks.append((guide, "scaling", SCALING, scaling_block(step)))

    wrong = []
    if SCALING.is_file():
        drawn, path = scaling_model.picture(SCALING), SCALING.with_suffix(".svg")
        if not path.is_file() or path.read_text() != drawn:
            if arguments.check:
                wrong.append(f"{path.relative_to(ROOT)}: is not drawn from {SCALING.relative_to(ROOT)}; run `make tables`")
            else:
                scaling_model.plot(path.parent)
    for path, name, source, lines in blocks:
        text = path.read_text() if path.is_file() else ""
        new = replace_block(text, name, lines)
        if new is None:
            wrong.append(f"{path.relative_to(ROOT)}: has no <!-- {name}:begin --> ... <!-- {name}:end -->")
        elif new != text and arguments.check:
            wrong.append(f"{path.relative_to(ROOT)}: its numbers are not those of {source.relative_to(ROOT)}; "
                         "run `make tables`")
        elif new != text:
            path.write_text(new)
            print(f"{path.relative_to(ROOT)}: written")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
