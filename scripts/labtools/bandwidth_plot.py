"""Draws what `make bandwidth` measured: DIR/bandwidth.svg from DIR/bandwidth.tsv. It needs no matplotlib.

  bandwidth_plot.py DIR
"""

import pathlib
import sys

from labtools import charts
from labtools.numbers import number, size
from labtools.process import must_write
from labtools.table import Table

WAYS = (("copy_library", "cudaMemcpy", "blue", "circle"), ("copy_float4", "kernel, float4", "green", "square"),
        ("triad", "triad, two reads", "purple", "diamond"), ("copy_kernel", "kernel, one float", "orange", "triangle"))
HOST = (("to_gpu_pinned", "to GPU, pinned", "blue", "circle"), ("to_host_pinned", "to host, pinned", "green", "square"),
        ("to_gpu_pageable", "to GPU, pageable", "orange", "triangle"),
        ("to_host_pageable", "to host, pageable", "purple", "diamond"))
CACHES = (("l2_read", "read", "blue", "circle"), ("l2_copy", "copy", "orange", "square"))


def measured(table):
    """The rows of bandwidth.tsv that have a rate, with it and the bytes as numbers."""
    rows = [{**row, "rate": number(row["rate_median"]), "bytes": number(row["bytes"])} for row in table.rows
            if number(row.get("rate_median")) and number(row.get("bytes")) is not None]
    if not rows:
        raise ValueError("has no measurement")
    return rows


def series_of(rows, what, ways):
    found = [(words, colour, shape, [(row["bytes"], row["rate"]) for row in rows
                                     if row["what"] == what and row["way"] == way and row["bytes"] > 0])
             for way, words, colour, shape in ways]
    return [one for one in found if len(one[3]) > 1]


def draw(head, rows):
    """The charts, as far as there is something to draw."""
    l2 = number(head.get("l2_bytes"))
    l2_mark = [(l2, "L2 " + size(l2))] if l2 else []
    sizes = [4.0 ** k * 1024 for k in range(1, 13)]
    found = []
    if series := series_of(rows, "size", WAYS):
        found.append(charts.lines("bandwidth-size", series, "Copies on the GPU, GB/s",
                                  "read plus written; the median of each size", "bytes of one array", 300,
                                  size, sizes, True, [(at / 2, words + ": two arrays") for at, words in l2_mark]))
    # The copies with one float per thread, by the shape of a block.
    if blocks := [row for row in rows if row["what"] == "block" and row["way"] == "copy_kernel"]:
        best = max(row["rate"] for row in blocks)
        found.append(charts.bars("bandwidth-block", [
            (f"{row['block_x']} x {row['block_y']}", row["rate"], "blue" if row["rate"] == best else "soft")
            for row in blocks],
            "Threads per block, one float per thread, GB/s", f"the copy at n = {blocks[0]['n']}; the best in blue",
            " GB/s"))
    if series := series_of(rows, "host", HOST):
        found.append(charts.lines("bandwidth-host", series, "Between host and GPU, GB/s", "each byte counts once",
                                  "bytes of the array", 240, size, sizes, True))
    if series := series_of(rows, "cache", CACHES):
        found.append(charts.lines("bandwidth-cache", series, "Read again and again past L1, GB/s",
                                  "what L2 holds, and what it does not", "bytes that are read", 240, size,
                                  [2.0 ** k * 1024 for k in range(5, 24)], True, l2_mark))
    return found


def main(folder):
    table = Table(folder / "bandwidth.tsv")
    drawn = charts.stacked(draw(table.facts, measured(table)), "bandwidth", f"What {table.fact('gpu', 'a GPU')} can do at most")
    must_write(folder / "bandwidth.svg", drawn)
    print(f"drawn: {folder / 'bandwidth.svg'}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
