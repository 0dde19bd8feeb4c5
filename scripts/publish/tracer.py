#!/usr/bin/env python3
"""Compares the lab's own tracer (make trace) with nsys.

  tracer.py --write DIR   on a machine with a GPU and nsys: runs every solution under both, and writes
                          DIR/tracer.tsv. nsys is looked for where `make nsys` does; LAB_NSYS names another
"""

import pathlib
import tempfile

import labtools_here  # noqa: F401
from labtools.files import BUILD, steps
from labtools.machine import parser_of, ready
from labtools.process import fail, run
from labtools.profilers.profile_tables import nsys_tables, options_of, times_of, unified_memory
from labtools.table import write_table
from labtools.profilers.tracer import NotPossible, environment, kernel_name, time_of, trace

COLUMNS = "step n iterations table name quantity count nsys_count tracer nsys difference_percent".split()


def profiled(nsys, command, folder, options):
    """{(table, name): (count, total ns, median ns, bytes)} by nsys."""
    report = folder / "report"
    # nsys refuses an option that is given twice.
    options = {"--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true", *options}
    run([nsys, "profile", "-t", "cuda,nvtx", *sorted(options), "--force-overwrite=true", "-o", report, *command])
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
    out = parser_of(__doc__).parse_args().write
    chosen = [step for step in steps() if step.needs == "cuda"]
    head, nsys = ready(out, [f"bin/solution_{step.name}" for step in chosen], "nsys")
    if not nsys:
        fail("nsys was not found, neither on the PATH nor where toolkits and modules put it; LAB_NSYS names it")
    rows, overhead = [], []
    for step, _, _, n, iterations, *_ in chosen:
        program = BUILD / "bin" / f"solution_{step}"
        command = [program, "--n", n, "--iterations", iterations, "--quiet"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            try:
                ours = {(row["table"], row["name"].split("(")[0]):
                        tuple(float(row[column]) for column in ("count", "total_ns", "median_ns", "bytes"))
                        for row in trace(command, folder / "trace.tsv")}
                alone, watched = (time_of([program], n, iterations, folder, **options)["iteration_ms_median"]
                                  for options in ({}, {"env": environment(folder / "t.tsv")}))
            except NotPossible as error:
                fail(f"{step}: {error}")
            theirs = profiled(nsys, command, folder, options_of(step))
        overhead.append(("overhead", step, "n", n, "iterations", iterations, "ms_alone", f"{alone:.6g}", "ms_traced",
                         f"{watched:.6g}"))
        for key in sorted(ours.keys() & theirs.keys()):
            a, b = ours[key], theirs[key]
            # What migrates is compared in bytes, all else in time.
            quantity, x, y = ("bytes", a[3], b[3]) if key[0] == "migration" else ("median_ns", a[2], b[2])
            rows.append([step, n, iterations, *key, quantity, f"{a[0]:.0f}", f"{b[0]:.0f}", f"{x:.0f}", f"{y:.0f}",
                         f"{100 * (x / y - 1):.2f}" if y else "-"])
        print(f"{step}: {len(ours.keys() & theirs.keys())} lines in both, {len(theirs.keys() - ours.keys())} only in nsys",
              flush=True)
    write_table(out / "tracer.tsv",
                ["The lab's tracer against nsys: two runs of each solution. Written by scripts/publish/tracer.py."],
                [*head.items(), *overhead], COLUMNS, rows)


if __name__ == "__main__":
    main()
