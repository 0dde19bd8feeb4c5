#!/usr/bin/env python3
"""Times what the guides of steps 05, 07 to 13 and 16 compare or propose to try, on a machine with a GPU.

  experiments.py --write DIR    builds variants of the solutions, checks each with the validator, measures them, and
                                writes DIR/experiments.tsv; DIR/tuning.tsv, steps 12 and 13 with other values of the
                                constants that their files call tuned; and DIR/large.tsv, steps on large grids

A variant that is not built, or that the validator does not call right, gets a line with '-' and the reason.
(Variants without a sum cannot be right; of them the field has to be.)
With --steps 09,11 only those guides' variants are measured; the rows of other steps stay as they are, if they come from
the same GPU, driver and CUDA. The programs that are needed must have been built.
Exit: 0 written, 1 a source cannot be made or nothing could be measured, 2 bad usage, 77 no GPU.
"""

import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import statistics
import sys
import tempfile
import threading

import labtools_here  # noqa: F401
from labtools.profilers import ncu
from labtools.files import BUILD, ROOT, STEPS
from labtools.machine import NVCC, parser_of, ready
from labtools.process import attempt, fail, reason, run, warn
from labtools.table import update, write_table
from labtools.profilers.tracer import NotPossible, quartiles, time_of, trace

S04, S05, S07, S08, S09, S10, S11, S12, S13, S16 = (
    STEPS[number] for number in ("04", "05", "07", "08", "09", "10", "11", "12", "13", "16"))
BANK = ROOT / "validate/tests/bank/right"
# Of guides whose variants' iterations are timed: n, and how many iterations.
ITERATIONS = {S05: {2048: 30}, S11: {128: 20000, 256: 20000, 512: 20000, 1024: 10000, 2048: 5000, 4096: 1500},
              S12: {16384: 480}, S13: {16384: 960}}
COPY_SIZES = (512, 724, 1024, 1448, 2048, 2896, 4096, 5792, 8192)
SOLUTION_SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384, 16385, 32768)
SOLUTION_RUNS = 7
CYCLE_N, CYCLE = 16384, ("defect_kernel", "restrict_kernel", "correct_kernel")
SWEEP, COPY = "jacobi_sweep_kernel", "copy_field_kernel"
COLUMNS = ["step", "variant", "n", "quantity", "unit", "median", "least", "most", "words"]

# Constants to try instead of the file's, and for each step how many sweeps are timed.
TUNED_N, TUNED_SWEEPS = 16384, {S12: 240, S13: 960}
TRIED = {
    S12: [{"kAhead": 1}, {"kAhead": 2}, {"kAhead": 4}, {"kRows": 9}, {"kRows": 4}, {"kRows": 6}, {"kRows": 12},
          {"kRows": 16}, {"kRows": 64}, {"kWarps": 1}, {"kWarps": 2}, {"kWarps": 8}, {"kWarps": 16}],
    S13: [{"kRing": 4}, {"kRing": 6}, {"kRing": 12}, {"kRing": 16}, {"kWarps": 1, "kBlocks": 8},
          {"kWarps": 4, "kBlocks": 2}, {"kWarps": 8, "kBlocks": 1}, {"kSideRow": 1}, {"kSideRow": 2}, {"kSideRow": 4},
          {"kLevels": 4}, {"kLevels": 4, "kHalo": 4, "kBlocks": 8}, {"kLevels": 8},
          {"kLevels": 8, "kHalo": 8, "kBlocks": 6}, {"kLevels": 12}, {"kLevels": 12, "kHalo": 12},
          {"kLevels": 12, "kHalo": 12, "kBlocks": 5}, {"kLevels": 14}, {"kLevels": 18, "kHalo": 20}]}
