"""The sections of the page, one a table of results."""

import re

import scaling_table
from labtools import bandwidth_plot, charts
from labtools.profilers.ncu import STALLS
from labtools.numbers import duration, lasting, number, significant
from solution import LEFT_BY_A_SWEEP, SOLVED, SOLVED_N, SWEEPS, seconds_to_solution, solution_by_cycles
from labtools.table import gain_text
from page.parts import cell, column, data_table, figure, missing, source, text


NAMED_STEP = ("step", lambda row: f"<strong>{text(row['step'][:2])}</strong> {text(row['title'])}")


def gpus_of(row):
    """The GPUs of a ladder's row whose step is a job of ranks, from its note: "1 GPU", "2 GPUs, one rank per GPU",
    "4 ranks on 2 GPUs". 0 of any other row."""
    match = re.match(r"(?:\d+ ranks on )?(\d+) GPUs?\b", row.get("note") or "")
    return int(match[1]) if match else 0


def ladder_section(table, steps, told):
    """What it has to tell in a few words goes to `told`."""
    rows = [row for row in table.rows if number(row.get("mpoints_per_s")) and row.get("verdict") == "right"]
    if not rows:
        return missing("no step that is right has a time.", "make run")
    fastest = max(rows, key=lambda row: number(row["mpoints_per_s"]))
    if gains := [row for row in rows if number(row["x_before"])]:
        most = max(gains, key=lambda row: number(row["x_before"]))
        told.append(("largest step", f"{cell(most['x_before'])} times", f"{most['step'][:2]}, {most['title']}"))
    step = f"step {fastest['step'][:2]}"
    if number(fastest["x_best_serial"]):
        told.append(("over the best serial code", f"{cell(fastest['x_best_serial'])} times", f"{step}, n = {fastest['n']}"))
    if number(fastest["percent_of_copy"]):
        gpus = gpus_of(fastest)
        told.append(("of the copy bandwidth", cell(fastest["percent_of_copy"], " %", 2),
                     f"{step}, at 8 bytes per point{f', on {gpus} GPUs' if gpus > 1 else ''}"))
    on_gpu = {step for step, file, *_ in steps if file.endswith(".cu")}
    parts = [figure(charts.ladder(rows, number(table.fact("copy_gb_per_s")), on_gpu)),
             "<p>“Times faster” is relative to the previous step, run again at this step's n. The scale is "
             "logarithmic, so equal distances are equal factors.</p>"]
    if jobs := [row for row in rows if gpus_of(row)]:
        noted = "; ".join(f"{row['step'][:2]}: {row['note']}" for row in jobs)
        together = " “% of copy” is relative to the copy bandwidth of all the GPUs that a step used together (the dashed " \
                   "line is one GPU's); a previous step that is a program of one process ran on one." \
            if any(gpus_of(row) > 1 for row in jobs) else ""
        parts.append(f"<p>Steps for several GPUs, as they were timed here: {text(noted)}.{together}</p>")
    if absent := [step for step, *_ in steps if step not in {row["step"] for row in rows}]:
        has = "has" if len(absent) == 1 else "have"
        parts.append(missing(f"{', '.join(absent)} {has} no time in this table.", "make run"))
    for row in table.rows:
        if row.get("verdict") not in ("right", "not run"):
            parts.append(f'<p class="missing"><strong>{text(row["step"])}: {text(row.get("verdict"))}.</strong> '
                         f'It gets no time. {text(row.get("note") or "")}</p>')
    all_cores = table.all_cores()
    before = {row["step"]: previous for row, previous in zip(table.rows, [None, *table.rows])}
    over_cores = ("× all cores", lambda r: cell(all_cores[int(r["n"])][0] / number(r["ms"]))
                  if int(r["n"]) in all_cores else "–")
    columns = [NAMED_STEP, column("n", "n", text), column("ms per iteration", "ms"), column("GB/s", "gb_per_s"),
               column("% of copy", "percent_of_copy"), ("× previous step", lambda r: gain_text(r, before[r["step"]], cell)),
               column("× best serial", "x_best_serial"), *([over_cores] if all_cores else []),
               column("× strided serial", "x_strided_serial")]
    parts.append(data_table("The same in figures", columns, rows))
    return "".join(parts) + source(table)


