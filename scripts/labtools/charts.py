"""Charts as SVG, with only the standard library: what roofline.py, bandwidth_plot.py and report.py draw with.

Within a page colours are CSS variables, which the page's STYLE sets for light and dark, screen and paper. A file of its own
(stacked) has light colours as attributes, because not every program that draws SVG knows variables."""

import math
import re
from xml.sax.saxutils import escape, quoteattr

from labtools.numbers import number, significant

# Blue, orange and green of Okabe and Ito, which differ in lightness too.
LIGHT = {"paper": "#ffffff", "ink": "#1a232c", "soft": "#566373", "line": "#d5dbe1", "pale": "#eef1f4",
         "blue": "#0067a5", "orange": "#c75200", "green": "#00805b", "purple": "#a0468a", "gold": "#9a6a00"}
DARK = {"paper": "#11171d", "ink": "#e9eef3", "soft": "#a3b1bf", "line": "#33404c", "pale": "#1c252e",
        "blue": "#5db6ef", "orange": "#ff9f55", "green": "#45d3a8", "purple": "#e58fd0", "gold": "#e9c04a"}


def variables(colours):
    return "".join(f"--{name}:{value};" for name, value in colours.items())


FONT = "svg.chart{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;font-size:13px}"
STYLE = (f":root{{{variables(LIGHT)}}}"
         f"@media (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
         f"@media print{{:root{{{variables(LIGHT)}}}}}" + FONT)
