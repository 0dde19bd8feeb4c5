#!/usr/bin/env python3
"""Measures how steps 14 and 15 scale on a machine with several GPUs.

  scaling.py --write DIR    validates, measures and writes DIR/scaling.tsv and DIR/scaling.svg: step 13 on one GPU,
                            steps 14 and 15 on 1, 2 and 4 ranks; strong scaling (n = 16384, 32768, 65536), weak scaling
                            (n * n / ranks stays what it is) and, on the most ranks, n = 131072; with a residual every
                            pass of 16 sweeps, at n = 16384 also every 64; and on the most ranks other ways of exchange
  scaling.py --plot DIR     draws DIR/scaling.svg from DIR/scaling.tsv

Before anything is timed the validator must call it right: at n = 4099 with every number of ranks, and with one and the
largest number also at the step's own n. More options of --write: --ranks 1,2,4; --steps 13,14,15; --quick (only n =
16384, short runs); --seconds S, after which nothing more is begun (default 300); --build DIR (default: build), which holds
bin/ranks, bin/validate and bin/solution_... of the steps.
"""

import argparse
import dataclasses
import math
import os
import pathlib
import re
import signal
import sys
import time

import labtools_here  # noqa: F401
from labtools import scaling_table
from labtools.files import ROOT, STEPS
from labtools.machine import compiler_and_facts, need_folder, need_programs
from labtools.process import TIMED_OUT, attempt, fail, printed_by, reason, run
from labtools.scaling_table import STRONG, WEAK
from labtools.table import write_table

BASE = "13"
LARGEST = 131072
CHECK_OFTEN, CHECK_SELDOM = 16, 64  # sweeps from one residual to the next: a pass, and four
COMPARED_N, COMPARED_SWEEPS = 4099, 37  # passes of all kinds
SAMPLES = 20
# Sweeps are chosen for this many seconds, at this guess of points per second and GPU.
SECONDS, QUICK_SECONDS, GUESS = 0.25, 0.06, 3.5e12
TIMED_LIMIT, COMPARED_LIMIT = 30, 300  # seconds for a run, its start included
DOES_NOT_FIT = 5  # exit code
# NVLink's multicast needs a service of the whole machine, and nothing here gains by it.
NO_MULTICAST = {"NCCL_NVLS_ENABLE": "0"}
# Other ways than NCCL's own choice within a node: NCCL with copy engines; through memory of the host; and MPI.
WAYS = {"NCCL, copy engines": {"NCCL_P2P_USE_CUDA_MEMCPY": "1"}, "NCCL, host memory": {"NCCL_P2P_DISABLE": "1"},
        "MPI, host memory": {"LAB_HALOS": "mpi"}}
COLUMNS = ["step", "n", "ranks", "check_every", "way", "ms", "ms_q1", "ms_q3", "samples", "glups", "efficiency",
           "own_efficiency", "weak_efficiency", "halos", "verdict"]


@dataclasses.dataclass(frozen=True)
class Case:
    step: str  # "14"
    n: int
    ranks: int
    check_every: int = CHECK_OFTEN
    way: str = "-"  # of WAYS; "-": as it is

    def __str__(self):
        return (f"{STEPS[self.step]}, n = {self.n}, {ranks_in_words(self.ranks)}, checks every {self.check_every}"
                + (f", {self.way}" if self.way in WAYS else ""))


def ranks_in_words(ranks):
    return f"{ranks} rank{'s' if ranks > 1 else ''}"


def cases(steps, ranks, quick):
    """All that is to be timed, what matters most first."""
    found = []

    def add(n, of, check_every=CHECK_OFTEN):
        for step in steps:
            for r in of:
                if r in ranks if step != BASE else r == 1:
                    found.append(Case(step, n, r, check_every))

    most = max(ranks)
    for n in STRONG[:1] if quick else STRONG:
        add(n, sorted({1, *ranks}))
    if most > 1:
        found += [Case(step, STRONG[0], most, CHECK_OFTEN, way) for way in WAYS for step in steps if step != BASE]
    if not quick:
        add(LARGEST, sorted({1, most}))
        found = [case for case in found if case.n != LARGEST or case.step == BASE or case.ranks == most]
        add(STRONG[0], sorted({1, *ranks}), CHECK_SELDOM)
        for r in ranks:
            for n in WEAK.get(r, ()) if r > 1 else ():  # what one rank needs for that is there already
                add(n, [r])
    return list(dict.fromkeys(found))