DRAWN = {"00": "ink", "08": "blue", "13": "orange"}  # steps whose error is drawn


def solution_section(ladder, experiments):
    """How long each step takes to the solution: computed for sweeps, measured for cycles."""
    rows = [row for row in ladder.rows if number(row.get("mpoints_per_s"))]
    if not rows:
        return missing("no step has a time.", "make run")
    columns = [NAMED_STEP,
               ("one sweep", lambda r: duration(1e3 * SOLVED_N ** 2 / number(r["mpoints_per_s"]))),
               ("to the solution", lambda r: lasting(seconds_to_solution(r)))]
    parts_of_it = [10 ** (k / 20) for k in range(-60, 1)]
    series = [(f"step {wanted} (computed)", colour, "dashes",
               [(seconds_to_solution(row) * part, SOLVED ** part) for part in parts_of_it])
              for wanted, colour in DRAWN.items() for row in rows if row["step"].startswith(wanted)]
    solved = solution_by_cycles(experiments.rows if experiments else [])
    measured = "Step 16 has not been timed yet."
    if solved.get("solution") and solved.get("distance"):
        series.append(("step 16 (measured)", "green", "diamond", [(1e-3 * solved["solution"], solved["distance"])]))
        measured = f"Step 16 takes {significant(solved['solution'])} ms; that is measured."
    chart = charts.lines("solution", series, f"The error over time, n = {SOLVED_N:,}",
                         "of the slowest error, what is left; step 16: the distance from the exact solution", "seconds")
    return (figure(chart) + f"<p>A sweep leaves {LEFT_BY_A_SWEEP:.10f} of the slowest error: "
            f"{SWEEPS:,.0f} sweeps bring it down to {SOLVED:g}. {measured}</p>" +
            data_table(f"Time to the solution at n = {SOLVED_N:,}, computed from each step's points per second at its own n",
                       columns, rows) + source(ladder))


def roofline_section(table, ceilings_table, titles, clinic):
    ceilings = ceilings_table.ceilings() if ceilings_table else {}
    parts = [figure(charts.roofline(table.rows, ceilings, titles, table.fact("gpu"))),
             "<p>Each sweep kernel has one height, its rate, and three places: operations per byte that L1, L2 and DRAM "
             "moved. A mark that touches its own colour's line cannot get higher without moving fewer bytes there. The "
             "dotted lines lead from step to step. L2's bytes also count what passes between its parts.</p>"]
    if passes := [row for row in table.rows if (number(row.get("sweeps")) or 0) > 1]:
        row = passes[-1]
        parts.append(f"<p>A kernel that performs several sweeps per trip to memory (step {text(row['step'][:2])}: "
                     f"{text(row['sweeps'])}) has the operations of all of them over the bytes of one. So its mark for "
                     "DRAM lies to the right of those of kernels that sweep once, where the sloping roof is higher. It "
                     "also computes points that it throws away: ncu also counts those operations.</p>")
    if points := charts.clinic_points(clinic.rows) if clinic else {}:
        parts += ["<p>The clinic's kernels, each one lesson. Most of them get nearer to a roof; for some the way goes to "
                  "the right, as fewer bytes move for the same result.</p>",
                  figure(charts.clinic(points, ceilings, clinic.fact("gpu")))]
    if not ceilings:
        parts.append(missing("this machine's ceilings.", "make bandwidth"))
    if "not_counted" in table.facts:
        parts.append(f'<p class="missing"><strong>Counted by hand:</strong> {text(table.fact("not_counted"))}.</p>')
    return "".join(parts) + source(table)


