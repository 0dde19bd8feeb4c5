#!/usr/bin/env python3
"""Times the kernels of the clinic before and after, on a machine with a GPU.

  clinic.py --write DIR   runs exercise and solution of each kernel in lab/clinic.tsv, and writes DIR/clinic.tsv

A program whose result is wrong gets no time. Operations (of floats, doubles and integers) and bytes of L2 are those of one
run, counted by ncu; '-' if it cannot. It needs the programs `clinic`, exercise_clinic_NAME and solution_clinic_NAME, and
the last two also with the ending _cpu_watched.
"""

import pathlib
import re
import tempfile

import labtools_here  # noqa: F401
from labtools.profilers import ncu
from labtools.files import BUILD, ROOT, clinic_kernels
from labtools.machine import NVCC, parser_of, ready
from labtools.process import attempt, fail, reason, run, warn
from labtools.table import write_table
from labtools.profilers.tracer import NotPossible

KINDS = ("exercise", "solution")
OPERATIONS = {**ncu.FLOPS["float"], **ncu.FLOPS["double"], "smsp__sass_thread_inst_executed_op_integer_pred_on.sum": 1}
L2_BYTES = ncu.BYTES["l2"]


def goals_of(kind, name):
    """{goal: (reached, what was counted)} of a kernel whose result is right on the CPU and on the GPU."""
    program = BUILD / f"bin/{kind}_clinic_{name}"
    with tempfile.TemporaryDirectory() as folder:
        code, out, error = attempt([NVCC, "-std=c++17", "-cubin", "-Xptxas", "-v", "--keep", "--keep-dir", folder,
                                    f"-I{ROOT / 'lab/include'}", '-DLAB_STEP_NAME="clinic"',
                                    ROOT / f"{kind}s/clinic/{name}/kernel.cu", "-o", f"{folder}/cubin"])
        if code:
            fail(f"{kind}s/clinic/{name}/kernel.cu: {reason(out, error)}")
        (pathlib.Path(folder) / "log").write_text(out + error)
        code, out, error = attempt([BUILD / "bin/clinic", "--name", name, "--on-gpu", program, "--from-nvcc", folder,
                                    f"{program}_cpu_watched"])
    if not re.search(rf"^clinic/{name}: (done|right.*)$", out, re.MULTILINE):
        fail(f"{program.name}: {reason(out, error) if code else out}")
    return {goal: (word == "reached", found)
            for word, goal, found in re.findall(r"^  Goal ([a-zA-Z ]+): (.*)\n    (.*)$", out, re.MULTILINE)}


def ms_of(kind, name, n):
    """The median of a kernel's times, in milliseconds."""
    said = run([BUILD / f"bin/{kind}_clinic_{name}", "--n", n])
    ms = re.search(r": ([0-9.]+) ms \(median of", said)
    return float(ms[1]) if ms else fail(f"{kind}_clinic_{name}: {reason(said)}")


def counted(path, kind, name, n):
    """[operations, bytes of L2] of one run's kernels, as text."""
    if not path:
        return ["-", "-"]
    try:
        launches = ncu.count(path, ncu.UNCHANGED, [*OPERATIONS, L2_BYTES], [
            BUILD / f"bin/{kind}_clinic_{name}", "--n", n, "--iterations", "1", "--quiet"], seconds=60)
        return [f"{sum(launch[metric] * weight for launch in launches for metric, weight in metrics.items()):.0f}"
                for metrics in (OPERATIONS, {L2_BYTES: 1})]
    except (NotPossible, KeyError, TypeError) as error:
        warn(f"{kind}_clinic_{name}: not counted: {error}")
        return ["-", "-"]


def main():
    out = parser_of(__doc__).parse_args().write
    kernels, rows = clinic_kernels(), []
    programs = [f"bin/{kind}_clinic_{name}{end}" for name, _ in kernels for kind in KINDS for end in ("", "_cpu_watched")]
    facts, path = ready(out, ["bin/clinic", *programs], "ncu")
    for name, n in kernels:
        before, after = (goals_of(kind, name) for kind in KINDS)
        missed = [goal for goal, (reached, _) in before.items() if not reached]
        if not missed:
            fail(f"exercise_clinic_{name}: misses no goal: it has been edited (make reset CLINIC={name})")
        ms = [ms_of(kind, name, n) for kind in KINDS]
        counts = [text for kind in KINDS for text in counted(path, kind, name, n)]
        rows.append([name, n, *(f"{value:.6f}" for value in ms), before[missed[0]][1], after[missed[0]][1], *counts])
        print(f"{name}, n = {n}: {ms[0]:.4f} ms, then {ms[1]:.4f} ms", flush=True)
    write_table(out / "clinic.tsv",
                ["Time of each kernel of the clinic before and after, and what its first missed goal counts (at n = 256).",
                 "Written by scripts/publish/clinic.py."],
                facts, ["kernel", "n", "before_ms", "after_ms", "before_count", "after_count", "before_operations",
                        "before_l2_bytes", "after_operations", "after_l2_bytes"], rows)


if __name__ == "__main__":
    main()
