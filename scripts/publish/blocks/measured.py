"""What a guide says that was measured of its step."""

import re

from blocks.published import COUNTERS, RESULTS, TRACER, is_job, number, step_before
from labtools.numbers import duration, significant, spread
from labtools.table import Table, job_of, read_table

TILE, GRAPH, TUNING, LARGE, EXPERIMENTS, KERNELS, ROOFLINE = (RESULTS / f"{name}.tsv" for name in (
    "tile_loading", "graph", "tuning", "large", "experiments", "kernels", "roofline"))
# After so many sweeps a run at this n stops by itself, at the default tolerance. It prints that on any machine.
SWEEPS_TO_TOLERANCE = {64: 730, 2048: 181}


def rows_of(path, step):
    """(facts, the step's rows) of a table; no rows where it is not there."""
    if not path.is_file():
        return {}, []
    facts, rows = read_table(path)
    return facts, [row for row in rows if row["step"] == step]


def traced_ranges(step):
    """{range: (median in ns, how many)} of the tracer's run of a step."""
    return {row["name"]: (float(row["tracer"]), int(row["count"])) for row in rows_of(TRACER, step)[1]
            if row["table"] == "nvtx"}


def share_line(n, iterations, ranges):
    """How much of a run sweeps and copies are."""
    once = sum(time * count for name, (time, count) in ranges.items() if name not in ("jacobi_sweep", "copy_field"))
    sweep = ranges["jacobi_sweep"][0] + ranges["copy_field"][0]
    shares = [(100 * sweeps * sweep / (sweeps * sweep + once), sweeps)
              for sweeps in (iterations, SWEEPS_TO_TOLERANCE[n])]
    traced, whole = [f"{significant(share)} % of a run of {sweeps:,} sweeps" for share, sweeps in shares]
    return (f"Sweeps and copies take {traced} (the traced one), and {whole}, where it stops at the default tolerance; "
            "of the time inside all ranges, that is.")


def traced_lines(step):
    """What the tracer saw of a step: its kernels, and the pages that migrated."""
    rows = rows_of(TRACER, step)[1]
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
        for name, *fields in Table(TRACER).lines_of("overhead"):
            if name == step:
                times = dict(zip(fields[::2], fields[1::2]))
                lines.append(f"These are of a run under the tracer, in which an iteration took "
                             f"{significant(times['ms_traced'])} ms; without it, {significant(times['ms_alone'])} ms.")
    elif ranges and number(step) < "04":
        start, sweep, copy = (duration(ranges[name][0]) for name in ("allocate_fields", "jacobi_sweep", "copy_field"))
        lines.append(f"The range `allocate_fields`, CUDA's start-up in it, took {start}; a sweep {sweep}, a copy {copy} "
                     "(medians).")
        lines.append(share_line(int(rows[0]["n"]), int(rows[0]["iterations"]), ranges))
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
        lines.append(f"| {n} | {' | '.join(f'{significant(t)} µs' for t in times)} | {significant(times[0] / times[-1])} |")
    return lines


def tuning_lines(step):
    """What other constants bring, as scripts/publish/tune.py measured it."""
    facts, rows = rows_of(TUNING, step)
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
    facts, rows = rows_of(KERNELS, step)
    of_roofline = rows_of(ROOFLINE, step)[1]
    counted = {row["kernel"]: row["dram_bytes"] for row in of_roofline if row["counted_by"] == "ncu"}
    lines = []
    for row in rows:
        dram, points = counted.get(row["kernel"], "-"), int(row["n"]) ** 2
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
    lines += sweeps_lines(of_roofline)
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
    facts, rows = rows_of(EXPERIMENTS, step)
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
            lines.append(f"| {size} | {significant(8e-6 * size * size)} MB "
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
    # Step 04 is a first kernel: what its warps wait for is a question of later steps.
    lines += (kernel_lines(row["step"]) if number(row["step"]) != "04" else []) + experiment_lines(row["step"])
    return lines + (more[number(row["step"])]() if number(row["step"]) in more else [])