TUNED_COLUMNS = ["step", "constants", "registers", "spilled_bytes", "ms", "ms_q1", "ms_q3", "x_copy", "verdict"]
# Steps on large grids, and how many sweeps of n = 16384 are timed: some tenths of a second.
LARGE_SWEEPS = {S09: 24, S10: 24, S11: 120, S12: 120, S13: 960}
LARGE = (4096, 8192, 16384, 32768)
LARGE_COLUMNS = ["n", "step", "ms", "ms_q1", "ms_q3", "samples", "glups", "x_copy", "verdict"]
WRITTEN_BY = "Written by scripts/publish/experiments.py."
WORDS = {"experiments": ["What the guides compare or propose to try: variants of the solutions, each checked and timed.",
                         "Times of kernels are traced; the largest is often that of the first launch, which waits for its",
                         "pages; times of iterations are without the first. '-' and the reason if there is no number.", WRITTEN_BY],
         "tuning": ["Steps 12 and 13 with other constants than their files have. Time of a sweep, residual included; x_copy:",
                    "at 8 bytes per point, relative to the copy bandwidth of the same run.", WRITTEN_BY],
         "large": ["Time of a sweep on large grids, each step's own residuals included. glups: 10^9 points updated a second;",
                   "x_copy: at 8 bytes per point, relative to the copy bandwidth of the same run.", WRITTEN_BY]}

# guide: whose guide proposes it; base: the solution that it changes; changes: patches of validate/tests/bank/right
# (a name) and texts to replace, each of which stands in the solution once; measure: the function that does.
Variant = collections.namedtuple("Variant", "guide name base changes words measure")
WITHOUT_SUM = ("no_atomic", "no_reduction", "no_reduction_32", "no_sum")


# The variants.

def solution_of(step):
    return (ROOT / "solutions" / step / "jacobi.cu").read_text(encoding="utf-8")


def prefetch_function():
    """prefetch_field, as guide 05 prints it."""
    codes = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "exercises" / S05 / "README.md").read_text(encoding="utf-8"),
                       re.DOTALL | re.MULTILINE)
    return next(code for code in codes if "void prefetch_field(" in code)


def by_patch(step, name):
    """(name, step, changes, words) of a patch of the bank, in its own words."""
    words = (BANK / step / f"{name}.patch").read_text(encoding="utf-8").splitlines()[0]
    return name, step, [name], words.removeprefix("# ").rstrip(".")