# A rule of CSS takes precedence over an attribute.
DARK_RULES = "".join(f'[{what}="{value}"]{{{what}:{DARK[name]}}}' for name, value in LIGHT.items() for what in ("fill", "stroke"))
WIDTH = 880  # of every chart
CORNERS = {"diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)), "triangle": ((0, -1.2), (1.1, 0.8), (-1.1, 0.8))}


def px(value):
    """A coordinate in as few characters as it needs."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def power_below(value):
    return 10.0 ** math.floor(math.log10(value))


def power_above(value):
    return 10.0 ** math.ceil(math.log10(value))


class Axis:
    """From values to px: logarithmic unless `linear`."""

    def __init__(self, low, high, start, end, linear=False):
        self.of = float if linear else math.log10
        self.low, self.high, self.start = low, high, start
        self.scale = (end - start) / (self.of(high) - self.of(low))

    def __call__(self, value):
        """The place of a value; of one outside, the axis' end."""
        value = min(max(value, self.low), self.high)
        return self.start + (self.of(value) - self.of(self.low)) * self.scale

    def decades(self):
        first, last = math.ceil(self.of(self.low) - 1e-9), math.floor(self.of(self.high) + 1e-9)
        return [10.0 ** k for k in range(first, last + 1)]


class Chart:
    """Collects shapes. x runs to the right and y down; colours are names of LIGHT."""

    def __init__(self, name, height, title, description):
        self.name, self.height, self.title, self.description = name, height, title, description
        self.shapes = []

    def add(self, tag, attributes, words=None, tip=None):
        text = " ".join([tag] + [f"{key.replace('_', '-')}={quoteattr(px(value))}"
                                 for key, value in attributes.items() if value is not None])
        inner = (f"<title>{escape(tip)}</title>" if tip else "") + (escape(words) if words is not None else "")
        self.shapes.append(f"<{text}>{inner}</{tag}>" if inner else f"<{text}/>")

    def text(self, x, y, words, align="start", colour="ink", size=None, bold=False, turn=None, halo=False):
        """With a halo it can be read where lines cross it."""
        outline = {"stroke": "var(--paper)", "stroke_width": 4, "stroke_linejoin": "round", "paint_order": "stroke"} if halo else {}
        self.add("text", dict(outline, x=x, y=y, fill=f"var(--{colour})", font_size=size,
                              transform=f"rotate({px(turn)} {px(x)} {px(y)})" if turn else None,
                              text_anchor=align if align != "start" else None, font_weight="600" if bold else None), words)

    def bar(self, x, y, width, height, colour, tip):
        self.add("rect", {"x": x, "y": y, "width": width, "height": height, "rx": 2,
                          "fill": f"var(--{colour})", "class": "mark"}, tip=tip)

    def line(self, points, colour="line", thick=1, dash=None, opacity=None, mark=False):
        path = "M" + "L".join(f"{px(x)} {px(y)}" for x, y in points)
        self.add("path", dict(d=path, fill="none", stroke=f"var(--{colour})", stroke_width=thick, stroke_dasharray=dash,
                              stroke_linejoin="round", opacity=opacity, **({"class": "mark"} if mark else {})))

    def dot(self, x, y, colour, shape, radius=5.0, hollow=False, tip=None):
        inside, rim = ("paper", colour) if hollow else (colour, "paper")
        of_mark = {"fill": f"var(--{inside})", "stroke": f"var(--{rim})", "stroke_width": 2 if hollow else 1, "class": "mark"}
        if shape == "circle":
            self.add("circle", dict(cx=x, cy=y, r=radius, **of_mark), tip=tip)
        elif shape == "square":
            side = 1.8 * radius
            self.add("rect", dict(x=x - side / 2, y=y - side / 2, width=side, height=side, **of_mark), tip=tip)
        else:
            corners = "L".join(f"{px(x + a * radius)} {px(y + b * radius)}" for a, b in CORNERS[shape])
            self.add("path", dict(d=f"M{corners}z", **of_mark), tip=tip)

    def heading(self, left, title, subtitle):
        self.text(left, 18, title, bold=True)
        self.text(left, 36, subtitle, colour="soft", size=12)

    def grid_x(self, axis, top, bottom, values, label):
        """Vertical lines at the values, each with its label below."""
        for value in values:
            self.line([(axis(value), top), (axis(value), bottom)])
            at, align = (axis(value), "middle") if axis(value) + 24 <= WIDTH else (WIDTH - 2, "end")
            self.text(at, bottom + 17, label(value), align, "soft", 12)

    def grid_y(self, axis, left, right, values, label):
        for value in values:
            self.line([(left, axis(value)), (right, axis(value))])
            self.text(left - 6, axis(value) + 4, label(value), "end", "soft", 12)

    def legend(self, x, y, entries, columns, width):
        """[(shape, colour, words)] in columns."""
        for k, (shape, colour, words) in enumerate(entries):
            left, base = x + k % columns * width, y + k // columns * 20
            if shape == "dashes":
                self.line([(left - 6, base - 4), (left + 8, base - 4)], colour, 2, "4 3")
            else:
                self.dot(left + 1, base - 4, colour, shape)
            self.text(left + 14, base, words, size=12)

    def svg(self):
        height = px(self.height)
        return (f'<svg class="chart" role="img" data-chart="{self.name}" viewBox="0 0 {WIDTH} {height}" '
                f'width="{WIDTH}" height="{height}">\n'
                f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>\n"
                + "\n".join(self.shapes) + "\n</svg>\n")


def power_label(value):
    """10^-3 with the small figures that every font has."""
    power = round(math.log10(value))
    if -3 <= power <= 5:
        return f"{value:,.{max(0, -power)}f}"
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] if c.isdigit() else "⁻" for c in str(power))


LEVELS = (("l1", "L1", "green", "square"), ("l2", "L2", "orange", "diamond"), ("dram", "DRAM", "blue", "circle"))


def kernel_points(rows):
    """Of rows of kernels.tsv: [{step, kernel, n, sweeps, flops, rate (giga-operations/s), intensity: {level: operations
    per byte}, speed: {level: GB/s}, by_hand}]. What cannot be placed is left out."""
    points = []
    for row in rows:
        time_ns = number(row.get("time_ns"))
        flops = (number(row.get("flops_float")) or 0) + (number(row.get("flops_double")) or 0)
        moved = {level: number(row.get(f"{level}_bytes")) for level, *_ in LEVELS}
        if moved["l1"]:
            moved["l1"] += number(row.get("shared_bytes")) or 0  # the same SRAM
        moved = {level: count for level, count in moved.items() if count}
        if time_ns and moved:
            points.append({"step": row["step"], "kernel": row["kernel"], "n": row["n"], "flops": flops,
                           "sweeps": number(row.get("sweeps")) or 1, "by_hand": row.get("counted_by") == "hand",
                           "rate": flops / time_ns,
                           "intensity": {level: flops / count for level, count in moved.items()},
                           "speed": {level: count / time_ns for level, count in moved.items()}})
    return points


