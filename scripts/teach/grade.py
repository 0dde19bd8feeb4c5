#!/usr/bin/env python3
"""Checks the exercises of a whole class, one after the other, and writes a table. `make grade`.

  DIR=FOLDER      has a working copy of the lab per learner, or files of `make handin CODE=1`
  STEPS=04,05     which steps (default: all); STEP=04 is the same
  OUT=grades.csv  the table: learner, step, verdict, diagnosis (the catalogue's name), ms per iteration, seconds. While
                  it is made, it is OUT.part
  TIME_LIMIT=S    seconds for one run of a program (default 60)
  CHECK_LIMIT=S   seconds for the whole check of a step (default 600)
  MEMORY=M        MiB of memory for it (default 8192)
  DISK=M          MiB on disk for it (default 2048)

It runs the learners' programs. Of a working copy only exercises/NN/jacobi.* is taken, and put into a new copy of a
handout of this lab, so that no script and no build file of theirs runs. A program that exceeds a limit costs its own
row. If the superuser calls it, the programs run as nobody.

Exit: 0, 2 bad usage, 4 OUT cannot be written, 77 what it needs is not here."""

import collections
import csv
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import labtools_here  # noqa: F401
from confined import Confined, Limits
from labtools.files import ROOT, STEPS, steps
from labtools.machine import gpu_here
from labtools.process import attempt, fail, reason
from labtools.progress import last_lines
from learners import (Unreadable, cell_of, class_folder, each_in, handed_out, milliseconds, number_of, parts_of_handin,
                      plain, read_inside)

COLUMNS = ("learner", "step", "verdict", "diagnosis", "ms", "seconds")
MIB = 1 << 20
# The lab's own verdicts; a file that says anything else was not written by a check.
VERDICTS = ("unchanged", "wrong", "right", "done", "goal missed", "does not compile")
BUILD = r"""source scripts/lib/lib.sh
all_steps=1
configure
build_targets validate goals || exit
for number in "$@"; do
  mapfile -t targets < <(grep "^exercise_${number}_" "$build_dir/step_targets.txt")
  # One at a time: those of the others are built, although one does not compile.
  for target in "${targets[@]}"; do build_watched "$build_dir/grade.log" "$target" || true; done
done
doing"""


def wanted_steps():
    wanted = os.environ.get("STEPS") or os.environ.get("STEP", "")
    named = wanted.replace(",", " ").split()
    begins = tuple(word.zfill(2) if word.isdigit() else word for word in named)
    if not all(any(name.startswith(begin) for name in STEPS.values()) for begin in begins):
        fail(f"STEPS={wanted}: names a step that there is not", 2)
    return [one for one in steps() if not named or one.name.startswith(begins)]


class Grader:
    """A handout of the lab, built once; and of it a new copy for each check, always at the same path."""

    def __init__(self, scratch, limits):
        self.base, self.work = scratch / "base", scratch / "lab"
        self.box = Confined(self.work, limits)
        self.time_limit = str(number_of("TIME_LIMIT", 60, 86400))
        self.gpu = gpu_here()

    def variables(self, **more):
        return {"LAB_BUILD_DIR": str(self.work / "build"), "TIME_LIMIT": self.time_limit, **more}

    def prepare(self, numbers):
        """Makes the handout and builds what all checks of these steps share."""
        last = max(STEPS)
        made = attempt([ROOT / "scripts/publish/handout.sh"], 600,
                       env={**os.environ, "UPTO": last, "OUT": str(self.base), "LAB_BUILD_DIR": str(self.base)})
        if made[0] != 0:
            raise Unreadable(reason(*made[1:]))
        (self.base / f"jacobi-porting-lab-upto-{last}").rename(self.work)
        # On a terminal the build shows how far it is.
        built = subprocess.run(["bash", "-euo", "pipefail", "-c", BUILD, "build.sh", *numbers], cwd=self.work,
                               check=False, env={**os.environ, **self.variables()}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=None if sys.stderr.isatty() else subprocess.PIPE,
                               text=True, errors="replace")
        if built.returncode != 0:
            raise Unreadable(f"the lab does not build: {reason(built.stdout, built.stderr or '')}")
        shutil.rmtree(self.base)
        self.work.rename(self.base)

    def check(self, step, code):
        """(verdict, diagnosis, ms, seconds) of the code of a learner's exercise."""
        # A new copy, with all dates as they are: nothing is built again.
        shutil.rmtree(self.work, ignore_errors=True)
        subprocess.run(["cp", "-a", self.base, self.work], check=True)
        (self.work / "exercises" / step.name / step.source).write_bytes(code)
        ended = self.box.run(["scripts/verbs/check.sh"], self.variables(STEP=step.name[:2]), step.needs == "ranks")
        if ended.limit:
            return f"exceeded its limit: {ended.limit}", "", "", ended.seconds
        row = last_lines(read_inside(self.work, "results", "local", "progress.tsv")).get(step.name)
        if not row or row[0] not in VERDICTS:
            words = "cannot run here" if ended.code == 77 else f"no verdict (exit code {ended.code})"
            return words, plain(reason(ended.out), 160), "", ended.seconds
        cell = cell_of(row[0], row[4], row[2])
        return row[0], cell.mistake, self.timed(step.name) if cell.state in ("right", "done") else "", ended.seconds

    def timed(self, step):
        """Its ms per iteration, with a GPU."""
        if self.gpu:
            self.box.run(["scripts/verbs/progress.sh"], self.variables(TIME="1"))
        times = last_lines(read_inside(self.work, "results", "local", "progress_times.tsv"))
        return milliseconds(times.get(step, ["", ""])[1]) or ""