def tuned(step):
    """The solution as it is, and with other constants: [(name, step, changes, words)]."""
    own = dict(re.findall(r"^constexpr int (k\w+) = (\d+);", solution_of(step), re.MULTILINE))

    def named(constants):
        return " ".join(f"{name}={value}" for name, value in constants.items())

    tried = {name for constants in TRIED[step] for name in constants}
    as_it_is = named({name: value for name, value in own.items() if name in tried})
    return [(f"as it is: {as_it_is}", step, [], ""), *(
        (named(constants), step, [(f"constexpr int {name} = {own.get(name)};", f"constexpr int {name} = {value};")
                                  for name, value in constants.items()], "") for constants in TRIED[step])]


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
    squares = "        thread_sum += (dx * dx + dy * dy) + (dz * dz + dw * dw);\n"
    reduction_12 = reduction.replace("kBlockX", "kLanes").replace("kThreadsY", "kWarps").replace("\n     ", "")
    ahead = """    Row ahead[kAhead];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) ahead[a] = load_row(f_old, i, min(j_begin + 1 + a, n - 1), n);
    for (int j = j_begin; j < j_end; j += kAhead) {
#pragma unroll  // so that each row in flight stays in its registers: to copy it is to wait for it
      for (int a = 0; a < kAhead && j + a < j_end; ++a) {
        const Row north = ahead[a];
        if (j + a + kAhead < j_end) ahead[a] = load_row(f_old, i, j + a + kAhead + 1, n);
"""
    none_ahead = """    for (int j = j_begin; j < j_end; ++j) {
      for (int a = 0; a < 1; ++a) {
        const Row north = load_row(f_old, i, j + 1, n);
"""
    three_rows = none_ahead + """        south = load_row(f_old, i, j - 1, n);
        centre = load_row(f_old, i, j, n);
"""
    careful = ("if (x == 0 || last || y <= kSweeps || y + kRing > n) {", "if (true) {")
    a_warp_per_strip = ["plain_sums", "a_warp_per_strip"]
    of_guides = {
        (S07, copy_kernel_by_size): [("copy", S07, [], "step 07 as it is")],
        (S05, iterations_by_size): [
            ("step_04", S04, [], "step 04: the copy on the CPU"),
            ("prefetch", S04, prefetch, "step 04 with prefetched fields"),
            ("step_05", S05, [], "step 05: the copy on the GPU")],
        (S08, kernels_of_sweep): [
            ("as_it_is", S08, [], "step 08 as it is"), ("no_atomic", S08, [(atomic, "")], "without the atomic"),
            ("no_reduction", S08, [(reduction, ""), (atomic, "")], "without the reduction and the atomic"),
            ("no_reduction_32", S08, [(reduction, ""), (atomic, ""), (threads, threads.replace("4", "32"))],
             "32 x 32 threads, without the reduction and the atomic"),
            ("shuffles", S08, ["shuffles"], "shuffles, and one atomic per warp"),
            ("float_tree", S08, ["float_tree"], "the block's sum in float"),
            ("atomic_per_thread", S08, ["atomic_per_thread"], "one atomic per thread"),
            ("sum_on_host", S08, [(memset, "*sum = 0.0;")], "the sum set to zero by the CPU"),
            ("copy_with_loop", S08, copy_loop, "the copy with a loop over y, 32 x 4 threads"),
            *[(f"threads_{y}", S08, [(threads, threads.replace("4", str(y)))], f"blocks of 32 x {y} threads")
              for y in (1, 2, 4, 8, 16, 32)]],
        (S09, kernels_of_sweep): [
            ("no_tile", S08, [], "No tile (step 08)"), ("flat_loop", S09, [], "One flat loop over the tile"),
            *[by_patch(S09, patch.stem) for patch in sorted((BANK / S09).glob("tile_by_*.patch"))]],
        (S10, kernels_of_sweep): [
            ("managed", S10, [(f"cudaMalloc(f_{field}, bytes)", f"cudaMallocManaged(f_{field}, bytes)")
                              for field in ("old", "new")], "after stage 2: the fields in managed memory")],
        (S11, iterations_by_size): [
            ("step_10", S10, [], "step 10"), ("waits", S11, ["no_graph_waits"], "a check every 10 sweeps, waited for"),
            ("late", S11, ["no_graph"], "read one check late"), ("step_11", S11, [], "also as a graph: step 11"),
            ("every_sweep", S11, [], "step 11 with a check in every sweep")],
        (S12, iterations_by_size): [
            ("as_it_is", S12, [], "step 12 as it is"),
            ("no_sum", S12, [(squares, ""), (reduction_12, ""), (atomic, "")], "without the sum"),
            ("three_rows", S12, [(ahead, three_rows)], "stage 3, first part: three rows loaded for each"),
            ("after_3", S12, [(ahead, none_ahead)], "after stage 3: no row ahead"),
            ("rows_moved_on", S12, ["rows_moved_on"], "the rows in flight are moved on, in a single loop")],
        (S13, iterations_by_size): [
            ("as_it_is", S13, [], "step 13 as it is"),
            ("after_2", S13, [*a_warp_per_strip, careful, ("kLevels = 16;", "kLevels = 1;")],
             "after stage 2: a warp per strip, one sweep per launch"),
            ("after_3", S13, [*a_warp_per_strip, careful], "after stage 3: 16 sweeps per launch"),
            ("after_4", S13, ["plain_sums", "all_warps_share", careful, ("kSideRow = 3;", "kSideRow = 1;")],
             "after stage 4: equal shares"),
            ("after_5", S13, ["plain_sums", "all_warps_share"], "after stage 5: a fast path"),
            ("after_6", S13, ["all_warps_share"], "after stage 6: two additions"),
            ("plain_sums", S13, ["plain_sums"], "without stage 6: plain sums of four")],
        (S16, to_the_solution): [
            ("as_it_is", S16, [], "step 16 as it is"),
            *[by_patch(S16, name) for name in ("one_cycle_a_level", "all_levels_launched", "marches", "no_start")]],
        (S12, with_constants): tuned(S12), (S13, with_constants): tuned(S13)}
    return [Variant(guide, *row, measure) for (guide, measure), rows in of_guides.items() for row in rows]


def changed(text, step, change, folder):
    """The text of the step's solution with one change: the name of a patch of the bank, or (old, new)."""
    solution = f"solutions/{step}/jacobi.cu"
    if not isinstance(change, str):
        old, new = change
        if text.count(old) != 1:
            raise NotPossible(f"{solution} has {text.count(old)} times, and not once: {old.strip().splitlines()[0]}")
        return text.replace(old, new)
    patch, source = BANK / step / f"{change}.patch", folder / "patched"
    source.write_text(text, encoding="utf-8")
    if attempt(["patch", "--silent", "--fuzz=0", "--reject-file=-", source, patch])[0] != 0:
        raise NotPossible(f"{patch.relative_to(ROOT)} does not apply to {solution}")
    return source.read_text(encoding="utf-8")


