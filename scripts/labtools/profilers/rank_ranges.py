"""Prints the NVTX ranges of a job's ranks side by side: who waits, and for whom.

  rank_ranges.py FILE...    a file for each rank, in their order: what the lab's tracer wrote (.tsv), or nsys stats (.csv)

Exit: 0 shown, 1 there is no range in a file, 2 bad usage.
"""

import pathlib
import sys

from labtools.process import fail
from labtools.profilers import profile_tables
from labtools.profilers.profile_tables import nsys_tables, times_of

SHOWN_RANKS, SHOWN_RANGES = 8, 12  # columns of what a person reads, and lines


def read(path):
    """{range: (times, total in ms)}."""
    lines = profile_tables.read(path)[1]
    if path.suffix == ".tsv":
        fields = (line.split("\t") for line in lines)
        found = {row[1]: (int(row[2]), 1e-6 * float(row[3])) for row in fields if row[0] == "nvtx" and len(row) > 3}
    else:
        rows = nsys_tables(lines).get("nvtx_sum", [])
        found = {row["Range"].lstrip(":"): (int(times_of(row)[2]), 1e-6 * times_of(row)[1]) for row in rows}
    if not found:
        fail(f"{path}: there is no NVTX range in it", 1)
    return found


def main():
    ranks = [read(pathlib.Path(name)) for name in sys.argv[1:]]
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
