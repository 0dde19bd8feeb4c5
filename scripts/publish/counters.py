#!/usr/bin/env python3
"""Compares the counters of CUDA on the CPU (make count) with those of a GPU.

  counters.py --write DIR   on a machine with a GPU and ncu: counts every step's kernels in both ways, and writes
                            DIR/counters.tsv. A test compares it with what the CPU counts later

The programs solution_NN_name and solution_NN_name_cpu_watched must have been built.
"""

import os
import pathlib
import re
import tempfile

import labtools_here  # noqa: F401
from labtools.profilers import ncu
from labtools.files import BUILD, ROOT, steps_with_kernels
from labtools.machine import parser_of, ready
from labtools.profilers.run_tables import kernel_launched
from labtools.process import fail, run
from labtools.table import Table, write_table
from labtools.profilers.tracer import NotPossible

SOURCES = {step.name: ROOT / "solutions" / step.name / step.source for step in steps_with_kernels()}
SIZES = (250, 1024)
COLUMNS = ["step", "kernel", "n", "quantity", "cpu", "ncu", "difference_percent"]

# What is compared: its name, ncu's metric, and how to get it from the table of the CPU:
# (space, access, column).
QUANTITIES = [
    ("load requests", ncu.of_global("requests", "ld"), ("global", "load", "requests")),
    ("load sectors", ncu.of_global("sectors", "ld"), ("global", "load", "sectors")),
    ("store requests", ncu.of_global("requests", "st"), ("global", "store", "requests")),
    ("store sectors", ncu.of_global("sectors", "st"), ("global", "store", "sectors")),
    ("atomic requests", ncu.of_global("requests", "red"), ("global", "atomic", "requests")),
    ("shared loads", "smsp__inst_executed_op_shared_ld.sum", ("shared", "load", "requests")),
    ("shared stores", "smsp__inst_executed_op_shared_st.sum", ("shared", "store", "requests")),
    ("shared load passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", ("shared", "load", "wavefronts")),
    ("shared store passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", ("shared", "store", "wavefronts")),
]
# Copies to shared memory that pass by the registers. ncu's sectors of a load request are more than it reads there.
ASYNCHRONOUS = "smsp__inst_executed_op_ldgsts.sum"
# A step may launch as many blocks as these have room for: the CPU is told how many the GPU has.
MULTIPROCESSORS = "device__attribute_multiprocessor_count"
# Where nvcc makes other instructions of the source, the counts of these must differ (lab/cpu/README.md says why); the
# sectors and the passes, which are what takes time, are also compared there.
BY_NVCC = {("12", "load requests"), ("13", "shared loads")}


def options_of_run(source, n):
    """One sweep; if a step performs several per pass, one pass."""
    levels = re.search(r"^constexpr int kLevels = (\d+);", source.read_text(), re.MULTILINE)
    return ["--n", str(n), "--iterations", levels.group(1) if levels else "1", "--quiet"]


def count_on_cpu(step, source, n, multiprocessors):
    """{kernel's name: {quantity: count}} of one launch each. Kernels that only set up are left out."""
    lines = source.read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "counts.tsv"
        run([BUILD / "bin" / f"solution_{step}_cpu_watched", *options_of_run(source, n)],
            env=os.environ | {"LAB_CPU_COUNTS": str(table), "LAB_CPU_MULTIPROCESSORS": str(multiprocessors)})
        rows = Table(table).rows
    kernels = {}
    for row in rows:
        name = kernel_launched(lines, int(row["kernel_line"]))
        if not name:
            raise NotPossible(f"line {row['kernel_line']} of a step's source launches no kernel: build it again")
        name = name.partition("<")[0]
        if "init" in name:
            continue
        counts = kernels.setdefault(name, {quantity: 0 for quantity, _, _ in QUANTITIES})
        for quantity, _, (space, access, column) in QUANTITIES:
            if (row["space"], row["access"]) == (space, access):
                counts[quantity] += int(row[column]) // int(row["launches"])
    return kernels


def count_on_gpu(path, step, source, n):
    """The same by ncu, the kernels that copy to shared memory asynchronously, and how many multiprocessors there are."""
    launches = ncu.count(path, ["--kernel-name", "regex:sweep|pass|copy"],
                         [*[metric for _, metric, _ in QUANTITIES], ASYNCHRONOUS, MULTIPROCESSORS],
                         [BUILD / "bin" / f"solution_{step}", *options_of_run(source, n)])
    # The instances of a template are one kernel here, as they are on the CPU.
    return ({launch["kernel"].split("<")[0]: {quantity: int(launch[metric]) for quantity, metric, _ in QUANTITIES}
             for launch in launches},
            {launch["kernel"].split("<")[0] for launch in launches if launch.get(ASYNCHRONOUS)},
            max((int(launch[MULTIPROCESSORS]) for launch in launches), default=0))


def difference(on_cpu, on_gpu):
    if on_gpu == 0:
        return 0.0 if on_cpu == 0 else float("inf")
    return on_cpu / on_gpu - 1


def take_away_cub(on_cpu, on_gpu, of_cub):
    """What CUB does in shared memory is not counted on the CPU. A step that has no shared memory of its
    own shows how much it is; a later one, with the same reduction, does as much."""
    shared = [quantity for quantity, _, _ in QUANTITIES if quantity.startswith("shared")]
    if not any(on_cpu[quantity] for quantity in shared):
        of_cub.update({quantity: on_gpu[quantity] for quantity in shared})
    for quantity in shared:
        on_gpu[quantity] -= of_cub.get(quantity, 0)


def write(folder):
    machine, path = ready(folder, [f"bin/solution_{step}{end}" for step in SOURCES for end in ("", "_cpu_watched")], "ncu")
    if not path:
        fail("ncu was not found")
    rows, of_cub = [], {}
    for step, source in SOURCES.items():
        for n in SIZES:
            on_gpu, copying, multiprocessors = count_on_gpu(path, step, source, n)
            on_cpu = count_on_cpu(step, source, n, multiprocessors)
            if on_cpu.keys() != on_gpu.keys():
                raise NotPossible(f"{step}: kernels on the CPU {sorted(on_cpu)}, on the GPU {sorted(on_gpu)}")
            for kernel in on_gpu:
                take_away_cub(on_cpu[kernel], on_gpu[kernel], of_cub.setdefault((kernel, n), {}))
                for quantity, _, _ in QUANTITIES:
                    a, b = on_cpu[kernel][quantity], on_gpu[kernel][quantity]
                    if (a or b) and not (quantity == "load sectors" and kernel in copying):
                        rows.append(dict(zip(COLUMNS, (step, kernel, str(n), quantity, a, b, f"{100 * difference(a, b):.2f}"))))
            print(f"{step} n = {n}: counted", flush=True)
    write_table(folder / "counters.tsv",
                ["What one launch of each kernel does to memory, counted by CUDA on the CPU and by ncu.",
                 "Shared memory: without CUB's own part, which ncu counts in step 08, which has no other.",
                 "Written by scripts/publish/counters.py --write."],
                {**machine, "multiprocessors": multiprocessors}, COLUMNS, rows)
    worst = max((row for row in rows if (row["step"][:2], row["quantity"]) not in BY_NVCC),
                key=lambda row: abs(float(row["difference_percent"])))
    print(f"{len(rows)} counts; the largest difference: {worst['difference_percent']} % "
          f"({' '.join(worst[column] for column in COLUMNS[:4])})")


if __name__ == "__main__":
    try:
        write(parser_of(__doc__).parse_args().write)
    except NotPossible as error:
        fail(error)
