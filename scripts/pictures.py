#!/usr/bin/env python3
"""Draws the pictures of the guides, exercises/pictures/*.svg: none of them is drawn by hand.

    pictures.py --write    draw them all
    pictures.py --check    exit 1, naming the files, where they are not what this script draws

Every picture has a white ground of its own, so that it can be read on a dark page too; five colours,
which differ in lightness as well and never say anything that no label says; text of 12 px or more.
"""

import argparse
import math
import pathlib
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "exercises/pictures"

WIDTH = 760
PAPER = "#fff"
INK, GREY, PALE, BLUE, ORANGE = "#1f2933", "#5f6b7a", "#e4e7eb", "#0072b2", "#e69f00"


def number(value):
    """A coordinate in as few characters as it needs."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Picture:
    """Collects shapes. Distances are in px; x runs to the right and y, as always in SVG, down."""

    def __init__(self, height, title, description):
        self.height, self.title, self.description = height, title, description
        self.shapes = []

    def add(self, tag, attributes, content=None):
        words = [tag]
        for name, value in attributes.items():
            if value is not None:
                value = number(value) if isinstance(value, (int, float)) else value
                words.append(f'{name.replace("_", "-")}="{value}"')
        self.shapes.append(f"<{' '.join(words)}/>" if content is None else
                           f"<{' '.join(words)}>{escape(content)}</{tag}>")

    def rect(self, x, y, width, height, fill=PAPER, stroke=None, thick=1, dashed=False, round_by=None):
        self.add("rect", dict(x=x, y=y, width=width, height=height, rx=round_by, fill=fill, stroke=stroke,
                              stroke_width=thick if stroke and thick != 1 else None,
                              stroke_dasharray="4 3" if dashed else None))

    def text(self, x, y, words, size=13, align="start", bold=False, mono=False, fill=None):
        """Text whose base line is at y."""
        self.add("text", dict(x=x, y=y, font_size=size if size != 13 else None,
                              text_anchor=align if align != "start" else None,
                              font_weight="bold" if bold else None,
                              font_family="monospace" if mono else None, fill=fill), words)

    def note(self, x, y, *lines, size=12, align="start", fill=GREY):
        """Small text in several lines."""
        for k, words in enumerate(lines):
            self.text(x, y + 17 * k, words, size, align, fill=fill)

    def lines(self, points, stroke=GREY, thick=1, dashed=False):
        """Separate lines, as one shape: [(x1, y1, x2, y2)]."""
        d = "".join(f"M{number(x1)} {number(y1)}" +
                    (f"H{number(x2)}" if y1 == y2 else
                     f"V{number(y2)}" if x1 == x2 else f"L{number(x2)} {number(y2)}")
                    for x1, y1, x2, y2 in points)
        self.add("path", dict(d=d, fill="none", stroke=stroke, stroke_width=thick if thick != 1 else None,
                              stroke_dasharray="4 3" if dashed else None))

    def arrow(self, x1, y1, x2, y2, stroke=INK, thick=1.5, head=7):
        """A line from (x1, y1) with its head at (x2, y2)."""
        length = math.hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        x, y = x2 - head * dx, y2 - head * dy
        self.lines([(x1, y1, x, y)], stroke, thick)
        corners = [(x2, y2), (x - head / 2 * dy, y + head / 2 * dx), (x + head / 2 * dy, y - head / 2 * dx)]
        self.add("path", dict(d="M" + "L".join(f"{number(a)} {number(b)}" for a, b in corners) + "z", fill=stroke))

    def mesh(self, x, y, columns, rows, width, height, stroke=GREY, thick=1):
        """The lines around columns x rows cells of that size."""
        right, bottom = x + columns * width, y + rows * height
        self.lines([(x + k * width, y, x + k * width, bottom) for k in range(columns + 1)] +
                   [(x, y + k * height, right, y + k * height) for k in range(rows + 1)], stroke, thick)

    def axes(self, x, y, height, width):
        """i to the right and j upwards, along the edges of a grid whose corner (0, 0) is at x, y."""
        self.arrow(x, y, x + width, y)
        self.text(x + width + 6, y + 5, "i", 14, bold=True)
        self.arrow(x, y, x, y - height)
        self.text(x - 14, y - height + 10, "j", 14, bold=True)

    def svg(self):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" '
                f'width="{WIDTH}" height="{self.height}" viewBox="0 0 {WIDTH} {self.height}" '
                f'font-family="sans-serif" font-size="13" fill="{INK}">')
        ground = (f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{self.height - 1}" rx="10" '
                  f'fill="{PAPER}" stroke="{PALE}"/>')
        return "\n".join(["<!-- Drawn by scripts/pictures.py: change it there. -->", head,
                          f'<title id="title">{escape(self.title)}</title>',
                          f'<desc id="desc">{escape(self.description)}</desc>',
                          ground, *self.shapes, "</svg>"]) + "\n"


def thread_map(coalesced):
    """Lanes of a warp, their points, their addresses. All but the order in memory is the same in both."""
    n, row = 8, 1  # the warp has the points of row j = 1
    sector = 8     # floats
    index = "j * n + i" if coalesced else "i * n + j"

    def idx(i, j):
        return j * n + i if coalesced else i * n + j

    touched = [idx(i, row) for i in range(n)]
    sectors = sorted({address // sector for address in touched})
    picture = Picture(
        436, f"Threads, points and memory {'from step 06 on' if coalesced else 'before step 06'}: idx = {index}",
        f"A grid of 8 x 8 points, i to the right and j upwards, each with its place in memory, idx = {index}. "
        f"The 8 lanes of a warp have the points of row j = 1. Their addresses are {', '.join(map(str, touched))}: "
        + ("side by side, in one sector of 8 floats, wholly used." if coalesced else
           "n = 8 floats apart, each in another sector of 8 floats, of which it uses one."))

    # The grid. The lanes' lines go up to their points, behind the numbers of row 0.
    left, top, width, height = 70, 36, 44, 24
    bottom = top + n * height
    lane_y, memory_y, cell = 254, 342, 11
    memory_x = (WIDTH - n * n * cell) / 2
    picture.rect(left, bottom - (row + 1) * height, n * width, height, ORANGE)
    picture.mesh(left, top, n, n, width, height)
    for i in range(n):
        x = left + (i + 0.5) * width
        picture.lines([(x, lane_y, x, bottom - row * height)], BLUE, 2)
        picture.rect(x - 9, bottom - height + 4, 18, height - 8)
        for j in range(n):
            picture.text(x, bottom - (j + 0.5) * height + 4.5, str(idx(i, j)), 12, "middle",
                         bold=j == row, fill=None if j == row else GREY)
    picture.axes(left, bottom, n * height + 20, n * width + 22)
    picture.text(left - 10, bottom - (row + 0.5) * height + 5, "j = 1", 13, "end")

    # Memory, and the lanes' way to it.
    for address in touched:
        picture.rect(memory_x + address * cell, memory_y, cell, 22, ORANGE)
    picture.mesh(memory_x, memory_y, n * n, 1, cell, 22)
    picture.mesh(memory_x, memory_y, n, 1, sector * cell, 22, INK, 2)
    for i, address in enumerate(touched):
        x = left + (i + 0.5) * width
        picture.arrow(x, lane_y, memory_x + (address + 0.5) * cell, memory_y - 2, BLUE, 1.5, 6)
        picture.add("circle", dict(cx=x, cy=lane_y, r=11, fill=BLUE))
        picture.text(x, lane_y + 4.5, str(i), 12, "middle", bold=True, fill=PAPER)
    picture.text(left - 10, lane_y + 5, "lane", 13, "end")
    picture.text(left + n * width + 12, lane_y + 5, "threadIdx.x", 12, mono=True, fill=GREY)

    y = memory_y + 43
    if coalesced:
        x = memory_x + (sectors[0] + 0.5) * sector * cell
        picture.text(x, y, f"{touched[0]} to {touched[-1]}", 12, "middle", bold=True)
    else:
        for address in touched:
            picture.text(memory_x + (address + 0.5) * cell, y, str(address), 12, "middle", bold=True)
        picture.text(memory_x + (touched[0] + touched[1] + 1) / 2 * cell, y, "← n = 8 →", 12, "middle")
    for k in range(n):
        used = sum(address // sector == k for address in touched)
        picture.text(memory_x + (k + 0.5) * sector * cell, y + 19, f"{used} of 8 used" if used else "–", 12, "middle",
                     fill=None if used else GREY)
    picture.text(memory_x, y + 39, "memory, in sectors of 8 floats (32 bytes)", 12, fill=GREY)

    # What to see.
    x = 484
    picture.text(x, 50, f"idx = {index}", 17, bold=True, mono=True)
    picture.text(x, 82, "One step to the right, i + 1, is")
    picture.text(x, 100, "the next float in memory." if coalesced else "n floats further in memory.")
    picture.text(x, 138, "8 lanes: 1 sector" if coalesced else "8 lanes: 8 sectors", 15, bold=True)
    picture.text(x, 158, "32 lanes: 4 sectors" if coalesced else "32 lanes: 32 sectors", 15, bold=True)
    picture.note(x, 192, "drawn small: n = 8,", "and 8 of the warp's 32 lanes")
    return picture


def thread_map_before():
    return thread_map(coalesced=False)


def thread_map_after():
    return thread_map(coalesced=True)


def warp_sectors():
    """What one load of 32 floats fetches, in three orders."""
    picture = Picture(
        400, "Sectors that one warp's load of 32 floats fetches",
        "Three loads of 32 floats by one warp, in sectors of 32 bytes. Side by side and aligned: 4 sectors, wholly used. "
        "Shifted by one float: 5 sectors, of whose 160 bytes 128 are used. n floats apart: 32 sectors, 4 of 32 bytes "
        "used in each.")
    left, cell, height, counts = 104, 7, 20, 616
    width = 8 * cell

    def sector(x, y, used):
        """A fetched sector; of its 8 floats those in `used` are asked for."""
        picture.rect(x, y, width, height, ORANGE)
        picture.rect(x + used[0] * cell, y, len(used) * cell, height, BLUE)
        picture.mesh(x, y, 8, 1, cell, height, PAPER)
        picture.rect(x, y, width, height, "none", INK, 1.5)

    def line_of_memory(y, first, heading, count, *bytes_used):
        picture.text(left, y - 12, heading)
        picture.mesh(left, y, 64, 1, cell, height, PALE)
        picture.mesh(left, y, 8, 1, width, height, GREY)
        wanted = range(first, first + 32)
        fetched = sorted({address // 8 for address in wanted})
        for k, which in enumerate(fetched):
            x = left + which * width
            sector(x, y, [lane for lane in range(8) if which * 8 + lane in wanted])
            picture.text(x + width / 2, y + height + 15, str(k + 1), 12, "middle", fill=GREY)
        picture.text(counts, y + 6, count, 16, bold=True)
        picture.note(counts, y + 24, *bytes_used, fill=INK)

    line_of_memory(44, 16, "side by side, from the start of a sector: the point itself, north, south",
                   "4 sectors", "128 bytes fetched,", "all used")
    line_of_memory(134, 17, "side by side, shifted by one float: east (and west, to the other side)",
                   "5 sectors", "160 bytes fetched,", "128 used")

    y = 224
    picture.text(left, y - 12, "n floats apart: all of them, before step 06")
    for group in range(4):
        picture.text(left - 10, y + group * 30 + 14.5, f"lanes {8 * group}–{8 * group + 7}", 12, "end", fill=GREY)
        gaps = []
        for k in range(8):
            x = left + k * (width + 6)
            sector(x, y + group * 30, [3])
            gaps.append((x + width + 1, y + group * 30 + height / 2, x + width + 6, y + group * 30 + height / 2))
        picture.lines(gaps[:-1], GREY, 2)
    picture.text(counts, y + 36, "32 sectors", 16, bold=True)
    picture.note(counts, y + 54, "1,024 bytes fetched,", "128 used:", "4 of 32 in each", fill=INK)

    y = 366
    for x, fill, words in ((left, BLUE, "a float that a lane asks for"), (left + 230, ORANGE, "fetched, but not asked for")):
        picture.rect(x, y, 14, 16, fill, INK)
        picture.text(x + 22, y + 13, words, 12)
    picture.rect(left + 440, y, width, 16, "none", INK, 1.5)
    picture.text(left + 440 + width + 8, y + 13, "a sector", 12)
    return picture


def reduction_tree():
    """Step 08's sum, and beside it the one of steps 04 to 07."""
    picture = Picture(
        452, "How the squared changes are added up: steps 04 to 07, and step 08",
        "Step 08, for a block of 32 x 32 points and 32 x 4 threads: each thread adds up 8 points in a register; each "
        "warp adds up 32 threads by shuffles; the block adds up 4 warps in shared memory; each of the (n/32)^2 blocks "
        "makes one atomicAdd. Steps 04 to 07: each of about n^2 points makes an atomicAdd, all at one address.")
    sum_y, size = 362, 14

    def total(x, count, example):
        picture.rect(x - 34, sum_y, 68, 26, ORANGE, INK, 1.5)
        picture.text(x, sum_y + 18, "sum", 14, "middle", bold=True, mono=True)
        picture.text(x, sum_y + 50, count, 15, "middle", bold=True)
        picture.text(x, sum_y + 70, example, 12, "middle")

    def label(y, who, *what):
        picture.text(24, y, who, 14, bold=True)
        picture.note(24, y + 18, *what, fill=INK)

    # Step 08: threads 2.5 px apart, four warps of 32.
    picture.text(24, 34, "step 08", 15, bold=True)
    pitch, warp_width, gap, left = 2.5, 80, 12, 160
    leaf_y, level = 112, 13
    root_y = leaf_y + 5 * level
    middle = left + (4 * warp_width + 3 * gap) / 2
    label(66, "thread", "adds 8 points", "in a register")
    label(138, "warp", "adds 32 threads", "by shuffles")
    label(206, "block", "adds 4 warps", "in shared memory")
    label(296, "grid", "adds (n/32)² blocks,", "one atomicAdd each")

    thread_x = left + 15.5 * pitch
    points = [thread_x + (k - 3.5) * 18 for k in range(8)]
    picture.lines([(x, 54 + size, thread_x, leaf_y - 6) for x in points], BLUE)
    for x in points:
        picture.rect(x - size / 2, 54, size, size, PALE, GREY)
    picture.note(points[-1] + 20, 66, "8 points of one thread:", "column x, rows y, y + 4, … y + 28")

    warps = [left + k * (warp_width + gap) for k in range(4)]
    for x in warps:
        nodes = [x + (k + 0.5) * pitch for k in range(32)]
        picture.lines([(a, leaf_y - 5, a, leaf_y) for a in nodes], BLUE, 1.5)
        tree, y = [], leaf_y
        while len(nodes) > 1:
            pairs = list(zip(nodes[::2], nodes[1::2]))
            nodes = [(a + b) / 2 for a, b in pairs]
            for (a, b), c in zip(pairs, nodes):
                tree += [(a, y, c, y + level), (b, y, c, y + level)]
            y += level
        tree.append((nodes[0], y, nodes[0], y + 24))
        picture.lines(tree, BLUE)
        picture.rect(nodes[0] - size / 2, root_y + 24, size, size, BLUE)
    block_y = root_y + 86
    picture.lines([(x + warp_width / 2, root_y + 24 + size, middle, block_y) for x in warps], BLUE, 1.5)
    picture.rect(middle - size / 2, block_y, size, size, BLUE)
    # The other blocks, at the height of this one.
    for k in (-3, -2, -1, 1, 2, 3):
        x = middle + k * 52
        picture.rect(x - size / 2, block_y, size, size, PAPER, BLUE)
        picture.arrow(x, block_y + size, middle + k * 7, sum_y - 2, GREY, 1)
    picture.arrow(middle, block_y + size, middle, sum_y - 2, BLUE, 2)
    picture.note(middle + 2.5 * 52, block_y - 7, "other blocks", align="middle")
    total(middle, "(n/32)² atomics", "n = 8192: 65,536")

    # Steps 04 to 07.
    picture.lines([(548, 22, 548, 432)], PALE, 2)
    picture.text(568, 34, "steps 04 to 07", 15, bold=True)
    middle = 654
    for k in range(9):
        x = middle + (k - 4) * 17
        picture.arrow(x, 54 + size, middle + (k - 4) * 6.5, sum_y - 2, GREY, 1, 6)
        picture.rect(x - size / 2, 54, size, size, PALE, GREY)
    picture.text(middle + 86, 66, "…", 14, "middle")
    picture.rect(middle - 70, 190, 140, 44)
    picture.text(middle, 208, "one atomicAdd", 13, "middle")
    picture.text(middle, 226, "for each point", 13, "middle")
    total(middle, "about n² atomics", "n = 8192: 67 million")
    return picture


