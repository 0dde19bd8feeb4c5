#!/usr/bin/env python3
"""Times what the guides of steps 05, 07, 08, 09, 11, 13 and 16 compare or propose to try, on a machine with a GPU.

  experiments.py --write DIR   builds variants of the solutions, checks each with the validator, measures them, and
                               writes DIR/experiments.tsv
  experiments.py --dry-run     only makes the variants' sources, and compiles nothing (--sources DIR keeps them)

A variant that is not built, or that the validator does not call right, gets a line with '-' and the reason.
(Variants without a sum cannot be right; of them the field has to be.)
Options: --steps 09,11 (only those guides' variants; the rows of other steps stay in DIR/experiments.tsv as they are, if
they come from the same GPU, driver and CUDA), --build DIR (default: build). lab, lab_trace and validate must have been
built there.
Exit: 0 written, 1 a source cannot be made or nothing could be measured, 2 bad usage, 77 no GPU.
"""

import argparse
import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile

import labtools_here  # noqa: F401
from labtools import ncu, variant
from labtools.files import ROOT, STEPS
from labtools.machine import compiler_and_facts, find_profiler, gpu_facts, need_programs
from labtools.process import attempt, fail, reason, warn
from labtools.table import update, write_table
from labtools.tracer import NotPossible, trace

S04, S05, S07, S08, S09, S10, S11, S13, S16 = (
    STEPS[number] for number in ("04", "05", "07", "08", "09", "10", "11", "13", "16"))
# Of guides whose variants' iterations are timed: n, and how many iterations.
ITERATIONS = {S05: {2048: 30}, S11: {128: 20000, 256: 20000, 512: 20000, 1024: 10000, 2048: 5000, 4096: 1500},
              S13: {16384: 960, 32768: 480}}
COPY_SIZES = (512, 724, 1024, 1448, 2048, 2896, 4096, 5792, 8192)
THREADS = (1, 2, 4, 8, 16, 32)
SOLUTION_SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384, 16385, 32768)
SOLUTION_RUNS = 7
CYCLE_N, CYCLE = 16384, ("defect_kernel", "restrict_kernel", "correct_kernel")
SWEEP, COPY = "jacobi_sweep_kernel", "copy_field_kernel"
COLUMNS = ["step", "variant", "n", "quantity", "unit", "median", "least", "most", "words"]

# guide: whose guide proposes it; base: the solution that it changes; changes: patches of validate/tests/bank/right
# (a name) and texts to replace, each of which stands in the solution once; whole: is its residual right, too?
Variant = collections.namedtuple("Variant", "guide name base changes words whole")


# The variants.

