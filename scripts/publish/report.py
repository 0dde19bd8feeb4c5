#!/usr/bin/env python3
"""Writes one HTML page of all that has been measured: build/report.html. It opens from a file, and loads nothing.

  report.py [--out FILE]   (or OUT=FILE)

The ladder, the roofline, what is known of each kernel, the scaling and the bandwidth come from results/local where
they have been measured on this machine, and else from results/h200; the page says which. The convergence and the
field are run for it: every solution, at n = 128, on the GPU or on the CPU in its place. It takes about a minute.

Options: --results DIR (or RESULTS=DIR; that folder alone), --no-run (runs and builds nothing), --build DIR (programs
that are there; nothing is built), --n N and --iterations K (of the convergence; default 128 and 2000).
Exit: 0 written, 1 it cannot be written, 2 bad usage.
"""

import argparse
import array
import base64
import datetime
import html
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from labtools import bandwidth_plot  # noqa: E402
from labtools import charts  # noqa: E402
from labtools import files as lab_files  # noqa: E402
from labtools import ncu_reading  # noqa: E402
from labtools import scaling_model  # noqa: E402
from labtools.charts import Axis, Chart, significant, value_of  # noqa: E402
from labtools.files import ROOT, job_of, write_aside  # noqa: E402

NARROW, WIDE = 380, 880
FIELD_AFTER = (100, 1000, 20000)  # sweeps, of which the field is shown
DISTANCE_AFTER = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 20000)
SECONDS = 120                     # for one run


def fail(message, code=1):
    print(f"report.py: {message}", file=sys.stderr)
    sys.exit(code)


def warn(message):
    print(f"report.py: {message}", file=sys.stderr, flush=True)


def text(words):
    return html.escape(str(words), quote=True)


# What has been measured.

class Table:
    """A TSV of results/: its head {key: fields}, its rows, and where it stands."""

    def __init__(self, path):
        self.path, self.head, self.rows, columns = path, {}, [], None
        self.merged = set()  # dates of rows that scripts/publish/merge_ladders.py took from other runs
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            fields = line.removeprefix("# ").split("\t")
            if line.startswith("# "):
                self.head[fields[0]] = fields[1:]
                if fields[0] == "row" and "date" in fields[:-1]:
                    self.merged.add(fields[fields.index("date") + 1])
            elif line.startswith("#") or not line:
                continue
            elif columns is None:
                columns = fields
            elif len(fields) == len(columns):
                self.rows.append(dict(zip(columns, fields)))

    def told(self, key, otherwise="unknown"):
        return (self.head.get(key) or [otherwise])[0]

    def folder(self):
        try:
            return str(self.path.parent.relative_to(ROOT))
        except ValueError:
            return str(self.path.parent)

    def when(self):
        """The date, or the first and the last of several."""
        dates = sorted(self.merged | {self.told("date", "no date")})
        return dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"

    def where(self):
        """Which machine, when, and which file."""
        return (f"{self.told('gpu', 'no GPU')}, CUDA {self.told('cuda')}, driver {self.told('driver')}, "
                f"{self.when()} ({self.folder()}/{self.path.name})")


