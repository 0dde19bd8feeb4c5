"""How far the learner is.

  progress.py board        the table of `make progress`
  progress.py table        step, state, date, where it ran, mistake and ms, with tabs between them
  progress.py next [STEP]  the first step (after STEP) with something left to do, or nothing
  progress.py right        the steps whose exercises are worth timing
  progress.py time STEP    runs its exercise, which has been built, and remembers the time

scripts/verbs/progress.sh says what the files are that it reads. The states "done", "right" and "no task" leave nothing to
do; "skipped: no MPI" is no task of this machine.
"""

import collections
import contextlib
import datetime
import hashlib
import pathlib
import re
import shutil
import sys
import tempfile
import textwrap

from labtools.files import BUILD, RESULTS, ROOT, step_named, steps
from labtools.machine import gpu_here
from labtools.numbers import number
from labtools.process import attempt, print_for_people, warn
from labtools.table import Table
from labtools.profilers.tracer import NotPossible, time_of

# date: "-" if the exercise was edited since it was checked; ms: at the step's n.
Row = collections.namedtuple("Row", "step state date where mistake ms")


def read_here(*parts):
    """The bytes of a file of this lab; None if it cannot be read."""
    with contextlib.suppress(OSError):
        return ROOT.joinpath(*parts).read_bytes()


def lines_of(data):
    """The fields of each line, in their order, of the bytes of a file that the verbs keep in results/local; None: no file."""
    return [line.split("\t") + ["-"] * 6 for line in (data or b"").decode("utf-8", "replace").splitlines()]


def last_lines(data):
    """{first field: those after it} of such a file; the last line counts."""
    return {fields[0]: fields[1:] for fields in lines_of(data)}


def kept(name):
    """{step: the fields after it} of such a file of this lab."""
    return last_lines(read_here("results", "local", name))


def remember(name, *fields):
    """These fields are a line more of a file in results/local. Returns whether they could be written."""
    path = ROOT / "results/local" / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("\t".join(fields) + "\n")
    except OSError:
        warn(f"results/local/{name}: cannot be written, so this is not remembered")
        return False
    return True


def mpi_here():
    """Whether this machine can build a job of several ranks: what CMake found, or before that a compiler."""
    log = BUILD / "configure.log"
    if log.is_file():
        return re.search(r"^-- MPI [0-9]", log.read_text(errors="replace"), re.MULTILINE)
    return shutil.which("mpicxx") or shutil.which("mpic++")


def judged(verdict, todos):
    """The state of an exercise that was checked as it is now."""
    if verdict == "goal missed":
        return "right, goal not reached"
    return f"right so far, {todos} TODO{'s' * (todos != 1)} left" if todos and verdict in ("right", "done") else verdict


EDITED = "edited, not checked since"


def rows_of(read, starts):
    """The Row of each step of a working copy. read("exercises", ...) gives a file of it, None if it is not there; starts:
    {step: the exercise as it was handed out}, as far as that is known."""
    verdicts, times = (lines_of(read("results", "local", name)) for name in ("progress.tsv", "progress_times.tsv"))
    verdicts = {(fields[0], fields[2]): fields for fields in verdicts}
    times = {(fields[0], fields[1], fields[3]): fields[2] for fields in times}
    found = []
    for step in steps():
        state, date, where, mistake, ms = "missing", "-", "-", "-", "-"
        code = read("exercises", step.name, step.source)
        if code is not None and code == starts.get(step.name):
            state = "unchanged"
        elif code is not None:
            state, checksum = EDITED, hashlib.sha256(code).hexdigest()
            ms = times.get((step.name, str(step.n), checksum), "-")
            if (step.name, checksum) in verdicts:
                _, verdict, _, date, where, mistake, *_ = verdicts[step.name, checksum]
                state = judged(verdict, code.count(f"TODO({step.name[:2]})".encode()))
        found.append(Row(step.name, state, date, where, mistake, ms))
    return found


def rows():
    """The Row of each step."""
    found = {row.step: row for row in rows_of(read_here, {})}
    unknown, first = [row.step for row in found.values() if row.state == EDITED], steps()[0].name
    for name in attempt([ROOT / "scripts/lib/start.sh", "--unchanged", *unknown, first], 600)[1].split():
        found[name] = found[name]._replace(state="unchanged" if name != first else "no task")
    for step in steps():
        if step.name in unknown and step.needs == "ranks" and not mpi_here():
            found[step.name] = found[step.name]._replace(state="skipped: no MPI")
    return list(found.values())


