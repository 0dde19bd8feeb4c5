#!/usr/bin/env python3
"""Holds the lab's own tracer (make trace) against nsys.

  tracer.py --write DIR   on a machine with a GPU and nsys: runs every solution under both, and writes
                          DIR/tracer.tsv. nsys is looked for where `make nsys` does; LAB_NSYS names another
Options: --build DIR (default: build), --steps 04,05 (default: all that need a GPU; with it, the rows of other steps
stay in DIR/tracer.tsv as they are, if they come from the same GPU, driver, CUDA and nsys).
"""

import argparse
import csv
import datetime
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from labtools.files import ROOT, steps, write_aside  # noqa: E402
from labtools.ncu_reading import kernel_name  # noqa: E402


def fail(message):
    sys.exit(f"tracer.py: {message}")


def run(command, **options):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        fail(f"{' '.join(map(str, command))}: exit code {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def find_nsys():
    """nsys's path. Looks where scripts/lib/profilers.sh does."""
    found = subprocess.run(["bash", "-c", 'source "$1/scripts/lib/profilers.sh" && find_profiler nsys', "tracer.py", ROOT],
                           capture_output=True, text=True)
    if found.returncode != 0 or not found.stdout.strip():
        fail("nsys was not found on the PATH, nor where toolkits and modules put it; LAB_NSYS names it")
    return found.stdout.strip()


def steps_on_gpu():
    """(name, n, iterations) of each step that needs a GPU, as words of a command."""
    for name, _, needs, n, iterations, _ in steps():
        if needs == "cuda":
            yield name, str(n), str(iterations)


def tracer_environment(build, table):
    library = build / "lib/liblab_trace.so"
    if not library.exists():
        fail(f"{library}: is not there (cmake --build {build} --target lab_trace)")
    return {"CUDA_INJECTION64_PATH": str(library), "NVTX_INJECTION64_PATH": str(library),
            "LAB_TRACE_TSV": str(table), "LAB_TRACE_QUIET": "1"}


def traced(build, command, folder):
    """{(table, name): (count, total ns, median ns, bytes)} by the lab's tracer."""
    table = folder / "trace.tsv"
    run(command, env=os.environ | tracer_environment(build, table))
    found = {}
    for row in csv.DictReader(table.open(), delimiter="\t"):
        name = kernel_name(row["name"]) if row["table"] == "kernels" else row["name"].split("(")[0]
        found[row["table"], name] = tuple(float(row[c]) for c in ("count", "total_ns", "median_ns", "bytes"))
    return found


def milliseconds_per_iteration(command, folder, environment):
    """The median that the program itself measures."""
    run([*command, "--record", folder / "record", "--record-field", "rows"], env=os.environ | environment)
    return json.loads((folder / "record/run.json").read_text())["iteration_ms_median"]


def stats(nsys, report, kind):
    output = run([nsys, "stats", "--report", kind, "--format", "csv", "--force-export=true", report])
    lines = output.splitlines()
    start = next((k for k, line in enumerate(lines) if re.match(r'"?(Time|Virtual|Total)\b.*,', line)), None)
    return list(csv.DictReader(io.StringIO("\n".join(lines[start:])))) if start is not None else []


def options_of(step):
    """What nsys has to be told for a step, from profile_questions.tsv."""
    for line in (ROOT / "scripts/lib/profile_questions.tsv").read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if fields[:2] == [step[:2], "nsys"] and fields[3] == "options":
            return fields[4].split()
    return []


def profiled(nsys, command, folder, options):
    """The same by nsys."""
    report = folder / "report"
    run([nsys, "profile", "-t", "cuda,nvtx", "--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true",
         *options, "--force-overwrite=true", "-o", report, *command])
    report = report.with_suffix(".nsys-rep")
    found = {}
    for row in stats(nsys, report, "nvtx_sum"):
        found["nvtx", row["Range"].lstrip(":")] = (float(row["Instances"]), float(row["Total Time (ns)"]), float(row["Med (ns)"]), 0)
    for row in stats(nsys, report, "cuda_gpu_kern_sum"):
        found["kernels", kernel_name(row["Name"])] = (float(row["Instances"]), float(row["Total Time (ns)"]), float(row["Med (ns)"]), 0)
    for row in stats(nsys, report, "cuda_gpu_mem_size_sum"):
        name = {"[CUDA memcpy Unified Host-to-Device]": "host to device",
                "[CUDA memcpy Unified Device-to-Host]": "device to host"}.get(row["Operation"])
        if name:
            found["migration", name] = (float(row["Count"]), 0, 0, 1e6 * float(row["Total (MB)"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="DIR", type=pathlib.Path, required=True)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--steps", default="")
    arguments = parser.parse_args()
    nsys = find_nsys()
    wanted = [s for s in arguments.steps.split(",") if s]
    smi = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"])
    gpu, driver = smi.strip().split(", ")
    cuda = re.search(r"CUDA Version *:? *([0-9.]+)", run(["nvidia-smi"])).group(1)
    version = re.search(r"version ([0-9.]+)", run([nsys, "--version"])).group(1)
    rows, overhead = [], []
    for step, n, iterations in steps_on_gpu():
        if wanted and step[:2] not in wanted:
            continue
        command = [arguments.build / "bin" / f"solution_{step}", "--n", n, "--iterations", iterations, "--quiet"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            ours, theirs = traced(arguments.build, command, folder), profiled(nsys, command, folder, options_of(step))
            alone = milliseconds_per_iteration(command, folder, {})
            watched = milliseconds_per_iteration(command, folder, tracer_environment(arguments.build, folder / "t.tsv"))
            if alone and watched:
                overhead.append((step, n, iterations, alone, watched))
        for key in sorted(ours.keys() & theirs.keys()):
            a, b = ours[key], theirs[key]
            # What migrates is compared in bytes, all else in time.
            quantity, x, y = ("bytes", a[3], b[3]) if key[0] == "migration" else ("median_ns", a[2], b[2])
            rows.append((step, n, iterations, *key, quantity, f"{a[0]:.0f}", f"{b[0]:.0f}", f"{x:.0f}", f"{y:.0f}",
                         f"{100 * (x / y - 1):.2f}" if y else "-"))
        print(f"{step}: {len(ours.keys() & theirs.keys())} lines in both, "
              f"{len([k for k in theirs if k not in ours])} in nsys alone", flush=True)
    head = {"date": str(datetime.date.today()), "gpu": gpu, "driver": driver, "cuda": cuda, "nsys": version}
    path = arguments.write / "tracer.tsv"
    write_aside(path, table(path, head, overhead, rows, wanted))


COLUMNS = "step n iterations table name quantity count nsys_count tracer nsys difference_percent".split()


def table(path, head, overhead, rows, wanted):
    """The text of tracer.tsv; with `wanted`, the rows of other steps are those that stand in `path`."""
    lines = [("overhead", step, "n", n, "iterations", iterations, "ms_alone", f"{alone:.6g}", "ms_traced", f"{ours:.6g}")
             for step, n, iterations, alone, ours in overhead]
    if wanted and path.exists():
        measured = {line[1] for line in lines}
        kept, kept_lines, kept_rows = {}, [], []
        for line in path.read_text().splitlines():
            fields = tuple(line.removeprefix("# ").split("\t"))
            if line.startswith("# overhead\t"):
                kept_lines += [fields] if fields[1] not in measured else []
            elif line.startswith("# ") and len(fields) > 1:
                kept[fields[0]] = fields[1]
            elif line[:1].isdigit():
                kept_rows += [fields] if fields[0] not in measured else []
        if any(kept.get(key) != head[key] for key in ("gpu", "driver", "cuda", "nsys")):
            print(f"tracer.py: {path}: is of another machine; its rows are not kept", file=sys.stderr)
        else:
            dates = sorted({*kept.get("date", "").split(" to "), head["date"]} - {""})
            head["date"] = " to ".join(dict.fromkeys((dates[0], dates[-1])))
            lines, rows = sorted([*kept_lines, *lines]), sorted([*kept_rows, *rows], key=lambda row: row[0])
    return "".join("\t".join(fields) + "\n" for fields in (
        ["# The lab's tracer against nsys: two runs of each solution. Written by scripts/publish/tracer.py."],
        *[(f"# {key}", value) for key, value in head.items()], *[(f"# {line[0]}", *line[1:]) for line in lines],
        COLUMNS, *rows))


if __name__ == "__main__":
    main()