def prefetch_function():
    """prefetch_field, as guide 05 prints it."""
    guide = ROOT / "exercises" / S05 / "README.md"
    for code in re.findall(r"^```cpp\n(.*?)^```", guide.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        if "void prefetch_field(" in code:
            return code
    fail(f"{guide.relative_to(ROOT)}: prefetch_field is no longer in it")


def first_line(patch):
    """What a patch says of itself."""
    return patch.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ").rstrip(".")


def variants():
    sweep_launch = "  jacobi_sweep_kernel<<<grid, block>>>(f_new, f_old, sum, n);\n"
    into_copy = '  nvtxRangePush("copy_field");\n'
    prefetch = [
        ("// One sweep over the interior.", prefetch_function() + "\n// One sweep over the interior."),
        (sweep_launch, "  prefetch_field(f_new, n, true);\n  prefetch_field(f_old, n, true);\n" + sweep_launch),
        (into_copy, into_copy + "  prefetch_field(to, n, false);\n  prefetch_field(from, n, false);\n"
                                "  CUDA_CHECK(cudaDeviceSynchronize());\n")]
    reduction = """  using BlockReduce =
      cub::BlockReduce<double, kBlockX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kThreadsY>;
  __shared__ typename BlockReduce::TempStorage reduce_storage;
  const double block_sum = BlockReduce(reduce_storage).Sum(thread_sum);
"""
    atomic = "  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(sum, block_sum);\n"
    copy_loop = [
        ("""  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    to[idx(i, j, n)] = from[idx(i, j, n)];
  }
""", """  for (int y = threadIdx.y; y < kBlockY; y += kThreadsY) {
    const int j = blockIdx.y * kBlockY + y;
    if (i < n && j < n) {
      to[idx(i, j, n)] = from[idx(i, j, n)];
    }
  }
"""), ("const dim3 block(kBlockX, kBlockY);", "const dim3 block(kBlockX, kThreadsY);")]
    memset = "CUDA_CHECK(cudaMemset(sum, 0, sizeof(double)));"
    threads = "constexpr int kThreadsY = 4;"
    return [
        Variant(S07, "copy", S07, [], "step 07 as it is", True),
        Variant(S05, "step_04", S04, [], "step 04: the copy on the CPU", True),
        Variant(S05, "prefetch", S04, prefetch, "step 04 with prefetched fields", True),
        Variant(S05, "step_05", S05, [], "step 05: the copy on the GPU", True),
        Variant(S08, "as_it_is", S08, [], "step 08 as it is", True),
        Variant(S08, "no_atomic", S08, [(atomic, "")], "without the atomic", False),
        Variant(S08, "no_reduction", S08, [(reduction, ""), (atomic, "")], "without the reduction and the atomic",
                False),
        Variant(S08, "no_reduction_32", S08, [(reduction, ""), (atomic, ""), (threads, threads.replace("4", "32"))],
                "32 x 32 threads, without the reduction and the atomic", False),
        Variant(S08, "shuffles", S08, ["shuffles"], "shuffles, and one atomic per warp", True),
        Variant(S08, "float_tree", S08, ["float_tree"], "the block's sum in float", True),
        Variant(S08, "atomic_per_thread", S08, ["atomic_per_thread"], "one atomic per thread", True),
        Variant(S08, "sum_on_host", S08, [(memset, "*sum = 0.0;")], "the sum set to zero by the CPU", True),
        Variant(S08, "copy_with_loop", S08, copy_loop, "the copy with a loop over y, 32 x 4 threads", True),
        *[Variant(S08, f"threads_{y}", S08, [(threads, threads.replace("4", str(y)))], f"blocks of 32 x {y} threads",
                  True) for y in THREADS],
        Variant(S09, "no_tile", S08, [], "No tile (step 08)", True),
        Variant(S09, "flat_loop", S09, [], "One flat loop over the tile", True),
        *[Variant(S09, patch.stem, S09, [patch.stem], first_line(patch), True)
          for patch in sorted((variant.BANK / S09).glob("tile_by_*.patch"))],
        Variant(S11, "step_10", S10, [], "step 10", True),
        Variant(S11, "waits", S11, ["no_graph_waits"], "a check every 10 sweeps, waited for", True),
        Variant(S11, "late", S11, ["no_graph"], "read one check late", True),
        Variant(S11, "step_11", S11, [], "also as a graph: step 11", True),
        Variant(S11, "every_sweep", S11, [], "step 11 with a check in every sweep", True),
        Variant(S13, "as_it_is", S13, [], "step 13 as it is", True),
        Variant(S13, "all_warps_share", S13, ["all_warps_share"], "a share for every warp", True),
        Variant(S13, "plain_sums", S13, ["plain_sums"], "without stage 5: plain sums of four", True),
        Variant(S16, "as_it_is", S16, [], "step 16 as it is", True),
        *[Variant(S16, name, S16, [name], first_line(variant.BANK / S16 / f"{name}.patch"), True)
          for name in ("one_cycle_a_level", "all_levels_launched", "marches", "no_start")]]


def make_sources(folder, guides):
    """[(variant, source)] of these guides. Says which variants cannot be made, and ends if there is one."""
    sources, wrong = [], False
    for one in variants():
        if one.guide not in guides:
            continue
        source = folder / f"{one.guide[:2]}_{one.name}.cu"
        try:
            variant.make_source(one.base, one.changes, source)
            sources.append((one, source))
        except (NotPossible, OSError) as error:
            warn(f"{one.guide}, {one.name}: {error}")
            wrong = True
    return sys.exit(1) if wrong else sources


# Checking, measuring.

def check(one, program, build_folder):
    code, out, error = attempt([build_folder / "bin/validate", "--n", "250", "--time-limit", "30", program], 120)
    # The validator says in a line of its own that only the residual is wrong.
    only_field = code == 1 and not one.whole and re.search(r"^ *the field is right$", out + error, re.MULTILINE)
    if not (code == 0 and one.whole or only_field):
        raise NotPossible(f"not right: {reason(out, error)}")


class Lab:
    """Runs programs and keeps what was measured."""

    def __init__(self, build_folder, folder, path):
        self.build, self.folder, self.ncu = build_folder, folder, path
        self.why_not = None if path else "ncu was not found"
        self.lines = []

    def note(self, one, n, quantity, unit, measure, words=None):
        """One line, of (median, least, most) that `measure` returns, or why there are none."""
        try:
            cells = [f"{value:.6g}" for value in measure()]
            print(f"{one.guide} {one.name} n = {n}: {quantity} {cells[0]} {unit}", flush=True)
        except NotPossible as error:
            cells, words = ["-"] * 3, str(error)
            warn(f"{one.guide}, {one.name}, n = {n}, {quantity}: {error}")
        self.lines.append(dict(zip(COLUMNS, [one.guide, one.name, str(n), quantity, unit, *cells, words or one.words])))

    def iterations(self, program, n, iterations, *options):
        """(median, least, most) of an iteration in ms, without the first."""
        times = variant.time_of(program, self.folder, n, iterations, *options, seconds=60)
        return tuple(float(times[f"iteration_ms_{what}"]) for what in ("median", "min", "max"))

    def trace(self, program, n, iterations):
        """{kernel: (median, least, most in ns, registers)}."""
        rows = trace(self.build, [program, "--n", n, "--iterations", iterations, "--quiet"], self.folder / "trace.tsv", 60)
        try:
            kernels = {row["name"]: (*(float(row[column]) for column in ("median_ns", "min_ns", "max_ns")),
                                     int(row["registers"])) for row in rows if row["table"] == "kernels"}
        except (KeyError, ValueError):
            raise NotPossible("the tracer's table cannot be read") from None
        for kernel in (SWEEP, COPY):
            if kernel not in kernels:
                raise NotPossible(f"{kernel} was not traced")
        return kernels

    def count(self, program, n, kernel, metric, iterations=6, which=("--launch-skip", 2, "--launch-count", 3)):
        """(median, least, most) of one metric, over three launches, or those that ncu's options in `which` choose."""
        if self.why_not:
            raise NotPossible(f"not counted: {self.why_not}")
        options = ["--clock-control", "none", "--cache-control", "none", "--kernel-name", f"regex:{kernel}", *which]
        command = [program, "--n", n, "--iterations", iterations, "--quiet"]
        try:
            launches = ncu.launches(ncu.count(self.ncu, options, [metric], command, seconds=45))
        except NotPossible as error:
            if isinstance(error, ncu.NotAllowed):
                self.why_not = str(error)
            raise NotPossible(f"not counted: {error}") from None
        values = [launch[metric] for launch in launches if isinstance(launch.get(metric), float)]
        if not values:
            raise NotPossible(f"not counted: ncu gave no {metric}")
        return statistics.median(values), min(values), max(values)


def copy_kernel_by_size(lab, one, program):
    for n in COPY_SIZES:
        # An atomic of the sweep takes 1.8 ns: at most some 1.3 s a size.
        iterations = max(11, min(101, int(0.7e9 / (n * n))))
        size = 8.0 * n * n  # bytes that a copy reads and writes

        def bandwidth():
            median, least, most, _ = lab.trace(program, n, iterations)[COPY]
            return size / median, size / most, size / least

        lab.note(one, n, "copy kernel", "GB/s", bandwidth, "8 bytes per point over the traced time")
        lab.note(one, n, "DRAM bytes", "bytes per point",
                     lambda: tuple(value / n / n for value in lab.count(program, n, COPY, "dram__bytes.sum")),
                     "counted by ncu in the copy kernel, --cache-control none")


def measure_kernels(lab, one, program):
    n = 8192
    kernels = [(COPY, "copy kernel")] if one.name == "copy_with_loop" else \
        [(SWEEP, "sweep kernel"), (COPY, "copy kernel")] if one.name == "as_it_is" else [(SWEEP, "sweep kernel")]
    traced = functools.lru_cache(lambda: lab.trace(program, n, 100))
    for kernel, quantity in kernels:
        lab.note(one, n, quantity, "ms", lambda kernel=kernel: [1e-6 * value for value in traced()[kernel][:3]])
    if one.name in ("as_it_is", "sum_on_host"):
        lab.note(one, n, "iteration", "ms", lambda: lab.iterations(program, n, 100))
    if one.guide == S09 or one.name.startswith("threads_"):
        lab.note(one, n, "registers", "per thread", lambda: (traced()[SWEEP][3],) * 3)
    if one.name.startswith("threads_"):
        lab.note(one, n, "occupancy", "%", lambda: lab.count(
            program, n, SWEEP, "sm__warps_active.avg.pct_of_peak_sustained_active"))


def distance_of(program, n):
    """How far the field is from the exact solution after the first iteration, as the program says it."""
    code, out, error = attempt([program, "--n", n, "--iterations", 1], 60)
    said = re.search(r"^ *exact solution +(\S+) % away", out, re.MULTILINE)
    if code or not said:
        raise NotPossible(reason(out, error))
    return float(said[1]) / 100


def first_iterations(lab, program, n):
    """(median, least, most) of the first iteration of several runs, in ms."""
    # Kernels are loaded before the clock starts, and not when they are first launched.
    eager = {"env": os.environ | {"CUDA_MODULE_LOADING": "EAGER"}}
    runs = [variant.time_of(program, lab.folder, n, 1, seconds=60, **eager) for _ in range(SOLUTION_RUNS)]
    try:
        times = sorted(float(run["first_iteration_ms"]) for run in runs)
    except (KeyError, TypeError, ValueError) as error:
        raise NotPossible(str(error)) from None
    return statistics.median(times), times[0], times[-1]


def measure_solution(lab, one, program):
    """Step 16: the first iteration, which solves; a later one; and how far the field is from the exact solution."""
    for n in SOLUTION_SIZES if one.name == "as_it_is" else (max(n for n in SOLUTION_SIZES if n < 20000 and n % 2 == 0),):
        lab.note(one, n, "solution", "ms", lambda n=n: first_iterations(lab, program, n))
        lab.note(one, n, "distance", "relative", lambda n=n: (distance_of(program, n),) * 3)
        lab.note(one, n, "cycle", "ms", lambda n=n: lab.iterations(program, n, 21))
    if one.name == "as_it_is":
        for kernel in CYCLE:
            for quantity, unit, metric, scale in (("DRAM bytes", "bytes per point", "dram__bytes.sum", CYCLE_N ** 2),
                                                  ("time", "ms", "gpu__time_duration.sum", 1e6)):
                lab.note(one, CYCLE_N, f"{kernel}: {quantity}", unit, lambda kernel=kernel, metric=metric, scale=scale: (
                    lab.count(program, CYCLE_N, kernel, metric, 1, ())[2] / scale,) * 3,
                    "counted by ncu in the launch on the finest level")


def measure_one(lab, one, ready):
    """`ready`: the future of its program, built and checked."""
    sizes = ITERATIONS.get(one.guide, {8192: None})
    try:
        program = ready.result()
    except NotPossible:
        copies = one.guide == S07 or one.name == "copy_with_loop"
        quantity = "iteration" if one.guide in ITERATIONS else "copy kernel" if copies else "sweep kernel"
        for n in sizes:
            lab.note(one, n, quantity, "GB/s" if one.guide == S07 else "ms", ready.result)
        return
    if one.guide == S07:
        copy_kernel_by_size(lab, one, program)
    elif one.guide == S16:
        measure_solution(lab, one, program)
    elif one.guide not in ITERATIONS:
        measure_kernels(lab, one, program)
    else:
        options = ("--check-every", 1) if one.name == "every_sweep" else ()
        for n, iterations in sizes.items():
            lab.note(one, n, "iteration", "ms", lambda: lab.iterations(program, n, iterations, *options))
            if one.guide == S13:
                lab.note(one, n, "DRAM read", "bytes per point", lambda: [value / n ** 2 for value in lab.count(
                    program, n, "jacobi_pass_kernel", "dram__bytes_read.sum", 64, ("--launch-count", 3))])


def measure_all(lab, sources, nvcc):
    """Builds and checks them all at the same time, and then measures one after the other."""
    def prepare(one, source):
        program = variant.compile_source(nvcc, lab.build, one.base, source)[0]
        check(one, program, lab.build)
        return program

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        prepared = [(one, pool.submit(prepare, one, source)) for one, source in sources]
    for one, ready in prepared:
        measure_one(lab, one, ready)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", metavar="DIR", type=pathlib.Path)
    what.add_argument("--dry-run", action="store_true")
    parser.add_argument("--sources", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--steps", default="")
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    arguments = parser.parse_args()
    if arguments.sources and not arguments.dry_run:
        parser.error("--sources goes with --dry-run")
    wanted = [word for word in arguments.steps.split(",") if word]
    guides = [guide for guide in dict.fromkeys(one.guide for one in variants()) if not wanted or guide[:2] in wanted]
    if not guides:
        parser.error(f"--steps {arguments.steps}: no guide of these has experiments")
    if not shutil.which("patch"):
        fail("patch was not found")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if arguments.dry_run:
            if arguments.sources:
                try:
                    arguments.sources.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    fail(f"{arguments.sources}: {error.strerror}")
            sources = make_sources(arguments.sources or folder, guides)
            print(f"{len(sources)} variants can be made")
            return
        sources = make_sources(folder, guides)
        measure(arguments, sources, folder)


def measure(arguments, sources, folder):
    path = find_profiler("ncu")
    facts = gpu_facts("ncu", path)
    if facts is None:
        fail("there is no NVIDIA GPU here, as far as nvidia-smi can tell: nothing can be measured", 77)
    nvcc, of_compiler = compiler_and_facts()
    build_folder = arguments.build.resolve()
    need_programs(build_folder, ("lab/liblab.a", "lib/liblab_trace.so", "validate"))
    lab = Lab(build_folder, folder, path)
    measure_all(lab, sources, nvcc)
    if all(line["median"] == "-" for line in lab.lines):
        fail("nothing could be measured")
    facts["cuda"] = of_compiler["cuda"]
    path, rows = arguments.write / "experiments.tsv", lab.lines
    if arguments.steps:
        _, rows = update(path, facts, rows, ("gpu", "driver", "cuda"))
    rows = sorted(rows, key=lambda line: line["step"])  # the steps in order, each as measured
    write_table(path,
                ["What the guides compare or propose to try: variants of the solutions, each checked and timed.",
                 "Times of kernels are traced; the largest is often that of the first launch, which waits for its pages;",
                 "times of iterations are without the first. '-' and the reason if there is no number.",
                 "Written by scripts/publish/experiments.py."],
                facts, COLUMNS, rows)
    missing = sum(line["median"] == "-" for line in lab.lines)
    print(f"{len(lab.lines)} lines, {missing} of them without a number; written to {path}")


if __name__ == "__main__":
    main()
