"""Brings the rows of an older ladder into one of some steps: `make run STEPS=NN` times those alone.

  python3 -m labtools.ladder BEFORE NEW    the rows and serial times that NEW lacks come from BEFORE, if both are of one
                                           machine; NEW is written anew. Else BEFORE is kept beside NEW

The head stays that of BEFORE. For each row of NEW it has a line "# row STEP" with that run's date and copy bandwidth, to
which its percentage belongs; its speed-ups over the serial code are those over the times that the ladder shows.
"""

import pathlib
import sys
import time

from labtools.process import must_write, warn
from labtools.table import Table, write_table

SAME = ("gpu", "cuda", "driver", "cpu")


def merged(before, new):
    """(head, columns, rows) of both."""
    taken = {row["step"] for row in new.rows}
    head = [fields for fields in before.lines if fields[:1] != ["row"] or fields[1] not in taken]
    for name in ("serial", "all_cores"):
        sizes = {fields[fields.index("n") + 1] for fields in before.lines_of(name)}
        head += [[name, *fields] for fields in new.lines_of(name) if fields[fields.index("n") + 1] not in sizes]
    head += [["row", step, "date", new.fact("date"), "copy_gb_per_s", new.fact("copy_gb_per_s")] for step in sorted(taken)]
    serial = {(fields[1], fields[3]): float(fields[5]) for fields in head if fields[0] == "serial"}
    for row in new.rows:
        for which in ("best", "strided"):
            name = f"x_{which}_serial"
            if row[name] != "-" and (which, row["n"]) in serial:
                row[name] = f"{serial[which, row['n']] / float(row['ms']):.6g}"
    rows = {row["step"]: row for row in [*before.rows, *new.rows]}
    return head, before.columns, [rows[step] for step in sorted(rows)]


def main():
    before, new = (Table(pathlib.Path(name)) for name in sys.argv[1:])
    for name in SAME:
        if before.fact(name, "") != new.fact(name, ""):
            aside = new.path.with_name(time.strftime("ladder_%Y-%m-%d_%H-%M-%S.tsv"))
            must_write(aside, before.path.read_text(encoding="utf-8", errors="replace"), aside)
            was, is_now = (table.fact(name, "") for table in (before, new))
            warn(f"the rows of before are now in {aside}: {name} was {was}, and is {is_now}")
            return
    write_table(new.path, ["The ladder: every solution, validated and timed. Written by `make run`."], *merged(before, new))
    print(f"{new.path}: the rows of other steps are those of before")


if __name__ == "__main__":
    main()
