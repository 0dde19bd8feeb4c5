"""How steps 14 and 15 scale, and the model of it."""

from blocks.published import SCALING, number
from labtools import scaling_model
from labtools.files import ROOT
from labtools.numbers import significant, spread



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
            f"{', '.join(strong)} of {most} times the speed of step 13 on one GPU of that machine.",
            f"At n = {fastest['n']} it reaches {significant(fastest['glups'])} GLUPS (10⁹ points per second; median of "
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
                         f"| {significant(row['ms'])} | {significant(ms)} | {error:+.1f} % |")
    nodes, each = scaling_model.HOSTS
    lines += ["", f"And of {nodes} nodes of {each} GPUs, which nobody has measured: µs of a pass of {scaling_model.PASS} sweeps "
              "with a residual, what of it cannot be hidden, and the efficiency against the step itself on one GPU.", "",
              "| scaling | n | step | rows | exchange | sum | overhead | GLUPS | efficiency |",
              "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for words, n, name, parts, glups, efficiency in model.far():
        times = " | ".join(significant(parts[part]) for part in scaling_model.PARTS)
        lines.append(f"| {words} | {n} | {name} | {times} | {significant(glups)} | {efficiency:.0f} % |")
    return lines