def find_table(folders, name, column):
    """The first of the folders' tables that has a number in that column; None where there is none. What was measured
    without a GPU, some steps on the CPU, gives way to what was published."""
    for folder in folders:
        path = folder / name
        try:
            table = Table(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            warn(f"{path}: {error.strerror}; left out")
            continue
        if table.told("gpu") == "none" and folder != folders[-1]:
            continue
        if any(value_of(row.get(column)) for row in table.rows):
            return table
        warn(f"{path}: has no number in its column {column}; left out")
    return None


# Runs.

class Runner:
    """Runs solutions, and keeps their records in `folder`."""

    def __init__(self, build, folder, may_run):
        self.bin, self.folder, self.may_run = build / "bin", folder, may_run
        self.gpu = bool(shutil.which("nvidia-smi")) and \
            "GPU " in ncu_reading.printed_by(["nvidia-smi", "--list-gpus"], 30)

    def programs(self, step, needs):
        names = [f"solution_{step}"] if needs == "cpu" else \
            [f"solution_{step}"] * self.gpu + [f"solution_{step}_cpu"]
        return [self.bin / name for name in names if (self.bin / name).exists()]

    def record(self, step, needs, n, iterations):
        """The record of a run, {"run", "residuals", "field"}; or why there is none, in words."""
        folder = self.folder / f"{step}-{n}-{iterations}"
        why = "it has not been run"
        if self.may_run:
            why = "it has not been built"
            shutil.rmtree(folder, ignore_errors=True)
            for program in self.programs(step, needs):
                try:
                    result = subprocess.run(
                        [str(word) for word in (program, "--n", n, "--iterations", iterations, "--record", folder,
                                                "--record-field", "full")],
                        capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
                except subprocess.TimeoutExpired:
                    why = f"it took longer than {SECONDS} s"
                    continue
                except OSError as error:
                    why = f"it does not start: {error.strerror}"
                    continue
                if result.returncode == 0:
                    break
                said = result.stderr.strip().splitlines()
                why = said[-1] if said else f"exit code {result.returncode}"
        try:
            return read_record(folder, n)
        except FileNotFoundError:
            return why
        except (OSError, ValueError, KeyError) as error:
            return f"its record cannot be read: {error}"


def read_record(folder, n):
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    residuals = []
    for line in (folder / "residuals.csv").read_text(encoding="utf-8").splitlines()[1:]:
        iteration, residual = line.split(",")
        residuals.append((int(iteration), float(residual)))
    field = array.array("f")
    field.frombytes((folder / "field.f32").read_bytes())
    if sys.byteorder == "big":
        field.byteswap()
    if len(field) != n * n or not residuals:
        raise ValueError("it is not complete")
    return {"run": run, "residuals": residuals, "field": field}


def build_solutions():
    """Brings the solutions in the build folder up to date. Returns whether they are."""
    print("building the solutions ...", flush=True)
    script = ('source "$1/scripts/lib/lib.sh" && shift && configure >/dev/null && choose_backend >/dev/null && '
              'if [[ $backend == gpu ]]; then build_targets solutions; else build_targets "$@" solutions_on_cpu; fi')
    first = [f"solution_{step}" for step, _, needs, *_ in lab_files.steps() if needs == "cpu"]
    result = subprocess.run(["bash", "-c", script, "report.py", ROOT, *first], capture_output=True, text=True,
                            stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        last = (result.stderr.strip() or result.stdout.strip()).splitlines()[-1:]
        warn(f"the solutions cannot be built: {last[0] if last else 'nothing was said'}")
    return result.returncode == 0


# The picture of a field.

# From cold to hot: blue, nearly white at zero, red.
COLD_TO_HOT = ((0.0, (20, 48, 112)), (0.25, (66, 135, 200)), (0.5, (242, 242, 238)), (0.75, (226, 122, 62)),
               (1.0, (125, 16, 24)))


def palette():
    colours = []
    for k in range(256):
        at = k / 255
        for (a, low), (b, high) in zip(COLD_TO_HOT, COLD_TO_HOT[1:]):
            if at <= b:
                part = (at - a) / (b - a)
                colours.append(bytes(round(x + (y - x) * part) for x, y in zip(low, high)))
                break
    return b"".join(colours)


def png(values, n, most):
    """A PNG of n x n values, from -most to most; j = 0 is the lowest row."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = bytearray()
    for j in reversed(range(n)):
        rows.append(0)
        for value in values[j * n:(j + 1) * n]:
            # What is no number is drawn as the hottest.
            rows.append(min(255, max(0, round(127.5 + 127.5 * value / most))) if math.isfinite(value) else 255)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", n, n, 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", palette()) + chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))


def exact_solution(n):
    """lab's problem laplace, as lab/src/problem.cpp has it."""
    h, pi = 1 / (n - 1), math.pi
    sine = [math.sin(pi * k * h) for k in range(n)]
    sine2 = [math.sin(2 * pi * k * h) for k in range(n)]
    down = [math.sinh(pi * (1 - k * h)) / math.sinh(pi) for k in range(n)]
    right = [math.sinh(2 * pi * k * h) / math.sinh(2 * pi) for k in range(n)]
    return [sine[i] * down[j] + sine2[j] * right[i] for j in range(n) for i in range(n)]


def picture(data, words, caption):
    source = base64.b64encode(data).decode("ascii")
    return (f'<figure class="field"><img data-chart="field" alt="{text(words)}" src="data:image/png;base64,{source}">'
            f"<figcaption>{caption}</figcaption></figure>")


# Charts that only the report has.

STEP_COLOURS = ("blue", "orange", "green", "purple", "gold")
STEP_SHAPES = ("circle", "square", "diamond", "triangle")


def convergence_chart(records, distances, n, width):
    """Every step's residuals on one another; `distances`: [(iteration, distance)]."""
    narrow = width < 600
    steps = list(records)
    columns = 6 if narrow else 12
    left, right, legend_y = 58, width - 14, 58
    top = legend_y + 20 * ((len(steps) - 1) // columns + 1) + 8
    bottom = top + (280 if narrow else 360)
    chart = Chart("convergence", width, bottom + 42, "Convergence of every step",
                  f"Residual against iteration at n = {n}; the steps {', '.join(steps)} lie on one another.")
    points = [point for record in records.values() for point in record["residuals"] if point[1] > 0]
    last = max([at for at, _ in points] + [at for at, _ in distances])
    x = Axis(1, max(10, last), left + 6, right - 10)
    values = [value for _, value in points] + [value for _, value in distances if value > 0]
    y = Axis(10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values))), bottom, top)
    chart.text(10, 18, f"Residual after each iteration, n = {n}", bold=True)
    chart.text(10, 36, "every step's points lie on one curve" if narrow else
               "one curve: the first step's; on it, in turn, points of every step", colour="soft", size=12)
    chart.grid_x(x, top, bottom, x.decades(), charts.power_label)
    chart.grid_y(y, left, right, y.decades(), charts.power_label)
    chart.text(right, bottom + 36, "iteration", "end", "soft", 12)
    # Points enough for a smooth curve, and no more.
    first = [point for point in records[steps[0]]["residuals"] if point[1] > 0]
    thin, edge = [], 0.0
    for at, value in first:
        if x(at) >= edge or at == first[-1][0]:
            thin.append((x(at), y(value)))
            edge = x(at) + 2
    chart.line(thin, "line", 8, mark=True)
    for k, step in enumerate(steps):
        colour, shape = STEP_COLOURS[k % 5], STEP_SHAPES[k % 4]
        chart.dot(18 + k % columns * (width - 20) / columns, legend_y + k // columns * 20 - 4, colour, shape, 4.5)
        chart.text(28 + k % columns * (width - 20) / columns, legend_y + k // columns * 20, step[:2], size=12)
        own = [point for point in records[step]["residuals"] if point[1] > 0]
        turns = 3 if narrow else 6
        for turn in range(turns):
            wanted = max(own[-1][0], 2) ** ((turn * len(steps) + k + 0.5) / (turns * len(steps)))
            at, value = min(own, key=lambda point: abs(math.log(point[0] / wanted)))
            chart.dot(x(at), y(value), colour, shape, 3.6 if narrow else 4.2,
                      tip=f"step {step}, iteration {at}: {value:.17g}")
    if distances:
        way = [(x(at), y(value)) for at, value in distances if value > 0]
        chart.line(way, "ink", 1.5, "5 4", mark=True)
        for at_x, at_y in way:
            chart.dot(at_x, at_y, "ink", "circle", 3.5, True)
        # Below its beginning: above it is the frame, and further right it falls.
        chart.haloed(way[0][0] + 8, way[0][1] + 36, "distance from the exact solution", size=12)
        at, value = first[len(first) // 8]
        chart.haloed(x(at) - 10, y(value) + 22, "residual", align="end", size=12)
    return chart


def deviation_chart(deviations, bound, width):
    """By how much each step's residuals differ from the first one's: [(step, greatest relative difference)]."""
    left, right, top = 40, width - 14, 56
    each = 20
    bottom = top + each * len(deviations) + 4
    chart = Chart("deviation", width, bottom + 42, "How far the residuals lie apart",
                  "; ".join(f"{step}: {value:.2g}" for step, value in deviations))
    chart.text(10, 18, "The same residuals, how far apart?", bold=True)
    chart.text(10, 36, "greatest difference from the first step's, as a share of it", colour="soft", size=12)
    shown = [value for _, value in deviations if value > 0]
    x = Axis(1e-17, max(1e-5, 10 * max(shown, default=0)), left + 70, right - 10)
    chart.grid_x(x, top, bottom, x.decades()[::3], charts.power_label)
    chart.line([(x(bound), top), (x(bound), bottom)], "orange", 2, "5 4")
    if width > 600:
        chart.text(x(bound), top - 5, "another order of the sum: up to here", "middle", "orange", 12)
    else:
        chart.text(right, top - 5, "dashes: another order of the sum", "end", "orange", 12)
    for k, (step, value) in enumerate(deviations):
        y = top + each * k + 14
        chart.text(left - 8, y + 4, step[:2], "end", size=12, bold=True)
        if value == 0:
            chart.dot(left + 8, y, "green", tip=f"{step}: the same bits")
            chart.text(left + 20, y + 4, "same", colour="soft", size=12)
        else:
            chart.line([(left + 70, y), (x(value), y)], "blue", 2)
            chart.dot(x(value), y, "blue" if value <= bound else "orange", tip=f"{step}: {value:.3g}")
    return chart


# The sections.

def figure(draw):
    """A chart drawn twice: for a phone, and for a screen and paper."""
    return (f'<figure class="chart"><div class="wide">{draw(WIDE).svg()}</div>'
            f'<div class="narrow">{draw(NARROW).svg()}</div></figure>')


def missing(what, how):
    return f'<p class="missing"><strong>Not measured yet:</strong> {text(what)} <code>{text(how)}</code> does.</p>'


def source(table):
    return f'<p class="source">Measured on {text(table.where())}</p>'


def several_gpus(row):
    """", on 2 GPUs" where the ladder noted that; else nothing."""
    ranks, gpus = job_of(row) or (1, 1)
    return f", on {gpus} GPUs" if gpus > 1 else ""


def ladder_section(table, steps, told):
    """What it has to tell in a few words goes to `told`."""
    if table is None:
        return missing("no step has a time.", "make run")
    rows = [row for row in table.rows if value_of(row.get("mpoints_per_s")) and row.get("verdict") == "right"]
    if not rows:
        return missing("no step that is right has a time.", "make run")
    parts = []
    fastest = max(rows, key=lambda row: value_of(row["mpoints_per_s"]))
    gains = [row for row in rows if value_of(row["x_before"])]
    if gains:
        most = max(gains, key=lambda row: value_of(row["x_before"]))
        told.append(("largest step", f"{significant(value_of(most['x_before']))} times",
                     f"{most['step'][:2]}, {most['title']}"))
    if value_of(fastest["x_best_serial"]):
        told.append(("over the best serial code", f"{significant(value_of(fastest['x_best_serial']))} times",
                     f"step {fastest['step'][:2]}, n = {fastest['n']}"))
    if value_of(fastest["percent_of_copy"]):
        told.append(("of the copy bandwidth", f"{significant(value_of(fastest['percent_of_copy']), 2)} %",
                     f"step {fastest['step'][:2]}, at 8 bytes a point{several_gpus(fastest)}"))
    on_gpu = {step for step, file, *_ in steps if file.endswith(".cu")}
    facts = {"copy_gb_per_s": table.told("copy_gb_per_s", "")}
    parts.append(figure(lambda width: charts.ladder(rows, facts, on_gpu, width)))
    parts.append("<p>“Times faster” is against the step before, run again at this step's n. The scale is logarithmic: "
                 "the same length more is the same factor more.</p>")
    jobs = [row for row in rows if job_of(row)]
    if jobs:
        noted = "; ".join(f"{row['step'][:2]}: {row['note']}" for row in jobs)
        together = " “% of copy” is against the copy bandwidth of all the GPUs that a step used together (the dashed " \
                   "line is one GPU's); a step before that is a program of one process ran on one." \
            if any(map(several_gpus, jobs)) else ""
        parts.append(f"<p>Steps for several GPUs, as they were timed here: {text(noted)}.{together}</p>")
    absent = [step for step, *_ in steps if step not in {row["step"] for row in rows}]
    if absent:
        has = "has" if len(absent) == 1 else "have"
        parts.append(missing(f"{', '.join(absent)} {has} no time in this table.", "make run"))
    for row in table.rows:
        if row.get("verdict") not in ("right", "not run"):
            parts.append(f'<p class="missing"><strong>{text(row["step"])}: {text(row.get("verdict"))}.</strong> '
                         f'It gets no time. {text(row.get("note") or "")}</p>')
    columns = [("step", lambda r: f"<strong>{text(r['step'][:2])}</strong> {text(r['title'])}"),
               ("n", lambda r: text(r["n"]))]
    for title, key in (("ms per iteration", "ms"), ("GB/s", "gb_per_s"), ("% of copy", "percent_of_copy"),
                       ("× step before", "x_before"), ("× best serial", "x_best_serial"),
                       ("× strided serial", "x_strided_serial")):
        columns.append((title, lambda r, key=key: cell(r.get(key))))
    parts.append(data_table("The same in figures", columns, rows))
    return "".join(parts) + source(table)


def attempt(section, *arguments):
    """The section; where its table is not what it should be, a sentence that says so."""
    try:
        return section(*arguments)
    except (KeyError, ValueError, TypeError, ArithmeticError, AttributeError) as error:
        table = next((argument for argument in arguments if isinstance(argument, Table)), None)
        name = f"{table.folder()}/{table.path.name}" if table else "a table"
        warn(f"{name}: is not what it should be: {error!r}")
        return f'<p class="missing"><strong>Cannot be shown:</strong> {text(name)} is not what it should be.</p>'


def cell(value, unit="", digits=3):
    number = value_of(value)
    return "–" if number is None else text(significant(number, digits) + unit)


def data_table(title, columns, rows):
    """A table that becomes cards on a phone: [(title, row -> HTML)]."""
    head = "".join(f"<th>{text(name)}</th>" for name, _ in columns)
    body = "".join("<tr>" + "".join(f'<td data-title="{text(name)}"><span>{of(row)}</span></td>'
                                    for name, of in columns) + "</tr>" for row in rows)
    return (f"<details open><summary>{text(title)}</summary><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></details>")


def convergence_section(runner, steps, n, iterations):
    records, failed = {}, {}
    for step, _, needs, *_ in steps:
        found = runner.record(step, needs, n, iterations)
        if isinstance(found, str):
            failed[step] = found
        else:
            records[step] = found
    distances, fields, why = [], {}, None
    step, _, needs, *_ = steps[0]
    for count in DISTANCE_AFTER:
        found = runner.record(step, needs, n, count)
        if isinstance(found, str):
            why = found
            continue
        distance = found["run"].get("distance_to_exact")
        if distance:
            distances.append((count, distance))
        if count in FIELD_AFTER:
            fields[count] = found
    parts = []
    if records:
        parts.append(figure(lambda width: convergence_chart(records, distances, n, width)))
        first = next(iter(records))
        base = dict(records[first]["residuals"])
        deviations = [(name, max((abs(value - base[at]) / base[at] for at, value in record["residuals"]
                                  if base.get(at)), default=0)) for name, record in records.items()]
        same = [name for name, record in records.items() if same_field(record["field"], records[first]["field"])]
        bound = n * n * 2.0 ** -53
        if len(records) > 1:
            parts.append(figure(lambda width: deviation_chart(deviations, bound, width)))
        other = [name for name in records if name not in same]
        parts.append(f"<p>After {iterations:,} iterations the field of {'all ' if not other else ''}"
                     f"{len(same)} step{'s' * (len(same) != 1)} has the same bits. "
                     + (f"<strong>Another field: {text(', '.join(other))}.</strong> " if other else "") +
                     "Faster is not another answer: only the order in which the residual is summed differs."
                     + (" The dashed curve is the distance from the exact solution, which falls much later than the "
                        "residual: a small update is not a small error." if distances else "") + "</p>")
        devices = {}
        for name, record in records.items():
            devices.setdefault(record["run"].get("device", "unknown"), []).append(name[:2])
        parts.append('<p class="source">' + "; ".join(
            f"steps {charts.run_together(names)} on {text(device)}" for device, names in devices.items()) +
            f", {text(next(iter(records.values()))['run'].get('date', '')[:10])}</p>")
    else:
        parts.append(missing("no record of a run is there.", "make report"))
    if failed:
        parts.append('<p class="missing"><strong>Not in the picture:</strong> ' +
                     "; ".join(f"{text(name)} ({text(reason)})" for name, reason in failed.items()) + "</p>")
    return "".join(parts), fields, why


def same_field(a, b):
    """Whether two fields have the same bits; what is below 1e-30 counts as zero."""
    return a.tobytes() == b.tobytes() or \
        all(x == y or abs(x) < 1e-30 and abs(y) < 1e-30 for x, y in zip(a, b))


def field_section(fields, n, why):
    if not fields:
        return missing(f"no field is there ({why}).", "make report")
    exact = exact_solution(n)
    most = max(map(abs, exact))
    parts = ['<div class="fields">']
    for count, record in sorted(fields.items()):
        field, run = record["field"], record["run"]
        error = [a - b for a, b in zip(field, exact)]
        residual, distance = run["residual"], run.get("distance_to_exact")
        worst = max(map(abs, error))
        away = "" if distance is None else f"{significant(100 * distance)} % away"
        parts.append('<div class="pair">' + picture(
            png(field, n, most), f"The field after {count} sweeps",
            f"<strong>{count:,} sweeps</strong><br>residual {residual:.1e}") + picture(
            png(error, n, most), f"Its difference from the exact solution after {count} sweeps",
            f"minus the exact solution:<br><strong>{away}</strong>, at most {significant(worst, 2)}") + "</div>")
    parts.append('<div class="pair exact">' + picture(png(exact, n, most), "The exact solution",
                                                     "<strong>the exact solution</strong>") + "</div></div>")
    scale = ",".join(f"rgb{colour}" for _, colour in COLD_TO_HOT)
    parts.append(f'<div class="scale"><span>−{significant(most, 2)}</span>'
                 f'<i style="background:linear-gradient(90deg,{scale})"></i><span>{significant(most, 2)}</span></div>')
    step = next(iter(fields.values()))["run"]["step"]
    parts.append("<p>The boundary's heat creeps inwards by one point a sweep, and the longest waves die out last. A "
                 "run that stops at a small residual has almost stopped moving. It need not have arrived.</p>"
                 f'<p class="source">Problem laplace, n = {n}, step {text(step)}; all pictures in the same colours.'
                 "</p>")
    return "".join(parts)


def roofline_section(table, ceilings_table, titles):
    if table is None:
        return missing("no kernel's time, operations and bytes have been counted.", "make roofline")
    if not any(point["flops"] > 0 for point in charts.kernel_points(table.rows)):
        return missing(f"{table.folder()}/{table.path.name} has no kernel with operations.", "make roofline")
    ceilings, parts = {}, []
    if ceilings_table is not None:
        ceilings = bandwidth_plot.read(ceilings_table.path)[1]
    parts.append(figure(lambda width: charts.roofline(table.rows, ceilings, titles, table.told("gpu"), width)))
    parts.append("<p>Each sweep kernel has one height, its rate, and three places: operations per byte that L1, L2 and "
                 "DRAM moved. A mark that touches its own colour's line cannot get higher without moving fewer bytes "
                 "there. The dotted lines lead from step to step. L2's bytes count what passes between its parts, too."
                 "</p>")
    passes = [row for row in table.rows if (value_of(row.get("sweeps")) or 0) > 1]
    if passes:
        row = passes[-1]
        parts.append(f"<p>A kernel that makes several sweeps for one trip to memory (step {text(row['step'][:2])}: "
                     f"{text(row['sweeps'])}) has the operations of all of them over the bytes of one. So its mark for "
                     "DRAM lies to the right of those of kernels that sweep once, where the sloping roof is higher. It "
                     "also computes points that it throws away: ncu counts those operations, too.</p>")
    if not ceilings:
        parts.append(missing("this machine's ceilings.", "make bandwidth"))
    if "not_counted" in table.head:
        parts.append(f'<p class="missing"><strong>Counted by hand:</strong> {text(table.told("not_counted"))}.</p>')
    return "".join(parts) + source(table)


STALLS = {
    "long_scoreboard": "waits for data from global memory, be it in L1, L2 or DRAM",
    "short_scoreboard": "waits for shared memory, or for a special function",
    "lg_throttle": "the queue for global memory is full: too many requests",
    "mio_throttle": "the queue for shared memory and special functions is full",
    "drain": "is done but for stores that have not left yet",
    "not_selected": "could go on, but another warp was chosen: a good sign",
    "wait": "waits the fixed time that an instruction takes",
    "math_pipe_throttle": "the arithmetic it wants is busy",
    "barrier": "waits at __syncthreads for the block's other warps",
    "membar": "waits for a memory fence",
    "branch_resolving": "waits for where a branch leads",
    "dispatch_stall": "was chosen, but could not be sent off",
    "imc_miss": "waits for a constant",
    "lsu_throttle": "the load and store unit is busy",
    "no_instruction": "waits for its next instruction to be fetched",
    "tex_throttle": "the queue for textures is full",
}


def kernels_section(kernels, roofline, ceilings_table):
    if kernels is None:
        return missing("registers, occupancy, requests and stalls of the kernels.", "make roofline")
    ceilings = bandwidth_plot.read(ceilings_table.path)[1] if ceilings_table else {}
    moved = {(row["step"], row["kernel"]): row for row in roofline.rows} if roofline else {}

    def time_of(row):
        other = moved.get((row["step"], row["kernel"]), {})
        counted, traced = value_of(other.get("time_ns")), value_of(other.get("traced_ns"))
        shown = counted or traced
        if not shown:
            return "–"
        words = significant(shown / 1000) + " µs"
        # Under ncu nothing migrates, and nobody else is there.
        if traced and counted and abs(traced - counted) > 0.1 * counted:
            words += f" <small>({significant(traced / 1000)} in the run)</small>"
        return words

    def share(row, level):
        other = moved.get((row["step"], row["kernel"]), {})
        count, time = value_of(other.get(f"{level}_bytes")), value_of(other.get("time_ns"))
        if count is not None and level == "l1":
            count += value_of(other.get("shared_bytes")) or 0
        if not count or not time or level not in ceilings:
            return "–"
        percent = 100 * count / time / ceilings[level]
        return (f'<span class="bar"><i style="width:{min(100, percent):.0f}%"></i></span>'
                f"{significant(percent, 2) if percent >= 0.1 else '< 0.1'} %")

    def stall_words(row):
        parts = [part.split() for part in row.get("stalls", "-").split(", ")]
        return "<br>".join(f"{text(part[0])} {significant(value_of(part[1]) or 0, 2)}"
                           for part in parts if len(part) == 2) or "–"

    def name_of(row):
        return (f"<strong>{text(row['step'][:2])}</strong> {text(row['kernel'].replace('_kernel', ''))} "
                f"<small>n = {text(row['n'])}</small>")

    def pair(first, second, unit="", digits=3):
        return lambda row: f"{cell(row.get(first), digits=digits)} / {cell(row.get(second), unit, digits)}"

    columns = [("kernel", name_of),
               ("time", time_of),
               ("grid, block", lambda r: f"{shape(r['grid'])}<br>{shape(r['block'])}"),
               ("registers", lambda r: whole(r["registers"])),
               ("shared bytes a block", lambda r: whole(r["shared_bytes_per_block"])),
               ("occupancy", lambda r: cell(r["occupancy_percent"], " %", 2)),
               ("sectors per request, load / store", pair("load_sectors_per_request", "store_sectors_per_request")),
               ("of the best: DRAM", lambda r: share(r, "dram")),
               ("L2", lambda r: share(r, "l2")), ("L1", lambda r: share(r, "l1")),
               ("warps wait most for", stall_words)]
    if any(value_of(row.get("l2_hit_percent")) is not None for row in kernels.rows):
        columns.insert(-1, ("found in L1 / L2", pair("l1_hit_percent", "l2_hit_percent", " %", 2)))
    seen = [name for name in STALLS if any(name + " " in row.get("stalls", "") for row in kernels.rows)]
    words = "".join(f"<dt><code>{name}</code></dt><dd>{text(STALLS[name])}</dd>" for name in seen)
    return (data_table("Of each kernel", columns, kernels.rows) +
            "<p>Sectors have 32 bytes: a warp's request for 32 floats side by side needs 4, for floats far apart 32. "
            "Occupancy: warps that are there, of those that could be. A wait's figure: warps of a scheduler that wait "
            "so, on average, each time it issues.</p>" + (f'<dl class="words">{words}</dl>' if words else "") +
            source(kernels))


def whole(words):
    number = value_of(words)
    return "–" if number is None else f"{number:,.0f}"


def shape(words):
    return text(words.removesuffix("x1").replace("x", " × ")) if words else "–"


def scaling_section(table):
    if table is None:
        return missing("steps 14 and 15 on several GPUs.", "scripts/publish/scaling.py --write results/local")
    rows = [row for row in table.rows if value_of(row["ms"]) and row["verdict"] == "right"]
    def drawn(width):
        return scaling_model.drawn_of(table.told("gpu"), table.told("links", ""), rows, width)
    parts = [figure(lambda width, k=k: drawn(width)[k]) for k in range(len(drawn(WIDE)))]
    parts.append("<p>All GPUs together sweep as many times faster as there are of them, times the efficiency. What is "
                 "missing are the halos: they are swept twice, and have to be exchanged.</p>")
    columns = [("step", lambda r: f"<strong>{text(r['step'][:2])}</strong>"), ("n", lambda r: text(r["n"])),
               ("GPUs", lambda r: text(r["ranks"])), ("sweeps a residual", lambda r: text(r["check_every"])),
               ("ms a sweep", lambda r: cell(r["ms"])), ("10⁹ points a second", lambda r: whole(r["glups"])),
               ("efficiency", lambda r: cell(r["efficiency"], " %"))]
    parts.append(data_table("In figures", columns, rows))
    note = table.told("note", "")
    return "".join(parts) + (f"<p>Note: {text(note)}.</p>" if note else "") + source(table)


def bandwidth_section(table):
    if table is None:
        return missing("what this GPU can do at most.", "make bandwidth")
    head, ceilings, rows = bandwidth_plot.read(table.path)
    names = {"dram": "DRAM", "l2": "L2", "l1": "L1", "to_gpu": "host to GPU", "to_host": "GPU to host",
             "float": "float", "double": "double"}
    tiles = "".join(
        f"<div><b>{significant(ceilings[level], 4)}</b> {'GFLOP/s' if level in ('float', 'double') else 'GB/s'}<br>"
        f"{words}</div>"
        for level, words in names.items() if level in ceilings)
    count = len(bandwidth_plot.draw(head, rows))
    parts = [f'<div class="tiles small">{tiles}</div>']
    parts += [figure(lambda width, k=k: bandwidth_plot.draw(head, rows, width)[k]) for k in range(count)]
    parts.append("<ul>" + "".join(f"<li>{text(words)}</li>" for words in bandwidth_plot.facts(rows)) + "</ul>")
    peak = value_of(table.told("dram_peak_gb_per_s", ""))
    if peak and "dram" in ceilings:
        parts.append(f"<p>By its clock and bus width DRAM could move {significant(peak)} GB/s; the best copy reaches "
                     f"{significant(100 * ceilings['dram'] / peak, 2)} % of that.</p>")
    return "".join(parts) + source(table)


def machine_section(tables, runner):
    lines = []
    for table in tables:
        known = [(key, " ".join(table.head[key][:1])) for key in
                 ("gpu", "compute_capability", "cuda", "driver", "cpu", "ncu", "date") if table.head.get(key)]
        lines.append((f"{table.folder()}/{table.path.name}", known))
    parts = ["<ul>"]
    for name, known in lines:
        parts.append(f"<li><code>{text(name)}</code>: " + ", ".join(f"{text(key.replace('_', ' '))} {text(value)}"
                                                                    for key, value in known) + "</li>")
    parts.append("</ul>")
    if not lines:
        parts = ['<p class="missing"><strong>Nothing has been measured yet.</strong></p>']
    kernel = f"{os.uname().sysname} {os.uname().machine}"
    return "".join(parts) + (f"<p>This page was made on {kernel}, {'with' if runner.gpu else 'without'} an NVIDIA GPU."
                             "</p>")


CSS = charts.STYLE + """
*{box-sizing:border-box}
html{color-scheme:light dark;scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:17px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}
main,header,footer{max-width:1040px;margin:0 auto;padding:0 20px}
header{padding-top:36px}
h1{font-size:34px;line-height:1.15;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:25px;line-height:1.2;margin:56px 0 4px;padding-top:14px;border-top:3px solid var(--ink)}
h2+p.lead{margin-top:4px;color:var(--soft)}
p,ul,dl{max-width:74ch}
a{color:var(--blue)}
nav{display:flex;flex-wrap:wrap;gap:6px 18px;margin:18px 0 0}
figure{margin:18px 0}
svg.chart{display:block;width:100%;height:auto}
.narrow{display:none}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin:24px 0 8px}
.tiles div{background:var(--pale);border-radius:10px;padding:14px 16px;font-size:15px;line-height:1.35;
color:var(--soft)}
.tiles b{color:var(--ink);font-size:30px;line-height:1.15}
.tiles.small{grid-template-columns:repeat(auto-fit,minmax(120px,1fr))}
.tiles.small b{font-size:20px}
.source{font-size:14px;color:var(--soft)}
.missing{background:var(--pale);border-left:4px solid var(--orange);padding:10px 14px;border-radius:0 8px 8px 0;
font-size:15px;overflow-wrap:anywhere}
code{font:0.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
details{margin:14px 0}
details{overflow-x:auto}
summary{cursor:pointer;font-weight:600;padding:4px 0}
table{border-collapse:collapse;width:100%;font-size:14px;line-height:1.35;font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--soft);vertical-align:bottom}
th,td{text-align:right;padding:6px 8px;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left;padding-left:0}
td{vertical-align:top}
td small{color:var(--soft);display:block}
.bar{display:block;height:5px;min-width:44px;background:var(--line);border-radius:3px;overflow:hidden;margin:4px 0 3px}
.bar i{display:block;height:100%;background:var(--blue)}
#kernels table{font-size:12.5px}
#kernels th,#kernels td{padding:6px 5px}
#kernels td{white-space:nowrap}#kernels td small{white-space:normal}
#kernels td:first-child{white-space:normal;min-width:100px}
.words{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;font-size:14px;color:var(--soft)}
.words dt,.words dd{margin:0}
.fields{display:grid;grid-template-columns:repeat(4,1fr);gap:14px;margin-top:18px}
figure.field{margin:0 0 12px;font-size:14px;line-height:1.35}
figure.field img{display:block;width:100%;border-radius:6px;border:1px solid var(--line);margin-bottom:6px}
.scale{display:flex;align-items:center;gap:10px;font-size:14px;color:var(--soft);max-width:420px}
.scale i{flex:1;height:12px;border-radius:6px;border:1px solid var(--line)}
footer{margin:64px auto 40px;font-size:14px;color:var(--soft)}
@media screen and (max-width:700px){
body{font-size:16px}
main,header,footer{padding-left:14px;padding-right:14px}
h1{font-size:27px}h2{font-size:22px;margin-top:44px}
.wide{display:none}.narrow{display:block}
.tiles b{font-size:24px}
.fields{grid-template-columns:1fr}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:10px}
thead{display:none}
table,tbody,tr,td{display:block;width:100%}
tr{padding:10px 0;border-bottom:1px solid var(--line)}
td,#kernels td{display:flex;justify-content:space-between;gap:14px;border:0;padding:2px 0;font-size:14px;
text-align:right}
td:first-child,#kernels td:first-child{display:block;text-align:left;font-size:16px}
#ladder tr{display:grid;grid-template-columns:1fr 1fr;gap:0 20px}#ladder td:first-child{grid-column:1/3}
#ladder td{gap:6px}#ladder td:not(:first-child)::before{white-space:nowrap}
#kernels td:not(:first-child)::before{white-space:normal}
td:not(:first-child)::before{content:attr(data-title);color:var(--soft);text-align:left}
td .bar{display:inline-block;width:96px;margin:0 10px 0 0;vertical-align:middle}
td small{display:inline}
.words{grid-template-columns:1fr}.words dd{margin-bottom:6px}
}
@media print{
@page{margin:14mm}
body{font-size:11pt}
main,header,footer{max-width:none;padding:0}
nav{display:none}
.source{break-before:avoid}p{orphans:3;widows:3}
h2,p.lead,summary{break-after:avoid}h2{margin-top:24pt}.tiles{grid-template-columns:repeat(4,1fr)}
.tiles.small{grid-template-columns:repeat(7,1fr)}.tiles div{padding:8px 10px;font-size:9pt}
.tiles b{font-size:16pt}.tiles.small b{font-size:11pt}
figure,.tiles,tr,.pair{break-inside:avoid}
.tiles div,.missing,.bar,.bar i,.scale i{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.fields{grid-template-columns:repeat(4,1fr)}
details{overflow:visible}table{font-size:8.5pt}
#kernels table{font-size:6.5pt}#kernels th,#kernels td{padding:3px 2px;white-space:normal}
#kernels td:first-child{min-width:0}.bar{min-width:20px}
}
"""


def page(sections, tiles, about):
    nav = "".join(f'<a href="#{name}">{text(title)}</a>' for name, title, _, _ in sections)
    body = "".join(f'<section id="{name}"><h2>{text(title)}</h2><p class="lead">{text(lead)}</p>{content}</section>'
                   for name, title, lead, content in sections)
    summary = "".join(f"<div>{text(words)}<br><b>{text(value)}</b><br>{text(where)}</div>"
                      for words, value, where in tiles)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<title>The Jacobi porting lab: report</title>
<style>{CSS}</style></head>
<body><header><h1>From a serial code to the GPU, step by step</h1>
<p>{text(about)}</p>
<nav>{nav}</nav>{f'<div class="tiles">{summary}</div>' if summary else ''}</header>
<main>{body}</main>
<footer>Made by <code>make report</code>. Nothing here is loaded from elsewhere. 1 GB = 10⁹ bytes.</footer>
</body></html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default_build = pathlib.Path(os.environ.get("LAB_BUILD_DIR") or ROOT / "build").absolute()
    parser.add_argument("--out", metavar="FILE", type=pathlib.Path, default=os.environ.get("OUT") or None)
    parser.add_argument("--results", metavar="DIR", type=pathlib.Path, default=os.environ.get("RESULTS") or None)
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--n", type=int, default=128)
    parser.add_argument("--iterations", type=int, default=2000)
    arguments = parser.parse_args()
    if not 3 <= arguments.n <= 1024:
        fail(f"--n {arguments.n}: must be from 3 to 1024", 2)
    if not 1 <= arguments.iterations <= 100000:
        fail(f"--iterations {arguments.iterations}: must be from 1 to 100000", 2)
    if arguments.results and not arguments.results.is_dir():
        fail(f"{arguments.results}: there is no such folder (RESULTS, --results)", 2)
    if arguments.build and not (arguments.build / "bin").is_dir():
        fail(f"--build {arguments.build}: there is no folder bin in it", 2)
    build = (arguments.build or default_build).absolute()
    out = arguments.out or build / "report.html"
    # Found out now, not after the runs.
    if out.is_dir():
        fail(f"{out}: is a folder", 2)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"{out.parent}: {error.strerror}")
    # Tried, as root is told that it may write even where nothing can be made.
    try:
        tempfile.TemporaryFile(dir=out.parent).close()
    except OSError as error:
        fail(f"{out.parent}: cannot be written: {error.strerror}")

    steps = lab_files.steps()
    titles = {step: title for step, *_, title in steps}
    folders = [arguments.results] if arguments.results else [ROOT / "results/local", ROOT / "results/h200"]
    ladder = find_table(folders, "ladder.tsv", "mpoints_per_s")
    roofline = find_table(folders, "roofline.tsv", "time_ns")
    bandwidth = find_table(folders, "bandwidth.tsv", "rate_median")
    scaling = find_table(folders, "scaling.tsv", "glups")
    # What was counted on one machine is held against that machine's ceilings, and its kernels' facts go with it.
    beside = [roofline.path.parent] if roofline else folders
    ceilings = find_table(beside, "bandwidth.tsv", "rate_median") if roofline else None
    kernels = find_table(beside, "kernels.tsv", "n")

    may_run = not arguments.no_run
    if may_run and not arguments.build:
        build_solutions()
    runner = Runner(build, build / "report", may_run)
    if may_run:
        print(f"running the solutions at n = {arguments.n} ...", flush=True)
    convergence, fields, why = convergence_section(runner, steps, arguments.n, arguments.iterations)
    tiles = []
    ladder_html = attempt(ladder_section, ladder, steps, tiles)
    if ladder:
        tiles.append(("measured on", ladder.told("gpu", "no GPU").replace("NVIDIA ", ""),
                      f"{ladder.when()}, {ladder.folder()}"))
    tables = [table for table in (ladder, roofline, kernels, scaling, bandwidth) if table]
    if ceilings and bandwidth and ceilings.path != bandwidth.path:
        tables.append(ceilings)
    sections = [
        ("ladder", "The ladder", "What each step bought.", ladder_html),
        ("convergence", "Convergence", "All steps compute the same numbers.", convergence),
        ("field", "The temperature field", "And how far it is from the exact solution.",
         field_section(fields, arguments.n, why)),
        ("roofline", "The roofline", "How near each kernel comes to what the machine can do.",
         attempt(roofline_section, roofline, ceilings, titles)),
        ("kernels", "The kernels", "What the profiler knows of them.",
         attempt(kernels_section, kernels, roofline, ceilings)),
        ("scaling", "Several GPUs", "How steps 14 and 15 scale.", attempt(scaling_section, scaling)),
        ("bandwidth", "The machine's own speed", "The ceilings that everything is told against.",
         attempt(bandwidth_section, bandwidth)),
        ("machine", "What machine, when", "Where every number here comes from.", machine_section(tables, runner))]
    about = f"The Jacobi porting lab, as far as it has been measured; made on {datetime.date.today()}. "
    published = [table for table in tables if table.path.parent == ROOT / "results/h200"]
    if published and not arguments.results:
        all_of_them = len(published) == len(tables)
        about += (f"{'Times and counts are' if all_of_them else 'Some times and counts are'} the published ones of "
                  f"results/h200 ({published[0].told('gpu')}): "
                  f"{'nothing' if all_of_them else 'not everything'} has been measured here, in results/local.")
    try:
        write_aside(out, page(sections, tiles, about))
    except OSError as error:
        fail(f"{out}: {error.strerror}")
    print(out)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        fail("interrupted: nothing was written", 130)
    except OSError as error:  # of stdout: files have their own words
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"standard output: {error.strerror}")
