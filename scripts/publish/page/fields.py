"""The pictures of fields, and the charts of the runs' convergence."""

import base64
import math

from labtools import charts
from labtools.numbers import significant
from labtools.picture import COLD_TO_HOT, exact, png
from page.parts import data_table, figure, missing, text

FIELD_AFTER = (100, 1000, 20000)  # sweeps, of which the field is shown
DISTANCE_AFTER = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 20000)

def picture(data, words, caption):
    source = base64.b64encode(data).decode("ascii")
    return (f'<figure class="field"><img data-chart="field" alt="{text(words)}" src="data:image/png;base64,{source}">'
            f"<figcaption>{caption}</figcaption></figure>")


STEP_COLOURS = ("blue", "orange", "green", "purple", "gold")
STEP_SHAPES = ("circle", "square", "diamond", "triangle")
TURNS = 6  # points of each step on the curve


def convergence_chart(records, distances, n):
    """Every step's residuals on one another; `distances`: [(iteration, distance)]."""
    curve, dots = [], []
    for k, (step, record) in enumerate(records.items()):
        own = [point for point in record["residuals"] if point[1] > 0]
        last = max(own[-1][0], 2)
        if not curve:  # points enough for a smooth curve, and no more
            wanted = {round(last ** (part / 400)) for part in range(401)}
            curve = [point for point in own if point[0] in wanted]
        wanted = (last ** ((turn * len(records) + k + 0.5) / (TURNS * len(records))) for turn in range(TURNS))
        dots.append((f"step {step[:2]}", STEP_COLOURS[k % 5], STEP_SHAPES[k % 4],
                     [min(own, key=lambda point, at=at: abs(math.log(point[0] / at))) for at in wanted]))
    series = [("residual of the first step", "line", "line", curve)]
    if distances:
        series.append(("distance from the exact solution", "ink", "dashes", distances))
    return charts.lines("convergence", series, f"Residual after each iteration, n = {n}",
                        "one curve: the first step's; on it, in turn, points of every step", "iteration", tall=360, dots=dots)


def convergence_section(record_of, steps, n, iterations):
    found = {step: record_of(step, needs, n, iterations) for step, _, needs, *_ in steps}
    failed = {step: why for step, why in found.items() if isinstance(why, str)}
    records = {step: record for step, record in found.items() if step not in failed}
    step, _, needs, *_ = steps[0]
    early = {count: record_of(step, needs, n, count) for count in DISTANCE_AFTER}
    why = ([None] + [why for why in early.values() if isinstance(why, str)])[-1]
    early = {count: record for count, record in early.items() if not isinstance(record, str)}
    distances = [(count, record["run"]["distance_to_exact"]) for count, record in early.items()
                 if record["run"].get("distance_to_exact")]
    fields = {count: record for count, record in early.items() if count in FIELD_AFTER}
    parts = []
    if records:
        parts.append(figure(convergence_chart(records, distances, n)))
        first = next(iter(records))
        base = dict(records[first]["residuals"])
        deviations = [(name, max((abs(value - base[at]) / base[at] for at, value in record["residuals"]
                                  if base.get(at)), default=0)) for name, record in records.items()]
        other = [name for name, record in records.items() if not same_field(record["field"], records[first]["field"])]
        same = len(records) - len(other)
        bound = n * n * 2.0 ** -53
        if len(records) > 1:
            parts.append(data_table(f"How far the residuals lie apart: another order of the sum allows {bound:.2g}", [
                ("step", lambda row: text(row[0])),
                ("greatest difference from the first step's, as a share of it",
                 lambda row: "the same bits" if row[1] == 0 else f"{row[1]:.2g}")], deviations))
        parts.append(f"<p>After {iterations:,} iterations the field of {'all ' if not other else ''}"
                     f"{same} step{'s' * (same != 1)} has the same bits. "
                     + (f"<strong>Another field: {text(', '.join(other))}.</strong> " if other else "") +
                     "A faster step gives the same answer. Only the order in which the residual is summed differs."
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


def rows_of(values, n):
    return [values[j * n:(j + 1) * n] for j in range(n)]


def field_section(fields, n, why):
    if not fields:
        return missing(f"no field is there ({why}).", "make report")
    exact_at = exact("laplace", n)
    solution = [exact_at(i, j) for j in range(n) for i in range(n)]
    most = max(map(abs, solution))
    parts = ['<div class="fields">']
    for count, record in sorted(fields.items()):
        field, run = record["field"], record["run"]
        error = [a - b for a, b in zip(field, solution)]
        residual, distance = run["residual"], run.get("distance_to_exact")
        worst = max(map(abs, error))
        away = "" if distance is None else f"{significant(100 * distance)} % away"
        parts.append('<div class="pair">' + picture(
            png(rows_of(field, n), most), f"The field after {count} sweeps",
            f"<strong>{count:,} sweeps</strong><br>residual {residual:.1e}") + picture(
            png(rows_of(error, n), most), f"Its difference from the exact solution after {count} sweeps",
            f"minus the exact solution:<br><strong>{away}</strong>, at most {significant(worst, 2)}") + "</div>")
    parts.append('<div class="pair exact">' + picture(png(rows_of(solution, n), most), "The exact solution",
                                                     "<strong>the exact solution</strong>") + "</div></div>")
    scale = ",".join(f"rgb{colour}" for colour in COLD_TO_HOT)
    parts.append(f'<div class="scale"><span>−{significant(most, 2)}</span>'
                 f'<i style="background:linear-gradient(90deg,{scale})"></i><span>{significant(most, 2)}</span></div>')
    step = next(iter(fields.values()))["run"]["step"]
    parts.append("<p>The boundary's heat creeps inwards by one point per sweep, and the longest waves die out last. A "
                 "run that stops at a small residual has almost stopped moving. It need not have arrived.</p>"
                 f'<p class="source">Problem laplace, n = {n}, step {text(step)}; all pictures in the same colours.'
                 "</p>")
    return "".join(parts)
