"""Runs ncu, and reads what it prints: one reader, one table of units, one of stalls."""

import csv
import os
import re

from labtools.numbers import number
from labtools.process import attempt
from labtools.tracer import NotPossible, kernel_name

SPEED = ".avg.pct_of_peak_sustained_elapsed"
# What ncu's units are in nanoseconds and bytes.
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12, "ns": 1, "nsecond": 1, "us": 1e3,
         "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9}
# The page "details" has labels instead of names: (label, unit) to name.
LABELS = {
    ("Duration", None): "gpu__time_duration.sum",
    ("Compute (SM) Throughput", "%"): f"sm__throughput{SPEED}",
    ("Memory Throughput", "%"): f"gpu__compute_memory_throughput{SPEED}",
    ("DRAM Throughput", "%"): f"gpu__dram_throughput{SPEED}",
    ("L2 Cache Throughput", "%"): f"lts__throughput{SPEED}",
    ("L1/TEX Cache Throughput", "%"): "l1tex__throughput.avg.pct_of_peak_sustained_active",
    ("L1/TEX Hit Rate", "%"): "l1tex__t_sector_hit_rate.pct",
    ("L2 Hit Rate", "%"): "lts__t_sector_hit_rate.pct",
    ("No Eligible", "%"): "smsp__issue_inst0.avg.pct_of_peak_sustained_active",
    ("Eligible Warps Per Scheduler", None): "smsp__warps_eligible.avg.per_cycle_active",
    ("Active Warps Per Scheduler", None): "smsp__warps_active.avg.per_cycle_active",
    ("Warp Cycles Per Issued Instruction", None): "smsp__average_warp_latency_per_inst_issued.ratio",
    ("Registers Per Thread", None): "launch__registers_per_thread",
    ("Static Shared Memory Per Block", None): "launch__shared_mem_per_block_static",
    ("Waves Per SM", None): "launch__waves_per_multiprocessor",
    ("Theoretical Occupancy", "%"): "sm__maximum_warps_per_active_cycle_pct",
    ("Achieved Occupancy", "%"): "sm__warps_active.avg.pct_of_peak_sustained_active",
}
STALL = re.compile(r"^smsp__average_warps?_(?:latency_)?issue_stalled_(\w+?)(?:_per_issue_active)?\.ratio$")
# What a warp waits for.
STALLS = {"long_scoreboard": "loads from memory or L1", "short_scoreboard": "shared memory, special functions",
          "lg_throttle": "the queue for loads, stores, atomics", "mio_throttle": "the queue for shared memory",
          "barrier": "the block's other warps", "wait": "a fixed latency", "membar": "a memory fence",
          "drain": "its stores, at its end", "not_selected": "others were chosen", "math_pipe_throttle": "arithmetic",
          "no_instruction": "instructions", "tex_throttle": "the texture queue", "imc_miss": "constants",
          "branch_resolving": "a branch", "dispatch_stall": "the dispatcher", "sleeping": "nanosleep",
          "gmma": "tensor cores", "misc": "other"}


class NotAllowed(NotPossible):
    """Why no program can be counted."""


def rows_of(text):
    """The rows of ncu's CSV from its header on, without what the program and ncu said otherwise."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith(('"ID",', "ID,"))), None)
    if start is None:
        return []
    rows = [row for row in csv.reader(line for line in lines[start:] if not line.startswith("==")) if row]
    return [row for row in rows if len(row) == len(rows[0])]


def launches(text):
    """What `ncu --csv` printed with --page raw or details: one {"kernel": name, metric: value} a launch. Values are
    floats in nanoseconds and bytes, or text."""
    rows = rows_of(text)
    if not rows or "Kernel Name" not in rows[0]:
        return []
    found = {}
    if "Metric Name" in rows[0]:  # the page "details", or metrics alone: a row a metric
        for row in (dict(zip(rows[0], fields)) for fields in rows[1:]):
            launch = found.setdefault((row["ID"], row["Kernel Name"]), {key: row.get(key) for key in ("Grid Size", "Block Size")})
            name, unit = row["Metric Name"], row.get("Metric Unit", "")
            name = LABELS.get((name, unit)) or LABELS.get((name, None)) or name
            value = number(row.get("Metric Value"))
            if value is not None:
                launch.setdefault(name, value * UNITS.get(unit.split("/")[0], 1))
    else:  # the page "raw": a column a metric, and a second line of units
        has_units = len(rows) > 1 and not rows[1][0].strip()
        units = rows[1] if has_units else [""] * len(rows[0])
        for fields in rows[1 + has_units:]:
            values = [number(field) for field in fields]
            launch = {title: field if value is None else value * UNITS.get(unit.split("/")[0], 1)
                      for title, unit, field, value in zip(rows[0], units, fields, values)}
            found[launch["ID"], launch["Kernel Name"]] = launch
    return [{**launch, "kernel": kernel_name(name), "name": name} for (_, name), launch in found.items()]


def stalls(metrics):
    """[(warps per scheduler and issue, reason)], the largest first. A warp that is selected issues: it is no stall."""
    found = [(value, STALL.match(name)[1]) for name, value in metrics.items()
             if STALL.match(name) and "_not_issued" not in name and isinstance(value, float)]
    return sorted(((value, name) for value, name in found if name not in ("selected", "total")), reverse=True)


def why_not(said):
    """The exception for what ncu said when it failed."""
    if "ERR_NVGPUCTRPERM" in said or "INSUFFICIENT_PRIVILEGES" in said:
        return NotAllowed("the driver lets only administrators read the counters (ERR_NVGPUCTRPERM)")
    if re.search(r"driver resource was unavailable|HARDWARE_BUSY|like DCGM", said, re.I):
        return NotAllowed("another program holds the counters (DCGM, or another profiler)")
    errors = [line for line in said.splitlines() if "==ERROR==" in line] or said.strip().splitlines()[-1:]
    return NotPossible(errors[0].replace("==ERROR==", "").strip() if errors else "ncu failed, and did not say why")


def count(ncu, options, metrics, command, seconds=600):
    """What `ncu --page raw` prints for the command. Metrics that this GPU does not have are left out. Raises
    NotPossible or NotAllowed."""
    metrics = list(metrics)
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_INJECTION64_PATH")}
    while True:
        chosen = ["--metrics", ",".join(metrics)] if metrics else []
        code, out, error = attempt([ncu, "--csv", "--page", "raw", "--print-units", "base", *options, *chosen, *command],
                                   seconds, env=environment)
        if code in (124, 126) and not out:
            raise NotPossible(error)
        if launches(out):
            return out
        said = out + error
        unknown = [metric for metric in metrics if re.search(rf"[Ff]ailed to find metric.*{re.escape(metric)}", said)]
        if not unknown:
            raise why_not(said)
        metrics = [metric for metric in metrics if metric not in unknown]
