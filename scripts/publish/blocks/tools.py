"""What the lab's own tools see, alongside NVIDIA's, and what the verbs of the profilers print."""

import os
import re

from counters import BY_NVCC
from labtools.files import RESULTS, ROOT, step_named
from labtools.numbers import significant
from labtools.process import run
from labtools.table import Table


def counters_block():
    """What `make count` counts, against ncu."""
    table = Table(ROOT / "results/h100/counters.tsv")
    facts, rows = table.facts, table.rows
    sizes = sorted({int(row["n"]) for row in rows})
    compared = [row for row in rows if (row["step"][:2], row["quantity"]) not in BY_NVCC]
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
    return [
        *lines, "",
        f"n = {n}; by ncu {facts['ncu']} on an {facts['gpu']} (CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}). "
        f"Of {len(compared)} counts at",
        f"n = {' and '.join(map(str, sizes))} (requests, sectors, atomics, shared memory's loads, stores and passes) {equal} are equal;",
        f"the largest difference is {float(worst['difference_percent']):.1f} % ({worst['step']}, {worst['quantity']}).",
    ]


def tracer_block():
    """What `make trace` measures, against nsys."""
    table = Table(RESULTS / "tracer.tsv")
    facts, rows = table.facts, table.rows
    lines = ["| step | what | times | by the tracer | by nsys | difference |", "|---|---|--:|--:|--:|--:|"]
    for row in rows:
        # What happens once or twice in a run differs from run to run by more than from tool to tool.
        if row["table"] not in ("nvtx", "kernels") or int(row["count"]) < 10:
            continue
        what = "kernel" if row["table"] == "kernels" else "range"
        times = " | ".join(f"{significant(1e-3 * float(row[who]), 4)} µs" for who in ("tracer", "nsys"))
        lines.append(f"| {row['step']} | {what} {row['name']} | {row['count']} | {times} | {float(row['difference_percent']):+.1f} % |")
    lines += ["", f"Medians, of two runs of each solution on an {facts['gpu']} (CUDA {facts['cuda']}, driver {facts['driver']}, "
              f"nsys {facts['nsys']}, {facts['date']})."]
    overhead = []
    for step, *values in table.lines_of("overhead"):
        values = dict(zip(values[::2], values[1::2]))
        alone = float(values["ms_alone"])
        overhead.append((float(values["ms_traced"]) / alone, step, alone))
    most, step, alone = max(overhead)
    return [*lines, f"An iteration takes at most {100 * (most - 1):.1f} % longer when it is traced "
            f"({step}: {significant(1e3 * alone)} µs alone)."]


def profile_block(step):
    """What the profiler's verb prints of the kept report of a step, from 06 on against the step before: its first part.
    Step 11 is for the time line, launches and waits, and so are those with ranks: theirs is rank 0's of two."""
    ranks = step_named(step).needs == "ranks"
    tool = "nsys" if step[:2] < "06" or step[:2] == "11" or ranks else "ncu"
    report = RESULTS / f"profiles/{tool}_{step[:2]}.csv"
    variables = {"STEP": step[:2]}
    # Without WHICH the verb takes an exercise.
    if "\n# which\tsolution\n" in report.read_text():
        variables["WHICH"] = "solution"
    # Step 07 has options of its own: the caches stay as they are. With other options nothing compares.
    if step[:2] >= "06" and step[:2] != "07" and not ranks:
        variables["BASELINE"] = "previous"
    if ranks:
        variables["RANKS"] = "2"
    said = " ".join(map("=".join, variables.items()))
    printed = run([ROOT / f"scripts/verbs/measure/{tool}.sh"], env=os.environ | variables | {"REPORT": str(report)})
    lines = printed.rstrip().splitlines()
    # The first kernel is the one that the step is about.
    kernels = [k for k, line in enumerate(lines) if re.match(r"\w+, grid ", line)]
    if len(kernels) > 1:
        lines = [*"\n".join(lines[:kernels[1]]).rstrip().splitlines(), "..."]
    return [f"<details><summary>What `make {tool} {said}` prints on {'two H200s' if ranks else 'an H200'}</summary>", "",
            "```text", *lines, "```", "", "</details>"]


def mistakes_block():
    """Planted mistakes, and which way to run finds them."""
    ways = ["forward", "reverse", "shuffled", "RACES=1"]
    return [f"| mistake | {' | '.join(ways)} |", "|---|" + "---|" * len(ways),
            *(f"| {row['what it is'].rstrip('.')} | {' | '.join(row[way] for way in ways)} |"
              for row in Table(ROOT / "validate/tests/bank/found_on_cpu/09_shared_tile.tsv").rows)]
