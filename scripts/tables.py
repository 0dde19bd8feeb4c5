#!/usr/bin/env python3
"""Writes measured numbers into README.md and the guides: no number there is typed by hand.

Each text has pairs of markers, and what stands between them comes from a file:
    <!-- ladder:begin -->  ...  <!-- ladder:end -->      the whole table (README.md), results/h200/ladder.tsv
    <!-- measured:begin -->  ...  <!-- measured:end -->  one step's (exercises/NN_name/README.md), all of the files below
    <!-- counters:begin --> ... <!-- counters:end -->    (lab/cpu/README.md) results/h200/counters.tsv
    <!-- tracer:begin --> ... <!-- tracer:end -->        (lab/trace/README.md) results/h200/tracer.tsv
    <!-- mistakes:begin --> ... <!-- mistakes:end -->    (lab/cpu/README.md) lab/cpu/tests/bugs/09_shared_tile.tsv

    tables.py --write    bring the texts up to date
    tables.py --check    exit 1, naming the texts, where they are not
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LADDER = ROOT / "results/h200/ladder.tsv"
TRACER = ROOT / "results/h200/tracer.tsv"
TILE = ROOT / "results/h200/tile_loading.tsv"
COUNTERS = ROOT / "results/h200/counters.tsv"
MISTAKES = ROOT / "lab/cpu/tests/bugs/09_shared_tile.tsv"


def read_ladder(path):
    """(facts, serial, rows): {name: value}, {(which, n): ms}, [{column: text}]."""
    facts, serial, rows, columns = {}, {}, [], None
    for line in path.read_text().splitlines():
        fields = line.split("\t")
        if line.startswith("# serial\t"):
            values = dict(zip(fields[2::2], fields[3::2]))
            serial[(fields[1], int(values["n"]))] = float(values["ms"])
        elif line.startswith("# ") and len(fields) > 1:
            facts[fields[0][2:]] = fields[1]
        elif line.startswith("#"):
            continue
        elif columns is None:
            columns = fields
        else:
            rows.append(dict(zip(columns, fields)))
    return facts, serial, rows


def significant(text, digits=3):
    """A number with so many significant digits, without an exponent; '-' stays."""
    if text == "-":
        return "–"
    value = float(text)
    if value == 0:
        return "0"
    decimals = digits - 1
    size = abs(value)
    while size >= 10:
        size /= 10
        decimals -= 1
    while size < 1:
        size *= 10
        decimals += 1
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


def spread(row):
    return 100 * (float(row["ms_q3"]) - float(row["ms_q1"])) / float(row["ms"])


def machine(facts):
    return f"{facts['gpu']}, CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}"


def ladder_block(facts, serial, rows):
    lines = [
        "| step | what changed | n | ms per iteration | spread | million points/s | GB/s | % of copy "
        "| × step before | × best serial | × strided serial |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        if row["ms"] == "-":
            lines.append(f"| {row['step']} | {row['title']} | {row['n']} | {row['verdict']} | | | | | | | |")
            continue
        lines.append(
            f"| {row['step']} | {row['title']} | {row['n']} | {significant(row['ms'])} | {spread(row):.1f} % "
            f"| {significant(row['mpoints_per_s'])} | {significant(row['gb_per_s'])} "
            f"| {significant(row['percent_of_copy'], 2)} | {significant(row['x_before'])} "
            f"| {significant(row['x_best_serial'])} | {significant(row['x_strided_serial'])} |")
    sizes = sorted({n for _, n in serial})
    times = "; ".join(
        f"n = {n}: best {significant(str(serial[('best', n)]))}, strided {significant(str(serial[('strided', n)]))}"
        for n in sizes)
    lines += [
        "",
        f"Measured on: {machine(facts)}; copy bandwidth in the same run "
        f"{significant(facts['copy_gb_per_s'], 4)} GB/s.",
        f"Serial code on one core ({facts['cpu']}), ms per iteration: {times}.",
        "",
        "Times are medians; the spread is the interquartile range, as a share of the median. GB/s counts 8 bytes a",
        "point: one float read and one written, the least that a sweep can move. Up to step 09 an iteration also copies",
        "the field, which moves as much again: 50 % of the copy bandwidth is the most that these steps can reach. The",
        "step before was timed again where its own n is another. The best serial code goes through memory row by row",
        "and copies nothing; the strided one is step 00.",
    ]
    return lines


def duration(ns):
    """Nanoseconds in a unit that suits them."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{significant(str(ns / size))} {unit}"
    return f"{significant(str(ns))} ns"


