"""Variants of the solutions: made by patches and replaced texts, compiled, validated, timed."""

import json

from labtools.files import ROOT
from labtools.process import attempt, fail, reason
from labtools.tracer import NotPossible

BANK = ROOT / "validate/tests/bank/right"


def patched(text, step, change, folder):
    """The text of the step's solution with one change: the name of a patch of the bank, or (old, new), of which old
    stands in it once."""
    solution = f"solutions/{step}/jacobi.cu"
    if not isinstance(change, str):
        old, new = change
        if text.count(old) != 1:
            raise NotPossible(f"{solution} has {text.count(old)} times, and not once: {old.strip().splitlines()[0]}")
        return text.replace(old, new)
    patch, before, after = BANK / step / f"{change}.patch", folder / f"{change}.before", folder / f"{change}.after"
    before.write_text(text, encoding="utf-8")
    code, *_ = attempt(["patch", "--silent", "--fuzz=0", "--reject-file=-", "-o", after, before, patch])
    before.unlink()
    if code != 0:
        raise NotPossible(f"{patch.relative_to(ROOT)} does not apply to {solution}")
    text = after.read_text(encoding="utf-8")
    after.unlink()
    return text


def make_source(step, changes, source):
    """Writes the solution of a step, changed, to the file `source`. The solution may have changed since."""
    text = (ROOT / "solutions" / step / "jacobi.cu").read_text(encoding="utf-8")
    for change in changes:
        text = patched(text, step, change, source.parent)
    source.write_text(text, encoding="utf-8")


def compile_source(nvcc, build, step, source, *options):
    """(program, what nvcc said), for the GPU that is here."""
    program = source.with_suffix("")
    command = [nvcc, "-std=c++17", "-O3", "-arch=native", *options, f'-DLAB_STEP_NAME="{step}"',
               f"-I{ROOT}/lab/include", source, build / "lab/liblab.a", "-o", program]
    code, out, error = attempt(command)
    if code != 0:
        raise NotPossible(f"does not compile: {reason(out, error)}")
    return program, out + error


def time_of(program, folder, n, iterations, *options, seconds=300, **more):
    """run.json of a run: its times are of an iteration, in milliseconds. The record lies in `folder`/record."""
    record = folder / "record"
    code, out, error = attempt([program, "--n", n, "--iterations", iterations, "--quiet", "--record", record,
                                "--record-field", "rows", *options], seconds, **more)
    if code > 1:
        raise NotPossible(f"exit code {code}: {reason(out, error)}")
    try:
        times = json.loads((record / "run.json").read_text())
        for name in ("median", "q1", "q3", "min", "max"):
            float(times[f"iteration_ms_{name}"])
        int(times["iteration_samples"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotPossible(f"it recorded no times ({type(error).__name__}: {error})") from None
    return times


def quartiles(times):
    """[median, first and third quartile, samples] of run.json, as a table has them."""
    return [f"{times[f'iteration_ms_{what}']:.6f}" for what in ("median", "q1", "q3")] + [str(times["iteration_samples"])]


def must_time(program, *arguments, **options):
    """The same, or the end."""
    try:
        return time_of(program, *arguments, **options)
    except NotPossible as error:
        fail(f"{program}: {error}")