def clusters(places, near):
    """Places (x, y, words) in groups that lie within `near` px of their first: [(x, y, [words])]."""
    groups = []
    for x, y, words in sorted(places):
        for group in groups:
            if abs(group[0] - x) <= near and abs(group[1] - y) <= near / 2:  # two lines of text do not fit between
                group[2].add(words)
                break
        else:
            groups.append((x, y, {words}))
    return [(x, y, sorted(words)) for x, y, words in groups]


def overlap(box, others):
    """How much of (left, top, right, bottom) others lie on, in square pixels."""
    return sum(max(0, min(box[2], other[2]) - max(box[0], other[0])) * max(0, min(box[3], other[3]) - max(box[1], other[1]))
               for other in others)


YOURS = "_yours"  # ends the name of an exercise's rows


def label(step):
    """"04", or "your 04" of an exercise."""
    return f"your {step[:2]}" if step.endswith(YOURS) else step[:2]


def run_together(numbers):
    """04 05 06 08 as 04–06, 08."""
    parts = []
    for one in numbers:
        if parts and one.isdigit() and parts[-1][-1].isdigit() and int(one) == int(parts[-1][-1]) + 1:
            parts[-1].append(one)
        else:
            parts.append([one])
    return ", ".join(part[0] if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)


def roofline(rows, ceilings, titles, where):
    """The chart: rows of kernels.tsv, {level: ceiling}, {step: its title}, and words on where it was measured."""
    points = kernel_points(rows)
    sweeps = [point for point in points if point["flops"] > 0]
    copies = [point for point in points if point["flops"] == 0]
    steps = sorted({point["step"] for point in sweeps})
    left, right, top = 62, WIDTH - 14, 54
    bottom = top + 400
    # A line that tells the sweeps of a launch is longer.
    columns = 2 if any(point["sweeps"] > 1 for point in sweeps) else 3
    legend_rows = (len(steps) - 1) // columns + 1
    strip_top = bottom + 66 + 20 * legend_rows + 44
    height = strip_top + (40 + 24 * len(copies) + 44 if copies else 0)
    chart = Chart("roofline", height, "Roofline of every step's kernels",
                  "Operations per second against operations per byte, at L1, L2 and DRAM, logarithmic; measured "
                  "ceilings. " + where)
    intensities = [intensity for point in sweeps for intensity in point["intensity"].values()]
    rates = [point["rate"] for point in sweeps]
    # The ridge of DRAM and the float rate belongs to the picture.
    ridge = ceilings.get("float", 0) / ceilings["dram"] if ceilings.get("dram") else 0
    x = Axis(power_below(min(intensities)), power_above(max([*intensities, 2 * ridge])), left, right)
    tops = [value for level, value in ceilings.items() if level in ("float", "double")]
    y = Axis(power_below(min(rates)), 2 * power_above(max([*rates, *tops, 1]) / 2), bottom, top)
    chart.heading(left, "Giga-operations per second",
                  "float and double added up; each sweep kernel has one height, and one place for the bytes of each level")
    chart.grid_x(x, top, bottom, x.decades(), power_label)
    chart.grid_y(y, left, right, y.decades(), power_label)
    chart.text(right, bottom + 36, "operations per byte", "end", "soft", 12)

    roof = max(tops, default=y.high)
    for kind in ("float", "double"):
        if kind in ceilings:
            start = max(x.low, ceilings[kind] / max(ceilings.get(level, 0) for level, *_ in LEVELS))
            chart.line([(x(start), y(ceilings[kind])), (right, y(ceilings[kind]))], "soft", 1.5)
            words = f"{kind} {significant(ceilings[kind] / 1000)} TFLOP/s"
            chart.text(right, y(ceilings[kind]) + (-6 if kind == "float" else 16), words, align="end", colour="soft",
                       size=12, halo=True)
    slope = math.degrees(math.atan2(y.scale, x.scale))
    roofs = [(level, name, colour, ceilings[level]) for level, name, colour, _ in LEVELS if level in ceilings]
    for level, name, colour, rate in roofs:
        first, last = max(x.low, y.low / rate), min(x.high, roof / rate)
        chart.line([(x(first), y(rate * first)), (x(last), y(rate * last))], colour, 2.5, opacity=0.75)
        # Its name, along it: below the lowest and above the others.
        at = max(x.low * (x.high / x.low) ** 0.06, first * 1.3)
        offset, angle = 15 if level == "dram" else -7, math.radians(slope)
        chart.text(x(at) - offset * math.sin(angle), y(rate * at) + offset * math.cos(angle),
                   f"{name} {significant(rate / 1000)} TB/s", colour=colour, size=12, turn=slope, halo=True)

    # The way from step to step, at each level; then each kernel, L1 to DRAM.
    for level, _, colour, _ in LEVELS:
        first_of = {point["step"]: point for point in reversed(sweeps)
                    if level in point["intensity"] and not point["step"].endswith(YOURS)}
        way = [(x(point["intensity"][level]), y(point["rate"])) for _, point in sorted(first_of.items())]
        if len(way) > 1:
            chart.line(way, colour, 1.5, "2 4", 0.9)
    for point in sweeps:
        ends = [x(intensity) for intensity in point["intensity"].values()]
        chart.line([(min(ends), y(point["rate"])), (max(ends), y(point["rate"]))], "soft", 1, opacity=0.6)
    labels, dots = [], []  # (x, y, steps, level, colour), (left, top, right, bottom)
    for level, name, colour, shape in LEVELS:
        places = []
        for point in (point for point in sweeps if level in point["intensity"]):
            at_x, at_y = x(point["intensity"][level]), y(point["rate"])
            chart.dot(at_x, at_y, colour, shape, 5.5, point["by_hand"],
                      f"{point['step']} {point['kernel']}, {name}: {significant(point['intensity'][level])} operations "
                      f"per byte, {significant(point['rate'])} giga-operations/s" + (", counted by hand" if point["by_hand"] else ""))
            places.append((at_x, at_y, label(point["step"])))
            dots.append((at_x - 6, at_y - 6, at_x + 6, at_y + 6))
        labels += [(*place, level, colour) for place in clusters(places, 36)]
    taken = []
    for place_x, place_y, numbers, level, colour in labels:
        words = run_together(numbers)
        half = 3.8 * len(words)
        # L2's below, the others above; where they would meet: to a side, or farther off. The first that lies on least.
        beside, off = half + 9, {"l1": [(0, -11), (-1, 4), (-1, -9), (0, -25), (1, 4)],
                                 "l2": [(0, 21), (1, 4), (1, 17), (-1, 17), (0, 35)],
                                 "dram": [(0, -11), (1, 4), (1, -9), (0, -25), (1, 17)]}[level]
        sides = [(place_x + beside * way, place_y + down) for way, down in off]
        boxes = [(x_middle - half, base_y - 10, x_middle + half, base_y + 2) for x_middle, base_y in sides]
        cost = [3 * overlap(box, taken) + overlap(box, dots) + (box[0] < left or box[2] > right) * 1e4 for box in boxes]
        best = cost.index(min(cost))
        taken.append(boxes[best])
        chart.text(*sides[best], words, align="middle", colour=colour, size=12, bold=True, halo=True)

    base = bottom + 62
    entries = [(shape, colour, name) for level, name, colour, shape in LEVELS]
    if any(point["by_hand"] for point in sweeps):
        chart.dot(left + 290, base - 4, "blue", "circle", 5.5, True)
        chart.text(left + 303, base, "counted by hand: 8 bytes per point, 4 operations per point and sweep", size=12)
    chart.legend(left, base, entries, 3, 90)
    base += 24
    for k, step in enumerate(steps):
        # Of several kernels, the one that makes most sweeps per launch.
        told = max((point for point in sweeps if point["step"] == step), key=lambda point: point["sweeps"])
        column, row = divmod(k, legend_rows)
        at = left - 4 + column * (right - left) / columns
        chart.text(at, base + 20 * row, step[:2], bold=True, size=12)
        title = "your exercise" if step.endswith(YOURS) else titles.get(step, step)
        several = f", {told['sweeps']:.0f} sweeps per launch" if told["sweeps"] > 1 else ""
        chart.text(at + 22, base + 20 * row, f"{title}: {significant(told['rate'])}, n = {told['n']}{several}", size=12)

    if copies:
        chart.text(left, strip_top, "The copy kernels have no operations: only their bandwidth, GB/s", bold=True)
        rows_top, rows_bottom = strip_top + 24, strip_top + 30 + 24 * len(copies)
        speeds = [speed for point in copies for speed in point["speed"].values()]
        b = Axis(power_below(min(speeds)), 1.3 * max(speeds + [rate for *_, rate in roofs]), left, right)
        chart.grid_x(b, rows_top, rows_bottom, b.decades(), power_label)
        for _, name, colour, rate in roofs:
            chart.line([(b(rate), rows_top), (b(rate), rows_bottom)], colour, 2.5, opacity=0.75)
            chart.text(b(rate), rows_top - 4, name, "middle", colour, 12, bold=True)
        for k, point in enumerate(copies):
            at = rows_top + 18 + 24 * k
            chart.text(left - 8, at + 4, point["step"][:2], "end", bold=True, size=12)
            ends = [b(speed) for speed in point["speed"].values()]
            chart.line([(min(ends), at), (max(ends), at)], "soft", 1, opacity=0.6)
            for nth, (level, name, colour, shape) in enumerate(LEVELS):
                if speed := point["speed"].get(level):
                    chart.dot(b(speed), at + 4.0 * (nth - 1), colour, shape, 5.5, point["by_hand"],
                              f"{point['step']} {point['kernel']}, {name}: {significant(speed)} GB/s")
    return chart


