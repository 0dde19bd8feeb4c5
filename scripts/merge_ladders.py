#!/usr/bin/env python3
"""Puts rows of later runs into a published ladder: a step that came later need not wait for all others to be timed anew.

  merge_ladders.py LADDER OTHER...                 rows that LADDER lacks, from the first OTHER that has them
      [--replace STEP]                             ... and this row, though LADDER has it
      [--tuned TUNING STEP "CONSTANTS"]            the time of STEP is that of a row of scripts/tune.py's table: its
                                                   solution now has those constants

All are ladder.tsv of `make run RESULTS=DIR`, of one GPU, CUDA and driver: others are refused. For each row that comes
from another run LADDER gets a line `# row STEP` with that run's date and copy bandwidth, to which its percentage
belongs, and the times of the serial code at its n. LADDER is written aside and renamed.
Exit: 0 written, 1 nothing fits, 2 bad usage.
"""

import argparse
import pathlib
import sys

SAME = ("gpu", "cuda", "driver", "cpu")


def fail(message, code=1):
    print(f"merge_ladders.py: {message}", file=sys.stderr)
    sys.exit(code)


class Ladder:
    def __init__(self, path):
        if not path.is_file():
            fail(f"{path}: there is no such file", 2)
        self.path, self.head, self.rows, self.columns = path, [], {}, None
        for line in path.read_text().splitlines():
            fields = line.split("\t")
            if line.startswith("#"):
                self.head.append(line)
            elif self.columns is None:
                self.columns = fields
            else:
                self.rows[fields[0]] = dict(zip(self.columns, fields))
        if not self.columns or self.columns[0] != "step":
            fail(f"{path}: is not a ladder", 2)

    def fact(self, name):
        for line in self.head:
            fields = line.split("\t")
            if fields[0] == f"# {name}":
                return fields[1]
        return ""

    def serial_lines(self, n):
        return [line for line in self.head if line.startswith("# serial\t") and line.split("\t")[3] == n]

    def write(self):
        aside = self.path.with_suffix(".tsv.partial")
        lines = self.head + ["\t".join(self.columns)]
        lines += ["\t".join(self.rows[step][column] for column in self.columns) for step in sorted(self.rows)]
        aside.write_text("\n".join(lines) + "\n")
        aside.rename(self.path)


def take_tuned(other, tuning, step, constants):
    """The row of `step` with the time that scripts/tune.py measured with these constants."""
    if step not in other.rows:
        fail(f"{other.path}: has no row of {step}", 2)
    columns = None
    for line in tuning.read_text().splitlines():
        fields = line.split("\t")
        if line.startswith("#"):
            continue
        if columns is None:
            columns = fields
            continue
        found = dict(zip(columns, fields))
        if found["step"] != step or found["constants"] != constants:
            continue
        if found["verdict"] != "right":
            fail(f"{step} with {constants} is not right: {found['verdict']}")
        row = other.rows[step]
        ratio = float(row["ms"]) / float(found["ms"])
        for name in ("ms", "ms_q1", "ms_q3"):
            row[name] = f"{float(found[name]):.6g}"
        for name in ("mpoints_per_s", "gb_per_s", "percent_of_copy", "x_best_serial", "x_strided_serial", "x_before"):
            if row[name] != "-":
                row[name] = f"{ratio * float(row[name]):.6g}"
        row["note"] = f"timed by scripts/tune.py: {constants}"
        # It is the step before of the next row.
        after = [name for name in sorted(other.rows) if name > step][:1]
        for name in after:
            if other.rows[name]["before_ms"] != "-":
                other.rows[name]["before_ms"] = row["ms"]
                other.rows[name]["x_before"] = f"{float(row['ms']) / float(other.rows[name]['ms']):.6g}"
        return
    fail(f"{tuning}: has no row of {step} with {constants}", 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladder", type=pathlib.Path)
    parser.add_argument("others", type=pathlib.Path, nargs="+")
    parser.add_argument("--replace", action="append", default=[], metavar="STEP")
    parser.add_argument("--tuned", nargs=3, action="append", default=[], metavar=("TUNING", "STEP", "CONSTANTS"))
    arguments = parser.parse_args()
    ladder, others = Ladder(arguments.ladder), [Ladder(path) for path in arguments.others]
    for other in others:
        for name in SAME:
            if other.fact(name) != ladder.fact(name):
                fail(f"{other.path}: {name} is {other.fact(name)}, and {ladder.fact(name)} in {ladder.path}")
    for tuning, step, constants in arguments.tuned:
        holders = [other for other in others if step in other.rows]
        if not holders:
            fail(f"no other ladder has a row of {step}", 2)
        take_tuned(holders[0], pathlib.Path(tuning), step, constants)
    taken = []
    for other in others:
        for step, row in other.rows.items():
            if row["ms"] == "-" or step in taken or (step in ladder.rows and step not in arguments.replace):
                continue
            ladder.rows[step] = {column: row.get(column, "") for column in ladder.columns}
            ladder.head = [line for line in ladder.head if not line.startswith(f"# row\t{step}\t")]
            ladder.head.append(f"# row\t{step}\tdate\t{other.fact('date')}\tcopy_gb_per_s\t{other.fact('copy_gb_per_s')}")
            if not ladder.serial_lines(row["n"]):
                ladder.head += other.serial_lines(row["n"])
            taken.append(step)
    if not taken:
        fail("there is no row to take")
    ladder.write()
    print(f"{ladder.path}: rows of other runs: {', '.join(sorted(taken))}")


if __name__ == "__main__":
    main()