def make_sources(folder, guides):
    """[(variant, source)] of these guides. Says which variants cannot be made, and ends if there is one."""
    sources, wrong = [], False
    for one in (variant for variant in variants() if variant.guide in guides):
        source = folder / (re.sub(r"[^\w=]+", "_", f"{one.guide[:2]}_{one.name}") + ".cu")
        text = solution_of(one.base)
        try:
            with tempfile.TemporaryDirectory() as scratch:
                for change in one.changes:
                    text = changed(text, one.base, change, pathlib.Path(scratch))
            source.write_text(text, encoding="utf-8")
            sources.append((one, source))
        except NotPossible as error:
            warn(f"{one.guide}, {one.name}: {error}")
            wrong = True
    return sys.exit(1) if wrong else sources


# Building, checking, measuring.

# The validator runs several programs at a time. On a GPU that too many use at once, right ones run into its limits.
CHECKED_AT_ONCE = threading.Semaphore(4)


def prepared(one, source):
    """(program, what nvcc said of its registers) of a variant that the validator calls right."""
    program = source.with_suffix("")
    code, out, error = attempt([NVCC, "-std=c++17", "-O3", "-arch=native", "-Xptxas", "-v", f"-I{ROOT}/lab/include",
                                f'-DLAB_STEP_NAME="{one.base}"', source, BUILD / "lab/liblab.a", "-o", program])
    if code != 0:
        raise NotPossible(f"does not compile: {reason(out, error)}")
    said = out + error
    with CHECKED_AT_ONCE:
        code, out, error = attempt([BUILD / "bin/validate", "--name", one.base, "--n", "250,1100", "--time-limit", "30",
                                    program], 240)
    # The validator says in a line of its own that only the residual is wrong.
    only_field = one.name in WITHOUT_SUM and re.search(r"^ *the field is right$", out + error, re.MULTILINE)
    if code != 0 and not only_field:
        raise NotPossible(f"not right: {reason(out, error)}")
    return program, said


class Lab:
    """Runs programs and keeps what was measured: the rows of experiments.tsv and of tuning.tsv."""

    def __init__(self, folder, path, copy):
        self.folder, self.ncu, self.copy = folder, path, copy
        self.lines, self.tuned = [], []

    def note(self, one, n, quantity, unit, measure, words=None):
        """One line, of the median and the two ends that `measure` returns, or why there are none."""
        try:
            median, *ends = measure()
            cells = [f"{value:.6g}" for value in (median, *sorted(ends))]
            print(f"{one.guide} {one.name} n = {n}: {quantity} {cells[0]} {unit}", flush=True)
        except (NotPossible, KeyError) as error:
            cells, words = ["-"] * 3, str(error)
            warn(f"{one.guide}, {one.name}, n = {n}, {quantity}: {error}")
        self.lines.append(dict(zip(COLUMNS, [one.guide, one.name, str(n), quantity, unit, *cells, words or one.words])))

    def iterations(self, program, n, iterations, *options):
        """(median, least, most) of an iteration in ms, without the first."""
        times = time_of([program], n, iterations, self.folder, *options, seconds=60)
        return tuple(float(times[f"iteration_ms_{what}"]) for what in ("median", "min", "max"))

    def trace(self, program, n, iterations):
        """{kernel: (median, least, most in ns)}."""
        rows = trace([program, "--n", n, "--iterations", iterations, "--quiet"], self.folder / "trace.tsv", 60)
        return {row["name"]: tuple(float(row[f"{what}_ns"]) for what in ("median", "min", "max"))
                for row in rows if row["table"] == "kernels"}

    def count(self, program, n, kernel, metric, iterations=6, which=("--launch-skip", 2, "--launch-count", 3)):
        """(median, least, most) of one metric, over three launches, or those that ncu's options in `which` choose."""
        if not self.ncu:
            raise NotPossible("not counted: ncu was not found")
        options = [*ncu.UNCHANGED, "--kernel-name", f"regex:{kernel}", *which]
        command = [program, "--n", n, "--iterations", iterations, "--quiet"]
        launches = ncu.count(self.ncu, options, [metric], command, seconds=45)
        values = [launch[metric] for launch in launches if isinstance(launch.get(metric), float)]
        if not values:
            raise NotPossible(f"not counted: ncu gave no {metric}")
        return statistics.median(values), min(values), max(values)


