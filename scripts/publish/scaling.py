#!/usr/bin/env python3
"""Measures how steps 14 and 15 scale on a machine with several GPUs.

  scaling.py --write DIR    validates, measures and writes DIR/scaling.tsv and DIR/scaling.svg: step 13 on one GPU,
                            steps 14 and 15 on 1, 2 and 4 ranks; strong scaling (n = 16384, 32768, 65536), weak scaling
                            (n * n / ranks stays what it is) and, on the most ranks, n = 131072; with a residual every
                            pass of 16 sweeps, at n = 16384 also every 64; and on the most ranks other ways of exchange

Before anything is timed the validator must call it right: at n = 4099 with every number of ranks, and with one and the
largest number also at the step's own n.
"""

import collections
import math
import os
import re
import signal
import sys

import labtools_here  # noqa: F401
import scaling_table
from labtools.files import BUILD, STEPS
from labtools.machine import parser_of, ready
from labtools.process import TIMED_OUT, attempt, fail, must_write, printed_by, reason, run
from scaling_table import STRONG, WEAK
from labtools.table import write_table

BASE, JOBS = "13", ("14", "15")  # a program of one process, and jobs of ranks
RANKS = (1, 2, 4)
LARGEST = 131072
CHECK_OFTEN, CHECK_SELDOM = 16, 64  # sweeps from one residual to the next: a pass, and four
SAMPLES = 20
# Sweeps are chosen for this many seconds, at this guess of points per second and GPU.
SECONDS, GUESS = 0.25, 3.5e12
TIMED_LIMIT, COMPARED_LIMIT = 30, 300  # seconds for a run, its start included
# NVLink's multicast needs a service of the whole machine, and nothing here gains by it.
NO_MULTICAST = {"NCCL_NVLS_ENABLE": "0"}
# Other ways than NCCL's own choice within a node: NCCL with copy engines; through memory of the host; and MPI.
WAYS = {"NCCL, copy engines": {"NCCL_P2P_USE_CUDA_MEMCPY": "1"}, "NCCL, host memory": {"NCCL_P2P_DISABLE": "1"},
        "MPI, host memory": {"LAB_HALOS": "mpi"}}
COLUMNS = ["step", "n", "ranks", "check_every", "way", "ms", "ms_q1", "ms_q3", "samples", "glups", "efficiency",
           "own_efficiency", "weak_efficiency", "halos", "verdict"]

SUMMARY = re.compile(r"^ *per iteration +(?P<ms>\S+) ms, median of (?P<samples>\d+) \(middle half: (?P<ms_q1>\S+) to "
                     r"(?P<ms_q3>\S+)\)$", re.MULTILINE)
HALOS = re.compile(r"^ *halos: ([^,\n]*)", re.MULTILINE)

# step: "14"; way: one of WAYS, "-" for the program's own.
Case = collections.namedtuple("Case", "step n ranks check_every way", defaults=(CHECK_OFTEN, "-"))


def cases(ranks):
    """All that is to be timed, what matters most first."""
    most = max(ranks)
    both = [(BASE, 1), *((step, r) for step in JOBS for r in ranks)]
    found = [Case(step, n, r) for n in STRONG for step, r in both]
    found += [Case(step, STRONG[0], most, CHECK_OFTEN, way) for way in WAYS for step in JOBS if most > 1]
    found += [Case(step, LARGEST, r) for step, r in both if step == BASE or r == most]
    found += [Case(step, STRONG[0], r, CHECK_SELDOM) for step, r in both]
    # What one rank needs for weak scaling is there already.
    found += [Case(step, n, r) for r in ranks if r > 1 for n in WEAK[r] for step in JOBS]
    return list(dict.fromkeys(found))


def command_of(step, ranks):
    return [*([] if step == BASE else [BUILD / "bin/ranks", ranks]), BUILD / f"bin/solution_{STEPS[step]}"]


def validate(ranks):
    """{(step, ranks): what is wrong, or nothing}, as the validator says it."""
    wrong = {}
    for step, r in [(BASE, 1), *((step, r) for step in JOBS for r in ranks)]:
        job = [] if step == BASE else ["--ranks", r]
        own_n = ["--gpu"] if r in (1, max(ranks)) else []
        code, out, error = attempt([BUILD / "bin/validate", "--problem", "probe", "--n", 4099, "--iterations", 37,
                                    "--time-limit", 60, *job, *own_n, command_of(step, r)[-1]], COMPARED_LIMIT,
                                   env={**NO_MULTICAST, **os.environ})
        wrong[step, r] = "" if code == 0 else reason(out, error)
        print(f"{STEPS[step]}, ranks: {r}: {wrong[step, r] or 'right'}", flush=True)
    return wrong