def clinic_points(rows):
    """Of rows of clinic.tsv: {kernel: [(operations per byte of L2, giga-operations per second) before and after]}."""
    found = {}
    for row in rows:
        cells = {when: [number(row.get(f"{when}_{what}")) for what in ("operations", "l2_bytes", "ms")]
                 for when in ("before", "after")}
        if all(value for values in cells.values() for value in values):
            found[row["kernel"]] = [(operations / count, 1e-6 * operations / ms) for operations, count, ms in cells.values()]
    return found


def clinic(points, ceilings, where):
    """The clinic's kernels below the roofs of L2 and of floats: from the hollow mark before to the filled one after."""
    left, right, top, bottom = 62, WIDTH - 14, 54, 394
    chart = Chart("clinic", bottom + 48, "Roofline of the clinic's kernels, before and after",
                  "Operations per second against operations per byte of L2, logarithmic. " + where)
    x_of, y_of = (sorted(pair[k] for both in points.values() for pair in both) for k in (0, 1))
    roof = ceilings.get("float", y_of[-1])
    x = Axis(power_below(x_of[0]), power_above(2 * x_of[-1]), left, right)
    y = Axis(power_below(y_of[0]), 2 * power_above(roof / 2), bottom, top)
    chart.heading(left, "Giga-operations per second", "floats, doubles and integers added up; hollow before, filled after")
    chart.grid_x(x, top, bottom, x.decades(), power_label)
    chart.grid_y(y, left, right, y.decades(), power_label)
    chart.text(right, bottom + 36, "operations per byte of L2", "end", "soft", 12)
    if "l2" in ceilings:
        ridge = min(x.high, roof / ceilings["l2"])
        chart.line([(x(x.low), y(ceilings["l2"] * x.low)), (x(ridge), y(roof)), (right, y(roof))], "orange", 2.5, opacity=0.75)
        chart.text(right, y(roof) - 6, f"float {significant(roof / 1000)} TFLOP/s, below it L2 "
                   f"{significant(ceilings['l2'] / 1000)} TB/s", align="end", colour="soft", size=12, halo=True)
    for before, after in points.values():
        chart.line([(x(before[0]), y(before[1])), (x(after[0]), y(after[1]))], "soft", 1.5, "2 4", 0.9)
    taken = [(x(a) - 6, y(b) - 6, x(a) + 6, y(b) + 6) for pair in points.values() for a, b in pair]
    for kernel, (before, after) in points.items():
        tip = f"{kernel}: {significant(before[1])}, then {significant(after[1])} giga-operations/s"
        chart.dot(x(before[0]), y(before[1]), "orange", "diamond", 5.5, True, tip)
        chart.dot(x(after[0]), y(after[1]), "orange", "diamond", 5.5, False, tip)
    for kernel, (_, after) in sorted(points.items(), key=lambda item: -item[1][1][1]):
        at_x, at_y, long = x(after[0]), y(after[1]) + 4, 6.6 * len(kernel)
        boxes = [(at_x + begin, at_y + down - 10, at_x + begin + long, at_y + down + 2)
                 for down in (0, -14, 14, -28, 28) for begin in (9, -9 - long)]
        box = min(boxes, key=lambda box: overlap(box, taken))
        taken.append(box)
        chart.text(box[0], box[3] - 2, kernel, size=12, bold=True, halo=True)
    return chart


