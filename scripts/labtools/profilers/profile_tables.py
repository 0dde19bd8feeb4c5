"""Prints what matters for one step of what nsys or ncu wrote, with a sentence on what to see in it.

  profile_tables.py nsys REPORT.csv --step 04 [--baseline REPORT.csv]
  profile_tables.py ncu REPORT.csv --step 06 [--baseline REPORT.csv]
  profile_tables.py trim REPORT.csv     ncu's CSV with only those columns that the lab looks at, on stdout
  profile_tables.py metrics             the metrics that ncu has to be asked for, on one line
  profile_tables.py options --tool nsys --step 11      what the tool has to be told for the step
  profile_tables.py questions --tool ncu --step 06     "kernel<tab>what" of each of the step's questions

REPORT.csv is what `nsys stats --format csv` printed (several reports, one after the other), or `ncu --csv --page raw`.
Lines at its head like "# n<tab>2048" say what was run. Which table and which sentence belong to a step stands in
profile_questions.tsv. Exit: 0 shown, 1 there is nothing in it, 2 bad usage.
"""

import argparse
import contextlib
import csv
import pathlib
import re
import sys
import textwrap

from labtools.profilers import ncu
from labtools.files import ROOT
from labtools.numbers import duration, in_unit, number
from labtools.process import fail, print_for_people
from labtools.table import split_head
from labtools.profilers.tracer import kernel_name

QUESTIONS = ROOT / "scripts/lib/profile_questions.tsv"
WIDTH = 80


def lines_of(step, tool):
    """[(kernel, what, words)] of the lines of profile_questions.tsv that a step has."""
    lines = [line.split("\t") for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    return [tuple(fields[2:]) for fields in lines if fields[:2] == [step, tool]]


def questions(step, tool):
    """[(kernel, what, sentence)] of a step, or of any step that is not listed."""
    return [line for line in lines_of(step, tool) or lines_of("..", tool) if line[1] != "options"]


def options_of(step, tool="nsys"):
    return next((words.split() for _, what, words in lines_of(step[:2], tool) if what == "options"), [])


def read(path):
    """(head, lines): what "# key<tab>value" lines say, and all other lines."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        fail(f"{path}: {error.strerror}", 2)
    head, lines = split_head(text)
    return {key: value.strip() for key, value, *_ in head}, lines


# How numbers are written.

def digits(value):
    """Four significant digits, and no exponent."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.001 else f"{value:.2g}"


def time(ns):
    return duration(ns, digits)


def size(count):
    return in_unit(count, (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1)), digits)


NAME_WIDTH = 26


def short(name):
    """A kernel's or range's name without domain, arguments and long template arguments."""
    name = kernel_name(name.strip().lstrip(":"))
    return name if len(name) <= NAME_WIDTH else name.split("<")[0]


def trimmed(text, width):
    return text if len(text) <= width else text[:width - 1] + "…"


def say_sentence(sentence):
    print(textwrap.fill(sentence, WIDTH, initial_indent="  > ", subsequent_indent="    "))
    print()


# nsys

# Reports of nsys that the lab looks at, and columns that each of them has; the first that fits counts.
REPORTS = {"nvtx_sum": {"Range"}, "cuda_api_sum": {"Num Calls", "Name"}, "cuda_gpu_kern_sum": {"Instances", "Name"},
           "timeline": {"Strm", "Name"}, "cuda_gpu_mem_size_sum": {"Operation", "Total (MB)"},
           "um_total_sum": {"Total CPU Page Faults"}}


def nsys_tables(lines):
    """{report: [row]}; a row is a dictionary."""
    tables, kind, columns = {}, None, []
    for fields in csv.reader(lines):
        if len(fields) < 2:
            kind = None
        elif fields[0].startswith(("Time (", "Total ", "Start (")):
            columns = fields
            if kind := next((report for report, needed in REPORTS.items() if needed <= set(columns)), None):
                tables[kind] = []
        elif kind and len(fields) == len(columns):
            tables[kind].append(dict(zip(columns, fields)))
    return tables


