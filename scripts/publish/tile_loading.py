#!/usr/bin/env python3
"""Times step 09's sweep kernel with the tile loaded in other ways, on a machine with a GPU.

  tile_loading.py --write DIR   builds step 08, step 09 and the variants of it that are
                                validate/tests/bank/right/09_shared_tile/tile_by_*.patch, runs each under the
                                lab's tracer at n = 8192, and writes DIR/tile_loading.tsv

A variant that the validator does not call right gets no time. Options: --build DIR (default: build).
"""

import argparse
import csv
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from labtools.measuring import compile_variant, fail, machine, need_folder, need_programs, run, write_table  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEP = "09_shared_tile"
N, ITERATIONS = "8192", "100"


def sweep_times(build, program, folder):
    """[median, least, most] of the sweep kernel in milliseconds, and its registers."""
    table = folder / "trace.tsv"
    library = str(build / "lib/liblab_trace.so")
    run([program, "--n", N, "--iterations", ITERATIONS, "--quiet"],
        env=os.environ | {"CUDA_INJECTION64_PATH": library, "LAB_TRACE_TSV": str(table), "LAB_TRACE_QUIET": "1"})
    try:
        with table.open() as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if row["table"] == "kernels" and row["name"].startswith("jacobi_sweep_kernel"):
                    return [1e-6 * float(row[c]) for c in ("median_ns", "min_ns", "max_ns")] + [row["registers"]]
    except (OSError, KeyError, ValueError, TypeError) as error:
        fail(f"{program}: its trace cannot be read ({type(error).__name__}: {error})")
    fail(f"{program}: its sweep kernel was not traced")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="DIR", type=pathlib.Path, required=True)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    need_programs(build, ("validate", "solution_08_cub_reduction", f"solution_{STEP}"))
    nvcc, facts = machine()
    need_folder(arguments.write)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        programs = [("no_tile", "step 08: no tile", build / "bin/solution_08_cub_reduction"),
                    ("flat_loop", "step 09: one flat loop over the tile", build / f"bin/solution_{STEP}")]
        for patch in sorted((ROOT / "validate/tests/bank/right" / STEP).glob("tile_by_*.patch")):
            name = patch.stem
            program = compile_variant(nvcc, build, folder, STEP, patch)
            programs.append((name, patch.read_text().splitlines()[0][2:].rstrip("."), program))
        for name, words, program in programs:
            run([build / "bin/validate", "--n", "100,250,1000", program])
            median, least, most, registers = sweep_times(build, program, folder)
            rows.append((name, f"{median:.4f}", f"{least:.4f}", f"{most:.4f}", registers, words))
            print(f"{name}: {median:.4f} ms", flush=True)
    write_table(arguments.write / "tile_loading.tsv",
                [f"The sweep kernel of step 09 with its tile loaded in several ways, n = {N}, {ITERATIONS} sweeps.",
                 "Written by scripts/publish/tile_loading.py."],
                {**facts, "n": N}, ["variant", "median_ms", "min_ms", "max_ms", "registers", "what it is"], rows)


if __name__ == "__main__":
    main()