def is_done(row):
    """Whether nothing is left to do. In the first step there never was: a check is enough."""
    return row.state in ("right", "done") or row.state == "no task" and row.date != "-"


def time_step(name):
    step = step_named(name)
    with tempfile.TemporaryDirectory() as folder:
        try:
            times = time_of([BUILD / f"bin/exercise_{name}"], step.n, step.iterations, pathlib.Path(folder), seconds=600)
        except NotPossible as error:
            print(f"  {name}: could not be timed ({error})")
            sys.exit(1)
    checksum = hashlib.sha256(read_here("exercises", name, step.source)).hexdigest()
    remember("progress_times.tsv", name, str(step.n), str(times["iteration_ms_median"]), checksum,
             datetime.datetime.now().strftime("%Y-%m-%d %H:%M"), times["device"])


def short_date(date):
    """Without the year, as people say it."""
    with contextlib.suppress(ValueError):
        return datetime.datetime.strptime(date, "%Y-%m-%d %H:%M").strftime("%d %b %H:%M")
    return date


def short(ms):
    """Three digits that count, but no more than five decimals."""
    value = number(ms)
    return "-" if value is None else f"{value:.{next((k for k in range(5) if value * 10 ** k >= 100), 5)}f}"


def summary(found):
    """How many are done, and what is next."""
    tasks = [row for row in found[1:] if not row.state.startswith("skipped")]  # the first step has none
    skipped = len(found) - 1 - len(tasks)
    done, right = (sum(row.state == state for row in tasks) for state in ("done", "right"))
    text = f"{done} of {len(tasks)} done."
    if right and gpu_here():
        text = f"{done + right} of {len(tasks)} done (some goals of {right} were not measured)."
    elif right:
        text = f"{done + right} of {len(tasks)} done, as far as this machine can tell (goals of {right} need a GPU)."
    if skipped:
        text += f" {skipped} skipped: no MPI (make setup installs it)."
    following = next((row.step for row in tasks if row.state not in ("done", "right")), None)
    if all(row.date == "-" for row in found):
        following = found[0].step  # it has no task, but a guide
    return text + (f" Next: exercises/{following}/README.md" if following else "")


def print_board(found):
    table = Table(RESULTS / "ladder.tsv")
    gpu = table.facts["gpu"].split()[-1][:7]
    published = {(row["step"], row["n"]): row["ms"] for row in table.rows if row["verdict"] == "right"}
    sizes = {step.name: str(step.n) for step in steps()}
    timed = any(row.ms != "-" for row in found)
    lines = [("step", "state", "last checked", "your ms", gpu)]
    words = {"right": "done, goals unmeasured"}
    lines += [(row.step, words.get(row.state, row.state), "-" if row.date == "-" else f"{short_date(row.date)} {row.where.upper()}", short(row.ms),
               short(published.get((row.step, sizes[row.step])))) for row in found]
    name_wide, state_wide = (max(len(line[k]) for line in lines) for k in (0, 1))
    for name, state, checked, mine, theirs in lines:
        times = f" {mine:>7} {theirs:>7}" if timed else ""
        print(f"{name:{name_wide}}  {state:{state_wide}}  {checked:16}{times}".rstrip())
    if timed:
        print(f"\nyour ms: per iteration at the step's default n; {gpu}: the published solution")
    print()
    print(textwrap.fill(summary(found), 80, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))


def main():
    print_for_people()
    what, *names = sys.argv[1:]
    if what == "board":
        print_board(rows())
    elif what == "table":
        for row in rows():
            print(*row, sep="\t")
    elif what == "next":
        after = names[0] if names else ""
        print(next((row.step for row in rows()
                    if row.step > after and not re.fullmatch("done|right|no task|skipped.*", row.state)), ""))
    elif what == "right":
        # The code as found is where the learner's ladder begins.
        print(*(row.step for row in rows() if re.match("right|done|no task", row.state)), sep="\n")
    else:
        time_step(names[0])


if __name__ == "__main__":
    main()
