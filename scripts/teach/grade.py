#!/usr/bin/env python3
"""Checks the exercises of a whole class, one after the other, and writes a table. `make grade`.

  DIR=FOLDER      has a working copy of the lab per learner
  STEPS=04,05     which steps (default: all)
  OUT=grades.csv  the table: learner, step, verdict, diagnosis (the catalogue's name), ms per iteration, seconds
  TIME_LIMIT=S    seconds for one run of a program (default 60)
  CHECK_LIMIT=S   seconds for the whole check of a step (default 600)
  MEMORY=M        MiB of memory for it (default 8192)
  DISK=M          MiB on disk for it (default 2048)

It runs the learners' programs. Of a working copy only exercises/NN/jacobi.* is taken, and put into a new copy of a
handout of this lab, so that no script and no build file of theirs runs. A program that exceeds a limit costs its own
row. If the superuser calls it, the programs run as nobody.

Exit: 0, 2 bad usage, 4 OUT cannot be written, 77 what it needs is not here."""

import csv
import io
import os
import pathlib
import shutil
import subprocess
import tempfile

import labtools_here  # noqa: F401
from confined import Confined, Limits
from labtools.files import ROOT, STEPS, steps
from labtools.machine import gpu_here
from labtools.process import attempt, fail, must_write, reason
from labtools.progress import last_lines
from learners import Lab, Unreadable, cell_of, class_folder, milliseconds, number_of, plain, read_inside

COLUMNS = ("learner", "step", "verdict", "diagnosis", "ms", "seconds")
MIB = 1 << 20
# The lab's own verdicts; a file that says anything else was not written by a check.
VERDICTS = ("unchanged", "wrong", "right", "done", "goal missed", "does not compile")
BUILD = r"""source scripts/lib/lib.sh
all_steps=1
configure
build_program validate goals || exit
for number in "$@"; do
  mapfile -t targets < <(grep "^exercise_${number}_" "$build_dir/step_targets.txt")
  # One at a time: those of the others are built, although one does not compile.
  for target in "${targets[@]}"; do build_watched "$build_dir/grade.log" "$target" || true; done
done"""


def wanted_steps():
    """[(name, source, needs)] of the steps that STEPS names."""
    named = [word for word in os.environ.get("STEPS", "").replace(",", " ").split() if word]
    numbers = {STEPS.get(word[:2].zfill(2) if word.isdigit() else word[:2]) for word in named}
    if None in numbers:
        fail(f"STEPS={os.environ['STEPS']}: names a step that there is not", 2)
    return [one[:3] for one in steps() if not named or one[0] in numbers]


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
        built = subprocess.run(["bash", "-euo", "pipefail", "-c", BUILD, "build.sh", *numbers], cwd=self.work,
                               check=False, env={**os.environ, **self.variables()}, stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, errors="replace")
        if built.returncode != 0:
            raise Unreadable(f"the lab does not build: {reason(built.stdout, built.stderr)}")
        shutil.rmtree(self.base)
        self.work.rename(self.base)

    def check(self, step, source, needs, code):
        """(verdict, diagnosis, ms, seconds) of the code of a learner's exercise."""
        # A new copy, with all dates as they are: nothing is built again.
        shutil.rmtree(self.work, ignore_errors=True)
        subprocess.run(["cp", "-a", self.base, self.work], check=True)
        (self.work / "exercises" / step / source).write_bytes(code)
        ended = self.box.run(["scripts/verbs/check.sh"], self.variables(STEP=step[:2]), needs == "ranks")
        if ended.limit:
            return f"exceeded its limit: {ended.limit}", "", "", ended.seconds
        row = last_lines(read_inside(self.work, "results", "local", "progress.tsv")).get(step)
        if not row or row[0] not in VERDICTS:
            words = "cannot run here" if ended.code == 77 else f"no verdict (exit code {ended.code})"
            return words, plain(reason(ended.out), 160), "", ended.seconds
        cell = cell_of(row[0], row[4], row[2])
        return row[0], cell.mistake, self.timed(step) if cell.state in ("right", "done") else "", ended.seconds

    def timed(self, step):
        """Its ms per iteration, with a GPU."""
        if self.gpu:
            self.box.run(["scripts/verbs/progress.sh"], self.variables(TIME="1"))
        times = last_lines(read_inside(self.work, "results", "local", "progress_times.tsv"))
        return milliseconds(times.get(step, ["", ""])[1]) or ""


def exercises_of(folder, wanted, starts):
    """[(step, source, needs, code or None if it is unchanged, what is wrong or "")] of a working copy."""
    found = []
    for step, source, needs in wanted:
        try:
            code = read_inside(folder, "exercises", step, source)
            trouble = "" if code is not None else "missing"
            found.append((step, source, needs, None if code == starts[step] else code, trouble))
        except Unreadable as error:
            found.append((step, source, needs, None, f"cannot be read: {plain(str(error), 100)}"))
    return found


def safe(text):
    """A cell that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def grade(folder, wanted, grader, starts, tell):
    """The rows of the table."""
    class_ = [(path.name, exercises_of(path, wanted, starts)) for path in sorted(pathlib.Path(folder).iterdir())
              if path.is_dir() and not path.is_symlink() and not path.name.startswith(".")]
    if changed := {step[:2] for _, exercises in class_ for step, _, _, code, _ in exercises if code is not None}:
        tell(f"building the lab for steps {', '.join(sorted(changed))} ...")
        grader.prepare(sorted(changed))
    table = []
    for name, exercises in class_:
        for step, source, needs, code, trouble in exercises:
            result = trouble or "unchanged", "", "", 0
            if code is not None:
                try:
                    result = grader.check(step, source, needs, code)
                except Unreadable as error:
                    result = "no verdict", plain(str(error), 160), "", 0
            table.append([safe(plain(name, 60)), step, result[0], safe(result[1]), result[2], f"{result[3]:.0f}"])
            if code is not None or trouble:
                tell("  ".join(str(field) for field in table[-1] if field))
    return table


def main():
    folder = class_folder("the learners' working copies")
    out = pathlib.Path(os.environ.get("OUT") or "grades.csv").absolute()
    wanted = wanted_steps()
    limits = Limits(number_of("CHECK_LIMIT", 600, 86400), number_of("MEMORY", 8192, 1 << 22) * MIB,
                    number_of("DISK", 2048, 1 << 22) * MIB, 256)
    os.environ.pop("MAKEFLAGS", None)  # the verbs that it calls do not know its own variables
    starts = Lab().starts
    with tempfile.TemporaryDirectory(prefix="jacobi-grade-", ignore_cleanup_errors=True) as scratch:
        os.chmod(scratch, 0o711)
        grader = Grader(pathlib.Path(scratch), limits)
        print(f"Learners' programs run as {'nobody' if grader.box.identity else 'you'}, "
              f"{'without' if grader.box.no_network else 'with'} a network.", flush=True)
        table = grade(folder, wanted, grader, starts, lambda line: print(line, flush=True))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *table])
    must_write(out, text.getvalue(), f"OUT={out}", 4)
    print(f"{out}: {len(table)} rows")


if __name__ == "__main__":
    try:
        main()
    except Unreadable as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("interrupted: nothing was written", 130)
