"""Time, flops and bytes of kernels, for the roofline.

  python3 -m labtools.roofline --write DIR     on a machine with a GPU: counts with ncu, writes DIR/kernels.tsv, and
                                               draws DIR/roofline.svg below the ceilings of DIR/bandwidth.tsv

Where ncu is missing or may not count, times are the lab's tracer's, and bytes and flops are counted by hand:
8 bytes per point, and 4 flops per point and sweep. kernels.tsv says which. A kernel that makes several sweeps
(step 13) has the flops of all of them, for the bytes of one.

Options: --steps 04,05 (default: all with kernels; with it, the rows of other steps stay as they are, if they come from
the same GPU, driver, CUDA and ncu), --which exercise|solution (default: solution; the rows of an exercise are called
NN_yours, and stand next to the solution's). Caches stay as they are: a kernel finds in L2 what the one before has left.
Exit: 0 written, 1 nothing could be measured, 2 bad usage, 77 no GPU.
"""

import pathlib
import statistics
import tempfile

from labtools import charts
from labtools.files import BUILD, steps, steps_with_kernels
from labtools.machine import parser_of, ready
from labtools.process import fail, must_write, warn
from labtools.table import Table, update, write_table
from labtools.profilers import ncu
from labtools.profilers.tracer import NotPossible, trace

ITERATIONS = 30  # under ncu, or LAUNCHES of a kernel that makes several sweeps, where that is more
LAUNCHES = 8
COUNTED = 3      # launches of a kernel that ncu counts, after the first
BYTES_PER_POINT, FLOPS_PER_POINT = 8, 4  # a float read and one written; three additions and a multiplication

# As NERSC's method has it, and each level's bytes.
TIME = ("sm__cycles_elapsed.avg", "sm__cycles_elapsed.avg.per_second")
SHARED = ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")  # 128 bytes each, which l1tex__t_bytes lacks
PER_REQUEST = {kind: (ncu.of_global("sectors", letters), ncu.of_global("requests", letters))
               for kind, letters in (("load", "ld"), ("store", "st"))}
ISSUES = "smsp__issue_active.avg.per_cycle_active"  # in the other cycles no warp was eligible
INSTRUCTIONS = "smsp__inst_executed.sum"  # by warps
# Columns of kernels.tsv that are one metric: those that are asked for, and those that SECTIONS bring.
ASKED = {"eligible_warps": "smsp__warps_eligible.avg.per_cycle_active",  # per scheduler
         "l1_hit_percent": "l1tex__t_sector_hit_rate.pct", "l2_hit_percent": "lts__t_sector_hit_rate.pct",
         "l2_percent": f"lts__throughput{ncu.SPEED}"}
OF_SECTIONS = {"occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
               "occupancy_possible_percent": "sm__maximum_warps_per_active_cycle_pct",
               "dram_percent": f"gpu__dram_throughput{ncu.SPEED}", "compute_percent": f"sm__throughput{ncu.SPEED}",
               "memory_percent": f"gpu__compute_memory_throughput{ncu.SPEED}"}
METRICS = [*TIME, "gpu__time_duration.sum", *ncu.FLOPS["float"], *ncu.FLOPS["double"], *ncu.BYTES.values(),
           *SHARED, ISSUES, INSTRUCTIONS, *ASKED.values(),
           *[metric for pair in PER_REQUEST.values() for metric in pair]]
SECTIONS = ["LaunchStats", "Occupancy", "WarpStateStats", "SpeedOfLight"]
SAME = ("gpu", "driver", "cuda", "ncu", "not_counted")


# Collecting.

def count_step(path, program, n, traced, iterations):
    """{kernel: what ncu counts in its second to fourth launch}; `traced`: its rows of the tracer's table of a run of so
    many iterations."""
    command = [program, "--n", n, "--iterations", max(ITERATIONS, LAUNCHES * sweeps_of(traced, iterations)), "--quiet"]
    few = ["--filter-mode", "per-launch-config", "--launch-skip", 1, "--launch-count", launches_to_count(traced)]
    sections = [word for section in SECTIONS for word in ("--section", section)]
    found = {}
    for launch in ncu.count(path, [*ncu.UNCHANGED, *few, *sections], METRICS, command, seconds=240):
        if not is_set_up(launch["kernel"]):
            found.setdefault(launch["kernel"], []).append(launch)
    return found


