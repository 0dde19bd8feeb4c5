#!/usr/bin/env python3
"""Finds the constants of steps 12 and 13 on a machine with a GPU, and times the last steps on large grids.

  tune.py --write DIR   writes DIR/tuning.tsv: the solutions of steps 12 and 13 with other values of the constants
                        that their files call tuned, one changed at a time, at n = 16384
                        and DIR/large.tsv: steps 09 to 13 at n = 4096, 8192, 16384 and 32768

A program that the validator does not call right gets no time. On the large grids each step's field must have,
row by row, the hash of the first step's. Options: --only tuning|large; --steps 12,13 (of tuning.tsv); --build DIR
(default: build); it holds the programs validate, bandwidth and solution_09_... to solution_13_....
"""

import argparse
import concurrent.futures
import pathlib
import re
import tempfile

import labtools_here  # noqa: F401
from labtools import variant
from labtools.files import ROOT, STEPS
from labtools.machine import compiler_and_facts, need_folder, need_programs
from labtools.process import attempt, fail, run
from labtools.table import write_table
from labtools.tracer import NotPossible

TUNED_N = 16384
# For each step: sweeps to time, sizes and sweeps for the validator, and the constants to try instead of the file's.
TRIED = {
    "12_register_march": (240, 37, [
        {}, {"kAhead": 1}, {"kAhead": 2}, {"kAhead": 4}, {"kRows": 9}, {"kRows": 4}, {"kRows": 6},
        {"kRows": 12}, {"kRows": 16}, {"kRows": 64}, {"kWarps": 1}, {"kWarps": 2}, {"kWarps": 8}, {"kWarps": 16}]),
    "13_temporal_blocking": (960, 37, [
        {}, {"kRing": 4}, {"kRing": 6}, {"kRing": 12}, {"kRing": 16}, {"kWarps": 1, "kBlocks": 8},
        {"kWarps": 4, "kBlocks": 2}, {"kWarps": 8, "kBlocks": 1}, {"kSideRow": 1}, {"kSideRow": 2}, {"kSideRow": 4},
        {"kLevels": 4}, {"kLevels": 4, "kHalo": 4, "kBlocks": 8}, {"kLevels": 8}, {"kLevels": 8, "kHalo": 8, "kBlocks": 6}, {"kLevels": 12},
        {"kLevels": 12, "kHalo": 12}, {"kLevels": 12, "kHalo": 12, "kBlocks": 5},
        {"kLevels": 14}, {"kLevels": 18, "kHalo": 20}]),
}
LARGE = (4096, 8192, 16384, 32768)
# Also on large grids: step 09 and all after it that need one GPU.
LARGE_STEPS = tuple(name for name in STEPS.values() if "09" <= name < "14")
COMPARED_SWEEPS = 17  # 16 + 1: both passes of step 13


def copy_bandwidth(build):
    """GB/s of the best copy."""
    rates = [line.split("\t") for line in run([build / "bin/bandwidth"]).splitlines() if re.match(r"copy|cudaMemcpy", line)]
    if not rates:
        fail(f"{build / 'bin/bandwidth'} has printed no copy")
    try:
        return max(float(fields[1]) for fields in rates)
    except (IndexError, ValueError):
        fail(f"{build / 'bin/bandwidth'} has printed a copy without its GB/s")


def with_constants(source, constants):
    """The step's text with other values of its constants."""
    for name, value in constants.items():
        pattern = rf"(constexpr int {name} = )\d+(?=;)"
        source, count = re.subn(pattern, rf"\g<1>{value}", source)
        if count != 1:
            fail(f"{name} stands {count} times in the step's file, and not once")
    return source


def constants_of(source):
    names = ("kLevels", "kHalo", "kWarps", "kBlocks", "kRows", "kRing", "kSideRow", "kAhead")
    return {name: match[1] for name in names if (match := re.search(rf"constexpr int {name} = (\d+);", source))}


def compile_with(nvcc, build, folder, step, constants):
    """(program or None, registers, spilled bytes, what is wrong)."""
    source = folder / ("_".join([step[:2], *(f"{key}{value}" for key, value in constants.items())]) + ".cu")
    source.write_text(with_constants((ROOT / "solutions" / step / "jacobi.cu").read_text(), constants))
    try:
        program, said = variant.compile_source(nvcc, build, step, source, "-Xptxas", "-v")
    except NotPossible as error:
        return None, 0, 0, str(error)
    # Of the kernels that perform sweeps the one with the most registers counts.
    kernels = re.findall(r"Compiling entry function '(\S*jacobi\S*)'.*?(\d+) bytes spill loads.*?Used (\d+) registers",
                         said, re.S)
    registers, spilled = max(((int(used), int(spill)) for _, spill, used in kernels), default=(0, 0))
    return program, registers, spilled, ""


def rows_of(program, folder, n):
    """The hashes of the field's rows after a few sweeps of the probe."""
    variant.must_time(program, folder, n, COMPARED_SWEEPS, "--problem", "probe")
    return (folder / "record/rows.csv").read_text()