def ladder(rows, copy, on_gpu):
    """Bars of million points per second. rows of ladder.tsv that have a time; copy: the copy bandwidth in GB/s, or None;
    `on_gpu`: the steps whose sweep is."""
    rates = {row["step"]: number(row["mpoints_per_s"]) for row in rows}
    limit = 1000 * copy / 8 if copy else None
    left, right, top = 238, WIDTH - 12, 64
    each = 34
    bottom = top + each * len(rows) + 6
    chart = Chart("ladder", bottom + 44, "The ladder: million points per second of every step",
                  "; ".join(f"{step}: {significant(rate)}" for step, rate in rates.items()))
    x = Axis(power_below(min(rates.values()) * 0.99), max([*rates.values(), limit or 0]) * 1.6, left, right)
    chart.heading(10, "Million points updated per second", "each vertical line is ten times the previous one")
    chart.grid_x(x, top - 4, bottom, x.decades(), power_label)
    chart.text(left - 10, top - 9, "n", "end", "soft", 12)
    if limit:
        chart.line([(x(limit), top - 4), (x(limit), bottom)], "orange", 2, "5 4")
        chart.text(x(limit), top - 9, "8 bytes per point at copy bandwidth", "end", "orange", 12)
    for k, row in enumerate(rows):
        step, rate = row["step"], rates[row["step"]]
        y = top + each * k + 4
        colour = "blue" if step in on_gpu else "soft"
        chart.text(10, y + 13, step[:2], bold=True)
        chart.text(34, y + 13, row["title"])
        chart.text(left - 10, y + 13, row["n"], "end", "soft", 12)
        chart.bar(left, y, x(rate) - left, 18, colour, f"{step}: {significant(rate)} million points/s")
        before = number(row["x_before"])
        words = significant(rate)
        if before and not 0.95 <= before <= 1.05:  # what the step bought, where it is more than the spread
            words += f", {significant(max(before, 1 / before))} times {'faster' if before > 1 else 'slower'}"
        # Not across the copy bandwidth's line, where the bar has room.
        crosses = limit and x(rate) < x(limit) < x(rate) + 7 * len(words) and x(rate) - left > 7 * len(words) + 12
        if x(rate) > right - 200 or crosses:
            chart.text(x(rate) - 6, y + 13, words, "end", "paper", 12, bold=True)
        else:
            chart.text(x(rate) + 6, y + 13, words, size=12, bold=True, halo=True)
    chart.text(right, bottom + 36, "grey: the sweep on the CPU; blue: on the GPU", "end", "soft", 12)
    return chart


