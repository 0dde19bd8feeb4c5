"""Prints what was seen of a program's run, in 80 columns.

  run_tables.py counts TABLE [--n N] [FILE...]     what each line did to memory, per point (without N: per launch), when
                                                   the CPU ran the kernels; TABLE is what
                                                   lab/cpu/src/watch/counters.cpp writes
  run_tables.py trace TABLE [--ranges] [FILE...]   NVTX ranges and, without --ranges, kernels, CUDA calls, copies and
                                                   memory. If the CPU ran the kernels, they have no times, which would
                                                   mean nothing. TABLE is what the lab's tracer or lab/cpu writes

FILE...: the program's sources.
"""

import argparse
import collections
import itertools
import pathlib
import re

from labtools.process import print_for_people
from labtools.table import Table
from labtools.profilers.tracer import kernel_name

LAUNCH = re.compile(r"(\w+)\s*(<[^<>;]*>)?\s*<<<")
KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(")
LEGEND = """A request is one instruction of a warp; a sector is 32 bytes. Coalesced accesses
of 32 floats take 4 sectors. Shared memory serves its 32 banks in one pass if no
two lanes want different words of one bank. What CUB does inside is not counted."""


def kernel_launched(lines, number):
    """The kernel that line `number` of a source launches; of a variable, one that it was set to. None if there is none."""
    launch = LAUNCH.search(" ".join(lines[number - 1:number + 1]))
    if not launch:
        return None
    kernels, name = KERNEL.findall("\n".join(lines)), launch[1]
    for line in reversed(lines[:number - 1]):
        if name in kernels:
            break
        if set_to := re.search(rf"\b{name}\s*=\s*(.*)", line):  # a kernel, or the last variable named there
            words = re.findall(r"[A-Za-z_]\w*", set_to[1].split("//")[0])
            name = next((word for word in words if word in kernels), words[-1])
    return name + (launch[2] or "") if name == launch[1] else name


def launched(sources, place):
    """The kernel that is launched at a place such as "solutions/04_jacobi_kernel/jacobi.cu:122", in words."""
    file, _, number = place.rpartition(":")
    name = kernel_launched(sources.get(pathlib.Path(file).name, []), int(number)) if number.isdigit() else None
    return f"{name}, launched at line {number}" if name else f"launched at {place}"


def print_counts(rows, sources, n):
    unit, points, decimals = ("point", n * n, 4) if n else ("launch", 1, 0)
    for place, of_kernel in itertools.groupby(rows, key=lambda row: row["kernel_line"]):
        # Which file launches it the table does not say.
        names = filter(None, (kernel_launched(lines, int(place)) for lines in sources.values()))
        print(next((f"{name}, launched at line {place}" for name in names), f"the kernel launched at line {place}"))
        print(f"{'line':>6}  {'':13} {f'per {unit}':>9}  per request")
        sums, busiest = {}, 0
        for row in of_kernel:
            counts = {name: int(row[name]) for name in ("line", "bytes", "requests", "sectors", "wavefronts", "conflicts")}
            launches, kind, access = int(row["launches"]), row["space"], row["access"]
            each = int(row["threads"]) / launches / points
            if access == "atomic":
                most = int(row["most_at_one_address"]) // launches
                busiest, kind, how = max(busiest, most), access, f"{most} at one"
            elif kind == "shared":
                how = f"{counts['wavefronts'] / counts['requests']:.2f} passes"
                kind = "copy" if access == "copy" else kind
            else:
                kind, how = access, f"{counts['sectors'] / counts['requests']:.2f} sectors"
            sums.setdefault(kind, collections.Counter()).update(
                {**counts, "each": each, "coalesced": counts["requests"] * counts["bytes"]})
            lines, number = sources.get(pathlib.Path(row["file"]).name, []), counts["line"]
            # Lines that declare a value differ after its type.
            code = re.sub(r"^const \w+ ", "", lines[number - 1].strip()) if 0 < number <= len(lines) else \
                f"{row['file']}:{number}" if number else "(inside a library)"
            print(f"{number or '-':>6}  {row['space']:6} {access:6} {each:9.{decimals}f}  {how:14} {code[:31]}")
        for kind in ("load", "store"):
            if of_kind := sums.get(kind):
                print(f"        {kind + 's:':8} {of_kind['each']:.{decimals}f} per {unit}, "
                      f"{of_kind['sectors'] / of_kind['requests']:.2f} sectors per request "
                      f"(coalesced: {of_kind['coalesced'] / of_kind['requests']:.2f})")
        if "atomic" in sums:
            print(f"        atomics: {sums['atomic']['each']:.{decimals}f} per {unit}, up to {busiest} at one address")
        if "shared" in sums:
            share = 100 * sums["shared"]["conflicts"] / sums["shared"]["wavefronts"]
            print(f"        shared memory: {share:.1f} % of its passes are bank conflicts")
        print()
    print(LEGEND if rows else f"  No kernel accessed memory.\n{LEGEND}")


def print_trace(rows, sources, only_ranges):
    """The ranges and, unless `only_ranges`, what the GPU was asked for, the longest first."""
    of_kind = collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: -float(row["total_ns"])):
        of_kind[row["table"]].append(row)
    on_gpu = any(float(row["total_ns"]) > 0 for row in of_kind["kernels"] + of_kind["calls"])

    def ms(row, column):
        return float(row[column]) / 1e6

    def show(title, columns, lines):
        print("\n".join(["", title, columns, *lines] if lines else ["", title, "    none"]))

    def show_times(title, name, table, last=("max ms", "max_ns", 5)):
        total = sum(ms(row, "total_ns") for row in table) or 1
        what = "median" if any(row["mean_ns"] != row["median_ns"] for row in table) else "mean"
        lines = []
        for row in table:
            of_kernel = row["table"] == "kernels"
            lines.append(f"{100 * ms(row, 'total_ns') / total:6.1f}{ms(row, 'total_ns'):12.3f}{row['count']:>9}"
                         f"{ms(row, 'median_ns'):11.5f}{ms(row, last[1]):11.{last[2]}f}  {kernel_name(row['name'])[:27] if of_kernel else row['name']}")
            if of_kernel:
                lines.append(f"{'':8}grid {row['grid']}, block {row['block']}, {row['registers']} registers, shared "
                             f"{row['static_shared']}+{row['dynamic_shared']} B, local {row['local']} B")
        show(title, f"     %    total ms    count{f'{what} ms':>11}{last[0]:>11}  {name}", lines)

    def show_sizes(title, name, table):
        show(title, f"   count       total MB  {name}",
             [f"{row['count']:>8} {ms(row, 'bytes'):14.6f}  {row['name']}" for row in table])

    show_times("NVTX ranges", "range", of_kind["nvtx"])
    if never_closed := sum(int(row["count"]) for row in of_kind["open"]):
        names = ", ".join(dict.fromkeys(row["name"] for row in of_kind["open"]))
        print(f"\n{never_closed} NVTX range{' was' if never_closed == 1 else 's were'} never closed: {names:.45}")
    for row in of_kind["pops"]:
        print(f"\n{row['count']} x {row['name']}, and no range was open")
    if only_ranges:
        return
    if not any(of_kind[table] for table in ("kernels", "calls", "copies", "allocations")):
        print("\nThe program asks nothing of CUDA: no kernel, no copy, no memory.")
        return
    if on_gpu:
        show_times("Kernels", "kernel", of_kind["kernels"])
        show_times("CUDA calls", "call", of_kind["calls"])
        for title, table in (("Exchanges by NCCL", "exchanges"), ("Copies and fills", "copies"), ("Unified memory", "migration")):
            if of_kind[table]:
                show_times(title, "what", of_kind[table], ("total MB", "bytes", 3))
    else:
        show("Kernels (the CPU runs them in the GPU's place: no times)", "   count  grid         block       kernel",
             [f"{row['count']:>8}  {row['grid']:12} {row['block']:10}  {launched(sources, row['name'])}"
              for row in of_kind["kernels"]])
        show_sizes("Copies and fills", "what", of_kind["copies"])
    show_sizes("Memory", "kind", of_kind["allocations"])
    if not on_gpu:
        print("\nTimes of kernels and CUDA calls, and pages that migrate, need a GPU.")


def main():
    print_for_people()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("counts", "trace"))
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--n", type=int, default=0)
    parser.add_argument("--ranges", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_intermixed_args()
    sources = {path.name: path.read_text(encoding="utf-8", errors="replace").splitlines() for path in arguments.files}
    rows = Table(arguments.table).rows
    if arguments.what == "counts":
        print_counts(rows, sources, arguments.n)
    else:
        print_trace(rows, sources, arguments.ranges)


if __name__ == "__main__":
    main()
