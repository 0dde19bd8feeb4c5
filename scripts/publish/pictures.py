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

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "exercises/pictures"

WIDTH = 760
NARROW = 480  # for a phone: text of 12 px is still 8 px high on a page 320 px wide
PAPER = "#fff"
INK, GREY, PALE, BLUE, ORANGE = "#1f2933", "#5f6b7a", "#e4e7eb", "#0072b2", "#e69f00"


def number(value):
    """A coordinate in as few characters as it needs."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Picture:
    """Collects shapes. Distances are in px; x runs to the right and y, as always in SVG, down."""

    def __init__(self, height, title, description, width=WIDTH):
        self.height, self.title, self.description, self.width = height, title, description, width
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
                f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}" '
                f'font-family="sans-serif" font-size="13" fill="{INK}">')
        ground = (f'<rect x=".5" y=".5" width="{self.width - 1}" height="{self.height - 1}" rx="10" '
                  f'fill="{PAPER}" stroke="{PALE}"/>')
        return "\n".join(["<!-- Drawn by scripts/publish/pictures.py: change it there. -->", head,
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


def swapped_pointers():
    """Steps 09 and 10: which field is the old one in three iterations, and what moves between them."""
    picture = Picture(
        406, "Two fields and two pointers over three iterations: a copy, and a swap of the pointers",
        "Step 09: in every iteration f_old is field A and f_new is field B; the sweep reads A and writes B, and a copy "
        "moves all of B to A. Step 10: no copy. In iteration 1 the sweep reads A and writes B; then the two pointers "
        "are exchanged, so that in iteration 2 it reads B and writes A, and in iteration 3 it reads A and writes B.",
        NARROW)
    left, pitch, height, between = 84, 128, 32, 46

    def panel(y, heading, bytes_moved, wide, swaps):
        picture.text(20, y, heading, 15, bold=True)
        picture.text(NARROW - 20, y, bytes_moved, 14, "end")
        upper = y + 40
        lower = upper + height + between
        for row, name in ((upper, "field A"), (lower, "field B")):
            picture.text(20, row + 21, name, 14, bold=True)
        for k in range(3):
            x = left + k * pitch
            picture.text(x + wide / 2, upper - 10, f"iteration {k + 1}", 14, "middle", fill=GREY)
            roles = ("f_new", "f_old") if swaps and k % 2 else ("f_old", "f_new")
            for row, role in zip((upper, lower), roles):
                new = role == "f_new"
                picture.rect(x, row, wide, height, BLUE if new else PALE, INK, 1.5)
                picture.text(x + wide / 2, row + 21, role, 14, "middle", bold=True, mono=True,
                             fill=PAPER if new else None)
            down, up = lower - 1, upper + height + 1
            picture.arrow(x + 11, *((up, x + 11, down) if roles[0] == "f_old" else (down, x + 11, up)), BLUE, 3, 9)
            picture.text(x + 19, (up + down) / 2 + 5, "sweep", 14)
            if not swaps:
                picture.arrow(x + 71, down, x + 71, up, ORANGE, 5, 11)
                picture.text(x + 80, (up + down) / 2 + 5, "copy", 14)
            elif k < 2:  # the names go over to the other field
                a, b = x + wide + 3, x + pitch - 4
                picture.arrow(a, upper + height / 2, b, lower + height / 2)
                picture.arrow(a, lower + height / 2, b, upper + height / 2)
                picture.text((a + b) / 2, upper - 10, "swap", 14, "middle", bold=True)

    panel(32, "step 09", "16 bytes a point and iteration", 116, swaps=False)
    panel(210, "step 10", "8 bytes a point and iteration", 72, swaps=True)
    picture.text(20, 386, "swap: of two pointers, on the host. No data move.", 14)
    return picture


def launch_gaps():
    """Steps 10 and 11 on a small grid, and the stage between them: what host and GPU do."""
    sweeps = 4  # drawn in a pass
    picture = Picture(
        520, "Host and GPU on a small grid: a wait for each sweep, launches ahead of time, and a graph",
        "Time lines, not to scale. Step 10: the host launches a sweep, waits for it and reads the sum, and the GPU is "
        "idle until the next launch. With the residual read one check late, the host launches a pass of sweeps after "
        "the other and reads what the pass before has found; small gaps are left between the sweeps, as launches take "
        "longer than sweeps. Step 11: a pass is one launch of a graph, its sweeps run one behind the other, and the "
        "host waits for pass 1 when pass 2 is queued.", NARROW)
    left, end, lane, apart = 66, 464, 26, 12

    def lanes(y, heading):
        picture.text(20, y, heading, 15, bold=True)
        host, gpu = y + 12, y + 12 + lane + apart
        picture.text(20, host + 18, "host", 14)
        picture.text(20, gpu + 18, "GPU", 14)
        picture.lines([(left, gpu + lane, end, gpu + lane)], GREY)
        return host, gpu

    def box(x, wide, y, words):
        fill = {"L": ORANGE, "G": ORANGE, "R": PALE, "": BLUE, "waits": PAPER}[words]
        picture.rect(x + 1, y, wide - 2, lane, fill, GREY if words == "waits" else INK, dashed=words == "waits")
        if words and wide > 9 * len(words):
            picture.text(x + wide / 2, y + 18, words, 14, "middle", bold=len(words) == 1)
        return x + wide

    def passes(gpu, spans):
        for k, (a, b) in enumerate(spans):
            y = gpu + lane + 7
            picture.lines([(a + 2, y, b - 2, y), (a + 2, y - 4, a + 2, y), (b - 2, y - 4, b - 2, y)], INK)
            picture.text((a + b) / 2, y + 15, f"pass {k + 1}", 14, "middle")

    host, gpu = lanes(30, "step 10: the host waits for each sweep")
    x = left
    for k in range(4):
        x = box(x, 20, host, "L")
        box(x, 17, gpu, "")
        x = box(box(x, 56, host, "waits"), 20, host, "R")
    picture.note(left + 43, gpu + lane + 19, "the GPU is idle in between", size=14)

    # One by one the launches take longer than the sweeps.
    host, gpu = lanes(156, "a residual a pass, read one check late")
    x, spans = left, []
    for k in range(4):
        begin = x + 20
        for _ in range(sweeps):
            x = box(x, 20, host, "L")
            box(x, 17, gpu, "")
        spans.append((begin, x + 17))
        if k > 0 and k < 3:
            x = box(x, 20, host, "R")
    passes(gpu, spans)

    host, gpu = lanes(276, "step 11: and the pass is a graph")
    queue = box(box(left, 22, host, "G"), 22, host, "G")
    x, spans = left + 22, []
    for k in range(4):
        begin = x
        for _ in range(sweeps):
            x = box(x, 17, gpu, "")
        spans.append((begin, x))
        x += 3
        if k < 3:
            box(queue, x - queue, host, "waits")
            picture.arrow(x - 1, gpu - 1, x - 1, host + lane + 1, INK, 1.5, 6)
            queue = box(box(x, 20, host, "R"), 22, host, "G") if k < 2 else box(x, 20, host, "R")
    passes(gpu, spans)

    y = 390
    picture.arrow(left, y, end, y)
    picture.text(left, y + 19, "time, not to scale")
    for x, y, words, meaning in ((20, y + 32, "L", "launch of a sweep"), (20, y + 64, "G", "launch of a graph"),
                                 (210, y + 32, "R", "the residual is read"),
                                 (210, y + 64, "", "a sweep")):
        box(x, 22, y, words)
        picture.text(x + 30, y + 18, meaning, 14)
    picture.text(20, y + 48, f"Drawn: {sweeps} sweeps a pass. Program: kCheckEvery = 10.", 14)
    return picture


def register_march():
    """Step 12: a warp in the middle of its march."""
    ahead, rows = 3, 8  # kAhead, kRows
    swept = 3  # the row that is swept, counted from the one below the warp's own
    picture = Picture(
        438, "A warp marches up a strip of 128 columns: which rows it holds, and which are under way",
        "A strip of 128 columns, four a lane: lane 0, lane 1, to lane 31. A warp sweeps 8 rows and loads 10: the row "
        "below and the row above are loaded by another warp, too. While a row, centre, is swept, it and the rows south "
        "and north of it are in registers, and three more, ahead[0] to ahead[2], are under way from memory. Beyond the "
        "strip's ends lane 0 holds one point more to the west, and lane 31 one to the east.", NARROW)
    left, cell, height, top = 104, 17, 24, 66
    lanes = ((left + cell + 4, "lane 0"), (left + 5 * cell + 8, "lane 1"), (left + 9 * cell + 36, "lane 31"))
    east = lanes[-1][0] + 4 * cell + 4
    names = {swept - 1: "south", swept: "centre", swept + 1: "north"}
    names |= {swept + 2 + a: f"ahead[{a}]" for a in range(ahead)}

    def height_of(row):
        return top + (rows + 1 - row) * height

    picture.text(20, 28, "a warp's march: 128 columns, four a lane", 15, bold=True)
    for x, name in lanes:
        picture.text(x + 2 * cell, top - 10, name, 14, "middle", fill=GREY)
    for row in range(rows + 2):
        y = height_of(row)
        shared = row in (0, rows + 1)
        held = abs(row - swept) <= 1
        under_way = row in names and not held
        fill = ORANGE if shared else BLUE if held else PALE if under_way else PAPER
        for x, _ in lanes:
            picture.rect(x, y + 2, 4 * cell, height - 4, fill)
            picture.mesh(x, y + 2, 4, 1, cell, height - 4, PAPER if held else GREY)
            if row == swept:
                picture.rect(x, y + 2, 4 * cell, height - 4, "none", INK, 3)
        for x in (left, east):
            if held or under_way:
                stroke, thick = (INK, 3) if row == swept else (GREY, 1)
                picture.rect(x, y + 2, cell, height - 4, ORANGE, stroke, thick)
        picture.text(lanes[2][0] - 14, y + 16, "…", 14, "middle")
        name = names.get(row, {0: "j_begin - 1", rows + 1: "j_end"}.get(row))
        if name:
            picture.text(left - 8, y + 17, name, 13, "end", mono=True, bold=row == swept)

    def span(first, last, *words):
        """What the rows from first to last have in common, to the right of them."""
        x, a, b = east + cell + 8, height_of(last) + 3, height_of(first) + height - 3
        picture.lines([(x, a, x, b), (x - 4, a, x, a), (x - 4, b, x, b)], INK)
        picture.note(x + 8, (a + b) / 2 + 5 - 8.5 * (len(words) - 1), *words, size=14, fill=INK)

    span(swept + 2 + ahead, rows + 1, "later")
    span(swept + 2, swept + 1 + ahead, "under way", "from", "memory")
    span(swept - 1, swept + 1, "in", "registers")
    span(0, swept - 2, "done")

    bottom = top + (rows + 2) * height
    picture.arrow(16, bottom - height - 4, 16, top + 4, INK, 2, 9)
    for x, who in ((left + cell / 2, "beyond, of lane 0"), (east + cell / 2, "beyond, of lane 31")):
        picture.lines([(x, bottom - 2 * height + 2, x, bottom + 8)], INK)
        picture.text(x + (cell if x < 200 else 0), bottom + 22, who, 14, "middle")
    y = bottom + 40
    picture.rect(20, y, 16, 16, ORANGE, INK)
    picture.text(44, y + 13, "another warp loads it, too: a row below and above,", 14)
    picture.text(44, y + 30, "and in each row a point at both ends", 14)
    picture.text(20, y + 54, f"A warp sweeps kRows = {rows} rows and loads {rows + 2}.", 14)
    picture.text(20, y + 74, f"While it sweeps one, kAhead = {ahead} are under way.", 14)
    return picture


def strip_halo():
    """Step 13: the columns of a strip that are right after each sweep; to scale."""
    lanes, levels = 32, 12
    columns = 4 * lanes
    kept = columns - 2 * levels
    picture = Picture(
        324, "Which columns of a strip are right after each sweep of a pass, to scale",
        f"A strip has {columns} columns of the old field. After sweep 1 a warp has {columns - 2} of them right, after "
        f"sweep 2 {columns - 4}, and after sweep {levels} {kept}, which are stored: kKept. At both sides are the kHalo "
        f"= {levels} columns that the warps next door store.", NARROW)
    left, scale, top, height = 92, 2.6, 50, 13

    picture.text(20, 28, "the columns of a strip that are right", 15, bold=True)
    for level in range(levels + 1):
        y = top + level * height
        right = columns - 2 * level
        picture.rect(left + level * scale, y, right * scale, height - 1, ORANGE)
        picture.rect(left + levels * scale, y, kept * scale, height - 1, BLUE if level == levels else PALE)
        if level in (0, 3, 6, 9, levels):
            picture.text(left - 10, y + 11, f"sweep {level}" if level else "old", 14, "end")
            picture.text(left + columns * scale + 10, y + 11, str(right), 14)
    bottom = top + (levels + 1) * height
    edges = [left + k * scale for k in (0, levels, levels + kept, columns)]
    picture.lines([(x, top - 4, x, bottom + 6) for x in edges], INK)
    for a, b, name in zip(edges, edges[1:], (f"kHalo = {levels}", f"kKept = {kept}", f"kHalo = {levels}")):
        picture.text((a + b) / 2, bottom + 22, name, 13, "middle", mono=True, bold=name[1] == "K")
    y = bottom + 38
    picture.rect(20, y, 16, 16, BLUE, INK)
    picture.text(44, y + 13, "stored", 14)
    picture.rect(110, y, 16, 16, ORANGE, INK)
    picture.text(134, y + 13, "redundant: the warp next door has it, too", 14)
    picture.text(20, y + 36, f"To scale, for a pass of kLevels = {levels} sweeps.", 14)
    return picture


def temporal_march():
    """Step 13 in space and time: rows upwards, sweeps to the right, and the round that makes each of them."""
    levels, own, shown = 4, 6, 10  # drawn: kLevels, rows that are stored, the round with thick lines
    picture = Picture(
        614, "A pass in space and time: rows upwards, sweeps to the right",
        f"Drawn small: {levels} sweeps, {own} rows stored. From {own + 2 * levels} rows that are loaded, sweep 1 makes "
        f"{own + 2 * levels - 2}, sweep 2 {own + 2 * levels - 4}, and the last one the {own} that are stored: a "
        "trapezoid. Each value needs three of the sweep before: its own row, the one below and the one above. In a "
        "round a row arrives, sweep 1 makes the row below it, sweep 2 the one below that, and so on: a diagonal, one "
        "row higher in the next round. Rows outside of the stored ones are redundant: other warps make them, too.",
        NARROW)
    left, pitch, wide, height, top = 112, 68, 46, 25, 84
    total = own + 2 * levels

    def corner_of(row, level):
        return left + level * pitch, top + (total - 1 - row) * height

    picture.text(20, 26, "rows upwards, sweeps to the right", 15, bold=True)
    for level in range(levels + 1):
        x = left + level * pitch + wide / 2
        picture.text(x, top - 30, "old" if level == 0 else f"sweep {level}", 14, "middle")
        picture.text(x, top - 12, "stored" if level == levels else f"level[{level}]", 12, "middle", mono=level < levels,
                     bold=level == levels, fill=None if level == levels else GREY)

    # The stored rows, across all sweeps.
    low, high = corner_of(levels - 1, 0)[1], corner_of(levels + own, 0)[1] + height
    right = left + levels * pitch + wide + 12
    picture.lines([(left - 8, low, right, low), (left - 8, high, right, high)], GREY, 1, dashed=True)
    marked = []
    for level in range(levels + 1):
        for row in range(level, total - level):
            x, y = corner_of(row, level)
            mine = levels <= row < levels + own
            fill = BLUE if level == levels else PALE if mine else ORANGE
            number_of_round = row + level + 1
            picture.rect(x, y + 2, wide, height - 4, fill)
            picture.text(x + wide / 2, y + 17.5, str(number_of_round), 14, "middle", bold=number_of_round == shown,
                         fill=PAPER if level == levels else None)
            if number_of_round == shown:
                picture.rect(x, y + 2, wide, height - 4, "none", INK, 3)
                marked.append((x, y))
    for (a, b), (c, d) in zip(marked, marked[1:]):
        picture.arrow(a + wide + 1, b + height / 2 + 3, c - 2, d + height / 2 - 3, INK, 2)
    # What one value needs.
    row, level = levels, 2
    x, y = corner_of(row, level)
    for other in (-1, 0, 1):
        a, b = corner_of(row + other, level - 1)
        picture.arrow(a + wide + 1, b + height / 2, x - 1, y + height / 2 + 3 * -other, BLUE, 1.5, 6)

    for row, name in ((0, "j_begin - T"), (levels, "j_begin"), (levels + own - 1, "j_end - 1"),
                      (total - 1, "j_end - 1 + T")):
        picture.text(left - 8, corner_of(row, 0)[1] + 17, name, 12, "end", mono=True)
    picture.arrow(20, top + total * height - 40, 20, top + 40, INK, 2, 9)
    y = top + total * height + 16
    for fill, words in ((BLUE, "stored by this warp"), (PALE, "its own rows, on their way through the sweeps"),
                        (ORANGE, "redundant: the warps below and above have them, too")):
        picture.rect(20, y, 16, 16, fill, INK)
        picture.text(44, y + 13, words, 14)
        y += 23
    picture.rect(20, y, 16, 16, PAPER, INK, 3)
    picture.text(44, y + 13, f"round {shown} (the numbers are rounds): a row arrives,", 14)
    picture.text(44, y + 30, "each sweep makes a row, and one is stored", 14)
    picture.arrow(20, y + 48, 36, y + 48, BLUE, 1.5, 6)
    picture.text(44, y + 53, "what one value needs", 14)
    picture.text(20, y + 76, f"Drawn: T = {levels}. In the program: T = kLevels = 12.", 14)
    return picture


def halo_exchange():
    """Step 14: the rows of three ranks. What is at one height are the same rows of the field."""
    picture = Picture(
        456, "The rows of three ranks, their halos, and who sends which rows to whom",
        "Three ranks, each with rows of its own, rank 0 the lowest. Each holds T rows more of each neighbour: its "
        "halo. Before a pass of T sweeps each rank sends its last T own rows to the rank above and its first T own rows to "
        "the rank below, which hold them as halo. Rank 1 computes rows begin to end - 1 and holds rows held_begin to "
        "held_end - 1.", NARROW)
    left, pitch, wide, own, halo, bottom = 62, 146, 96, 108, 27, 376

    picture.text(20, 28, "three ranks, their rows and halos", 15, bold=True)
    picture.arrow(34, bottom, 34, 56, INK, 2, 9)
    picture.text(20, 62, "j", 14, bold=True)
    for rank in range(3):
        x, begin, end = left + rank * pitch, bottom - rank * own, bottom - (rank + 1) * own
        picture.rect(x, end, wide, own, PALE)
        picture.text(x + wide / 2, (begin + end) / 2 - 1, f"rank {rank}", 15, "middle", bold=True)
        picture.text(x + wide / 2, (begin + end) / 2 + 16, "own rows", 14, "middle")
        for there, sent, held in ((rank > 0, begin - halo, begin), (rank < 2, end, end - halo)):
            if there:
                picture.rect(x, sent, wide, halo, BLUE)
                picture.text(x + wide / 2, sent + 18, "sent", 14, "middle", bold=True, fill=PAPER)
                picture.rect(x, held, wide, halo, ORANGE)
                picture.text(x + wide / 2, held + 18, "halo", 14, "middle", bold=True)
        picture.rect(x, end, wide, own, "none", INK, 2)
        if rank > 0:  # with the rank below
            picture.arrow(x - pitch + wide + 3, begin + halo / 2, x - 3, begin + halo / 2, INK, 2, 9)
            picture.arrow(x - 3, begin - halo / 2, x - pitch + wide + 3, begin - halo / 2, INK, 2, 9)
    x, begin, end = left + pitch, bottom - own, bottom - 2 * own
    for y, name in ((end, "end"), (end - halo, "held_end")):
        picture.lines([(x - 10, y, x, y)], INK)
        picture.text(x - 14, y + 5, name, 13, "end", mono=True)
    for y, name in ((begin, "begin"), (begin + halo, "held_begin")):
        picture.lines([(x + wide, y, x + wide + 10, y)], INK)
        picture.text(x + wide + 14, y + 5, name, 13, mono=True)
    picture.note(20, 402, "At one height: the same rows of the field.",
                 "An arrow: T rows, before each pass of T sweeps.", "A halo is read, swept, and thrown away.", size=14, fill=INK)
    return picture


def two_streams():
    """Two passes of step 14, and of step 15: what the multiprocessors of a rank do."""
    picture = Picture(
        472, "Two passes of a rank in step 14, and in step 15: what its multiprocessors do",
        "Time lines, not to scale. Step 14: exchange, then all rows, then exchange, then all rows; the GPU computes "
        "nothing while rows travel. Step 15: a few multiprocessors make the ends, then NCCL's exchange runs there; all "
        "others make the rest at the same time. The second pass of the ends waits for rest_done of the first, that of "
        "the rest for ends_done; it does not wait for the exchange.", NARROW)
    left, exchange, step14, ends, rest, gap = 20, 84, 136, 84, 186, 24

    def box(x, wide, y, height, words, kind, more=None):
        fill, ink = {"sweep": (BLUE, PAPER), "nccl": (ORANGE, INK), "idle": (PAPER, GREY)}[kind]
        picture.rect(x + 1, y, wide - 2, height, fill, GREY if kind == "idle" else INK, dashed=kind == "idle")
        middle = y + height / 2 + 5
        if words:
            picture.text(x + wide / 2, middle - (9 if more else 0), words, 14, "middle", bold=kind == "sweep", fill=ink)
        if more:
            picture.text(x + wide / 2, middle + 9, more, 14, "middle", fill=ink)
        return x + wide

    picture.text(left, 28, "step 14: one stream", 15, bold=True)
    picture.text(left, 50, "all multiprocessors", 14)
    x = left
    for k in (1, 2):
        x = box(box(x, exchange, 58, 56, "exchange", "nccl"), step14, 58, 56, "all rows", "sweep", f"pass {k}")

    picture.text(left, 150, "step 15: two streams", 15, bold=True)
    picture.text(left, 174, "streams.ends, high priority: a few multiprocessors", 14)
    upper, lane, lower, tall = 182, 30, 296, 56
    x = left
    for k in (1, 2):
        box(box(box(x, ends, upper, lane, f"ends {k}", "sweep"), exchange, upper, lane, "exchange", "nccl"),
            rest - ends - exchange, upper, lane, None, "idle")
        box(x, rest, lower, tall, "the rest", "sweep", f"pass {k}")
        x += rest + gap
    # Who waits for whom.
    second = left + rest + gap
    picture.arrow(left + ends - 1, upper + lane + 1, second + 12, lower - 2, INK, 2, 9)
    picture.arrow(left + rest - 1, lower - 1, second + 1, upper + lane + 2, INK, 2, 9)
    picture.text(left + ends + 12, upper + lane + 50, "ends_done", 13, "end", mono=True)
    picture.text(second + 8, upper + lane + 34, "rest_done", 13, mono=True)
    picture.text(left, lower + tall + 20, "streams.rest: all other multiprocessors", 14)
    y = lower + tall + 40
    picture.arrow(left, y, NARROW - 20, y)
    picture.text(left, y + 19, "time, not to scale; dashed: idle; arrows: events", 14)
    picture.text(left, y + 42, "The rest waits for no exchange: exchanges are hidden.", 14)
    picture.text(left, y + 60, "What is left exposed is the gap between two passes.", 14)
    return picture


PICTURES = [thread_map_before, thread_map_after, warp_sectors, reduction_tree, tile_with_halo, page_migration,
            swapped_pointers, launch_gaps, register_march, strip_halo, temporal_march, halo_exchange, two_streams]


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
            wrong.append(f"{path.relative_to(ROOT)}: is not what scripts/publish/pictures.py draws; "
                         "run `scripts/publish/pictures.py --write`")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(svg.encode())
            print(f"{path.relative_to(ROOT)}: written")
    for path in sorted(set(FOLDER.glob("*")) - set(drawn)):
        wrong.append(f"{path.relative_to(ROOT)}: scripts/publish/pictures.py does not draw it")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