def traced_lines(step):
    """What the tracer saw of a step: its kernels, and the pages that migrated."""
    facts, rows = read_table(TRACER)
    rows = [row for row in rows if row["step"] == step]
    lines = []
    kernels = [f"`{row['name']}` {duration(float(row['tracer']))}" for row in rows if row["table"] == "kernels"]
    if kernels:
        lines.append(f"Kernels, median, as `make trace` shows them: {', '.join(kernels)}.")
    allocate = [row for row in rows if row["table"] == "nvtx" and row["name"] == "allocate_fields"]
    if allocate and not kernels:
        lines.append(f"The range `allocate_fields`, CUDA's start-up in it, took {duration(float(allocate[0]['tracer']))}; "
                     f"a sweep {duration(float(next(r['tracer'] for r in rows if r['name'] == 'jacobi_sweep')))}.")
    moved = {row["name"]: float(row["tracer"]) for row in rows if row["table"] == "migration"}
    if moved:
        both = ", ".join(f"{significant(str(1e-6 * size))} MB {name}" for name, size in sorted(moved.items(), reverse=True))
        lines.append(f"Pages that migrated in a run of {rows[0]['iterations']} sweeps: {both}.")
    return lines


def counter_lines(step):
    facts, rows = read_table(COUNTERS)
    rows = [row for row in rows if row["step"] == step]
    if not rows:
        return []
    n = max(int(row["n"]) for row in rows)
    counts = {(row["kernel"], row["quantity"]): int(row["ncu"]) for row in rows if int(row["n"]) == n}
    each = []
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        loads, stores = (counts[kernel, f"{access} sectors"] / counts[kernel, f"{access} requests"] for access in ("load", "store"))
        each.append(f"`{kernel}` {loads:.2f} a load, {stores:.2f} a store")
    return [f"Sectors per request (ncu, n = {n}): {'; '.join(each)}."]


def tile_lines():
    facts, rows = read_table(TILE)
    lines = ["", f"The sweep kernel at n = {facts['n']} with its tile loaded in other ways (medians, in one run):", "",
             "| the tile | sweep kernel |", "|---|--:|"]
    for row in rows:
        words = row["what it is"].split(": ", 1)[-1] if row["what it is"].startswith("step") else row["what it is"]
        words = words if row["variant"] != "no_tile" else "no tile (step 08)"
        lines.append(f"| {words} | {significant(row['median_ms'])} ms |")
    return lines


def measured_block(facts, row):
    if row["ms"] == "-":
        return [f"Not measured yet ({row['verdict']})."]
    on_gpu = row["percent_of_copy"] != "-"
    where = f"On an {facts['gpu']} (CUDA {facts['cuda']})" if on_gpu else \
        f"On one CPU core of the machine with the {facts['gpu']} ({facts['cpu']})"
    text = (f"{where}, n = {row['n']}: {significant(row['ms'])} ms per iteration, "
            f"{significant(row['gb_per_s'])} GB/s at 8 bytes a point")
    if on_gpu:
        text += f", {significant(row['percent_of_copy'], 2)} % of the copy bandwidth"
    text += "."
    if row["x_before"] != "-":
        text += (f" The step before, at this n: {significant(row['before_ms'])} ms, "
                 f"so the speed-up is {significant(row['x_before'])}.")
    lines = [text] + traced_lines(row["step"]) + counter_lines(row["step"])
    # A blank line between two sentences keeps them apart when the guide is shown.
    lines = [part for line in lines for part in (line, "")][:-1]
    return lines + (tile_lines() if row["step"] == "09_shared_tile" else [])


def read_table(path):
    """(facts, rows) of a table with its columns' names in the first line that is no comment."""
    facts, rows, columns = {}, [], None
    for line in path.read_text().splitlines():
        fields = line.split("\t")
        if line.startswith("#"):
            if len(fields) > 1:
                facts[fields[0][2:]] = fields[1]
        elif columns is None:
            columns = fields
        else:
            rows.append(dict(zip(columns, fields)))
    return facts, rows


