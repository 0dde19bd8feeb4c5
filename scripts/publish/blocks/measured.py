"""What a guide says that was measured of its step."""

import re

from blocks.ladder import notes
from blocks.published import (BANDWIDTH, COUNTERS, EXPERIMENTS, KERNELS, LARGE, ROOFLINE, TRACER, TUNING, is_job,
                              step_before)
from labtools.files import steps
from labtools.numbers import as_told, duration, significant, size, spread
from labtools.table import job_of, read_table

# From this step on a kernel may be limited by what its schedulers issue.
FIRST_SCHEDULED = "09"
# After so many sweeps a run at this n stops by itself, at the default tolerance. It prints that on any machine.
SWEEPS_TO_TOLERANCE = {64: 730, 2048: 181}


def rows_of(path, step):
    """(facts, the step's rows) of a table."""
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
    if step[:2] == "04":
        before = traced_ranges(step_before(step))
        lines.append("Ranges, median: " + ", ".join(
            f"`{name}` {duration(ranges[name][0])} (step 03: {duration(before[name][0])})"
            for name in ("jacobi_sweep", "copy_field")) + ".")
    elif ranges and step[:2] < "04":
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
    """What other constants bring, as scripts/publish/tune.py measured it."""
    facts, rows = rows_of(TUNING, step)
    rows[1:] = sorted(rows[1:], key=lambda row: float("inf") if row["ms"] == "-" else float(row["ms"]))
    # Of the rows that change the same constants, the fastest and the slowest say most.
    same = {}
    for row in rows[1:]:
        same.setdefault(re.sub(r"=\d+", "", row["constants"]), []).append(row)
    shown = [row for group in same.values() for row in (group[0], group[-1])]
    rows[1:] = [row for row in rows[1:] if row in shown and not row["constants"].startswith("as it is, n=")]
    lines = ["", f"Other constants, of each kind the best and the worst, the fastest first (scripts/publish/tune.py, n = {facts['n']}, medians, in one run; copy {significant(facts['copy_gb_per_s'], 4)} GB/s):",
             "", "| constants | registers per thread | bytes spilled | ms per sweep | × copy |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        names = row["constants"].replace("=", " = ").replace(" k", ", k")
        names = names.replace("as it is:,", "the solution, with").replace("as it is", "the solution")
        lines.append(f"| {names} | {row['registers']} | {row['spilled_bytes']} | {significant(row['ms'])} | {significant(row['x_copy'])} |")
    return lines


def large_lines():
    """Steps on large grids, as scripts/publish/tune.py measured them."""
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
    lines += sweeps_lines(rows_of(ROOFLINE, step)[1])
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


def bandwidth_rows(what):
    """The rows of bandwidth.tsv of one kind."""
    return [row for row in read_table(BANDWIDTH)[1] if row["what"] == what]


def transfer_lines():
    """What pinned and pageable memory of the host reach, as `make bandwidth` measured it."""
    found = {(row["way"], int(row["bytes"])): row["rate_median"] for row in bandwidth_rows("host")}
    sizes = sorted({bytes_ for _, bytes_ in found})[::2]
    lines = ["", "Copies between host and GPU by `cudaMemcpy`, GB/s (`make bandwidth`, medians):", "",
             f"| memory of the host | {' | '.join(size(bytes_) for bytes_ in sizes)} |", f"|---|{'--:|' * len(sizes)}"]
    for way in dict.fromkeys(way for way, _ in found):
        memory, to = way.rpartition("_")[2], "to the GPU" if way.startswith("to_gpu") else "to the host"
        lines.append(f"| {memory}, {to} | {' | '.join(significant(found.get((way, bytes_), '-')) for bytes_ in sizes)} |")
    return lines


def launch_shape_lines():
    """The same copy with other blocks, as `make bandwidth` measured it."""
    rows = [row for row in bandwidth_rows("block") if row["way"] == "copy_kernel"]
    found = {(int(row["block_x"]), int(row["block_y"])): row["rate_median"] for row in rows}
    lines = ["", f"The copy kernel at n = {rows[0]['n']} with one thread per point and other blocks, GB/s (`make bandwidth`, medians):",
             "", "| threads per block | all in one row | rows of 32 |", "|--:|--:|--:|"]
    for threads in sorted({x * y for x, y in found}):
        cells = [significant(found.get(shape, "-")) for shape in ((threads, 1), (32, threads // 32))]
        lines.append(f"| {threads} | {' | '.join(cells)} |")
    others = {row["way"]: row["rate_median"] for row in bandwidth_rows("size") if row["n"] == rows[0]["n"]}
    return lines + ["", f"With four points per thread (`float4`) a copy of the same fields reaches "
                    f"{significant(others['copy_float4'], 4)} GB/s, and `cudaMemcpy` {significant(others['copy_library'], 4)} GB/s."]


def sweeps_lines(rows):
    """What the first kernel that performs several sweeps per launch does for a byte: by the algorithm, and as ncu counted."""
    lines = []
    for row in [row for row in rows if row.get("hand_flops", "-") != "-" and float(row["sweeps"]) > 1][:1]:
        points, sweeps, flops, moved = (float(row[name]) for name in ("n", "sweeps", "hand_flops", "hand_bytes"))
        points *= points
        text = (f"A launch of `{row['kernel']}` performs {row['sweeps']} sweeps. By the algorithm that is "
                f"{significant(flops / points)} operations for {significant(moved / points)} bytes per point, "
                f"{significant(flops / moved)} per byte, and one sweep has {significant(flops / moved / sweeps)}.")
        if row["counted_by"] == "ncu" and row["dram_bytes"] != "-":
            flops, moved = float(row["flops_float"]) + float(row["flops_double"]), float(row["dram_bytes"])
            text += (f" ncu counted {significant(flops / points)} operations and {significant(moved / points)} bytes of "
                     f"DRAM per point, {significant(flops / moved)} per byte, at "
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

    def distance(variant, size):
        row = found.get((variant, size, "distance"))
        return "–" if row is None or row["median"] == "-" else f"{float(row['median']):.3g}"

    def both_ends(variant, quantity):
        return f"{cell(variant, quantity, which='least')} to {cell(variant, quantity, ' ms', which='most')}"

    if step[:2] == "05":
        return ["", f"The other way, prefetching, between the two (n = {n}, medians, in one run):", "",
                "| variant | ms per iteration |", "|---|--:|",
                *[f"| {name(row)} | {cell(row['variant'], 'iteration')} |" for row in rows]]
    if step[:2] == "07":
        lines = ["", "The copy kernel on grids of several sizes (8 bytes per point over its median time; DRAM bytes counted with ncu):",
                 "", "| n | both fields | copy kernel | DRAM bytes per point |", "|--:|--:|--:|--:|"]
        for size in sorted({int(row["n"]) for row in rows}):
            lines.append(f"| {size} | {significant(8e-6 * size * size)} MB "
                         f"| {cell('copy', 'copy kernel', ' GB/s', size)} | {cell('copy', 'DRAM bytes', '', size)} |")
        return lines
    if step[:2] == "09":
        return ["", f"The sweep kernel at n = {n} with its tile loaded in other ways (medians, in one run):", "",
                "| the tile | sweep kernel |", "|---|--:|",
                *[f"| {name(row)} | {cell(row['variant'], 'sweep kernel', ' ms')} |" for row in rows
                  if row["quantity"] == "sweep kernel"]]
    if step[:2] == "11":
        lines = ["", "Time of a sweep on grids of several sizes (medians, in one run), what each change brings, and how many times as many",
                 "sweeps per second as step 10 that is:", "",
                 "| n | step 10 | a check every 10 sweeps, waited for | read one check late | also as a graph: step 11 | × step 10 |",
                 "|--:|--:|--:|--:|--:|--:|"]
        for size in sorted({int(row["n"]) for row in rows}):
            medians = [found[variant, size, "iteration"]["median"] for variant in ("step_10", "waits", "late", "step_11")]
            if "-" not in medians:
                times = [1e3 * float(median) for median in medians]
                lines.append(f"| {size} | {' | '.join(f'{significant(t)} µs' for t in times)} | {significant(times[0] / times[-1])} |")
        return lines
    if step[:2] == "16":
        lines = ["", "From the starting values on the GPU to the solution: the start and one cycle (medians; kernels loaded before):", "",
                 "| n | solution | least to most | ns per point | one more cycle | distance from the exact solution |",
                 "|--:|--:|--:|--:|--:|--:|"]
        for size in sorted({int(row["n"]) for row in rows if row["quantity"] == "solution" and row["median"] != "-"}):
            time = float(found["as_it_is", size, "solution"]["median"])
            lines.append(f"| {size} | {significant(time)} ms | {cell('as_it_is', 'solution', size=size, which='least')} to "
                         f"{cell('as_it_is', 'solution', ' ms', size, 'most')} | {significant(1e6 * time / size ** 2)} "
                         f"| {cell('as_it_is', 'cycle', ' ms', size)} | {distance('as_it_is', size)} |")
        counted = [name.removesuffix(": time") for variant, _, name in found if variant == "as_it_is" and name.endswith(": time")]
        for size in {int(row["n"]) for row in rows if counted and row["quantity"] == f"{counted[0]}: time"}:
            lines += ["", f"The kernels of a cycle on its finest level, counted with ncu at n = {size}:", "",
                      "| kernel | DRAM bytes per point | time | GB/s |", "|---|--:|--:|--:|"]
            for kernel in counted:
                moved, time = (found["as_it_is", size, f"{kernel}: {what}"]["median"] for what in ("DRAM bytes", "time"))
                rate = "–" if "-" in (moved, time) else significant(1e-6 * float(moved) * size ** 2 / float(time))
                lines.append(f"| `{kernel}` | {significant(moved)} | {significant(time)} ms | {rate} |")
        others = [row for row in rows if row["variant"] != "as_it_is" and row["quantity"] == "solution"]
        return lines + ["", f"At n = {others[0]['n']} in other ways:" if others else "", "",
                        *[f"- {name(row)}: {cell(row['variant'], 'solution', ' ms', int(row['n']))}, "
                          f"{distance(row['variant'], int(row['n']))} away from the exact solution"
                          for row in others]]
    if step[:2] != "08":
        return []
    lines = ["", f"The sweep kernel at n = {n} with its sum in other ways (medians, in one run):", "",
             "| variant | sweep kernel |", "|---|--:|"]
    lines += [f"| {name(row)} | {cell(row['variant'], 'sweep kernel', ' ms')} |" for row in rows
              if row["quantity"] == "sweep kernel" and not row["variant"].startswith("threads_")]
    lines += ["", f"Iterations without the first, as it is: {cell('as_it_is', 'iteration', ' ms')} "
              f"({both_ends('as_it_is', 'iteration')}); with the sum set to zero by the CPU: "
              f"{cell('sum_on_host', 'iteration', ' ms')} ({both_ends('sum_on_host', 'iteration')}).", "",
              "Threads per block, for its 32 x 32 points:", "",
              "| threads | occupancy achieved | registers per thread | sweep kernel |", "|--:|--:|--:|--:|"]
    for variant in dict.fromkeys(row["variant"] for row in rows if row["variant"].startswith("threads_")):
        lines.append(f"| 32 x {variant.removeprefix('threads_')} | {cell(variant, 'occupancy', ' %')} "
                     f"| {cell(variant, 'registers').removesuffix('.0')} | {cell(variant, 'sweep kernel', ' ms')} |")
    return lines + ["", f"The copy kernel as it is: {cell('as_it_is', 'copy kernel', ' ms')}; with the loop over y and "
                    f"32 x 4 threads: {cell('copy_with_loop', 'copy kernel', ' ms')}."]


def measured_block(facts, row):
    """All that was measured of one step; row is its row of the ladder."""
    if row["ms"] == "-":
        return experiment_lines(row["step"]) or [f"Not measured yet ({row['verdict']})."]
    on_gpu = row["percent_of_copy"] != "-"
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
    text += "".join(f" Note: {note}." for note in notes(row["step"][:2]))
    lines = [text] + traced_lines(row["step"]) + counter_lines(row["step"])
    # A blank line between two sentences keeps them apart when the guide is shown.
    lines = [part for line in lines for part in (line, "")][:-1]
    more = {"05": transfer_lines, "07": launch_shape_lines, "10": lambda: scheduler_lines(row["step"]),
            "12": lambda: scheduler_lines(row["step"]) + tuning_lines(row["step"]),
            "13": lambda: scheduler_lines(row["step"]) + tuning_lines(row["step"]) + large_lines()}
    # Step 04 is a first kernel: what its warps wait for is a question of later steps.
    lines += (kernel_lines(row["step"]) if row["step"][:2] != "04" else []) + experiment_lines(row["step"])
    return lines + (more[row["step"][:2]]() if row["step"][:2] in more else [])