def read_nsys(path):
    """(head, {report: [row]})."""
    head, lines = read(path)
    return head, nsys_tables(lines)


def times_of(row):
    """(share, total, times, median, min, max) of a row; times in nanoseconds."""
    names = ("Time (%)", "Total Time (ns)", "Instances" if "Instances" in row else "Num Calls", "Med (ns)", "Min (ns)", "Max (ns)")
    return tuple(number(row[name]) or 0 for name in names)


# {report: (title, what a row is, what is said if there is none)}
TITLES = {"nvtx_sum": ("NVTX ranges", "range", "no NVTX range"),
          "cuda_gpu_kern_sum": ("kernels on the GPU", "kernel", "no kernel ran on the GPU"),
          "cuda_api_sum": ("calls of the CUDA API", "call", "no CUDA call")}
MOST_ROWS = 7


def name_of(row):
    return short(row.get("Range", row.get("Name", "")))


def print_times(report, rows):
    title, what, absent = TITLES[report]
    print(f"{report}: {title}")
    if not rows:
        print(f"  none: {absent}")
        return
    print(f"{'%':>5}{'total':>10}{'times':>7}{'median':>10}{'min':>10}{'max':>10}  {what}")
    for row in rows[:MOST_ROWS]:
        share, total, count, median, least, most = times_of(row)
        name = trimmed(name_of(row), NAME_WIDTH)
        print(f"{share:5.1f}{time(total):>10}{count:7.0f}{time(median):>10}{time(least):>10}{time(most):>10}  {name}")
    if len(rows) > MOST_ROWS:
        print(f"  and {len(rows) - MOST_ROWS} more, all smaller")


def unified_memory(tables):
    """{what: (value, written)} of what migrated."""
    found = {}
    for row in tables.get("cuda_gpu_mem_size_sum", []):
        for words, name in (("Host-to-Device", "host to device"), ("Device-to-Host", "device to host")):
            if f"Unified {words}" in row["Operation"]:
                found[name] = 1e6 * number(row["Total (MB)"]), number(row["Count"])
    for row in tables.get("um_total_sum", []):
        found["page faults on the CPU"] = number(row["Total CPU Page Faults"]), None
        found["page fault groups on the GPU"] = number(row["Total GPU PageFaults"]), None
    return found


def print_unified_memory(head, tables):
    print("um_sum: unified memory")
    found = unified_memory(tables)
    if not any(value for value, _ in found.values()):
        print("  none: nothing migrated")
        return
    iterations = number(head.get("iterations"))
    for name, (value, count) in found.items():
        is_bytes = " to " in name
        line = f"  {name:<28}{size(value) if is_bytes else digits(value):>10}"
        if count:
            line += f" in {count:,.0f} pieces"
        if is_bytes and iterations:
            line += f", {size(value / iterations)} per sweep"
        print(line)
    if number(head.get("n")):
        print(f"  (one field has {size(4 * number(head['n']) ** 2)})")


def print_timeline(rows):
    """Some kernels in the order in which they began, from the first of two passes on."""
    print("timeline: kernels of two passes")
    exchanges = [k for k, row in enumerate(rows) if "SendRecv" in row["Name"]]
    begin = next((k - 2 for k in exchanges if k >= 2), None)
    if begin is None:
        print("  none: no exchange between GPUs")
        return
    print(f"{'from':>12}{'to':>12}{'stream':>8}  kernel")
    zero = number(rows[begin]["Start (ns)"])
    for row in rows[begin:begin + 6]:
        start = number(row["Start (ns)"]) - zero
        print(f"{time(start):>12}{time(start + number(row['Duration (ns)'])):>12}{row['Strm']:>8}  "
              f"{trimmed(name_of(row), NAME_WIDTH)}")


def show_nsys(path, step, baseline):
    head, tables = read_nsys(path)
    if not tables and not head:
        fail(f"{path}: there is no table of nsys in it")
    print_head(head, step)
    for _, report, sentence in questions(step, "nsys"):
        if report == "um_sum":
            print_unified_memory(head, tables)
        elif report == "timeline":
            print_timeline(tables.get(report, []))
        else:
            print_times(report, tables.get(report, []))
        say_sentence(sentence)
    if baseline:
        beside_nsys(head, tables, *read_nsys(baseline))


