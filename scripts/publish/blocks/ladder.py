"""README.md's ladder: each step against the GPU's memory and the previous step, then against the CPU."""

from labtools.files import RESULTS, by_cycles, step_named
from labtools.numbers import lasting, significant, spread
from solution import seconds_to_solution, solution_by_cycles
from labtools.table import Table, gain_text


def job_notes(rows):
    """What the rows of several GPUs were measured on. One line, which a handout without these steps leaves out."""
    jobs = [row for row in rows if step_named(row["step"]).needs == "ranks" and row["ms"] != "-"]
    if not jobs:
        return []
    places = {}
    for row in jobs:
        places.setdefault(row["note"], []).append(row["step"][:2])
    told = [f"Row{'s' * (len(numbers) > 1)} {' and '.join(numbers)}: {place}." for place, numbers in places.items()]
    before = rows[rows.index(jobs[0]) - 1]
    return ["", f"{' '.join(told)} Their % of copy is relative to the bandwidth of all these GPUs together. Step {jobs[0]['step'][:2]} is "
            f"compared with step {before['step'][:2]} on one GPU."]


def threads_of(all_cores):
    """On how many cores the best code was timed; 0 if it was not."""
    return max((threads for _, threads in all_cores.values()), default=0)


def cpu_table(ladder):
    """What the best and the strided serial code take and, if it was timed, the best code on all cores."""
    all_cores = ladder.all_cores()
    threads = threads_of(all_cores)
    times = {(int(n), which): significant(ms) for which, _, n, _, ms, *_ in ladder.lines_of("serial")}
    sizes = sorted({n for n, _ in times})
    rows = [(words, [times.get((n, which), "not timed") for n in sizes])
            for which, words in (("best", "best serial code"), ("strided", "step 00, strided"))]
    if all_cores:
        cells = [all_cores.get(n, (None, threads)) for n in sizes]
        rows.append((f"best code, all {threads} cores", [(significant(ms) if ms else "not timed") + (
            f" ({used} thread{'s' * (used > 1)})" if used < threads else "") for ms, used in cells]))
    return [f"| on the CPU, ms per iteration | {' | '.join(f'n = {n}' for n in sizes)} |", f"|---|{'--:|' * len(sizes)}",
            *(f"| {words} | {' | '.join(cells)} |" for words, cells in rows)]


def times_as_fast(value):
    """A speed-up. Below 0.1 no digits: such a step is far slower than the CPU."""
    return "< 0.1" if value != "-" and float(value) < 0.1 else significant(value)


def ladder_block(ladder):
    """What each step takes, next to the GPU's memory and the previous step (make report has all columns), and what it was
    measured on."""
    facts, rows = ladder.facts, ladder.rows
    lines = ["| step | n | ms per iteration (spread) | % of copy | × previous step |", "|---|--:|--:|--:|--:|"]
    for row, previous in zip(rows, [None, *rows]):
        if row["ms"] == "-":
            cells = [row["n"], "cycles, not sweeps" if by_cycles(row["step"]) and row["verdict"] == "right" else row["verdict"], "", ""]
        else:
            cells = [row["n"], f"{significant(row['ms'])} ({spread(row):.1f} %)", significant(row["percent_of_copy"]),
                     gain_text(row, previous, significant)]
        lines.append(f"| {row['step']} | {' | '.join(cells)} |")
    if any("– (n)" in line for line in lines):
        lines += ["", "– (n): this step has another n, and the previous step was not timed there."]
    return [*lines, "", f"Measured on: {facts['gpu']}, CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}; CPU: "
            f"{ladder.fact('cpu')}; copy bandwidth {significant(facts['copy_gb_per_s'], 4)} GB/s.",
            *(f"Note: {note}." for note, *_ in ladder.lines_of("note")), *job_notes(rows)]


def speedups_block(ladder):
    """Each step next to the CPU, its time to the solution, and what the CPU takes."""
    all_cores, solved = ladder.all_cores(), solution_by_cycles(Table(RESULTS / "experiments.tsv").rows)
    columns = ["× best serial", *(["× all cores"] if threads_of(all_cores) else []), "to the solution"]
    lines = [f"| step | {' | '.join(columns)} |", f"|---|{'--:|' * len(columns)}"]
    for row in ladder.rows:
        if row["ms"] == "-":
            ms = solved.get("solution") if by_cycles(row["step"]) else None
            cells = ["–"] * (len(columns) - 1) + [f"**{lasting(ms / 1000)}**" if ms else row["verdict"]]
        else:
            cores = all_cores.get(int(row["n"]))
            times = [times_as_fast(cores[0] / float(row["ms"])) if cores else "–"] if threads_of(all_cores) else []
            cells = [times_as_fast(row["x_best_serial"]), *times, lasting(seconds_to_solution(row))]
        lines.append(f"| {row['step']} | {' | '.join(cells)} |")
    return [*lines, "", *cpu_table(ladder)]
