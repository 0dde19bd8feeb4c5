#!/usr/bin/env python3
"""Holds the counters of CUDA on the CPU (make count) against those of a GPU.

  counters.py --write DIR   on a machine with a GPU and ncu: counts every step's kernels in both ways,
                            and writes DIR/counters.tsv
  counters.py --check DIR   without a GPU: counts on the CPU again, and holds it against DIR/counters.tsv;
                            exit 1 where they differ by more than 5 %

Options: --build DIR (default: build), --n N,N (with --write; default 250,1024), --steps 10,11 (with --write; the rows
of other steps stay as they are, if they come from the same GPU, driver, CUDA and ncu; 08 has to be among them where
a later one uses CUB: it shows what is CUB's).
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from labtools import ncu_reading  # noqa: E402
from labtools.files import ROOT, read_table, steps, write_aside  # noqa: E402

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
# Copies to shared memory that pass by the registers. ncu's sectors of a load request are more than it reads there.
ASYNCHRONOUS = "smsp__inst_executed_op_ldgsts.sum"
# A step may launch as many blocks as these have room for: the CPU is told how many the GPU has.
MULTIPROCESSORS = "device__attribute_multiprocessor_count"
# Where nvcc makes other instructions of the source, the counts of these must differ. {(step, quantity): why}; the
# sectors and the passes, which are what takes time, are compared there, too.
BY_NVCC = {
    ("12", "load requests"): "nvcc leaves out a load whose value nobody reads: the point beyond a warp's first row south",
    ("13", "shared loads"): "where the boundary may be near nvcc reads a lane's four floats by four loads of one",
}


def fail(message):
    sys.exit(f"counters.py: {message}")


def steps_with_kernels():
    for name, source, needs, *_ in steps():
        if source.endswith(".cu") and needs == "cuda":
            yield name, ROOT / "solutions" / name / source


def run(command, **options):
    try:
        result = subprocess.run(command, capture_output=True, text=True, **options)
    except OSError as error:
        fail(f"{command[0]}: {error.strerror}")
    if result.returncode != 0:
        fail(f"{' '.join(map(str, command))}: exit code {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def options_of_run(source, n):
    """One sweep; of a step that makes several a pass, one pass."""
    levels = re.search(r"^constexpr int kLevels = (\d+);", source.read_text(), re.MULTILINE)
    return ["--n", str(n), "--iterations", levels.group(1) if levels else "1", "--quiet"]


def kernel_launched(lines, number):
    """The name of the kernel that line `number` launches. Where that is a variable: of one that it was set to."""
    kernels = re.findall(r"__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(", "\n".join(lines))
    launch = re.search(r"(\w+)\s*(?:<[^<>;]*>)?\s*<<<", " ".join(lines[number - 1:number + 1]))
    if not launch:
        raise ncu_reading.NotPossible(f"line {number} of its source launches no kernel: build it again")
    name = launch.group(1)
    for line in reversed(lines[:number - 1]):
        if name in kernels:
            break
        if re.search(rf"\b{name}\s*=", line):
            name = next((kernel for kernel in kernels if re.search(rf"\b{kernel}\b", line)), name)
    return name


def count_on_cpu(build, step, source, n, multiprocessors):
    """{kernel's name: {quantity: count}} of one launch each. Kernels that only set up are left out."""
    lines = source.read_text().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "counts.tsv"
        run([build / "bin" / f"solution_{step}_cpu_watched", *options_of_run(source, n)],
            env=os.environ | {"LAB_CPU_COUNTS": str(table), "LAB_CPU_MULTIPROCESSORS": str(multiprocessors)})
        rows = list(csv.DictReader(table.open(), delimiter="\t"))
    kernels = {}
    for row in rows:
        name = kernel_launched(lines, int(row["kernel_line"]))
        if "init" in name:
            continue
        counts = kernels.setdefault(name, {quantity: 0 for quantity, _, _ in QUANTITIES})
        for quantity, _, (space, access, column) in QUANTITIES:
            if (row["space"], row["access"]) == (space, access):
                counts[quantity] += int(row[column]) // int(row["launches"])
    return kernels


def count_on_gpu(ncu, build, step, source, n):
    """The same by ncu, the kernels that copy to shared memory asynchronously, and how many multiprocessors there are."""
    try:
        printed = ncu_reading.count(ncu, ["--kernel-name", "regex:sweep|pass|copy"],
                                    [*[metric for _, metric, _ in QUANTITIES], ASYNCHRONOUS, MULTIPROCESSORS],
                                    [build / "bin" / f"solution_{step}", *options_of_run(source, n)])
    except ncu_reading.NotAllowed as error:
        fail(error)
    launches = ncu_reading.read_raw(printed)
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


def write(build, folder, sizes, wanted):
    ncu = ncu_reading.find_ncu()
    if not ncu:
        fail("ncu was not found")
    machine = ncu_reading.machine(ncu)
    if not machine:
        fail("there is no NVIDIA GPU here")
    rows, of_cub, asynchronous, missing, multiprocessors = [], {}, [], False, 0
    for step, source in steps_with_kernels():
        if wanted and step[:2] not in wanted:
            continue
        for n in sizes:
            try:
                on_gpu, copying, multiprocessors = count_on_gpu(ncu, build, step, source, n)
                on_cpu = count_on_cpu(build, step, source, n, multiprocessors)
                if on_cpu.keys() != on_gpu.keys():
                    raise ncu_reading.NotPossible(f"kernels on the CPU {sorted(on_cpu)}, on the GPU {sorted(on_gpu)}")
            except ncu_reading.NotPossible as error:  # the other steps can be
                print(f"counters.py: {step}: not counted: {error}", file=sys.stderr)
                missing = True
                continue
            for kernel in on_gpu:
                take_away_cub(on_cpu[kernel], on_gpu[kernel], of_cub.setdefault((kernel, n), {}))
                if kernel in copying:
                    asynchronous.append(f"{step} {kernel}")
                for quantity, _, _ in QUANTITIES:
                    a, b = on_cpu[kernel][quantity], on_gpu[kernel][quantity]
                    if (a or b) and not (quantity == "load sectors" and kernel in copying):
                        rows.append((step, kernel, n, quantity, a, b, f"{100 * difference(a, b):.2f}"))
            print(f"{step} n = {n}: counted", flush=True)
    if not rows:
        fail("nothing was counted")
    head = {key: machine[key] for key in ("date", "gpu", "driver", "cuda", "ncu")}
    rows = [tuple(map(str, row)) for row in rows]
    path = folder / "counters.tsv"
    if wanted and path.exists():
        kept, kept_rows = read_table(path)
        if any(kept.get(key) != [head[key]] for key in ("gpu", "driver", "cuda", "ncu")):
            print(f"counters.py: {path}: is of another machine; its rows are not kept", file=sys.stderr)
        else:
            measured = {row[0] for row in rows}
            rows += [tuple(row.values()) for row in kept_rows if row["step"] not in measured]
            rows.sort(key=lambda row: row[0])
            asynchronous += [kernel for kernel in kept.get("asynchronous", []) if kernel.split()[0] not in measured]
            dates = sorted({*kept["date"][0].split(" to "), head["date"]})
            head["date"] = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    head["multiprocessors"] = multiprocessors
    for (step, quantity), why in BY_NVCC.items():
        if any(row[0][:2] == step and row[3] == quantity for row in rows):
            head[f"not compared: {step} {quantity}"] = why
    if asynchronous:
        head["asynchronous"] = "\t".join(sorted(set(asynchronous)))
    write_aside(path, "".join(line + "\n" for line in (
        "# What one launch of each kernel does to memory, counted by CUDA on the CPU and by ncu.",
        "# Shared memory: without CUB's own part, which ncu counts in step 08, where there is no other.",
        "# Written by scripts/publish/counters.py --write.", *[f"# {key}\t{value}" for key, value in head.items()],
        "step\tkernel\tn\tquantity\tcpu\tncu\tdifference_percent", *["\t".join(row) for row in rows])))
    worst = max((row for row in rows if (row[0][:2], row[3]) not in BY_NVCC), key=lambda row: abs(float(row[-1])))
    print(f"{len(rows)} counts; the largest difference: {worst[-1]} % ({' '.join(worst[:4])})")
    if missing:
        sys.exit(1)


def check(build, folder):
    path = folder / "counters.tsv"
    if not path.exists():
        fail(f"{path}: is not there")
    head, rows = read_table(path)
    multiprocessors = head.get("multiprocessors", ["4"])[0]
    sources = dict(steps_with_kernels())
    counted = {}
    wrong = compared = 0
    for row in rows:
        step, n = row["step"], int(row["n"])
        if (step[:2], row["quantity"]) in BY_NVCC:
            continue
        compared += 1
        if (step, n) not in counted:
            try:
                counted[step, n] = count_on_cpu(build, step, sources[step], n, multiprocessors)
            except ncu_reading.NotPossible as error:
                fail(f"{step}: {error}")
        now = counted[step, n].get(row["kernel"], {}).get(row["quantity"], 0)
        if abs(difference(now, int(row["ncu"]))) > TOLERANCE:
            print(f"{step} {row['kernel']} n = {n}: {row['quantity']}: {now} on the CPU, {row['ncu']} by ncu")
            wrong += 1
    missing = sorted(set(sources) - {row["step"] for row in rows})
    if missing:
        print(f"not counted by ncu yet: {', '.join(missing)}")
    if wrong or not compared:
        sys.exit(1)
    print(f"{compared} counts agree with ncu's within {100 * TOLERANCE:.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", metavar="DIR", type=pathlib.Path)
    what.add_argument("--check", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--n", default="250,1024")
    parser.add_argument("--steps", default="")
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.build, arguments.write, [int(n) for n in arguments.n.split(",")],
              [step for step in arguments.steps.split(",") if step])
    else:
        check(arguments.build, arguments.check)


if __name__ == "__main__":
    main()
