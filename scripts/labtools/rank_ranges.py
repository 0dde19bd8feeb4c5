#!/usr/bin/env python3
"""Prints the NVTX ranges of a job's ranks side by side: who waits, and for whom.

  rank_ranges.py FILE...    a file for each rank, in their order: what the lab's tracer wrote (.tsv), or nsys stats (.csv)

Exit: 0 shown, 1 there is no range in a file, 2 bad usage.
"""

import csv
import pathlib
import re
import sys

SHOWN_RANKS, SHOWN_RANGES = 8, 12  # columns of what a person reads, and lines


def fail(message, code):
    print(f"rank_ranges.py: {message}", file=sys.stderr)
    sys.exit(code)


def read(path):
    """{range: (times, total in ms)}."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        fail(f"{path}: {error.strerror}", 2)
    found, columns = {}, None
    for line in lines:
        if path.suffix == ".tsv":
            fields = line.split("\t")
            if fields[0] == "nvtx" and len(fields) > 3:
                found[fields[1]] = (int(fields[2]), 1e-6 * float(fields[3]))
            continue
        fields = next(csv.reader([line]), [])
        if "Range" in fields:
            columns = fields
        elif not fields:
            columns = None
        elif columns and len(fields) == len(columns):
            row = dict(zip(columns, fields))
            unit = next((name for name in columns if name.startswith("Total Time")), None)
            scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}.get(re.sub(r".*\((.*)\)", r"\1", unit or ""), 1e-6)
            if unit:
                found[row["Range"].lstrip(":")] = (int(row["Instances"].replace(",", "")),
                                                   scale * float(row[unit].replace(",", "")))
    if not found:
        fail(f"{path}: there is no NVTX range in it", 1)
    return found


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2)
    try:
        ranks = [read(pathlib.Path(name)) for name in sys.argv[1:]]
    except ValueError as error:
        fail(f"not a table of ranges: {error}", 1)
    shown = ranks[:SHOWN_RANKS]
    names = sorted({name for rank in shown for name in rank}, key=lambda name: -max(rank.get(name, (0, 0))[1] for rank in ranks))
    print("NVTX ranges of all ranks, total ms")
    print("".join(f"{f'rank {k}':>12}" for k in range(len(shown))) + f"{'times':>8}  range")
    for name in names[:SHOWN_RANGES]:
        totals = "".join(f"{rank[name][1]:>12.3f}" if name in rank else f"{'-':>12}" for rank in shown)
        print(f"{totals}{max(rank.get(name, (0, 0))[0] for rank in shown):>8}  {name}")
    if len(ranks) > len(shown):
        print(f"and {len(ranks) - len(shown)} more ranks")


if __name__ == "__main__":
    main()