class Machine:
    """The GPUs that a job may have, and the programs."""

    def __init__(self, build, gpus):
        self.build, self.gpus = build, gpus

    def program(self, step):
        return self.build / f"bin/solution_{STEPS[step]}"

    def run(self, step, ranks, options, seconds, settings):
        """(exit code, standard output, standard error) of a job, which is ended after `seconds`."""
        # A step of one process needs no MPI.
        launcher = [] if step == BASE else [self.build / "bin/ranks", ranks]
        environment = {**NO_MULTICAST, **os.environ, **settings, "CUDA_VISIBLE_DEVICES": ",".join(self.gpus[:ranks])}
        return attempt([*launcher, self.program(step), *options], seconds, env=environment)


def validate(lab, steps, ranks, quick):
    """{(step, ranks): what is wrong, or nothing}, as the validator says it."""
    wrong = {}
    for step in steps:
        for r in [1] if step == BASE else ranks:
            job = [] if step == BASE else ["--ranks", r]
            own_n = ["--gpu"] if not quick and r in (1, max(ranks)) else []
            code, out, error = attempt([
                lab.build / "bin/validate", "--problem", "probe", "--n", COMPARED_N, "--iterations", COMPARED_SWEEPS,
                "--time-limit", 60, *job, *own_n, lab.program(step)], COMPARED_LIMIT, env={**NO_MULTICAST, **os.environ})
            wrong[step, r] = "" if code == 0 else reason(out, error)
            print(f"{STEPS[step]}, {ranks_in_words(r)}: {wrong[step, r] or 'right'}", flush=True)
    return wrong


# Timing.

NUMBER = r"([0-9.e+-]+)"
SUMMARY = re.compile(rf"^ *per iteration +{NUMBER} ms, median of (\d+) \(middle half: {NUMBER} to {NUMBER}\)$", re.M)


def read_summary(text):
    """(median, q1, q3, samples) of the lines that a program prints at its end; None if they are not there."""
    match = SUMMARY.search(text)
    try:
        return (float(match[1]), float(match[3]), float(match[4]), int(match[2])) if match else None
    except ValueError:
        return None


def read_halos(text):
    """What the run says of the way that halos take."""
    match = re.search(r"^ *halos: (.*)$", text, re.MULTILINE)
    return match[1].split(",")[0].strip() if match else "-"


def sweeps_of(case, seconds):
    """Enough for that many seconds and for the samples; the first one is warm-up."""
    for_seconds = seconds * GUESS * case.ranks / (case.n * case.n) / case.check_every
    return case.check_every * max(SAMPLES + 1, math.ceil(for_seconds))


def measure(lab, case, seconds):
    """The row of a case, efficiencies not yet in it."""
    options = ["--problem", "probe", "--n", case.n, "--iterations", sweeps_of(case, seconds), "--check-every",
               case.check_every]
    code, out, error = lab.run(case.step, case.ranks, options, TIMED_LIMIT, WAYS.get(case.way, {}))
    row = row_without_time(case, "")
    found = read_summary(out)
    if code == DOES_NOT_FIT:
        row["verdict"] = "does not fit"
    elif code != 0:
        row["verdict"] = f"exit code {code}: {reason(out, error)}"
    elif not found:
        row["verdict"] = "it printed no times"
    elif found[3] < SAMPLES:
        row["verdict"] = f"{found[3]} samples are too few"
    else:
        ms, q1, q3, samples = found
        row.update(ms=f"{ms:.6g}", ms_q1=f"{q1:.6g}", ms_q3=f"{q3:.6g}", samples=str(samples),
                   glups=f"{1e-6 * case.n * case.n / ms:.2f}", halos=read_halos(out), verdict="right")
    said = f"{row['ms']} ms per sweep, {row['glups']} GLUPS, halos: {row['halos']}" if row["verdict"] == "right" \
        else row["verdict"]
    print(f"{case}: {said}", flush=True)
    return row


