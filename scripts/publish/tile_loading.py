#!/usr/bin/env python3
"""Times step 09's sweep kernel with the tile loaded in other ways, on a machine with a GPU.

  tile_loading.py --write DIR   builds step 08, step 09 and the variants of it that are
                                validate/tests/bank/right/09_shared_tile/tile_by_*.patch, runs each under the
                                lab's tracer at n = 8192, and writes DIR/tile_loading.tsv

A variant that the validator does not call right gets no time. Options: --build DIR (default: build).
"""

import pathlib
import tempfile

import labtools_here  # noqa: F401
from labtools import variant
from labtools.files import STEPS
from labtools.machine import options_of, ready
from labtools.process import fail
from labtools.table import write_table
from labtools.tracer import NotPossible, trace

STEP, BEFORE = STEPS["09"], STEPS["08"]
N, ITERATIONS = "8192", "100"


def sweep_times(build, program, folder):
    """[median, least, most] of the sweep kernel in milliseconds, and its registers."""
    try:
        rows = trace(build, [program, "--n", N, "--iterations", ITERATIONS, "--quiet"], folder / "trace.tsv")
        row = next(row for row in rows if row["table"] == "kernels" and row["name"].startswith("jacobi_sweep_kernel"))
        return [1e-6 * float(row[c]) for c in ("median_ns", "min_ns", "max_ns")] + [row["registers"]]
    except StopIteration:
        fail(f"{program}: its sweep kernel was not traced")
    except NotPossible as error:
        fail(f"{program}: {error}")
    except (KeyError, ValueError) as error:
        fail(f"{program}: its trace cannot be read ({error})")


def main():
    arguments = options_of(__doc__).parse_args()
    build = arguments.build
    nvcc, facts = ready(arguments, "validate", f"solution_{BEFORE}", f"solution_{STEP}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        programs = [("no_tile", "step 08: no tile", build / f"bin/solution_{BEFORE}"),
                    ("flat_loop", "step 09: one flat loop over the tile", build / f"bin/solution_{STEP}")]
        for patch in sorted((variant.BANK / STEP).glob("tile_by_*.patch")):
            program = variant.compile_patch(nvcc, build, folder, STEP, patch.stem)
            programs.append((patch.stem, patch.read_text().splitlines()[0][2:].rstrip("."), program))
        for name, words, program in programs:
            variant.must_be_right(build, program, "--n", "100,250,1000")
            median, least, most, registers = sweep_times(build, program, folder)
            rows.append((name, f"{median:.4f}", f"{least:.4f}", f"{most:.4f}", registers, words))
            print(f"{name}: {median:.4f} ms", flush=True)
    write_table(arguments.write / "tile_loading.tsv",
                [f"The sweep kernel of step 09 with its tile loaded in several ways, n = {N}, {ITERATIONS} sweeps.",
                 "Written by scripts/publish/tile_loading.py."],
                {**facts, "n": N}, ["variant", "median_ms", "min_ms", "max_ms", "registers", "what it is"], rows)


if __name__ == "__main__":
    try:
        main()
    except NotPossible as error:
        fail(error)
