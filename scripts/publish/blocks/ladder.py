"""README.md's ladder."""

from blocks.published import EXPERIMENTS
from labtools.files import by_cycles
from labtools.numbers import lasting, significant, spread
from labtools.solution import seconds_to_solution, solution_by_cycles
from labtools.table import Table, gain_text


def other_runs(ladder):
    """What is noted of rows that come from other runs than the rest, and the notes."""
    runs = {}
    for step, _, date, _, copy in ladder.lines_of("row"):
        runs.setdefault((date, copy), []).append(step[:2])
    lines = [f"{'Row' if len(steps) == 1 else 'Rows'} {', '.join(sorted(steps))}: a run of {date} on the same kind of machine, copy "
             f"bandwidth {significant(copy, 4)} GB/s." for (date, copy), steps in sorted(runs.items(), key=lambda run: sorted(run[1]))]
    if lines:
        lines.append("In every row *× best serial* refers to the times of the CPU listed above.")
    return lines + [f"Note: {note}." for note, *_ in ladder.lines_of("note")]


def cpu_table(ladder, all_cores, threads):
    """What the best and the strided serial code take and, if it was timed, the best code on all cores."""
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
    """The ladder in eight columns (make report has them all), and what it was measured on."""
    facts, rows, all_cores = ladder.facts, ladder.rows, ladder.all_cores()
    threads = max((threads for _, threads in all_cores.values()), default=0)
    solved = solution_by_cycles(Table(EXPERIMENTS).rows)
    columns = ["n", "ms per iteration (spread)", "% of copy", "× previous step", "× best serial",
               *(["× all cores"] if threads else []), "to the solution"]
    lines = [f"| step | {' | '.join(columns)} |", f"|---|{'--:|' * len(columns)}"]
    for row, previous in zip(rows, [None, *rows]):
        if row["ms"] == "-":
            ms = solved.get("solution") if by_cycles(row["step"]) else None
            why = "cycles, not sweeps" if ms else row["verdict"]
            lines.append(f"| {row['step']} | {row['n']} | {why} {'| ' * (len(columns) - 3)}| "
                         f"{f'**{lasting(ms / 1000)}**' if ms else ''} |")
            continue
        n = int(row["n"])
        cells = [row["n"], f"{significant(row['ms'])} ({spread(row):.1f} %)", significant(row["percent_of_copy"]),
                 gain_text(row, previous, significant), times_as_fast(row["x_best_serial"]),
                 *([times_as_fast(all_cores[n][0] / float(row["ms"])) if n in all_cores else "–"] if threads else []),
                 lasting(seconds_to_solution(row))]
        lines.append(f"| {row['step']} | {' | '.join(cells)} |")
    if any("– (n)" in line for line in lines):
        lines += ["", "– (n): this step has another n, and the previous step was not timed there."]
    return [*lines, "", *cpu_table(ladder, all_cores, threads), "",
            f"Measured on: {facts['gpu']}, CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}; CPU: {ladder.fact('cpu')}; copy "
            f"bandwidth {significant(facts['copy_gb_per_s'], 4)} GB/s.", *other_runs(ladder)]
