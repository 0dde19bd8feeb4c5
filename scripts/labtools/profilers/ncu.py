"""Runs ncu, and reads what it prints: one reader, one table of stalls."""

import csv
import os
import re

from labtools.numbers import number
from labtools.process import attempt
from labtools.profilers.tracer import NotPossible, kernel_name

UNCHANGED = ["--clock-control", "none", "--cache-control", "none"]  # the clock, and what the kernel before has left
SPEED = ".avg.pct_of_peak_sustained_elapsed"
# The instructions of each kind, and how many operations each of them is; the bytes that each level moved.
FLOPS = {kind: {f"smsp__sass_thread_inst_executed_op_{letter}{operation}_pred_on.sum": weight
                for operation, weight in (("add", 1), ("mul", 1), ("fma", 2))}
         for kind, letter in (("float", "f"), ("double", "d"))}
BYTES = {"dram": "dram__bytes.sum", "l2": "lts__t_bytes.sum", "l1": "l1tex__t_bytes.sum"}
STALL = re.compile(r"^smsp__average_warps?_(?:latency_)?issue_stalled_(\w+?)(?:_per_issue_active)?\.ratio$")
# What a warp waits for.
STALLS = {"long_scoreboard": "loads from memory or L1", "short_scoreboard": "shared memory, special functions",
          "lg_throttle": "the queue for loads, stores, atomics", "mio_throttle": "the queue for shared memory",
          "barrier": "the block's other warps", "wait": "a fixed latency", "membar": "a memory fence",
          "drain": "its last stores, atomics", "not_selected": "others were chosen", "math_pipe_throttle": "arithmetic",
          "no_instruction": "instructions", "tex_throttle": "the texture queue", "imc_miss": "constants",
          "branch_resolving": "a branch", "dispatch_stall": "the dispatcher", "sleeping": "nanosleep",
          "gmma": "tensor cores", "misc": "other"}


def of_global(what, operation):
    """The metric of "requests" or "sectors" of an operation on global memory: "ld", "st" or "red"."""
    return f"l1tex__t_{what}_pipe_lsu_mem_global_op_{operation}.sum"


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
    """What `ncu --csv --page raw --print-units base` printed: one {"kernel": name, metric: value} a launch. Values are floats
    in nanoseconds and bytes, or text."""
    head, *rows = rows_of(text) or [[]]
    if "Kernel Name" not in head:
        return []
    found = []
    for fields in rows:
        if fields[0].strip():  # the row of units has no ID
            launch = {title: field if number(field) is None else number(field) for title, field in zip(head, fields)}
            found.append({**launch, "kernel": kernel_name(launch["Kernel Name"])})
    return found


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
    """The launches that ncu counts of the command. Metrics that this GPU does not have are left out. Raises
    NotPossible or NotAllowed."""
    metrics = list(metrics)
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_INJECTION64_PATH")}
    while True:
        chosen = ["--metrics", ",".join(metrics)] if metrics else []
        _, out, error = attempt([ncu, "--csv", "--page", "raw", "--print-units", "base", *options, *chosen, *command],
                                seconds, env=environment)
        if found := launches(out):
            return found
        said = out + error
        unknown = [metric for metric in metrics if re.search(rf"[Ff]ailed to find metric.*{re.escape(metric)}", said)]
        if not unknown:
            raise why_not(said)
        metrics = [metric for metric in metrics if metric not in unknown]