def exercises_of(read, wanted, starts):
    """[(step, code or None if it is unchanged, what is wrong or "")] of a learner's files."""
    found = []
    for step in wanted:
        try:
            code = read("exercises", step.name, step.source)
            trouble = "" if code is not None else "missing"
        except Unreadable as error:
            code, trouble = None, f"cannot be read: {plain(str(error), 100)}"
        found.append((step, None if code == starts[step.name] else code, trouble))
    return found


def safe(text):
    """A cell that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def read_class(folder, wanted, starts):
    """[(name, exercises)] of all learners. Says what is left out."""

    def of_folder(path, name):
        exercises = exercises_of(functools.partial(read_inside, path), wanted, starts)
        if all(trouble == "missing" for *_, trouble in exercises):
            raise Unreadable("no working copy of the lab, or none with these steps")
        return name, exercises

    def of_handin(data):
        states, code = parts_of_handin(data)

        def read(_, step, source):
            found = code.get(f"exercises/{step}/{source}")
            if found is None and states.get(step, ["unchanged"])[0] not in ("unchanged", "no task", "missing"):
                raise Unreadable("its code was not handed in: make handin CODE=1")
            return starts[step] if found is None else found

        return states.get("# name", ["?"])[0], exercises_of(read, wanted, starts)

    class_, troubles = each_in(folder, of_folder, of_handin)
    for trouble in troubles:
        print(f"left out: {trouble}")
    if not class_:
        fail(f"DIR={folder}: no working copy of the lab is in it, and no file of make handin CODE=1", 2)
    return class_


def rows(class_, grader, tell):
    """The rows of the table, each as soon as it is known."""
    changed = [step.name[:2] for _, exercises in class_ for step, code, _ in exercises if code is not None]
    if changed:
        tell(f"Building the lab for steps {', '.join(sorted(set(changed)))}, which takes some minutes.")
        grader.prepare(sorted(set(changed)))
        tell(f"To be checked, one after the other: {len(changed)}.")
    checked = 0
    for name, exercises in class_:
        for step, code, trouble in exercises:
            result = trouble or "unchanged", "", "", 0
            if code is not None:
                try:
                    result = grader.check(step, code)
                except Unreadable as error:
                    result = "no verdict", plain(str(error), 160), "", 0
                checked += 1
            row = [plain(name, 60), step.name, *map(str, result[:3]), f"{result[3]:.0f}"]
            if code is not None or trouble:
                far = f"{checked}/{len(changed)}" if code is not None else ""
                tell("  ".join(field for field in (far, *row) if field))
            yield row


def main():
    folder = class_folder("the learners' working copies")
    out = pathlib.Path(os.environ.get("OUT") or "grades.csv").absolute()
    if out.exists() and not out.is_file():
        fail(f"OUT={out}: is no file", 2)
    wanted = wanted_steps()
    limits = Limits(number_of("CHECK_LIMIT", 600, 86400), number_of("MEMORY", 8192, 1 << 22) * MIB,
                    number_of("DISK", 2048, 1 << 22) * MIB, 256)
    os.environ.pop("MAKEFLAGS", None)  # the verbs that it calls do not know its own variables
    starts = handed_out()
    class_, part, count = read_class(folder, wanted, starts), out.with_name(out.name + ".part"), collections.Counter()
    try:
        table = part.open("w", encoding="utf-8", newline="")
    except OSError as error:
        fail(f"OUT={out}: cannot be written: {error.strerror}", 4)
    with table, tempfile.TemporaryDirectory(prefix="jacobi-grade-", ignore_cleanup_errors=True) as scratch:
        os.chmod(scratch, 0o711)
        grader = Grader(pathlib.Path(scratch), limits)
        print(f"Learners' programs run as {'nobody' if grader.box.identity else 'you'}, "
              f"{'without' if grader.box.no_network else 'with'} a network.", flush=True)
        csv.writer(table, lineterminator="\n").writerow(COLUMNS)
        for row in rows(class_, grader, lambda line: print(line, flush=True)):
            csv.writer(table, lineterminator="\n").writerow(map(safe, row))
            table.flush()
            count[row[2].split(":")[0]] += 1
    part.replace(out)
    print(f"{out}: {sum(count.values())} rows: " + ", ".join(f"{number} {verdict}" for verdict, number in count.items()))


if __name__ == "__main__":
    try:
        main()
    except Unreadable as error:
        fail(str(error))
    except OSError as error:  # such as a disk that is full
        fail(f"{error.filename or 'OUT'}: {error.strerror}", 4)
    except KeyboardInterrupt:
        fail(f"interrupted: the rows so far, if any, are in {os.environ.get('OUT') or 'grades.csv'}.part", 130)
