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
        lines.append("In every row *× serial* refers to the serial times listed below.")
    return lines + [f"Note: {note}." for note, *_ in ladder.lines_of("note")]


def serial_lines(ladder, all_cores, threads):
    """What the serial code takes and, if it was timed, the best code on all cores."""
    times = {(int(n), which): significant(ms) for which, _, n, _, ms, *_ in ladder.lines_of("serial")}
    by_n = "; ".join(f"n = {n}: best {times.get((n, 'best'), 'not timed')}, strided {times.get((n, 'strided'), 'not timed')}"
                     for n in sorted({n for n, _ in times}))
    lines = [f"Serial code on one core ({ladder.fact('cpu')}), ms per iteration: {by_n}."]
    if all_cores:
        by_n = "; ".join(f"n = {n}: {significant(ms)}" + (f" ({used} thread{'s' * (used > 1)})" if used < threads else "")
                         for n, (ms, used) in sorted(all_cores.items()))
        lines.append(f"The best code on all {threads} cores of that machine ({threads} threads), ms per iteration: {by_n}.")
    return lines


def ladder_block(ladder):
    """The whole ladder, and what it was measured on."""
    facts, rows, all_cores = ladder.facts, ladder.rows, ladder.all_cores()
    threads = max((threads for _, threads in all_cores.values()), default=0)
    solved = solution_by_cycles(Table(EXPERIMENTS).rows)
    columns = ["n", "ms per iteration", "spread", "GB/s", "% of copy", "× previous step", "× best serial",
               *([f"× all {threads} cores"] if threads else []), "× strided serial", "to the solution"]
    lines = [f"| step | what changed | {' | '.join(columns)} |", f"|---|---|{'--:|' * len(columns)}"]
    for row, previous in zip(rows, [None, *rows]):
        if row["ms"] == "-":
            ms = solved.get("solution") if by_cycles(row["step"]) else None
            why = "cycles, not sweeps" if ms else row["verdict"]
            lines.append(f"| {row['step']} | {row['title']} | {row['n']} | {why} {'| ' * (len(columns) - 3)}| "
                         f"{f'**{lasting(ms / 1000)}**' if ms else ''} |")
            continue
        n = int(row["n"])
        cells = [row["n"], significant(row["ms"]), f"{spread(row):.1f} %", significant(row["gb_per_s"]),
                 significant(row["percent_of_copy"]), gain_text(row, previous, significant), significant(row["x_best_serial"]),
                 *([significant(all_cores[n][0] / float(row["ms"])) if n in all_cores else "–"] if threads else []),
                 significant(row["x_strided_serial"]), lasting(seconds_to_solution(row))]
        lines.append(f"| {row['step']} | {row['title']} | {' | '.join(cells)} |")
    not_timed = ["– (n): this step has another n, and the previous step was not timed there."]
    return [*lines, "",
            f"Measured on: {facts['gpu']}, CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}; copy bandwidth in the "
            f"same run {significant(facts['copy_gb_per_s'], 4)} GB/s.",
            *other_runs(ladder), *serial_lines(ladder, all_cores, threads),
            *(not_timed if any("– (n)" in line for line in lines) else [])]