def tune(nvcc, build, folder, step, copy):
    """Lines of tuning.tsv."""
    iterations, sweeps, tried = TRIED[step]
    own = constants_of((ROOT / "solutions" / step / "jacobi.cu").read_text())
    tried = [{name: value for name, value in constants.items() if own.get(name) != str(value)} for constants in tried]
    tried = [constants for k, constants in enumerate(tried) if constants not in tried[:k]]

    def prepare(constants):
        program, registers, spilled, wrong = compile_with(nvcc, build, folder, step, constants)
        if program:
            code, out, error = attempt([build / "bin/validate", "--name", step, "--n", "1100", "--problem", "probe",
                                        "--iterations", sweeps, program])
            if code != 0:
                wrong = " ".join((out + error).split())[:200]
        return program, registers, spilled, wrong

    lines = []
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        prepared = list(pool.map(prepare, tried))
    for constants, (program, registers, spilled, wrong) in zip(tried, prepared):
        words = " ".join(f"{name}={value}" for name, value in constants.items())
        words = words or "as it is: " + " ".join(f"{name}={value}" for name, value in own.items())
        if wrong:
            print(f"{step} {words}: {wrong}", flush=True)
            lines.append([step, words, str(registers), str(spilled), "-", "-", "-", "-", "wrong"])
            continue
        runs = [(TUNED_N, words, ())]
        if not constants:  # the file as it is also at sizes that are no multiple of anything
            runs += [(n, f"as it is, n={n}", ()) for n in (TUNED_N - 1, TUNED_N + 1)]
            if levels := own.get("kLevels"):  # and with a residual after each pass
                runs.append((TUNED_N, f"as it is, --check-every {levels}", ("--check-every", levels)))
        for n, name, options in runs:
            record = variant.must_time(program, folder, n, iterations, *options)
            ms = record["iteration_ms_median"]
            times_copy = 8e-6 * n * n / ms / copy
            lines.append([step, name, str(registers), str(spilled), *variant.quartiles(record)[:3], f"{times_copy:.4f}", "right"])
            print(f"{step} {name}: {registers} registers, {spilled} B spilled, {ms:.4f} ms per sweep, "
                  f"{times_copy:.3f} x copy", flush=True)
    return lines


def large(build, folder, copy):
    """Lines of large.tsv."""
    programs = {step: build / f"bin/solution_{step}" for step in LARGE_STEPS}
    with concurrent.futures.ThreadPoolExecutor(len(programs)) as pool:
        verdicts = pool.map(lambda program: attempt([build / "bin/validate", program]), programs.values())
        right = dict(zip(programs, verdicts))
    lines = []
    for n in LARGE:
        first = None
        for step, program in programs.items():
            code, out, error = right[step]
            wrong = (out + error or f"exit code {code}") if code != 0 else ""
            if not wrong:
                rows = rows_of(program, folder, n)
                first = first or rows
                wrong = f"at n = {n} its field is not that of {LARGE_STEPS[0]}" if rows != first else ""
            if wrong:
                print(f"{step}: {wrong}", flush=True)
                lines.append([str(n), step] + ["-"] * 6 + ["wrong"])
                continue
            # Some tenths of a second; 20 checks of step 13 at least.
            sweeps = {"09": 8, "10": 8, "11": 40, "12": 40}.get(step[:2], 160) * max(1, (16384 // n) ** 2) * 3
            record = variant.must_time(program, folder, n, max(sweeps, 960 if step.startswith("13") else 24))
            ms = record["iteration_ms_median"]
            points = 1e-6 * n * n / ms  # giga-updates a second
            lines.append([str(n), step, *variant.quartiles(record), f"{points:.2f}", f"{8 * points / copy:.4f}", "right"])
            print(f"n = {n}, {step}: {ms:.4f} ms per sweep, {points:.1f} GLUPS, {8 * points / copy:.3f} x copy", flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="DIR", type=pathlib.Path, required=True)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", choices=("tuning", "large"))
    parser.add_argument("--steps", default="12,13")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    steps = [step for step in TRIED if step[:2] in arguments.steps.split(",")]
    if not steps:
        parser.error(f"--steps {arguments.steps}: 12 and 13 can be tuned")
    needed = ["validate", "bandwidth"]
    if arguments.only != "tuning":
        needed += [f"solution_{step}" for step in LARGE_STEPS]
    need_programs(build, needed)
    nvcc, facts = compiler_and_facts()
    need_folder(arguments.write)
    copy = copy_bandwidth(build)
    facts["copy_gb_per_s"] = f"{copy:.1f}"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if arguments.only != "large":
            lines = [line for step in steps for line in tune(nvcc, build, folder, step, copy)]
            write_table(
                arguments.write / "tuning.tsv",
                ["Steps 12 and 13 with other constants than their files have. Time of a sweep, residual included; x_copy: at",
                 "8 bytes per point, against the copy bandwidth of the same run. Written by scripts/publish/tune.py."],
                {**facts, "n": TUNED_N},
                ["step", "constants", "registers", "spilled_bytes", "ms", "ms_q1", "ms_q3", "x_copy", "verdict"], lines)
        if arguments.only != "tuning":
            lines = large(build, folder, copy)
            write_table(
                arguments.write / "large.tsv",
                ["Time of a sweep on large grids, each step's own residuals included. glups: 10^9 points updated a second;",
                 "x_copy: at 8 bytes per point, against the copy bandwidth of the same run. Written by scripts/publish/tune.py."],
                facts, ["n", "step", "ms", "ms_q1", "ms_q3", "samples", "glups", "x_copy", "verdict"], lines)


if __name__ == "__main__":
    main()