def counters_block():
    facts, rows = read_table(COUNTERS)
    sizes = sorted({int(row["n"]) for row in rows})
    worst = max(rows, key=lambda row: abs(float(row["difference_percent"])))
    equal = sum(row["cpu"] == row["ncu"] for row in rows)
    counts = {(row["step"], row["kernel"], int(row["n"]), row["quantity"]): row for row in rows}
    lines = ["| step | kernel | sectors per load request, here | by ncu | per store request, here | by ncu |",
             "|---|---|--:|--:|--:|--:|"]
    n = sizes[-1]
    for step, kernel in dict.fromkeys((row["step"], row["kernel"]) for row in rows):
        cells = []
        for access in ("load", "store"):
            for who in ("cpu", "ncu"):
                sectors, requests = (int(counts[step, kernel, n, f"{access} {what}"][who]) for what in ("sectors", "requests"))
                cells.append(f"{sectors / requests:.2f}")
        lines.append(f"| {step} | {kernel} | {' | '.join(cells)} |")
    lines += [
        "",
        f"n = {n}; by ncu {facts['ncu']} on an {facts['gpu']} (CUDA {facts['cuda']}, driver {facts['driver']}, {facts['date']}). "
        f"Of {len(rows)} counts at",
        f"n = {' and '.join(map(str, sizes))} (requests, sectors, atomics, shared memory's loads, stores and passes) {equal} are equal;",
        f"the largest difference is {float(worst['difference_percent']):.1f} % ({worst['step']}, {worst['quantity']}).",
    ]
    return lines


def tracer_block():
    facts, rows = read_table(TRACER)
    lines = ["| step | what | times | by the tracer | by nsys | difference |", "|---|---|--:|--:|--:|--:|"]
    for row in rows:
        # What happens once or twice in a run differs from run to run by more than from tool to tool.
        if row["table"] not in ("nvtx", "kernels") or int(row["count"]) < 10:
            continue
        what = "kernel" if row["table"] == "kernels" else "range"
        times = " | ".join(f"{significant(str(1e-3 * float(row[who])), 4)} µs" for who in ("tracer", "nsys"))
        lines.append(f"| {row['step']} | {what} {row['name']} | {row['count']} | {times} | {float(row['difference_percent']):+.1f} % |")
    lines += ["", f"Medians, of two runs of each solution on an {facts['gpu']} (CUDA {facts['cuda']}, driver {facts['driver']}, "
              f"nsys {facts['nsys']}, {facts['date']})."]
    overhead = []
    for line in TRACER.read_text().splitlines():
        fields = line.split("\t")
        if fields[0] == "# overhead":
            values = dict(zip(fields[2::2], fields[3::2]))
            overhead.append((fields[1], float(values["ms_alone"]), float(values["ms_traced"])))
    if overhead:
        most = max(overhead, key=lambda o: o[2] / o[1])
        lines.append(f"An iteration takes at most {100 * (most[2] / most[1] - 1):.1f} % longer when it is traced "
                     f"({most[0]}: {significant(str(1e3 * most[1]))} µs alone).")
    return lines


def mistakes_block():
    _, rows = read_table(MISTAKES)
    ways = ["forward", "reverse", "shuffled", "RACES=1"]
    lines = ["| mistake | " + " | ".join(ways) + " |", "|---|" + "---|" * len(ways)]
    for row in rows:
        lines.append(f"| {row['what it is'].rstrip('.')} | " + " | ".join(row[way] for way in ways) + " |")
    return lines


def replace_block(text, name, lines):
    """text with what stands between the markers of `name` replaced; None where there are no markers."""
    pattern = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    if not pattern.search(text):
        return None
    return pattern.sub(lambda match: match.group(1) + "\n".join(lines) + "\n" + match.group(2), text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if not LADDER.is_file():
        sys.exit(f"tables.py: {LADDER.relative_to(ROOT)} is missing: `make run RESULTS=results/h200` writes it")

    facts, serial, rows = read_ladder(LADDER)
    cpu = ROOT / "lab/cpu/README.md"
    blocks = [(ROOT / "README.md", "ladder", LADDER, ladder_block(facts, serial, rows)),
              (ROOT / "lab/trace/README.md", "tracer", TRACER, tracer_block()),
              (cpu, "counters", COUNTERS, counters_block()),
              (cpu, "mistakes", MISTAKES, mistakes_block())]
    for row in rows:
        blocks.append((ROOT / "exercises" / row["step"] / "README.md", "measured", LADDER, measured_block(facts, row)))

    wrong = []
    for path, name, source, lines in blocks:
        text = path.read_text() if path.is_file() else ""
        new = replace_block(text, name, lines)
        if new is None:
            wrong.append(f"{path.relative_to(ROOT)}: has no <!-- {name}:begin --> ... <!-- {name}:end -->")
        elif new != text and arguments.check:
            wrong.append(f"{path.relative_to(ROOT)}: its numbers are not those of {source.relative_to(ROOT)}; "
                         "run `make tables`")
        elif new != text:
            path.write_text(new)
            print(f"{path.relative_to(ROOT)}: written")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