def beside_nsys(head, tables, head_before, before):
    """Ranges, kernels and migration of two steps, side by side."""
    n, n_before = head.get("n"), head_before.get("n")
    step, which = head_before.get("step", "the other"), head_before.get("which", "?")
    print(f"next to {step} ({which}), n = {n_before or '?'}: medians; bytes per sweep")
    if n and n_before and n != n_before:
        print(f"  Mind: this one is at n = {n}, so times are not to be compared.")
    print(f"{'':<36}{'before':>12}{'now':>14}{'now/before':>14}")
    for report in ("nvtx_sum", "cuda_gpu_kern_sum"):
        now = {name_of(row): times_of(row)[3] for row in reversed(tables.get(report, []))}
        then = {name_of(row): times_of(row)[3] for row in reversed(before.get(report, []))}
        for name in reversed(list({**then, **now})):
            print_pair(f"{TITLES[report][1]} {name}", then.get(name), now.get(name), time)
    now, then = unified_memory(tables), unified_memory(before)
    per, per_then = (number(h.get("iterations")) or 1 for h in (head, head_before))
    for name in {**then, **now}:
        if " to " in name:
            print_pair(name, then.get(name, (0,))[0] / per_then, now.get(name, (0,))[0] / per, size)
    print()


def print_head(head, step):
    if head:
        words = [f"{head.get('step', '?')} ({head.get('which', '?')}), n = {head.get('n', '?')}"]
        words += [f"{head['iterations']} iterations"] if "iterations" in head else []
        words += [head[key] for key in ("gpu", "tool", "date") if head.get(key)]
        print(textwrap.fill(", ".join(words), WIDTH, subsequent_indent="  "))
        if step.isdigit() and head.get("step", step)[:2] != step:
            print(f"  Mind: this report is not of step {step}, whose questions stand below.")
        print()


def print_pair(name, before, now, write):
    ratio = f"{now / before:.3g}" if now is not None and before else "–"
    texts = [write(value) if value is not None else "–" for value in (before, now)]
    print(f"  {trimmed(name, 34):<34}{texts[0]:>12}{texts[1]:>14}{ratio:>14}")


# ncu

