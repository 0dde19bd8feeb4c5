#!/usr/bin/env python3
"""Times steps 10 and 11 on grids of several sizes, on a machine with a GPU.

  graph_table.py --write DIR   runs step 10, step 11, and the two variants of step 11 that are
                               validate/tests/bank/right/11_cuda_graph/no_graph*.patch, at n = 128 ... 4096,
                               and writes DIR/graph.tsv

A program that the validator does not call right gets no time. Options: --build DIR (default: build); it holds
the programs validate, solution_10_pointer_swap and solution_11_cuda_graph.
"""

import argparse
import concurrent.futures
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from labtools.measuring import compile_variant, machine, need_folder, need_programs, record_of, run, write_table  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEFORE, STEP = "10_pointer_swap", "11_cuda_graph"
# n, and sweeps that take some tenths of a second there.
SIZES = {128: 20000, 256: 20000, 512: 20000, 1024: 10000, 2048: 5000, 4096: 1500}


def time_of(program, folder, n, iterations):
    """[median, first quartile, third quartile] of the milliseconds of a sweep, and how many samples."""
    run([program, "--n", n, "--iterations", iterations, "--quiet", "--record", folder / "record", "--record-field", "rows"])
    record = record_of(folder / "record")
    return [f"{record[f'iteration_ms_{what}']:.6f}" for what in ("median", "q1", "q3")] + [str(record["iteration_samples"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="DIR", type=pathlib.Path, required=True)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    need_programs(build, ("validate", f"solution_{BEFORE}", f"solution_{STEP}"))
    nvcc, facts = machine()
    need_folder(arguments.write)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        legal = ROOT / "validate/tests/bank/right"
        patches = [legal / STEP / f"{name}.patch" for name in ("no_graph_waits", "no_graph")]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waits, late = pool.map(lambda patch: compile_variant(nvcc, build, folder, STEP, patch), patches)
        programs = {"step_10": build / f"bin/solution_{BEFORE}", "waits": waits, "late": late,
                    "step_11": build / f"bin/solution_{STEP}"}
        for program in programs.values():
            run([build / "bin/validate", program])
        for n, iterations in SIZES.items():
            for variant, program in programs.items():
                rows.append([str(n), variant] + time_of(program, folder, n, iterations))
                print(f"n = {n}, {variant}: {1e3 * float(rows[-1][2]):.2f} us a sweep", flush=True)
    write_table(arguments.write / "graph.tsv",
                ["Time of a sweep, residual included. step_10: one in every sweep. The others: one every 10 sweeps,",
                 "which the host waits for (waits), or reads one check late (late); step_11: so, and as a graph.",
                 "Written by scripts/publish/graph_table.py."],
                facts, ["n", "variant", "ms", "ms_q1", "ms_q3", "samples"], rows)


if __name__ == "__main__":
    main()
