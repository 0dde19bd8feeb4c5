#!/usr/bin/env python3
"""Holds the counters of CUDA on the CPU (make count) against those of a GPU.

  counters.py --write DIR   on a machine with a GPU and ncu: counts every step's kernels in both ways,
                            and writes DIR/counters.tsv
  counters.py --check DIR   without a GPU: counts on the CPU again, and holds it against DIR/counters.tsv;
                            exit 1 where they differ by more than 5 %

Options: --build DIR (default: build), --n N,N (with --write; default 250,1024).
The programs solution_NN_name and solution_NN_name_cpu_watched must have been built.
"""

import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ncu_reading  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOLERANCE = 0.05

# What is compared: its name, ncu's metric, and how to get it from the table of the CPU:
# (space, access, column).
QUANTITIES = [
    ("load requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", ("global", "load", "requests")),
    ("load sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", ("global", "load", "sectors")),
    ("store requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", ("global", "store", "requests")),
    ("store sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", ("global", "store", "sectors")),
    ("atomic requests", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", ("global", "atomic", "requests")),
    ("shared loads", "smsp__inst_executed_op_shared_ld.sum", ("shared", "load", "requests")),
    ("shared stores", "smsp__inst_executed_op_shared_st.sum", ("shared", "store", "requests")),
    ("shared load passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", ("shared", "load", "wavefronts")),
    ("shared store passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", ("shared", "store", "wavefronts")),
]


def fail(message):
    sys.exit(f"counters.py: {message}")


def steps_with_kernels():
    for line in (ROOT / "lab/steps.tsv").read_text().splitlines():
        fields = line.split("\t")
        if line[:1].isdigit() and fields[1].endswith(".cu"):
            yield fields[0], ROOT / "solutions" / fields[0] / fields[1]


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        fail(f"{' '.join(map(str, command))}: exit code {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def options_of_run(n):
    return ["--n", str(n), "--iterations", "1", "--quiet"]


def count_on_cpu(build, step, source, n):
    """{kernel's name: {quantity: count}} of one launch each."""
    lines = source.read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "counts.tsv"
        run([build / "bin" / f"solution_{step}_cpu_watched", *options_of_run(n)],
            env=os.environ | {"LAB_CPU_COUNTS": str(table)})
        rows = list(csv.DictReader(table.open(), delimiter="\t"))
    kernels = {}
    for row in rows:
        name = re.match(r"\s*(\w+)\s*(?:<\w+>)?\s*<<<", lines[int(row["kernel_line"]) - 1]).group(1)
        counts = kernels.setdefault(name, {quantity: 0 for quantity, _, _ in QUANTITIES})
        for quantity, _, (space, access, column) in QUANTITIES:
            if (row["space"], row["access"]) == (space, access):
                counts[quantity] += int(row[column]) // int(row["launches"])
    return kernels


def count_on_gpu(ncu, build, step, n):
    try:
        printed = ncu_reading.count(ncu, [], [metric for _, metric, _ in QUANTITIES],
                                    [build / "bin" / f"solution_{step}", *options_of_run(n)])
    except ncu_reading.NotPossible as error:
        fail(f"{step}: {error}")
    # The instances of a template are one kernel here, as they are on the CPU.
    return {launch["kernel"].split("<")[0]: {quantity: int(launch[metric]) for quantity, metric, _ in QUANTITIES}
            for launch in ncu_reading.read_raw(printed)}


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


def write(build, folder, sizes):
    ncu = ncu_reading.find_ncu()
    if not ncu:
        fail("ncu was not found")
    machine = ncu_reading.machine(ncu)
    if not machine:
        fail("there is no NVIDIA GPU here")
    rows, of_cub = [], {}
    for step, source in steps_with_kernels():
        for n in sizes:
            on_cpu, on_gpu = count_on_cpu(build, step, source, n), count_on_gpu(ncu, build, step, n)
            if on_cpu.keys() != on_gpu.keys():
                fail(f"{step}: kernels on the CPU {sorted(on_cpu)}, on the GPU {sorted(on_gpu)}")
            for kernel in on_gpu:
                take_away_cub(on_cpu[kernel], on_gpu[kernel], of_cub.setdefault((kernel, n), {}))
                for quantity, _, _ in QUANTITIES:
                    a, b = on_cpu[kernel][quantity], on_gpu[kernel][quantity]
                    if a or b:
                        rows.append((step, kernel, n, quantity, a, b, f"{100 * difference(a, b):.2f}"))
            print(f"{step} n = {n}: counted", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / "counters.tsv.partial"
    with aside.open("w") as file:
        file.write("# What one launch of each kernel does to memory, counted by CUDA on the CPU and by ncu.\n")
        file.write("# Shared memory: without CUB's own part, which ncu counts in step 08, where there is no other.\n")
        file.write("# Written by scripts/counters.py --write.\n")
        for key in ("date", "gpu", "driver", "cuda", "ncu"):
            file.write(f"# {key}\t{machine[key]}\n")
        file.write("step\tkernel\tn\tquantity\tcpu\tncu\tdifference_percent\n")
        for row in rows:
            file.write("\t".join(map(str, row)) + "\n")
    aside.rename(folder / "counters.tsv")
    worst = max(rows, key=lambda row: abs(float(row[-1])))
    print(f"{len(rows)} counts; the largest difference: {worst[-1]} % ({' '.join(map(str, worst[:4]))})")


def check(build, folder):
    path = folder / "counters.tsv"
    if not path.exists():
        fail(f"{path}: is not there")
    table = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(table, delimiter="\t"))
    sources = dict(steps_with_kernels())
    counted = {}
    wrong = 0
    for row in rows:
        step, n = row["step"], int(row["n"])
        if (step, n) not in counted:
            counted[step, n] = count_on_cpu(build, step, sources[step], n)
        now = counted[step, n].get(row["kernel"], {}).get(row["quantity"], 0)
        if abs(difference(now, int(row["ncu"]))) > TOLERANCE:
            print(f"{step} {row['kernel']} n = {n}: {row['quantity']}: {now} on the CPU, {row['ncu']} by ncu")
            wrong += 1
    missing = sorted(set(sources) - {row["step"] for row in rows})
    if missing:
        print(f"not counted by ncu yet: {', '.join(missing)}")
    if wrong or not rows:
        sys.exit(1)
    print(f"{len(rows)} counts agree with ncu's within {100 * TOLERANCE:.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", metavar="DIR", type=pathlib.Path)
    what.add_argument("--check", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--n", default="250,1024")
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.build, arguments.write, [int(n) for n in arguments.n.split(",")])
    else:
        check(arguments.build, arguments.check)


if __name__ == "__main__":
    main()