SPEED = ncu.SPEED
DRAM = (f"gpu__dram_throughput{SPEED}", f"dram__throughput{SPEED}")  # of newer and of older GPUs
# What no section of ncu is sure to bring. (The flops and cycles are for the roofline.)
METRICS = ["gpu__time_duration.sum", "sm__cycles_elapsed.avg", "sm__cycles_elapsed.avg.per_second",
           "dram__bytes_read.sum", "dram__bytes_write.sum", *ncu.BYTES.values(),
           *(ncu.of_global(what, op) for what in ("requests", "sectors") for op in ("ld", "st", "red")),
           *(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st")),
           *ncu.FLOPS["float"], *ncu.FLOPS["double"]]

ID_COLUMNS = ("ID", "Kernel Name", "Block Size", "Grid Size", "Device", "CC")


def read_ncu(path):
    """(head, [(kernel's name, grid, block, {metric: value})]), values in bytes, nanoseconds, or as they are. If the head says
    n, "points" is a metric, too."""
    head, lines = read(path)
    n = int(number(head.get("n")) or 0)
    return head, [(short(launch["kernel"]), launch.get("Grid Size"), launch.get("Block Size"),
                   {name: value for name, value in launch.items() if isinstance(value, float)} | ({"points": n * n} if n else {}))
                  for launch in ncu.launches("\n".join(lines))]


def percent(value):
    return f"{value:.2f} %" if 99 < value < 100 else f"{value:.1f} %"


def ratio(above, below):
    return lambda m: m[above] / m[below]


def per_request(op):
    return ratio(ncu.of_global("sectors", op), ncu.of_global("requests", op))


def no_eligible(m):
    none = m.get("smsp__issue_inst0.avg.pct_of_peak_sustained_active")
    return 100 * (1 - m["smsp__issue_active.avg.per_cycle_active"]) if none is None else none


def instructions(m):
    """Instructions issued for 32 points. The waves of blocks say how many multiprocessors there are."""
    blocks = min(m[f"launch__occupancy_limit_{what}"] for what in ("registers", "shared_mem", "warps"))
    schedulers = 4 * round(m["launch__grid_size"] / (m["launch__waves_per_multiprocessor"] * blocks))
    return schedulers * m["sm__cycles_elapsed.avg"] * (1 - no_eligible(m) / 100) / (m["points"] / 32)


def conflicts(m):
    return sum(m[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"] for op in ("ld", "st"))


# {section: [(label, the metric or how to get it, how to write it)]}; what lacks a metric is not shown.
SECTIONS = {
    "SpeedOfLight": [
        ("duration", "gpu__time_duration.sum", time),
        ("Compute (SM) Throughput, of peak", f"sm__throughput{SPEED}", percent),
        ("Memory Throughput, of peak", f"gpu__compute_memory_throughput{SPEED}", percent),
        ("DRAM Throughput", lambda m: m[DRAM[0]] if DRAM[0] in m else m[DRAM[1]], percent),
        ("L2 Cache Throughput", f"lts__throughput{SPEED}", percent),
        ("L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active", percent)],
    "MemoryWorkloadAnalysis": [
        ("DRAM bytes per point", ratio("dram__bytes.sum", "points"), "{:.2f} B".format),
        ("  of these read", ratio("dram__bytes_read.sum", "points"), "{:.2f} B".format),
        ("L2 bytes per point", ratio("lts__t_bytes.sum", "points"), "{:.2f} B".format),
        ("L1 bytes per point", ratio("l1tex__t_bytes.sum", "points"), "{:.2f} B".format),
        ("L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct", percent),
        ("L2 Hit Rate", "lts__t_sector_hit_rate.pct", percent)],
    "MemoryWorkloadAnalysis_Tables": [
        ("sectors per request, loads", per_request("ld"), digits),
        ("sectors per request, stores", per_request("st"), digits),
        ("load requests", ncu.of_global("requests", "ld"), digits),
        ("store requests", ncu.of_global("requests", "st"), digits),
        ("atomic requests", ncu.of_global("requests", "red"), digits),
        ("bank conflicts, shared memory", conflicts, digits)],
    "SchedulerStats": [
        ("No Eligible, of all cycles", no_eligible, percent),
        ("Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active", digits),
        ("Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active", digits),
        ("Instructions Issued For 32 Points", instructions, "{:.0f}".format)],
    "WarpStateStats": [
        ("Warp Cycles Per Instruction", "smsp__average_warp_latency_per_inst_issued.ratio", digits)],
    "Occupancy": [
        ("Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct", percent),
        ("Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", percent),
        ("Registers Per Thread", "launch__registers_per_thread", digits),
        ("Block Limit Registers", "launch__occupancy_limit_registers", digits),
        ("Block Limit Shared Mem", "launch__occupancy_limit_shared_mem", digits),
        ("Block Limit Warps", "launch__occupancy_limit_warps", digits)],
    "LaunchStats": [
        ("Registers Per Thread", "launch__registers_per_thread", digits),
        ("Static Shared Memory Per Block", "launch__shared_mem_per_block_static", size),
        ("Waves Per SM", "launch__waves_per_multiprocessor", digits)],
}


def section_rows(section, m, before):
    """[(label, value now, value before, how to write it)]"""
    def value(of, get):
        with contextlib.suppress(KeyError, ZeroDivisionError):
            return of[get] if isinstance(get, str) else get(of)

    rows = [(label, value(m, get), value(before or {}, get), write) for label, get, write in SECTIONS[section]]
    if section == "WarpStateStats":
        now, then = ({name: value for value, name in ncu.stalls(of or {})} for of in (m, before))
        for name in dict.fromkeys([*list(then)[:3], *list(now)[:4 if not before else 3]]):
            rows.append((f"  {name}: {ncu.STALLS.get(name, '')}".rstrip(": "), now.get(name), then.get(name), digits))
    return [row for row in rows if row[1] is not None]


def is_kernel(name, wanted):
    return {"sweep": "sweep" in name or "pass" in name, "copy": "copy" in name}.get(wanted, True)


def show_ncu(path, step, baseline):
    head, kernels = read_ncu(path)
    if not kernels:
        fail(f"{path}: there is no kernel in it")
    head_before, kernels_before = read_ncu(baseline) if baseline else ({}, [])
    n, n_before = head.get("n", "?"), head_before.get("n", "?")
    print_head(head, step)
    wanted = questions(step, "ncu")
    if not any(is_kernel(name, kernel) for name, *_ in kernels for kernel, _, _ in wanted):
        wanted = [("-", what, sentence) for _, what, sentence in wanted]  # a kernel of the learner's choice
    for name, grid, block, metrics in kernels:
        mine = [(what, sentence) for kernel, what, sentence in wanted if is_kernel(name, kernel)]
        if not mine:
            continue
        kind = "copy" if "copy" in name else "sweep"
        before = next((other[3] for other in kernels_before if is_kernel(other[0], kind)), None)
        shape = [re.sub(r"[() ]", "", text or "?").replace(",", "x") for text in (grid, block)]
        print(textwrap.fill(f"{name}, grid {shape[0]}, block {shape[1]}", WIDTH, subsequent_indent="  "))
        if before:
            names = [trimmed(h.get("step", other), 16) for h, other in ((head_before, "before"), (head, "now"))]
            print(f"{'':<46}{names[0]:>17}{names[1]:>17}")
            if n_before != n:
                print(f"  Mind: n = {n_before} before, n = {n} now; only what is per point or per request compares.")
        print()
        for what, sentence in mine:
            print(what)
            rows = section_rows(what, metrics, before)
            for label, now, then, write in rows:
                texts = [write(then) if then is not None else "–"] if before else []
                print(f"  {trimmed(label, 43):<44}" + "".join(f"{text:>17}" for text in texts + [write(now)]))
            if not rows:
                print("  not in this report (SET=full collects it)")
            say_sentence(sentence)


def trim(path):
    """The columns of ncu's page "raw" that the lab looks at."""
    shown = {get for rows in SECTIONS.values() for _, get, _ in rows if isinstance(get, str)}
    known = shown.union(METRICS, ID_COLUMNS, DRAM, [
        "smsp__issue_active.avg.per_cycle_active", "smsp__issue_inst0.avg.pct_of_peak_sustained_active",
        "launch__grid_size", "launch__block_size"])
    rows = ncu.rows_of("\n".join(read(path)[1]))
    if len(rows) < 2:
        fail(f"{path}: there is no kernel in it")
    keep = [k for k, name in enumerate(rows[0])
            if name in known or (ncu.STALL.match(name) and "_not_issued" not in name)]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for row in rows:
        writer.writerow([row[k] for k in keep if k < len(row)])


def main():
    print_for_people()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("nsys", "ncu", "trim", "metrics", "options", "questions"))
    parser.add_argument("report", nargs="?", type=pathlib.Path)
    parser.add_argument("--step", default="..")
    parser.add_argument("--tool", default="nsys")
    parser.add_argument("--baseline", metavar="REPORT.csv", type=pathlib.Path)
    arguments = parser.parse_args()
    step = arguments.step[:2] if arguments.step[:1].isdigit() else arguments.step  # or a kernel of the clinic
    if arguments.what == "metrics":
        print(",".join(METRICS))
    elif arguments.what == "options":
        print(" ".join(options_of(step, arguments.tool)))
    elif arguments.what == "questions":
        for kernel, what, _ in questions(step, arguments.tool):
            print(f"{kernel}\t{what}")
    elif arguments.what == "trim":
        trim(arguments.report)
    else:
        {"nsys": show_nsys, "ncu": show_ncu}[arguments.what](arguments.report, step, arguments.baseline)


if __name__ == "__main__":
    main()