def lines(name, series, title, subtitle, x_label, tall=300, x_text=power_label, x_values=None,
          linear_y=False, marks=(), y_values=None):
    """A line chart: series [(words, colour, shape, [(x, y)])]; marks [(x, words)] are vertical lines. A linear
    axis begins at 0, or goes from the first of y_values to the last."""
    left, right, columns = 58, WIDTH - 14, 4
    top = 62 + 20 * ((len(series) - 1) // columns + 1)
    bottom = top + tall
    chart = Chart(name, bottom + 42, title, subtitle)
    xs, ys = zip(*(point for *_, points in series for point in points))
    x = Axis(min(xs), max(xs), left + 6, right - 6)
    if y_values:
        y = Axis(y_values[0], y_values[-1], bottom, top, linear=True)
    elif linear_y:
        step = power_below(max(ys))
        step = step / 2 if max(ys) / step < 3 else step
        y_values = [step * k for k in range(math.ceil(max(ys) / step + 1e-9) + 1)]
        y = Axis(0, y_values[-1], bottom, top, linear=True)
    else:
        y = Axis(power_below(min(ys)), power_above(max(ys)), bottom, top)
        y_values = y.decades()[::1 if len(y.decades()) <= 8 else 2]
    chart.heading(10, title, subtitle)
    chart.legend(18, 60, [(shape, colour, words) for words, colour, shape, _ in series], columns,
                 (WIDTH - 30) / columns)
    values = [value for value in x_values or x.decades() if x.low * 0.99 <= value <= x.high * 1.01]
    chart.grid_x(x, top, bottom, values, x_text)
    chart.grid_y(y, left, right, y_values, (lambda value: f"{value:,.0f}") if linear_y else power_label)
    chart.text(right, bottom + 36, x_label, "end", "soft", 12)
    for at, words in marks:
        if x.low < at < x.high:
            chart.line([(x(at), top), (x(at), bottom)], "soft", 1.5, "5 4")
            chart.text(x(at) - 5, top + 14, words, align="end", colour="soft", size=12, halo=True)
    for words, colour, shape, points in series:
        places = [(x(a), y(b)) for a, b in points]
        if len(places) > 1:
            chart.line(places, colour, 2, "5 4" if shape == "dashes" else None, mark=True)
        for (a, b), place in zip(points, places if shape != "dashes" else ()):
            chart.dot(*place, colour, shape, 4.0, tip=f"{words}: {significant(b)} at {x_text(a)}")
    return chart


def bars(name, entries, title, subtitle, unit):
    """Horizontal bars: [(words, value, colour)], linear from 0."""
    left, right, top = 150, WIDTH - 70, 50
    chart = Chart(name, top + 24 * len(entries) + 8, title,
                  "; ".join(f"{words}: {significant(value)}{unit}" for words, value, _ in entries))
    chart.heading(10, title, subtitle)
    x = Axis(0, max(value for _, value, _ in entries), left, right, linear=True)
    for k, (words, value, colour) in enumerate(entries):
        y = top + 24 * k
        chart.text(left - 8, y + 13, words, "end", size=12)
        chart.bar(left, y, max(1, x(value) - left), 17, colour, f"{words}: {significant(value)}{unit}")
        chart.text(x(value) + 6, y + 13, significant(value), size=12)
    return chart


def stacked(charts, name, title):
    """Several charts as the text of one file, one below the other."""
    parts, y = [], 0
    for chart in charts:
        parts.append(chart.svg().replace("<svg ", f'<svg x="0" y="{px(y)}" ', 1))
        y += chart.height + 16
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" data-chart="{name}" width="{WIDTH}" '
            f'height="{px(y)}" viewBox="0 0 {WIDTH} {px(y)}">\n<title>{escape(title)}</title>'
            f"<style>{FONT}@media screen and (prefers-color-scheme:dark){{{DARK_RULES}}}</style>"
            f'<rect width="{WIDTH}" height="{px(y)}" fill="var(--paper)"/>\n' + "".join(parts) + "</svg>\n")
    return re.sub(r'"var\(--(\w+)\)"', lambda match: f'"{LIGHT[match[1]]}"', text)
