"""The runs that the report makes, and their records."""

import array
import json
import pathlib
import shutil

from labtools.files import BUILD, ROOT, steps
from labtools.process import attempt, reason, warn

SECONDS = 120  # for one run


def record(endings, step, needs, n, iterations):
    """The record of a run of a solution, {"run", "residuals", "field"}; or why there is none, in words. `endings`: of
    programs to try, until one is there and runs; if there are none, the record of an earlier run counts."""
    folder = BUILD / "report" / f"{step}-{n}-{iterations}"
    why = "it has not been run"
    if endings:
        why = "it has not been built"
        shutil.rmtree(folder, ignore_errors=True)
        programs = [BUILD / f"bin/solution_{step}{ending}" for ending in ([""] if needs == "cpu" else endings)]
        for program in filter(pathlib.Path.exists, programs):
            code, _, error = attempt([program, "--n", n, "--iterations", iterations, "--record", folder,
                                      "--record-field", "full"], SECONDS)
            if code == 0:
                break
            why = (error.strip().splitlines() or [f"exit code {code}"])[-1]
    try:
        return read_record(folder, n)
    except FileNotFoundError:
        return why
    except (OSError, ValueError, KeyError) as error:
        return f"its record cannot be read: {error}"


def read_record(folder, n):
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    lines = (folder / "residuals.csv").read_text(encoding="utf-8").splitlines()[1:]
    residuals = [(int(iteration), float(residual)) for iteration, residual in (line.split(",") for line in lines)]
    field = array.array("f")
    field.frombytes((folder / "field.f32").read_bytes())
    if len(field) != n * n or not residuals:
        raise ValueError("it is not complete")
    return {"run": run, "residuals": residuals, "field": field}


def build_solutions():
    """Brings the solutions in the build folder up to date."""
    print("building the solutions ...", flush=True)
    script = ('source "$1/scripts/lib/lib.sh" && shift && configure >/dev/null && choose_backend >/dev/null && '
              'if [[ $backend == gpu ]]; then build_targets solutions; else build_targets "$@" solutions_on_cpu; fi')
    first = [f"solution_{step}" for step, _, needs, *_ in steps() if needs == "cpu"]
    code, out, error = attempt(["bash", "-c", script, "report.py", ROOT, *first], None)
    if code != 0:
        warn(f"the solutions cannot be built: {reason(out, error)}")
