#!/usr/bin/env python3
"""Puts rows of later runs into a published ladder: a step that came later need not wait for all others to be timed anew.

  merge_ladders.py LADDER OTHER...                 rows that LADDER lacks, from the first OTHER that has them
      [--replace STEP]                             ... and this row, though LADDER has it
      [--tuned TUNING STEP "CONSTANTS"]            the time of STEP is that of a row of scripts/publish/tune.py's table: its
                                                   solution now has those constants

All are ladder.tsv of `make run RESULTS=DIR`, of one GPU, CUDA and driver: others are refused. For each row that comes
from another run LADDER gets a line `# row STEP` with that run's date and copy bandwidth, to which its percentage
belongs, and the times of the serial code at its n. Where LADDER has those already they stay, and the row is held
against them. LADDER is written aside and renamed.
Exit: 0 written, 1 nothing fits, 2 bad usage.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from labtools.files import write_aside  # noqa: E402

NEEDED = ("step", "n", "ms", "ms_q1", "ms_q3", "before_ms", "x_before", "note")
SAME = ("gpu", "cuda", "driver", "cpu")


def fail(message, code=1):
    print(f"merge_ladders.py: {message}", file=sys.stderr)
    sys.exit(code)


def lines_of(path):
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        fail(f"{path}: cannot be read: {error.strerror}", 2)
    except UnicodeDecodeError:
        fail(f"{path}: is not a text file", 2)


class Ladder:
    def __init__(self, path):
        self.path, self.head, self.rows, self.columns = path, [], {}, None
        for number, line in enumerate(lines_of(path), 1):
            fields = line.split("\t")
            if line.startswith("#"):
                self.head.append(line)
            elif self.columns is None:
                self.columns = fields
                missing = [name for name in NEEDED if name not in fields]
                if missing:
                    fail(f"{path}: is not a ladder, it has no column {missing[0]}", 2)
            elif len(fields) != len(self.columns):
                fail(f"{path}: line {number} has {len(fields)} fields, and not {len(self.columns)}", 2)
            else:
                self.rows[fields[0]] = dict(zip(self.columns, fields))
        if not self.columns:
            fail(f"{path}: is not a ladder, it has no rows", 2)

    def fact(self, name):
        for line in self.head:
            fields = line.split("\t")
            if fields[0] == f"# {name}" and len(fields) > 1:
                return fields[1]
        return ""

    def serial_lines(self, n):
        return [line for line in self.head if line.startswith("# serial\t") and line.split("\t")[3:4] == [n]]

    def hold_against_serial(self, step):
        """The row's speed-ups over the serial code are those over the times that this ladder has of it."""
        row = self.rows[step]
        for line in self.serial_lines(row["n"]):
            fields = line.split("\t")
            column = f"x_{fields[1]}_serial"
            if row.get(column, "-") != "-":
                try:
                    row[column] = f"{float(fields[5]) / float(row['ms']):.6g}"
                except (IndexError, ValueError, ZeroDivisionError):
                    fail(f"{self.path}: is no time of the serial code: {line}", 2)

    def write(self):
        lines = self.head + ["\t".join(self.columns)]
        lines += ["\t".join(self.rows[step][column] for column in self.columns) for step in sorted(self.rows)]
        try:
            write_aside(self.path, "\n".join(lines) + "\n")
        except OSError as error:
            fail(f"{self.path}: cannot be written: {error.strerror}")


def take_tuned(other, tuning, step, constants):
    """The row of `step` with the time that scripts/publish/tune.py measured with these constants."""
    if step not in other.rows:
        fail(f"{other.path}: has no row of {step}", 2)
    columns = None
    for line in lines_of(tuning):
        fields = line.split("\t")
        if line.startswith("#"):
            continue
        if columns is None:
            columns = fields
            missing = [name for name in ("step", "constants", "ms", "ms_q1", "ms_q3", "verdict") if name not in fields]
            if missing:
                fail(f"{tuning}: is not a table of scripts/publish/tune.py, it has no column {missing[0]}", 2)
            continue
        found = dict(zip(columns, fields))
        if found.get("step") != step or found.get("constants") != constants:
            continue
        if found.get("verdict") != "right":
            fail(f"{step} with {constants} is not right: {found.get('verdict')}")
        row = other.rows[step]
        try:
            ratio = float(row["ms"]) / float(found["ms"])
            for name in ("ms", "ms_q1", "ms_q3"):
                row[name] = f"{float(found[name]):.6g}"
        except (KeyError, ValueError, ZeroDivisionError):
            fail(f"{step}: its times in {other.path} and in {tuning} are not all numbers", 2)
        for name in ("mpoints_per_s", "gb_per_s", "percent_of_copy", "x_best_serial", "x_strided_serial", "x_before"):
            if row[name] != "-":
                row[name] = f"{ratio * float(row[name]):.6g}"
        row["note"] = f"timed by scripts/publish/tune.py: {constants}"
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
            ladder.hold_against_serial(step)
            taken.append(step)
    if not taken:
        fail("there is no row to take")
    ladder.write()
    print(f"{ladder.path}: rows of other runs: {', '.join(sorted(taken))}")


if __name__ == "__main__":
    main()
