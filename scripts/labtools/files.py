"""Where the lab is, its steps, and the tables that its scripts write and read."""

import csv
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def steps():
    """The lines of lab/steps.tsv: [(name, source, needs, n, iterations, title)]."""
    found = []
    for line in (ROOT / "lab/steps.tsv").read_text().splitlines():
        fields = line.split("\t")
        if line[:1].isdigit():
            found.append((fields[0], fields[1], fields[2], int(fields[3]), int(fields[4]), fields[5]))
    return found


def write_aside(path, text):
    """Writes a file so that no reader sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".partial")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def read_table(path):
    """(head, rows) of a TSV whose first lines are "# key<tab>value ...": {key: [value, ...]} (the last line of
    each key) and [{column: text}]."""
    head, lines = {}, []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            fields = line[2:].split("\t")
            head[fields[0]] = fields[1:]
        elif line:
            lines.append(line)
    return head, list(csv.DictReader(lines, delimiter="\t"))


def job_of(row):
    """(ranks, GPUs) of a ladder's row whose step is a job of ranks, from its note: "1 GPU", "2 GPUs, a rank each",
    "4 ranks on 2 GPUs". None of any other row."""
    match = re.match(r"(?:(\d+) ranks on )?(\d+) GPUs?\b", row.get("note") or "")
    return (int(match[1] or match[2]), int(match[2])) if match else None