def copy_kernel_by_size(lab, one, program, _):
    for n in COPY_SIZES:
        # An atomic of the sweep takes 1.8 ns: at most some 1.3 s a size.
        iterations = max(11, min(101, int(0.7e9 / (n * n))))
        lab.note(one, n, "copy kernel", "GB/s",
                 lambda n=n, iterations=iterations: [8 * n * n / value for value in lab.trace(program, n, iterations)[COPY]],
                 "8 bytes per point over the traced time")
        lab.note(one, n, "DRAM bytes", "bytes per point",
                 lambda n=n: [value / n / n for value in lab.count(program, n, COPY, "dram__bytes.sum")],
                 "counted by ncu in the copy kernel, --cache-control none")


def kernels_of_sweep(lab, one, program, _):
    n = 8192
    traced = functools.lru_cache(lambda: lab.trace(program, n, 100))
    for kernel, quantity in ((SWEEP, "sweep kernel"), (COPY, "copy kernel")):
        if one.name == "as_it_is" or (kernel == COPY) == (one.name == "copy_with_loop"):
            lab.note(one, n, quantity, "ms", lambda kernel=kernel: [1e-6 * value for value in traced()[kernel]])
    if one.name in ("as_it_is", "sum_on_host"):
        lab.note(one, n, "iteration", "ms", lambda: lab.iterations(program, n, 100))
    if one.name.startswith("threads_"):
        lab.note(one, n, "occupancy", "%", lambda: lab.count(
            program, n, SWEEP, "sm__warps_active.avg.pct_of_peak_sustained_active"))


def iterations_by_size(lab, one, program, _):
    options = ("--check-every", 1) if one.name == "every_sweep" else ()
    for n, iterations in ITERATIONS[one.guide].items():
        lab.note(one, n, "iteration", "ms", functools.partial(lab.iterations, program, n, iterations, *options))
        if one.guide == S13:
            lab.note(one, n, "DRAM read", "bytes per point", lambda n=n: [value / n ** 2 for value in lab.count(
                program, n, "jacobi_pass_kernel", "dram__bytes_read.sum", 64, ("--launch-count", 3))])


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
    times = [time_of([program], n, 1, lab.folder, seconds=60, **eager)["first_iteration_ms"] for _ in range(SOLUTION_RUNS)]
    return statistics.median(times), min(times), max(times)


def to_the_solution(lab, one, program, _):
    """Step 16: the first iteration, which solves; a later one; and how far the field is from the exact solution."""
    for n in SOLUTION_SIZES if one.name == "as_it_is" else (CYCLE_N,):
        lab.note(one, n, "solution", "ms", lambda n=n: first_iterations(lab, program, n))
        lab.note(one, n, "distance", "relative", lambda n=n: (distance_of(program, n),) * 3)
        lab.note(one, n, "cycle", "ms", lambda n=n: lab.iterations(program, n, 21))
    for kernel in CYCLE if one.name == "as_it_is" else ():
        for quantity, unit, metric, scale in (("DRAM bytes", "bytes per point", "dram__bytes.sum", CYCLE_N ** 2),
                                              ("time", "ms", "gpu__time_duration.sum", 1e6)):
            lab.note(one, CYCLE_N, f"{kernel}: {quantity}", unit, lambda kernel=kernel, metric=metric, scale=scale: (
                lab.count(program, CYCLE_N, kernel, metric, 1, ())[2] / scale,) * 3,
                "counted by ncu in the launch on the finest level")


