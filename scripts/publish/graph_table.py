#!/usr/bin/env python3
"""Times steps 10 and 11 on grids of several sizes, on a machine with a GPU.

  graph_table.py --write DIR   runs step 10, step 11, and the two variants of step 11 that are
                               validate/tests/bank/right/11_cuda_graph/no_graph*.patch, at n = 128 ... 4096,
                               and writes DIR/graph.tsv

A program that the validator does not call right gets no time. Options: --build DIR (default: build); it holds
the programs validate, solution_10_pointer_swap and solution_11_cuda_graph.
"""

import concurrent.futures
import pathlib
import tempfile

import labtools_here  # noqa: F401
from labtools import variant
from labtools.files import STEPS
from labtools.machine import options_of, ready
from labtools.process import fail
from labtools.table import write_table
from labtools.tracer import NotPossible

BEFORE, STEP = STEPS["10"], STEPS["11"]
# n, and sweeps that take some tenths of a second there.
SIZES = {128: 20000, 256: 20000, 512: 20000, 1024: 10000, 2048: 5000, 4096: 1500}


def main():
    arguments = options_of(__doc__).parse_args()
    build = arguments.build
    nvcc, facts = ready(arguments, "validate", f"solution_{BEFORE}", f"solution_{STEP}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waits, late = pool.map(lambda patch: variant.compile_patch(nvcc, build, folder, STEP, patch),
                                   ("no_graph_waits", "no_graph"))
        programs = {"step_10": build / f"bin/solution_{BEFORE}", "waits": waits, "late": late,
                    "step_11": build / f"bin/solution_{STEP}"}
        for program in programs.values():
            variant.must_be_right(build, program)
        for n, iterations in SIZES.items():
            for name, program in programs.items():
                times = variant.must_time(program, folder, n, iterations)
                rows.append([str(n), name, *variant.quartiles(times)])
                print(f"n = {n}, {name}: {1e3 * float(rows[-1][2]):.2f} µs per sweep", flush=True)
    write_table(arguments.write / "graph.tsv",
                ["Time of a sweep, residual included. step_10: one in every sweep. The others: one every 10 sweeps,",
                 "which the host waits for (waits), or reads one check late (late); step_11: so, and as a graph.",
                 "Written by scripts/publish/graph_table.py."],
                facts, ["n", "variant", "ms", "ms_q1", "ms_q3", "samples"], rows)


if __name__ == "__main__":
    try:
        main()
    except NotPossible as error:
        fail(error)