def tile_with_halo():
    """Step 09's tile, and who loads what of it; 8 x 8 points and 8 x 2 threads for 32 x 32 and 32 x 4."""
    points, threads, cell = 8, 16, 24
    side = points + 2
    picture = Picture(
        424, "A tile with its halo, and the loop that loads it",
        "Left: a tile of 10 x 10 points: a block's 8 x 8 points and a halo one point wide around them. The halo's four "
        "corners are loaded but never used. The five values of a point at the block's east edge: itself, north, south "
        "and west are the block's, east is in the halo. Right: the flat loop. 16 threads load the 100 points in 7 "
        "rounds, row after row from the bottom; the last round has 4 points. In the program: 32 x 32 points, 34 x 34 "
        "in the tile, 128 threads, 10 rounds, and the last has 4 points too.")
    left, right, top = 44, 396, 60
    bottom = top + side * cell

    def corner_of(x, column, row):
        """The upper left corner of cell (column, row) of the tile drawn at x; row 0 is the lowest."""
        return x + column * cell, bottom - (row + 1) * cell

    # The tile in the grid: the grid's lines go on beyond it.
    stub = 12
    picture.lines([(left + k * cell, top - stub, left + k * cell, bottom + stub) for k in range(side + 1)] +
                  [(left - stub, top + k * cell, left + side * cell + stub, top + k * cell) for k in range(side + 1)], PALE)
    picture.rect(left, top, side * cell, side * cell, ORANGE)
    for column in (0, side - 1):
        for row in (0, side - 1):
            x, y = corner_of(left, column, row)
            picture.rect(x, y, cell, cell)
            picture.lines([(x, y, x + cell, y + cell), (x, y + cell, x + cell, y)], INK)
    picture.rect(left + cell, top + cell, points * cell, points * cell, BLUE)
    picture.mesh(left, top, side, side, cell, cell, PAPER)
    picture.rect(left, top, side * cell, side * cell, "none", INK, 1.5)
    picture.axes(left, bottom, side * cell + 24, side * cell + 28)
    x, y = points, 5  # a point at the block's east edge
    for dx, dy, name in ((0, 0, "•"), (1, 0, "E"), (0, 1, "N"), (-1, 0, "W"), (0, -1, "S")):
        a, b = corner_of(left, x + dx, y + dy)
        picture.rect(a + 3.5, b + 3.5, cell - 7, cell - 7, PAPER, INK, 1.5)
        picture.text(a + cell / 2, b + cell / 2 + 5, name, 13, "middle", bold=True)
    picture.text(left, 24, "the tile: a block's points and their halo", 13, bold=True)

    def legend(y, fill, words, stroke=INK, thick=1):
        picture.rect(left, y, 14, 14, fill, stroke, thick)
        picture.text(left + 22, y + 12, words, 12)

    y = bottom + 26
    legend(y, BLUE, "the block's points (in the program 32 x 32)")
    legend(y + 22, ORANGE, "halo: points of the blocks next door")
    legend(y + 44, PAPER, "corners of the halo: loaded, never used")
    picture.lines([(left, y + 44, left + 14, y + 58), (left, y + 58, left + 14, y + 44)], INK)
    legend(y + 66, PAPER, "the five values of one point", INK, 2)

    # The flat loop.
    picture.text(right, 24, "the flat loop: which thread loads what", 13, bold=True)
    named, shown = set(), 5
    for k in range(side * side):
        x, y = corner_of(right, k % side, k // side)
        lap, thread = divmod(k, threads)
        fill = BLUE if thread == shown else PALE if lap % 2 == 0 else None
        if fill:
            picture.rect(x, y, cell, cell, fill)
        picture.text(x + cell / 2, y + 16.5, str(thread), 12, "middle", bold=thread == shown,
                     fill=PAPER if thread == shown else None)
        if k % side == side - 1 and lap not in named:
            named.add(lap)
            picture.text(x + cell + 8, y + 16.5, f"round {lap + 1}", 12, fill=GREY)
    picture.mesh(right, top, side, side, cell, cell, GREY)
    for row in (0, side - 1):
        picture.text(right - 8, corner_of(right, 0, row)[1] + 16.5, f"tile[{row}]", 12, "end", mono=True, fill=GREY)
    picture.text(right, bottom + 17, "k = 0, 1, 2, …", 12, mono=True)
    picture.arrow(right + 108, bottom + 13, right + 140, bottom + 13)

    y = bottom + 43
    picture.note(right, y, "number: the thread, k % 16 (blue: thread 5)", "shade: one round, 16 points at once", fill=INK)
    picture.note(right, y + 40, "drawn: 10 x 10 points, 16 threads, 7 rounds",
                 "the program: 34 x 34 points, 128 threads, 10 rounds")
    return picture


def page_migration():
    """One iteration of step 04 and one of step 05: what crosses between CPU and GPU."""
    picture = Picture(
        488, "What moves between CPU and GPU in one iteration of step 04, and of step 05",
        "Time lines, not to scale. Step 04: the sweep runs on the GPU, and its page faults fetch the pages of both "
        "fields from the CPU; copy_field runs on the CPU, and its page faults fetch them back. Step 05: both run on "
        "the GPU and the fields stay there; only the page with the sum moves, to the GPU and back. In both the CPU "
        "sets the sum to 0 before the sweep and reads it after.")
    left, end, lane, between = 84, 736, 46, 62
    start, read, copy = 152, 392, 468  # where sweep, reading the sum, and copy_field begin

    def box(x1, x2, y, kind, words, more=None):
        fill, stroke, ink = {"gpu": (BLUE, None, PAPER), "cpu": (ORANGE, None, INK), "waits": (PAPER, GREY, GREY)}[kind]
        picture.rect(x1 + 2, y, x2 - x1 - 4, lane, fill, stroke, dashed=kind == "waits", round_by=4)
        middle = (x1 + x2) / 2
        picture.text(middle, y + (20 if more else 28), words, 12 if kind == "waits" or x2 - x1 < 90 else 14, "middle",
                     bold=kind != "waits" and x2 - x1 >= 90, fill=ink)
        if more:
            picture.text(middle, y + 37, more, 12, "middle", fill=ink)

    def page(x, y1, y2, words=None):
        """A page on its way; y1 and y2 are the edges of the two lanes, from and to."""
        picture.arrow(x, y1, x, y2, INK, 1.5)
        middle = (y1 + y2) / 2
        picture.rect(x - 6, middle - 8, 12, 16, PALE, INK)
        if words:
            picture.text(x + 12, middle + 4.5, words, 12)

    def panel(y, heading):
        picture.text(24, y, heading, 15, bold=True)
        gpu, cpu = y + 14, y + 14 + lane + between
        picture.text(24, gpu + 28, "GPU", 14, bold=True)
        picture.text(24, cpu + 28, "CPU", 14, bold=True)
        box(left, start, cpu, "cpu", "sum = 0")
        box(left, start, gpu, "waits", "waits")
        box(start, read, cpu, "waits", "waits")
        box(read, copy, cpu, "cpu", "read sum")
        box(read, copy, gpu, "waits", "waits")
        return gpu, cpu, gpu + lane + 4, cpu - 4

    gpu, cpu, upper, lower = panel(34, "step 04: the copy on the CPU")
    box(start, read, gpu, "gpu", "sweep", "page faults fetch both fields")
    box(copy, end, gpu, "waits", "waits")
    box(copy, end, cpu, "cpu", "copy_field", "page faults fetch both fields back")
    for x in range(start + 20, read - 10, 25):
        page(x, lower, upper)
    page(read + 20, upper, lower, "sum")
    for x in range(copy + 22, end - 10, 25):
        page(x, upper, lower)

    done = copy + 160
    gpu, cpu, upper, lower = panel(250, "step 05: the copy on the GPU")
    box(start, read, gpu, "gpu", "sweep", "both fields are here")
    box(copy, done, gpu, "gpu", "copy_field", "both fields are here")
    box(copy, done, cpu, "waits", "waits")
    page(start + 20, lower, upper, "one page: the sum")
    page(read + 20, upper, lower, "one page: the sum")
    picture.lines([(done + 6, gpu, done + 6, cpu + lane)], INK, 1.5)
    picture.note(done + 14, (upper + lower) / 2 - 4, "the next", "iteration", fill=INK)

    y = cpu + lane + 24
    picture.arrow(left, y, end, y)
    picture.text(left, y + 20, "time, not to scale")
    picture.rect(end - 222, y + 8, 12, 16, PALE, INK)
    picture.text(end - 202, y + 20, "a page, moved at a page fault")
    return picture


PICTURES = [thread_map_before, thread_map_after, warp_sectors, reduction_tree, tile_with_halo, page_migration]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    wrong = []
    drawn = {FOLDER / f"{draw.__name__}.svg": draw().svg() for draw in PICTURES}
    for path, svg in drawn.items():
        if path.is_file() and path.read_bytes() == svg.encode():
            continue
        if arguments.check:
            wrong.append(f"{path.relative_to(ROOT)}: is not what scripts/pictures.py draws; "
                         "run `scripts/pictures.py --write`")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(svg.encode())
            print(f"{path.relative_to(ROOT)}: written")
    for path in sorted(set(FOLDER.glob("*")) - set(drawn)):
        wrong.append(f"{path.relative_to(ROOT)}: scripts/pictures.py does not draw it")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