def kernels_section(kernels, ceilings_table):
    ceilings = ceilings_table.ceilings() if ceilings_table else {}
    speeds = {(point["step"], point["kernel"]): point["speed"] for point in charts.kernel_points(kernels.rows)}

    def time_of(row):
        counted, traced = number(row.get("time_ns")), number(row.get("traced_ns"))
        if not (counted or traced):
            return "–"
        words = significant((counted or traced) / 1000) + " µs"
        # Under ncu nothing migrates, and nothing else runs.
        if traced and counted and abs(traced - counted) > 0.1 * counted:
            words += f" <small>({significant(traced / 1000)} in the run)</small>"
        return words

    def share(row, level):
        speed = speeds.get((row["step"], row["kernel"]), {}).get(level)
        if speed is None or level not in ceilings:
            return "–"
        percent = 100 * speed / ceilings[level]
        return (f'<span class="bar"><i style="width:{min(100, percent):.0f}%"></i></span>'
                f"{significant(percent, 2) if percent >= 0.1 else '< 0.1'} %")

    def stall_words(row):
        parts = [part.split() for part in row.get("stalls", "-").split(", ")]
        return "<br>".join(f'<span title="{text(STALLS.get(part[0], ""))}">{text(part[0])}</span> {significant(number(part[1]) or 0, 2)}'
                           for part in parts if len(part) == 2) or "–"

    def name_of(row):
        return (f"<strong>{text(charts.label(row['step']))}</strong> {text(row['kernel'].replace('_kernel', ''))} "
                f"<small>n = {text(row['n'])}</small>")

    def pair(first, second, unit="", digits=3):
        return lambda row: f"{cell(row.get(first), digits=digits)} / {cell(row.get(second), unit, digits)}"

    columns = [("kernel", name_of), ("time", time_of),
               ("grid, block", lambda r: f"{shape(r['grid'])}<br>{shape(r['block'])}"),
               column("registers", "registers", whole), column("shared bytes per block", "shared_bytes_per_block", whole),
               ("occupancy", lambda r: cell(r["occupancy_percent"], " %", 2)),
               ("sectors per request, load / store", pair("load_sectors_per_request", "store_sectors_per_request")),
               ("of the best: DRAM", lambda r: share(r, "dram")),
               ("L2", lambda r: share(r, "l2")), ("L1", lambda r: share(r, "l1")),
               ("warps wait most for", stall_words)]
    if any(number(row.get("l2_hit_percent")) is not None for row in kernels.rows):
        columns.insert(-1, ("found in L1 / L2", pair("l1_hit_percent", "l2_hit_percent", " %", 2)))
    return (data_table("Of each kernel", columns, kernels.rows) +
            "<p>Sectors have 32 bytes: a warp's request for 32 floats side by side needs 4, for floats far apart 32. "
            "Occupancy: warps that are there, of those that could be. A wait's figure: warps of a scheduler that wait "
            "so, on average, each time it issues.</p>" +
            source(kernels))


def whole(words):
    value = number(words)
    return "–" if value is None else f"{value:,.0f}"


def shape(words):
    return text(words.removesuffix("x1").replace("x", " × ")) if words else "–"


def scaling_section(table):
    rows = [row for row in table.rows if number(row["ms"]) and row["verdict"] == "right"]
    parts = [figure(chart) for chart in scaling_table.drawn_of(table.fact("gpu"), table.fact("links", ""), rows)]
    parts.append("<p>All GPUs together sweep as many times faster as there are of them, times the efficiency. What is "
                 "missing are the halos: they are swept twice, and have to be exchanged.</p>")
    columns = [("step", lambda r: f"<strong>{text(r['step'][:2])}</strong>"), column("n", "n", text),
               column("GPUs", "ranks", text), column("sweeps per residual", "check_every", text), column("ms per sweep", "ms"),
               column("10⁹ points per second", "glups", whole), ("efficiency", lambda r: cell(r["efficiency"], " %"))]
    parts.append(data_table("In figures", columns, rows))
    return "".join(parts) + source(table)


def bandwidth_section(table):
    ceilings, rows = table.ceilings(), bandwidth_plot.measured(table)
    names = {"dram": "DRAM", "l2": "L2", "l1": "L1", "to_gpu": "host to GPU", "to_host": "GPU to host",
             "float": "float", "double": "double"}
    tiles = "".join(
        f"<div><b>{significant(ceilings[level], 4)}</b> {'GFLOP/s' if level in ('float', 'double') else 'GB/s'}<br>"
        f"{words}</div>"
        for level, words in names.items() if level in ceilings)
    parts = [f'<div class="tiles small">{tiles}</div>', *map(figure, bandwidth_plot.draw(table.facts, rows))]
    if (peak := number(table.fact("dram_peak_gb_per_s", ""))) and "dram" in ceilings:
        parts.append(f"<p>By its clock and bus width DRAM could move {significant(peak)} GB/s; the best copy reaches "
                     f"{significant(100 * ceilings['dram'] / peak, 2)} % of that.</p>")
    return "".join(parts) + source(table)
