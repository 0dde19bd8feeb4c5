#!/usr/bin/env python3
"""Writes measured numbers into README.md and the guides: no number there is typed by hand.

Each text has a pair of markers, and what stands between them comes from results/h200/ladder.tsv:
    <!-- ladder:begin -->  ...  <!-- ladder:end -->      the whole table (README.md)
    <!-- measured:begin -->  ...  <!-- measured:end -->  one step's line (exercises/NN_name/README.md)

    tables.py --write    bring the texts up to date
    tables.py --check    exit 1, naming the texts, where they are not
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LADDER = ROOT / "results/h200/ladder.tsv"


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
    return [text]


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
    blocks = [(ROOT / "README.md", "ladder", ladder_block(facts, serial, rows))]
    for row in rows:
        blocks.append((ROOT / "exercises" / row["step"] / "README.md", "measured", measured_block(facts, row)))

    wrong = []
    for path, name, lines in blocks:
        text = path.read_text() if path.is_file() else ""
        new = replace_block(text, name, lines)
        if new is None:
            wrong.append(f"{path.relative_to(ROOT)}: has no <!-- {name}:begin --> ... <!-- {name}:end -->")
        elif new != text and arguments.check:
            wrong.append(f"{path.relative_to(ROOT)}: its numbers are not those of {LADDER.relative_to(ROOT)}; "
                         "run `make tables`")
        elif new != text:
            path.write_text(new)
            print(f"{path.relative_to(ROOT)}: written")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
