"""Tables of results: TSV files whose first lines are "# key<tab>value ..."."""

from labtools.files import ROOT
from labtools.numbers import number
from labtools.process import must_write, warn


def split_head(text):
    """([the fields of each line "# key<tab>value ..."], the lines without a #)."""
    lines = text.splitlines()
    return ([line.lstrip("# ").split("\t") for line in lines if line.startswith("#") and "\t" in line],
            [line for line in lines if not line.startswith("#")])


class Table:
    """A table that was written: `path`, `lines` (the fields of each line of its head), and `rows` ({column: text}). Lines
    with too few fields or too many are no rows."""

    def __init__(self, path):
        self.path = path
        self.lines, lines = split_head(path.read_text(encoding="utf-8", errors="replace"))
        columns, *rows = [line.split("\t") for line in lines] or [[]]
        self.rows = [dict(zip(columns, fields)) for fields in rows if len(fields) == len(columns)]
        self.facts = {fields[0]: fields[1] for fields in self.lines}

    def fact(self, key, otherwise="unknown"):
        """The first field of the head's last line with that key."""
        return self.facts.get(key) or otherwise

    def lines_of(self, key):
        """The fields after the key of all lines of the head that begin with it."""
        return [fields[1:] for fields in self.lines if fields[0] == key]

    def ceilings(self):
        """{level: rate} of bandwidth.tsv."""
        return {level: number(rate) for level, rate, *_ in self.lines_of("ceiling") if number(rate)}

    def all_cores(self):
        """{n: (ms, threads)} of the best code on all cores, of a ladder; empty if it was not timed."""
        timed = (dict(zip(values[::2], values[1::2])) for values in self.lines_of("all_cores"))
        return {int(one["n"]): (float(one["ms"]), int(one["threads"])) for one in timed}

    def name(self):
        """Its path within the lab, if it is there."""
        return str(self.path).removeprefix(f"{ROOT}/")


def write_table(path, words, facts, columns, rows):
    """A table with comment lines above it, whole or not at all. facts: {key: value}, or [(key, value...)]. A row is
    a list, or a dictionary in which "-" stands for what is missing."""
    facts = facts.items() if isinstance(facts, dict) else facts
    lines = [f"# {line}" for line in words] + ["# " + "\t".join(map(str, fields)) for fields in facts]
    rows = [[row.get(column, "-") for column in columns] if isinstance(row, dict) else row for row in rows]
    lines += ["\t".join(str(cell).replace("\t", " ") for cell in row) for row in [columns, *rows]]
    must_write(path, "\n".join(lines) + "\n", path.parent)


def update(path, facts, rows, same):
    """The rows to write so that a table keeps those of steps that were not measured now. The facts that `same` names must
    be those of the old table; else its rows are left out. facts["date"] becomes that of both."""
    if not path.exists():
        return rows
    old = Table(path)
    if any(old.facts.get(key) != facts.get(key) for key in same):
        warn(f"{path}: is of another machine, or counted in another way; its rows are not kept")
        return rows
    measured = {row["step"] for row in rows}
    others = [row for row in old.rows if row.get("step") not in measured]
    if others and old.fact("date", ""):
        dates = sorted({*old.fact("date").split(" to "), str(facts["date"])})
        facts["date"] = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    return sorted([*others, *rows], key=lambda row: row["step"])


def gain_text(row, previous, write):
    """How many times faster a ladder's row is than `previous`, the row of the step before (None if there is none), at the
    same n; "– (n)" if the two have different n and the step before was not timed at this one."""
    if row["x_before"] == "-" and previous and previous["n"] != row["n"]:
        return "– (n)"
    return write(row["x_before"])