def launches_to_count(traced):
    """How many launches of one shape ncu has to count. Instances of a template that have the same shape share it:
    enough for two of the rarest."""
    shapes = {}
    for row in traced.values():
        shapes.setdefault((row["grid"], row["block"]), []).append(int(row["count"]))
    return max([COUNTED] + [min(40, 2 * round(sum(counts) / min(counts)))
                            for counts in shapes.values() if len(counts) > 1])


def collect(out, which, chosen):
    """(what is known of the machine, [(step, n, iterations, {kernel: launches that ncu counted}, {kernel: its row of the
    tracer's table})])."""
    machine, path = ready(out, (), "ncu")
    why, measured = "ncu was not found", []
    for step, _, _, n, iterations, *_ in chosen:
        program = BUILD / "bin" / f"{which}_{step}"
        step = step if which == "solution" else f"{step[:2]}{charts.YOURS}"
        counted, traced = {}, {}
        try:
            with tempfile.TemporaryDirectory() as folder:
                rows = trace([program, "--n", n, "--iterations", iterations, "--quiet"], pathlib.Path(folder) / "trace.tsv")
            traced = {row["name"]: row for row in rows if row["table"] == "kernels" and not is_set_up(row["name"])}
            if path:
                counted = count_step(path, program, n, traced, iterations)
        except ncu.NotAllowed as error:
            warn(f"nothing can be counted: {error}")
            path, why = None, str(error)
        except NotPossible as error:
            warn(f"{step}: {error}")
        measured.append((step, n, iterations, counted, traced))
        print(f"{step} n = {n}: {'counted' if counted else 'traced' if traced else 'nothing measured'}", flush=True)
    if not path:
        machine["not_counted"] = why
    return machine, measured


# Reading.

def is_set_up(kernel):
    return "init" in kernel or "fill" in kernel


def is_copy(kernel):
    return "copy" in kernel


def sweeps_of(traced, iterations):
    """How many sweeps a launch makes, of the tracer's rows: several, if there are fewer launches than iterations."""
    launches = sum(int(row["count"]) for kernel, row in traced.items() if not is_copy(kernel))
    return max(1, round(iterations / launches)) if launches else 1


def median(launches, metric):
    """The median over the launches; None where ncu did not tell."""
    values = [launch[metric] for launch in launches if isinstance(launch.get(metric), float)]
    return statistics.median(values) if values else None


def total(launches, metrics):
    """The sum of metrics, each times its weight. None where one is missing."""
    values = [(median(launches, metric), weight) for metric, weight in metrics.items()]
    return None if any(value is None for value, _ in values) else sum(value * weight for value, weight in values)


def ratio(a, b):
    return a / b if a is not None and b else None


def stalls(launches):
    """The three reasons for which warps wait most: "long_scoreboard 12.3", in warps a scheduler per issue."""
    medians = {name: median(launches, name) for launch in launches for name in launch}
    return ", ".join(f"{name} {value:.2f}" for value, name in ncu.stalls(medians)[:3] if value) or None


def text(value):
    if value is None or value == "":
        return "-"
    return f"{value:.6g}" if isinstance(value, float) and abs(value) < 1e5 else \
        f"{value:.0f}" if isinstance(value, float) else str(value)


COLUMNS = ["step", "kernel", "n", "sweeps", "counted_by", "launches", "time_ns", "flops_float", "flops_double", "dram_bytes",
           "l2_bytes", "l1_bytes", "shared_bytes", "traced_ns", "grid", "block", "registers", "shared_bytes_per_block",
           "occupancy_percent", "occupancy_possible_percent", "load_sectors_per_request", "store_sectors_per_request",
           "dram_percent", "memory_percent", "compute_percent", "no_eligible_percent", "instructions_per_32_points",
           "eligible_warps", "l1_hit_percent", "l2_hit_percent", "l2_percent", "stalls"]


