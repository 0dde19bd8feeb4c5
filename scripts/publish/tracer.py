#!/usr/bin/env python3
"""Compares the lab's own tracer (make trace) with nsys.

  tracer.py --write DIR   on a machine with a GPU and nsys: runs every solution under both, and writes
                          DIR/tracer.tsv. nsys is looked for where `make nsys` does; LAB_NSYS names another
Options: --build DIR (default: build), --steps 04,05 (default: all that need a GPU; with it, the rows of other steps
stay in DIR/tracer.tsv as they are, if they come from the same GPU, driver, CUDA and nsys).
"""

import argparse
import pathlib
import tempfile

import labtools_here  # noqa: F401
from labtools import variant
from labtools.files import ROOT, steps
from labtools.machine import find_profiler, gpu_facts
from labtools.process import fail, run
from labtools.profile_tables import nsys_tables, options_of, times_of, unified_memory
from labtools.table import update, write_table
from labtools.tracer import NotPossible, environment, kernel_name, trace

COLUMNS = "step n iterations table name quantity count nsys_count tracer nsys difference_percent".split()


def steps_on_gpu():
    """(name, n, iterations) of each step that needs a GPU, as words of a command."""
    for step in steps():
        if step.needs == "cuda":
            yield step.name, str(step.n), str(step.iterations)


def traced(build, command, folder):
    """{(table, name): (count, total ns, median ns, bytes)} by the lab's tracer."""
    return {(row["table"], row["name"].split("(")[0]):
            tuple(float(row[column]) for column in ("count", "total_ns", "median_ns", "bytes"))
            for row in trace(build, command, folder / "trace.tsv")}


def profiled(nsys, command, folder, options):
    """The same by nsys."""
    report = folder / "report"
    run([nsys, "profile", "-t", "cuda,nvtx", "--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true",
         *options, "--force-overwrite=true", "-o", report, *command])
    kinds = [word for kind in ("nvtx_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_size_sum") for word in ("--report", kind)]
    tables = nsys_tables(run([nsys, "stats", *kinds, "--format", "csv", "--force-export=true",
                              report.with_suffix(".nsys-rep")]).splitlines())
    found = {("migration", name): (count or 0, 0, 0, moved)
             for name, (moved, count) in unified_memory(tables).items() if " to " in name}
    for table, key, rows in (("nvtx", "Range", tables.get("nvtx_sum", [])),
                             ("kernels", "Name", tables.get("cuda_gpu_kern_sum", []))):
        for row in rows:
            _, total, count, median, *_ = times_of(row)
            found[table, row[key].lstrip(":") if table == "nvtx" else kernel_name(row[key])] = (count, total, median, 0)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="DIR", type=pathlib.Path, required=True)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--steps", default="")
    arguments = parser.parse_args()
    nsys = find_profiler("nsys") or \
        fail("nsys was not found, neither on the PATH nor where toolkits and modules put it; LAB_NSYS names it")
    wanted = [s for s in arguments.steps.split(",") if s]
    head = gpu_facts("nsys", nsys) or fail("there is no NVIDIA GPU here")
    rows, overhead = [], []
    for step, n, iterations in steps_on_gpu():
        if wanted and step[:2] not in wanted:
            continue
        command = [arguments.build / "bin" / f"solution_{step}", "--n", n, "--iterations", iterations, "--quiet"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            program = command[0]
            try:
                ours = traced(arguments.build, command, folder)
                alone, watched = (variant.time_of(program, folder, n, iterations, **options)["iteration_ms_median"]
                                  for options in ({}, {"env": environment(arguments.build, folder / "t.tsv")}))
            except NotPossible as error:
                fail(f"{step}: {error}")
            theirs = profiled(nsys, command, folder, options_of(step))
            overhead.append(("overhead", step, "n", n, "iterations", iterations, "ms_alone", f"{alone:.6g}", "ms_traced",
                             f"{watched:.6g}"))
        for key in sorted(ours.keys() & theirs.keys()):
            a, b = ours[key], theirs[key]
            # What migrates is compared in bytes, all else in time.
            quantity, x, y = ("bytes", a[3], b[3]) if key[0] == "migration" else ("median_ns", a[2], b[2])
            rows.append(dict(zip(COLUMNS, (step, n, iterations, *key, quantity, f"{a[0]:.0f}", f"{b[0]:.0f}", f"{x:.0f}",
                                           f"{y:.0f}", f"{100 * (x / y - 1):.2f}" if y else "-"))))
        print(f"{step}: {len(ours.keys() & theirs.keys())} lines in both, "
              f"{len([k for k in theirs if k not in ours])} only in nsys", flush=True)
    path = arguments.write / "tracer.tsv"
    measured = {line[1] for line in overhead}
    old, rows = update(path, head, rows, ("gpu", "driver", "cuda", "nsys")) if wanted else (None, rows)
    overhead += [("overhead", *fields) for fields in (old.lines_of("overhead") if old else []) if fields[0] not in measured]
    write_table(path, ["The lab's tracer against nsys: two runs of each solution. Written by scripts/publish/tracer.py."],
                [*head.items(), *sorted(overhead)], COLUMNS, rows)


if __name__ == "__main__":
    main()
