"""How steps 14 and 15 scale."""

import re

import scaling_table
from labtools.files import RESULTS
from labtools.numbers import significant, spread
from labtools.table import Table


def of_cell(row, efficiency):
    """"0.0214 (97.0)"; a dash where there is no time."""
    if row is None or row["ms"] == "-":
        return "–"
    percent = row[efficiency] if efficiency else "-"
    return significant(row["ms"]) + ("" if percent == "-" else f" ({float(percent):.1f})")


def scaling_block(step):
    table = Table(RESULTS / "scaling.tsv")
    facts, rows = table.facts, [row for row in table.rows if row["way"] == "-"]  # its own way to exchange
    found = {(row["step"][:2], *(int(row[name]) for name in ("n", "ranks", "check_every"))): row for row in rows}
    ranks = sorted({r for _, _, r, _ in found})
    gpus = " | ".join(f"{r} GPU{'s' if r > 1 else ''}" for r in ranks)
    last = step[:2] == "15"
    steps = ["14", "15"] if last else [step[:2]]
    links = re.sub(r"^NV(\d+)$", r"\1 NVLinks", facts["links"])
    widest = max(spread(row) for row in found.values() if row["ms"] != "-" and row["step"][:2] in ("13", *steps))
    lines = [f"On {facts['gpus']} {facts['gpu']}s ({links} between two of them; CUDA {facts['cuda']}, NCCL "
             f"{facts['nccl']}, {facts['mpi']}, driver {facts['driver']}, {facts['date']}). Every field that is timed has "
             "been compared with a reference.", "",
             f"Strong scaling: ms per sweep, and in brackets the efficiency in %, relative to step 13 on one GPU. "
             f"The middle half of a cell's times differs by at most {widest:.1f} %."]
    weak = {(one, r): sizes[k] for k, one in enumerate(scaling_table.WEAK[1]) for r, sizes in scaling_table.WEAK.items()}
    only_weak = {n for (_, r), n in weak.items() if r not in (1, max(scaling_table.WEAK))}
    for every in sorted({every for *_, every in found}):
        lines += ["", f"A residual every {every} sweeps:", "", f"| n | step | {gpus} | GLUPS on {ranks[-1]} |",
                  f"|--:|--:|{'--:|' * len(ranks)}--:|"]
        for n in sorted({n for _, n, _, often in found if often == every and n not in only_weak}):
            for name in ["13", *steps]:
                of_ranks = [found.get((name, n, r, every)) for r in ranks]
                most = of_ranks[-1]["glups"] if of_ranks[-1] else "-"
                cells = [of_cell(row, None if name == "13" else "efficiency") for row in of_ranks]
                if set(cells) != {"–"}:
                    lines.append(f"| {n} | {name} | {' | '.join(cells)} | {'–' if most == '-' else significant(most)} |")
    lines += ["", "Weak scaling, with equal points per GPU: ms per sweep, and in brackets the efficiency in %, relative to this "
              "step on one GPU.", "", f"| points per GPU | step | {gpus} |", f"|--:|--:|{'--:|' * len(ranks)}"]
    for one in scaling_table.WEAK[1]:
        for name in steps:
            cells = [of_cell(found.get((name, weak.get((one, r)), r, scaling_table.often(rows))), "weak_efficiency")
                     for r in ranks]
            if set(cells) != {"–"}:
                lines.append(f"| {one}² | {name} | {' | '.join(cells)} |")
    if last and (other := [row for row in table.rows if row["way"] != "-"]):
        n, r, every = (int(other[0][name]) for name in ("n", "ranks", "check_every"))
        of_way = {"NCCL, from GPU to GPU (as it is)": [found.get((step, n, r, every)) for step in steps]}
        for row in other:
            of_way.setdefault(row["way"], [None, None])[steps.index(row["step"][:2])] = row
        lines += ["", f"Ways to exchange within a node, {r} GPUs, n = {n}, a residual every {every} sweeps: ms per sweep, and in "
                  "brackets the efficiency in %.", "", "| way | step 14 | step 15 |", "|---|--:|--:|",
                  *(f"| {way} | {' | '.join(of_cell(row, 'efficiency') for row in rows)} |" for way, rows in of_way.items())]
    if last:
        lines += ["", "![Strong and weak scaling of steps 14 and 15](../../results/h200/scaling.svg)"]
    return lines
