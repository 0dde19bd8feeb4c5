"""Runs a program, also under the lab's own tracer, and reads what it wrote."""

import json
import os
import re

from labtools.files import BUILD
from labtools.process import attempt, reason
from labtools.table import Table


class NotPossible(Exception):
    """Why a program cannot be traced, counted or timed, in words."""


def kernel_name(text):
    """"void sweep<(bool)1, float>(float*, int)" and "sweep<true, float>" are sweep<1, float>."""
    text = re.sub(r"\((?:bool|(?:unsigned )?(?:int|long|char|short))\)", "", text.strip())
    text = text.removeprefix("void ").replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    text = re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", text))
    # The parameters begin at the first bracket outside of the template's arguments.
    depth = 0
    for k, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if character == "(" and depth == 0:
            return text[:k].strip()
    return text


def environment(table):
    """What loads the tracer into a program."""
    library = BUILD / "lib/liblab_trace.so"
    if not library.exists():
        raise NotPossible(f"{library.name} has not been built")
    return os.environ | {"CUDA_INJECTION64_PATH": str(library), "NVTX_INJECTION64_PATH": str(library),
                         "LAB_TRACE_TSV": str(table)}


def trace(command, table, seconds=240):
    """The rows of the table that the tracer writes of the command's run; kernels have their names as ncu has them."""
    table.unlink(missing_ok=True)
    code, out, error = attempt(command, seconds, env=environment(table))
    if code > 1 or not table.exists():
        raise NotPossible(f"not traced, exit code {code}: {reason(out, error)}")
    rows = Table(table).rows
    for row in rows:
        if row.get("table") == "kernels":
            row["name"] = kernel_name(row["name"])
    return rows


def time_of(command, n, iterations, folder, *options, seconds=300, **more):
    """run.json of a run: its times are of an iteration, in milliseconds. The record lies in `folder`/record."""
    record = folder / "record"
    code, out, error = attempt([*command, "--n", n, "--iterations", iterations, "--quiet", "--record", record,
                                "--record-field", "none", *options], seconds, **more)
    if code > 1:
        raise NotPossible(f"exit code {code}: {reason(out, error)}")
    times = json.loads((record / "run.json").read_text())
    if times.get("iteration_ms_median") is None:
        raise NotPossible("it recorded no times")
    return times


def quartiles(times):
    """[median, first and third quartile, samples] of run.json, as a table has them."""
    return [f"{times[f'iteration_ms_{what}']:.6f}" for what in ("median", "q1", "q3")] + [str(times["iteration_samples"])]