def with_constants(lab, one, program, said):
    # Of the kernels that perform sweeps the one with the most registers counts.
    kernels = re.findall(r"entry function '\S*jacobi.*?(\d+) bytes spill loads.*?Used (\d+) registers", said, re.DOTALL)
    registers, spilled = max(((int(used), int(spill)) for spill, used in kernels), default=(0, 0))
    runs = [(one.name, TUNED_N, ())]
    if not one.changes:  # also at sizes that are no multiple of anything, and with a residual after each pass
        runs += [(f"as it is, n={n}", n, ()) for n in (TUNED_N - 1, TUNED_N + 1)]
        if levels := re.search(r"kLevels=(\d+)", one.name):
            runs.append((f"as it is, --check-every {levels[1]}", TUNED_N, ("--check-every", levels[1])))
    for name, n, options in runs:
        times = time_of([program], n, TUNED_SWEEPS[one.guide], lab.folder, *options)
        x_copy = 8e-6 * n * n / times["iteration_ms_median"] / lab.copy
        row = [one.guide, name, registers, spilled, *quartiles(times)[:3], f"{x_copy:.4f}", "right"]
        lab.tuned.append(dict(zip(TUNED_COLUMNS, row)))
        print(f"{one.guide} {name}: {registers} registers, {spilled} B spilled, {x_copy:.3f} x copy", flush=True)


def measure_all(lab, sources):
    """Builds and checks them at the same time, and then measures one after the other."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = [(one, pool.submit(prepared, one, source)) for one, source in sources]
    for one, program in waiting:
        try:
            one.measure(lab, one, *program.result())
        except NotPossible as error:
            warn(f"{one.guide}, {one.name}: {error}")
            if one.measure is with_constants:
                lab.tuned.append({"step": one.guide, "constants": one.name, "verdict": "wrong"})
            else:
                lab.lines.append({"step": one.guide, "variant": one.name, "median": "-", "words": str(error)})


def measure_large(lab):
    """The rows of large.tsv: steps as they are on large grids."""
    rows = []
    for n in LARGE:
        for step, sweeps in LARGE_SWEEPS.items():
            times = time_of([BUILD / f"bin/solution_{step}"], n, sweeps * max(1, TUNED_N // n) ** 2, lab.folder)
            points = 1e-6 * n * n / times["iteration_ms_median"]  # giga-updates a second
            rows.append([n, step, *quartiles(times), f"{points:.2f}", f"{8 * points / lab.copy:.4f}", "right"])
            print(f"n = {n}, {step}: {points:.1f} GLUPS, {8 * points / lab.copy:.3f} x copy", flush=True)
    return rows


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--steps", default="")
    arguments = parser.parse_args()
    wanted = [word for word in arguments.steps.split(",") if word]
    guides = [guide for guide in dict.fromkeys(one.guide for one in variants()) if not wanted or guide[:2] in wanted]
    if not guides:
        parser.error(f"--steps {arguments.steps}: no guide of these has experiments")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        measure(arguments.write, make_sources(folder, guides), folder, bool(wanted))


def measure(out, sources, folder, some):
    """Measures all, and writes the tables; `some`: the rows of other steps stay. Of the copies the best counts."""
    facts, path = ready(out, ["lab/liblab.a", "lib/liblab_trace.so", "bin/validate", "bin/bandwidth",
                              *(f"bin/solution_{step}" for step in LARGE_SWEEPS)], "ncu")
    copies = re.findall(r"^(?:copy|cudaMemcpy).*?\t([^\t\n]+)", run([BUILD / "bin/bandwidth"]), re.MULTILINE)
    lab = Lab(folder, path, max(map(float, copies)))
    measure_all(lab, sources)
    if all(line["median"] == "-" for line in lab.lines) and not lab.tuned:
        fail("nothing could be measured")
    of_copy = {**facts, "copy_gb_per_s": f"{lab.copy:.1f}", "n": TUNED_N}
    for name, head, columns, rows in (("experiments", facts, COLUMNS, lab.lines), ("tuning", of_copy, TUNED_COLUMNS, lab.tuned)):
        if some:
            rows = update(out / f"{name}.tsv", head, rows, ("gpu", "driver", "cuda"))
        rows = sorted(rows, key=lambda line: line["step"])  # the steps in order, each as measured
        write_table(out / f"{name}.tsv", WORDS[name], head, columns, rows)
    if not some:
        write_table(out / "large.tsv", WORDS["large"], of_copy, LARGE_COLUMNS, measure_large(lab))
    missing = sum(line["median"] == "-" for line in lab.lines)
    print(f"{len(lab.lines)} lines, {missing} of them without a number; written to {out}")


if __name__ == "__main__":
    main()
