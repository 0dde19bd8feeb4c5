"""Numbers within sentences, each with the measurement that it comes from:

    The kernel takes <!--= tracer["04", "kernels", "jacobi_sweep_kernel"].tracer / 1e6 | ms -->13.3 ms<!--=-->.

Between the markers is what tables.py writes. What stands in the first marker:

    ladder["04"].ms           the column `ms` of the one row of results/h200/ladder.tsv in which "04" is a cell; a step's
                              number stands for its name. Several keys, if one is not enough: "way=-" names the column
    ladder.copy_gb_per_s      a fact of that table's head
    ladder["serial", "best", "2048"].ms    in a line of the head that has more, the field after `ms`
    h100.ladder["04"].ms      the same of results/h100
    nsys_11["wait_for"].median_ns    a range, kernel or call of results/h200/profiles/nsys_11.csv; also min_ns, max_ns, total_ns, times
    nsys_15["timeline", "ncclDevKernel_SendRecv"].gap_ns    medians of a kernel in that file's time line: median_ns, and gap_ns
                              since the kernel before it in its stream. "grid=130" is its number of blocks
    ncu_12["jacobi_sweep_kernel"].duration_ns    a kernel of profiles/ncu_12.csv; also sm_, l2_ and dram_percent of its peak,
                              l2_bytes, issues per cycle and scheduler, and clock_hz of the multiprocessors
    3 * (... + ...) / ...     + - * / and parentheses
    | ms                      the unit; three significant digits, or as many as `| .2 ms` says. `| .1f` has one decimal,
                              `| .3g` powers of ten.
                              `| ns` before no unit: `| duration` takes nanoseconds and chooses the unit
    clinic.gpu | text         a cell or a fact as it stands there
    \\| ms                     the same in a row of a table, where a bare | would end the cell; tables.py --write puts the \\
"""

import ast
import functools
import operator
import re
from statistics import median

from labtools.files import RESULTS
from labtools.profilers.ncu import SPEED
from labtools.numbers import duration, number, significant
from labtools.profilers.profile_tables import TITLES, name_of, read_ncu, read_nsys, times_of
from labtools.table import Table

MARKED = re.compile(r"<!--= (.*?) -->(.*?)<!--=-->", re.DOTALL)
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


class Wrong(ValueError):
    """What is wrong with an expression, in words."""


NCU = {"duration_ns": "gpu__time_duration.sum", "sm_percent": f"sm__throughput{SPEED}",
       "l2_percent": f"lts__throughput{SPEED}", "l2_bytes": "lts__t_bytes.sum",
       "dram_percent": f"gpu__dram_throughput{SPEED}", "issues": "smsp__issue_active.avg.per_cycle_active",
       "clock_hz": "sm__cycles_elapsed.avg.per_second"}


def read_counted(path):
    """A report of ncu: a row per kernel."""
    facts, launches = read_ncu(path)
    return facts, [{"name": name, **{column: str(metrics.get(metric, "-")) for column, metric in NCU.items()}}
                   for name, _, _, metrics in launches]


def read_profile(path):
    """A report of nsys: a row per range, kernel and call."""
    facts, reports = read_nsys(path)
    rows = []
    for report, (_, what, _) in TITLES.items():
        for row in reports.get(report, []):
            _, total, times, median, least, most = times_of(row)
            rows.append({"what": what, "name": name_of(row), "total_ns": str(total), "times": str(times),
                         "median_ns": str(median), "min_ns": str(least), "max_ns": str(most)})
    return facts, rows + timeline_rows(reports.get("timeline", []))


def timeline_rows(launches):
    """A row for each kernel of a time line and each number of its blocks, with medians in ns; the first one has no gap."""
    found, ends = {}, {}
    for launch in launches:
        start, duration = int(launch["Start (ns)"]), int(launch["Duration (ns)"])
        row = found.setdefault((name_of(launch), launch["GrdX"]), {"durations": [], "gaps": []})
        row["durations"].append(duration)
        if launch["Strm"] in ends:
            row["gaps"].append(start - ends[launch["Strm"]])
        ends[launch["Strm"]] = start + duration
    return [{"what": "timeline", "name": name, "grid": blocks, "median_ns": str(median(row["durations"])),
             "gap_ns": str(median(row["gaps"])) if row["gaps"] else "-"} for (name, blocks), row in found.items()]


def read_table(path):
    """A published table: its rows, and the lines of its head that have more than one fact."""
    found = Table(path)
    return found.facts, [*found.rows, *(dict(zip(line, line[1:])) for line in found.lines if len(line) > 2)]


@functools.lru_cache(None)
def table(name):
    """(facts, [(row, what a key may name it by: a column, a cell, column=cell, a step's number)]) of a published table or a
    kept report of nsys or ncu, which is named `ladder` or `h100.ladder`."""
    folder, _, name = name.rpartition(".")
    reader = {"nsys": read_profile, "ncu": read_counted}.get(name.partition("_")[0], read_table)
    path = RESULTS.parent / (folder or RESULTS.name) / (f"{name}.tsv" if reader is read_table else f"profiles/{name}.csv")
    if not path.is_file():
        raise Wrong(f"there is no {path.relative_to(RESULTS.parent.parent)}")
    facts, rows = reader(path)
    return facts, [(row, {*row, *row.values(), *map("=".join, row.items()), row.get("step", "").partition("_")[0]})
                   for row in rows]


def row_of(node):
    """The one row in which all keys are cells."""
    keys = [str(key.value) for key in getattr(node.slice, "elts", [node.slice])]
    name = ast.unparse(node.value)
    rows = [row for row, names in table(name)[1] if names.issuperset(keys)]
    if len(rows) != 1:
        raise Wrong(f"{len(rows)} rows of {name} have {', '.join(keys)}; it should be one")
    return rows[0]


def cell(node):
    """The text of a cell, or of a fact of a table's head."""
    cells = row_of(node.value) if isinstance(node.value, ast.Subscript) else table(ast.unparse(node.value))[0]
    return cells.get(node.attr, "")


def value(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](value(node.left), value(node.right))
    if isinstance(node, ast.Attribute):
        found = number(cell(node))
        if found is None:
            raise Wrong(f"{ast.unparse(node)} is no number")
        return found
    raise Wrong(f"{ast.unparse(node)} is neither a number of a table nor a sum, difference, product or quotient of some")


def written(marker):
    """What belongs between the markers."""
    expression, _, form = marker.partition(" | ")
    node = ast.parse(" ".join(expression.split()), mode="eval").body
    if form == "text":
        return cell(node)
    result = value(node)
    digits, places, unit = re.fullmatch(r"(?:\.(\d+)([fg]?)\b)? *(.*)", form.strip()).groups()
    if unit == "duration":
        return duration(result)
    text = f"{result:,.{digits}{places}}" if places else significant(result, int(digits or 3))
    return f"{text} {unit}".strip()


def replace_numbers(text):
    """The text with all its numbers as they are measured, and [(expression, what is wrong with it)]."""
    wrong = []

    def one(match):
        marker = match[1].replace("\\|", "|")
        in_table = text[text.rfind("\n", 0, match.start()) + 1] == "|"
        try:
            shown = marker.replace("|", "\\|") if in_table else marker
            return f"<!--= {shown} -->{written(marker)}<!--=-->"
        except (Wrong, SyntaxError) as error:
            wrong.append((match[1], str(error)))
            return match[0]

    return MARKED.sub(one, text), wrong