def rows_of_step(step, n, iterations, counted, traced):
    """The step's rows of kernels.tsv."""
    sweeps, found = sweeps_of(traced, iterations), []
    for kernel in dict.fromkeys([*counted, *traced]):
        launches, row = counted.get(kernel), traced.get(kernel)
        traced_ns = float(row["median_ns"]) if row else None
        of_kernel = 0 if is_copy(kernel) else sweeps
        line = {"step": step, "kernel": kernel, "n": n, "sweeps": of_kernel, "traced_ns": traced_ns}
        if row:
            line.update(grid=row["grid"], block=row["block"], registers=row["registers"],
                        shared_bytes_per_block=int(row["static_shared"]) + int(row["dynamic_shared"]))
        if launches:
            seconds = ratio(median(launches, TIME[0]), median(launches, TIME[1]))
            time_ns = 1e9 * seconds if seconds else median(launches, "gpu__time_duration.sum")
            shared = total(launches, {metric: 128 for metric in SHARED})
            issues = median(launches, ISSUES)
            line.update(
                counted_by="ncu", launches=len(launches), time_ns=time_ns, shared_bytes=shared,
                **{f"flops_{kind}": total(launches, metrics) for kind, metrics in ncu.FLOPS.items()},
                **{f"{level}_bytes": median(launches, metric) for level, metric in ncu.BYTES.items()},
                stalls=stalls(launches), no_eligible_percent=None if issues is None else 100 * (1 - issues),
                instructions_per_32_points=ratio(median(launches, INSTRUCTIONS), max(1, of_kernel) * n * n / 32),
                **{column: median(launches, metric) for column, metric in {**ASKED, **OF_SECTIONS}.items()},
                **{f"{kind}_sectors_per_request": ratio(median(launches, sectors), median(launches, requests))
                   for kind, (sectors, requests) in PER_REQUEST.items()})
        else:
            line.update(counted_by="hand", launches=int(row["count"]), time_ns=traced_ns, flops_double=0,
                        flops_float=float(FLOPS_PER_POINT * of_kernel * n * n),
                        dram_bytes=float(BYTES_PER_POINT * n * n))
        found.append(line)
    return found


def write(folder, machine, measured, keep):
    """Makes the table of what collect() has found, and the chart; `keep`: the rows of other steps stay."""
    rows = [row for one in measured for row in rows_of_step(*one)]
    if not rows:
        fail("no kernel was measured")
    by_hand, count = sum(row["counted_by"] == "hand" for row in rows), len(rows)
    rows = [{column: text(row.get(column)) for column in COLUMNS} for row in rows]
    path = folder / "kernels.tsv"
    if keep:
        rows = update(path, machine, rows, SAME)
    write_table(path, ["One launch of each kernel: time, operations, bytes, launch, occupancy, stalls.",
                       "Written by `make roofline`."], machine, COLUMNS, rows)
    print(f"{count} kernels, {count - by_hand} of them counted by ncu; written to {path}")
    ceilings = Table(folder / "bandwidth.tsv").ceilings() if (folder / "bandwidth.tsv").exists() else {}
    chart = charts.roofline(rows, ceilings, {step.name: step.title for step in steps()}, f"{machine['gpu']} {machine['date']}")
    must_write(folder / "roofline.svg", charts.stacked([chart], "roofline", chart.title))
    print(f"drawn: {folder / 'roofline.svg'}")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--steps", default="")
    parser.add_argument("--which", choices=("exercise", "solution"), default="solution")
    arguments = parser.parse_args()
    chosen = [step for step in steps_with_kernels() if not arguments.steps or step.name[:2] in arguments.steps.split(",")]
    if not chosen:
        fail(f"--steps {arguments.steps}: no such step with kernels", 2)
    write(arguments.write, *collect(arguments.write, arguments.which, chosen), bool(arguments.steps))


if __name__ == "__main__":
    main()