def measure(case, gpus):
    """The row of a case, efficiencies not yet in it."""
    row = row_without_time(case, "right")
    # Enough for the seconds and for the samples; the first one is warm-up.
    for_seconds = SECONDS * GUESS * case.ranks / (case.n * case.n) / case.check_every
    sweeps = case.check_every * max(SAMPLES + 1, math.ceil(for_seconds))
    environment = {**NO_MULTICAST, **os.environ, **WAYS.get(case.way, {}),
                   "CUDA_VISIBLE_DEVICES": ",".join(gpus[:case.ranks])}
    code, out, error = attempt([*command_of(case.step, case.ranks), "--problem", "probe", "--n", case.n, "--iterations",
                                sweeps, "--check-every", case.check_every], TIMED_LIMIT, env=environment)
    found, halos = SUMMARY.search(out), HALOS.search(out)
    if code == 0 and found:
        row.update(found.groupdict(), glups=f"{1e-6 * case.n * case.n / float(found['ms']):.2f}",
                   halos=halos[1] if halos else "-")
    else:
        row["verdict"] = "does not fit" if code == 5 else f"exit code {code}: {reason(out, error)}"
    print(*(row[name] for name in ("step", "n", "ranks", "check_every", "way", "ms", "glups", "halos", "verdict")),
          flush=True)
    return row


def row_without_time(case, verdict):
    return {**dict.fromkeys(COLUMNS, "-"), "step": STEPS[case.step], "n": str(case.n), "ranks": str(case.ranks),
            "check_every": str(case.check_every), "way": case.way, "verdict": verdict}


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
        weak = WEAK[1][WEAK[ranks].index(n)] if n in WEAK[ranks] else None
        for name, one, share in (("efficiency", (BASE, n), 1 / ranks), ("own_efficiency", (step, n), 1 / ranks),
                                 ("weak_efficiency", (step, weak), 1)):
            one = times.get((*one, 1, every))
            row[name] = f"{100 * one * share / ms:.2f}" if one else "-"


# The machine.

def gpus_here():
    """The GPUs that jobs may have, as CUDA_VISIBLE_DEVICES names them."""
    if named := os.environ.get("CUDA_VISIBLE_DEVICES"):
        return named.split(",")
    return [str(k) for k in range(len(run(["nvidia-smi", "--list-gpus"]).strip().splitlines()))]


def links():
    """What `nvidia-smi topo -m` says is between the first two GPUs, such as NV18; "-" if there is one GPU."""
    found = re.search(r"^GPU0\s+X\s+(?!NIC|\d)(\S+)", run(["nvidia-smi", "topo", "-m"]), re.MULTILINE)
    return found[1] if found else "-"


def mpi_version():
    """Such as "Open MPI 4.1.6"."""
    launcher = re.search(r"^mpirun=['\"]?([^\s'\"]+)", (BUILD / "bin/ranks").read_text(errors="replace"), re.MULTILINE)
    said = re.search(r"\((.*?)\) *([0-9.]+)", printed_by([launcher[1] if launcher else "mpirun", "--version"], 20))
    # Open MPI 4's launcher may call itself OpenRTE.
    return f"{said[1]} {said[2]}".replace("OpenRTE", "Open MPI") if said else "-"


def write_rows(path, facts, rows):
    nccl = next((row["halos"].removeprefix("NCCL ") for row in rows if row["halos"].startswith("NCCL ")), "-")
    add_efficiencies(rows)
    write_table(
        path,
        ["Steps 14 and 15 on several GPUs, step 13 on one: time of a sweep, residuals included. glups: 10^9 points",
         "updated a second. In percent: efficiency, R ranks against step 13 on one GPU at this n; own_efficiency,",
         "against the step itself on one rank; weak_efficiency, against that at the n with as many points a GPU.",
         "way: of exchange, where it is not the program's own choice.",
         "Written by scripts/publish/scaling.py."],
        {**facts, "nccl": nccl}, COLUMNS,
        sorted(rows, key=lambda row: (int(row["n"]), int(row["check_every"]), row["step"], int(row["ranks"]))))


def main():
    out = parser_of(__doc__).parse_args().write
    # Jobs are sessions of their own: who ends this program, as timeout does, ends them by it alone.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    facts, _ = ready(out, ["bin/ranks", "bin/validate", *(f"bin/solution_{STEPS[step]}" for step in (BASE, *JOBS))])
    gpus, rows, table = gpus_here(), [], out / "scaling.tsv"
    ranks = [r for r in RANKS if r <= len(gpus)]
    facts |= {"gpus": str(len(gpus)), "nccl": "-", "mpi": mpi_version(), "links": links()}
    not_timed = {which: f"wrong: {why}" for which, why in validate(ranks).items() if why}
    for case in cases(ranks):
        if why := not_timed.get((case.step, case.ranks)):
            rows.append(row_without_time(case, why))
            continue
        rows.append(measure(case, gpus))
        if rows[-1]["verdict"].startswith(f"exit code {TIMED_OUT}:"):  # it need not be waited for again
            not_timed[case.step, case.ranks] = rows[-1]["verdict"]
        if any(row["ms"] != "-" for row in rows):  # whoever ends this loses nothing of what was measured
            write_rows(table, facts, rows)
    timed = sum(row["ms"] != "-" for row in rows)
    if not timed:
        fail(f"nothing could be timed; {rows[0]['step']}: {rows[0]['verdict']}")
    if len(ranks) > 1:
        must_write(out / "scaling.svg", scaling_table.picture(table))
    print(f"{timed} of {len(rows)} rows with a time; written to {table}")


if __name__ == "__main__":
    main()
