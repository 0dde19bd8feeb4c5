"""README.md's ladder."""

import re

from blocks.published import EXPERIMENTS, LADDER, is_job, step_before
from labtools.files import by_cycles
from labtools.numbers import lasting, significant, spread
from labtools.solution import SOLVED, SOLVED_N, seconds_to_solution, solution_by_cycles
from labtools.table import Table, gain_text, job_of


def read_ladder():
    """(facts, serial, rows): {name: value}, {(which, n): ms}, [{column: text}]."""
    table = Table(LADDER)
    serial = {}
    for which, *values in table.lines_of("serial"):
        values = dict(zip(values[::2], values[1::2]))
        serial[which, int(values["n"])] = float(values["ms"])
    return table.facts, serial, table.rows


def machine(facts):
    """What was measured on, with what, and when."""
    return f"{facts['gpu']}, CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}"


def other_runs():
    """What is noted of rows that come from other runs than the rest, and the note."""
    runs = {}
    for step, _, date, _, copy in Table(LADDER).lines_of("row"):
        runs.setdefault((date, copy), []).append(step[:2])
    lines = [f"{'Row' if len(steps) == 1 else 'Rows'} {', '.join(sorted(steps))}: a run of {date} on the same kind of machine, copy "
             f"bandwidth {significant(copy, 4)} GB/s." for (date, copy), steps in sorted(runs.items(), key=lambda run: sorted(run[1]))]
    if lines:
        lines.append("In every row *× serial* refers to the serial times listed below.")
    return lines + [f"Note: {note}." for note in notes()]


def notes(step=None):
    """What was noted of rows of the ladder, `row 02 ...` or `rows 13, 14, 15 ...`; of one step if its number is given."""
    found = [fields[0] for fields in Table(LADDER).lines_of("note")]
    return [note for note in found if step is None or step in re.match(r"rows? ([\d, ]+)|", note)[0]]


def on_gpus(row):
    """"on 2 GPUs, one rank per GPU", "4 ranks on 2 GPUs"."""
    ranks, gpus = job_of(row)
    return row["note"] if ranks > gpus else f"on {row['note']}"


def job_lines(rows):
    """On how many GPUs the rows of several GPUs were timed, and what they are compared with."""
    jobs, lines = {}, []
    for row in rows:
        if job_of(row):
            jobs.setdefault(on_gpus(row), []).append(row)
    for words, of_job in jobs.items():
        line = f"Row{'s' if len(of_job) > 1 else ''} {', '.join(row['step'][:2] for row in of_job)}: {words}"
        if job_of(of_job[0])[1] > 1:
            line += "; the % of copy refers to all of them together"
            alone = [row["step"][:2] for row in of_job if row["x_before"] != "-" and not is_job(step_before(row["step"]))]
            line += f"; the step before {' and '.join(alone)} ran on one GPU" if alone else ""
        lines.append(line + ".")
    return lines


def all_cores_lines(all_cores, threads):
    """What the best code takes on all cores, if it was timed."""
    if not all_cores:
        return []
    times = "; ".join(f"n = {n}: {significant(ms)}" + (f" ({used} thread{'s' * (used > 1)})" if used < threads else "")
                      for n, (ms, used) in sorted(all_cores.items()))
    return [f"The best code on all {threads} cores of that machine ({threads} threads), ms per iteration: {times}."]


def ladder_block(facts, serial, rows):
    """The whole ladder, and what there is to say of it."""
    all_cores = Table(LADDER).all_cores()
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
        cells = [row["n"], significant(row["ms"]), f"{spread(row):.1f} %", significant(row["gb_per_s"]), significant(row["percent_of_copy"]), gain_text(row, previous, significant),
                 significant(row["x_best_serial"]),
                 *([significant(all_cores[n][0] / float(row["ms"])) if n in all_cores else "–"] if threads else []),
                 significant(row["x_strided_serial"]), lasting(seconds_to_solution(row))]
        lines.append(f"| {row['step']} | {row['title']} | {' | '.join(cells)} |")

    def time_of(which, n):
        return significant(serial[which, n]) if (which, n) in serial else "not timed"

    times = "; ".join(f"n = {n}: best {time_of('best', n)}, strided {time_of('strided', n)}"
                      for n in sorted({n for _, n in serial}))
    later = other_runs() + job_lines(rows)
    lines += [
        "",
        f"Measured on: {machine(facts)}; copy bandwidth in the same run "
        f"{significant(facts['copy_gb_per_s'], 4)} GB/s.",
        *later,
        f"Serial code on one core ({facts['cpu']}), ms per iteration: {times}.",
        *all_cores_lines(all_cores, threads),
        *(["– (n): this step has another n, and the previous step was not timed there."]
          if any("– (n)" in line for line in lines) else []),
        "",
        "Times are medians; the spread is the interquartile range as a share of the median. A gain that is smaller than",
        "the spread means nothing. GB/s counts 8 bytes per point: one float read and one written, the minimum a sweep",
        "must move. Up to step 09 an iteration also copies",
        "the field, which moves as much again, so these steps can reach at most 50 % of the copy bandwidth. If the",
        "previous step has a different default n, it was timed again at this one. The best serial code walks through",
        "memory row by row and copies nothing; the strided code is step 00. Every n in the table is a power of two;",
        "also try the strided code at n = 2047.",
        "",
        f"*To the solution*: how long the step would sweep at n = {SOLVED_N} until the error that shrinks most slowly is {SOLVED:g},",
        "computed with its points per second at its own n." + (
            f" Step 16 does it with cycles, and its time is measured. Its\nfield is then {solved['distance']:.2g} from the exact solution."
            if solved else ""),
    ]
    if any(row["step"] >= "10" for row in rows):
        lines += [
            "",
            "<!-- whole-lab:begin -->",
            "From step 10 on the fields change roles and nothing is copied, so steps that read and write each point once",
            "per sweep can reach 100 %. Both fields of step 11 fit in the L2 cache of a large GPU. Its time is that of a",
            "small kernel and of the gap until the next one, and says nothing about memory.",
            "<!-- whole-lab:end -->",
        ]
    return lines