def add_efficiencies(rows):
    """In percent. A number of ranks R against one: T(1) / (R T(R)), T(1) of step 13 (efficiency) or of the step itself
    (own_efficiency); and T(1) / T(R) of the step where n * n / R is that of T(1) (weak_efficiency)."""
    times = {(row["step"][:2], int(row["n"]), int(row["ranks"]), int(row["check_every"])): float(row["ms"])
             for row in rows if row["ms"] != "-" and row["way"] == "-"}
    for row in rows:
        if row["ms"] == "-":
            continue
        step, ms = row["step"][:2], float(row["ms"])
        n, ranks, every = (int(row[name]) for name in ("n", "ranks", "check_every"))
        strong = {"efficiency": times.get((BASE, n, 1, every)), "own_efficiency": times.get((step, n, 1, every))}
        for name, one in strong.items():
            row[name] = f"{100 * one / (ranks * ms):.2f}" if one else "-"
        row["weak_efficiency"] = "-"
        if n in WEAK.get(ranks, ()):
            one = times.get((step, WEAK[1][WEAK[ranks].index(n)], 1, every))
            row["weak_efficiency"] = f"{100 * one / ms:.2f}" if one else "-"
    return rows


# The machine.

def gpus_here():
    """The GPUs that jobs may have, as CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [gpu.strip() for gpu in named.split(",") if gpu.strip()]
    count = sum(line.startswith("GPU ") for line in run(["nvidia-smi", "--list-gpus"]).splitlines())
    return [str(gpu) for gpu in range(count)]


def read_links(text):
    """The words of `nvidia-smi topo -m` for what is between two GPUs, such as NV18; "-" if there is one GPU."""
    table = [[cell.strip() for cell in re.sub(r"\x1b\[[0-9;]*m", "", line).split("\t")] for line in text.splitlines()]
    head = next((cells for cells in table if "GPU0" in cells[1:]), [])
    columns = [k for k, cell in enumerate(head) if re.fullmatch(r"GPU\d+", cell)]
    found = {cells[k] for cells in table if cells is not head and re.fullmatch(r"GPU\d+", cells[0])
             for k in columns if k < len(cells)}
    return " ".join(sorted(found - {"X", ""})) or "-"


def mpi_version(build):
    """Such as "Open MPI 4.1.6"."""
    launcher = "mpirun"
    try:
        match = re.search(r"^mpirun=(\S+)$", (build / "bin/ranks").read_text(errors="replace"), re.MULTILINE)
        launcher = match[1].strip("'\"") if match else launcher
    except OSError:
        pass
    first = (printed_by([launcher, "--version"], 20).splitlines() or [""])[0]
    match = re.search(r"\((.*?)\) *([0-9.]+)", first)
    # Open MPI 4's launcher may call itself OpenRTE.
    return f"{match[1]} {match[2]}".replace("OpenRTE", "Open MPI") if match else " ".join(first.split())[:60] or "-"


def row_without_time(case, verdict):
    return {**dict.fromkeys(COLUMNS, "-"), "step": STEPS[case.step], "n": str(case.n), "ranks": str(case.ranks),
            "check_every": str(case.check_every), "way": case.way, "verdict": verdict}


def write_rows(path, facts, rows):
    nccl = next((row["halos"].removeprefix("NCCL ") for row in rows if row["halos"].startswith("NCCL ")), "-")
    add_efficiencies(rows)
    order = list(STEPS.values())
    write_table(
        path,
        ["Steps 14 and 15 on several GPUs, step 13 on one: time of a sweep, residuals included. glups: 10^9 points",
         "updated a second. In percent: efficiency, R ranks against step 13 on one GPU at this n; own_efficiency,",
         "against the step itself on one rank; weak_efficiency, against that at the n with as many points a GPU.",
         "way: of exchange, where it is not the program's own choice.",
         "Written by scripts/publish/scaling.py."],
        {**facts, "nccl": nccl}, COLUMNS,
        sorted(rows, key=lambda row: (int(row["n"]), int(row["check_every"]), order.index(row["step"]),
                                      int(row["ranks"]))))


def write(arguments, ranks, steps):
    build, began = arguments.build.resolve(), time.monotonic()
    need_programs(build, ["ranks", "validate", *(f"solution_{STEPS[step]}" for step in steps)])
    _, facts = compiler_and_facts()
    need_folder(arguments.write)
    gpus = gpus_here()
    too_many = [r for r in ranks if r > len(gpus)]
    ranks = [r for r in ranks if r <= len(gpus)]
    if not ranks:
        fail(f"{too_many[0]} ranks need a GPU each, and there {'is' if len(gpus) == 1 else 'are'} {len(gpus)}")
    if too_many:
        print(f"{', '.join(map(str, too_many))} ranks: skipped: GPUs: {len(gpus)}", flush=True)
    facts |= {"gpus": str(len(gpus)), "nccl": "-", "mpi": mpi_version(build),
              "links": read_links(run(["nvidia-smi", "topo", "-m"]))}
    rows, lab = [], Machine(build, gpus)
    found_wrong = validate(lab, steps, ranks, arguments.quick)
    not_timed = {step_and_ranks: f"wrong: {why}" for step_and_ranks, why in found_wrong.items() if why}
    for case in cases(steps, ranks, arguments.quick):
        over = f"not run: {arguments.seconds:g} s are over" if time.monotonic() - began > arguments.seconds else ""
        if why := not_timed.get((case.step, case.ranks)) or over:
            print(f"{case}: {why}", flush=True)
            rows.append(row_without_time(case, why))
            continue
        row = measure(lab, case, QUICK_SECONDS if arguments.quick else SECONDS)
        if row["verdict"].startswith(f"exit code {TIMED_OUT}:"):  # it need not be waited for again
            not_timed[case.step, case.ranks] = row["verdict"]
        rows.append(row)
        if any(row["ms"] != "-" for row in rows):  # whoever ends this loses nothing of what was measured
            write_rows(arguments.write / "scaling.tsv", facts, rows)
    if all(row["ms"] == "-" for row in rows):
        fail(f"nothing could be timed; {STEPS[rows[0]['step'][:2]]}: {rows[0]['verdict']}")
    timed = sum(row["ms"] != "-" for row in rows)
    print(f"{timed} of {len(rows)} rows with a time, in {time.monotonic() - began:.0f} s; written to "
          f"{arguments.write / 'scaling.tsv'}")


def numbers(text):
    """"1,2,4" as [1, 2, 4]."""
    found = sorted({int(word) for word in text.split(",") if re.fullmatch(r"\d{1,4}", word)})
    if len(found) != len(text.split(",")) or not 1 <= found[0] <= found[-1] <= 1024:
        raise argparse.ArgumentTypeError(f"{text}: must be numbers from 1 to 1024, such as 1,2,4")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", metavar="DIR", type=pathlib.Path)
    what.add_argument("--plot", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--ranks", metavar="1,2,4", type=numbers, default=[1, 2, 4])
    parser.add_argument("--steps", default="13,14,15")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    steps = arguments.steps.split(",")
    # Jobs are sessions of their own: who ends this program, as timeout does, ends them by it alone.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    if arguments.write:
        for step in steps:
            if step not in (BASE, "14", "15"):
                parser.error(f"--steps {arguments.steps}: 13, 14 and 15 can be measured")
        write(arguments, arguments.ranks, steps)
        scaling_table.plot(arguments.write, needed=False)
    else:
        scaling_table.plot(arguments.plot)


if __name__ == "__main__":
    main()
