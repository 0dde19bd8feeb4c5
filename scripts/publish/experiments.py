#!/usr/bin/env python3
"""Times what the guides of steps 05, 07 and 08 propose to try, on a machine with a GPU.

  experiments.py --write DIR   builds variants of the solutions, checks each with the validator, measures them, and
                               writes DIR/experiments.tsv
  experiments.py --dry-run     only makes the variants' sources, and compiles nothing (--sources DIR keeps them)

A variant that is not built, or that the validator does not call right, gets a line with '-' and the reason.
(Variants without a sum cannot be right; of them the field has to be.)
Options: --build DIR (default: build), --arch ARCH (for nvcc; default: native). lab, lab_trace and validate must have
been built there.
Exit: 0 written, 1 a source cannot be made or nothing could be measured, 2 bad usage, 77 no GPU.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from labtools import ncu_reading  # noqa: E402
from labtools.files import ROOT, steps, write_aside  # noqa: E402
from labtools.ncu_reading import NotAllowed, NotPossible, read_raw  # noqa: E402

STEPS = {name[:2]: name for name, *_ in steps()}
S04, S05, S07, S08 = (STEPS[number] for number in ("04", "05", "07", "08"))
COPY_SIZES = (512, 724, 1024, 1448, 2048, 2896, 4096, 5792, 8192)
THREADS = (1, 2, 4, 8, 16, 32)
SWEEP, COPY = "jacobi_sweep_kernel", "copy_field_kernel"
COLUMNS = ["step", "variant", "n", "quantity", "unit", "median", "least", "most", "words"]

# guide: whose guide proposes it; base: the solution that it changes; changes: patches of validate/tests/legal
# (a name) and texts to replace, each of which stands in the solution once; whole: is its residual right, too?
Variant = collections.namedtuple("Variant", "guide name base changes words whole")


class Failure(Exception):
    """Why a variant has no number, in words."""


def fail(message, code=1):
    print(f"experiments.py: {message}", file=sys.stderr)
    sys.exit(code)


def warn(message):
    print(f"experiments.py: {message}", file=sys.stderr, flush=True)


# The variants.

def prefetch_function():
    """prefetch_field, as guide 05 prints it."""
    guide = ROOT / "exercises" / S05 / "README.md"
    for code in re.findall(r"^```cpp\n(.*?)^```", guide.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        if "void prefetch_field(" in code:
            return code
    fail(f"{guide.relative_to(ROOT)}: prefetch_field is no longer in it")


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
        Variant(S08, "shuffles", S08, ["shuffles"], "shuffles, and one atomic a warp", True),
        Variant(S08, "float_tree", S08, ["float_tree"], "the block's sum in float", True),
        Variant(S08, "atomic_per_thread", S08, ["atomic_per_thread"], "one atomic a thread", True),
        Variant(S08, "sum_on_host", S08, [(memset, "*sum = 0.0;")], "the sum set to zero by the CPU", True),
        Variant(S08, "copy_with_loop", S08, copy_loop, "the copy with a loop over y, 32 x 4 threads", True),
        *[Variant(S08, f"threads_{y}", S08, [(threads, threads.replace("4", str(y)))], f"blocks of 32 x {y} threads",
                  True) for y in THREADS]]


def make_source(variant, folder):
    """Writes the variant's source. The solution may have changed since the variant was thought of."""
    solution = ROOT / "solutions" / variant.base / "jacobi.cu"
    text = solution.read_text(encoding="utf-8")
    source = folder / f"{variant.guide[:2]}_{variant.name}.cu"
    for change in variant.changes:
        if isinstance(change, str):
            patch = ROOT / f"validate/tests/bank/right/{variant.base}/{change}.patch"
            before = folder / "before.cu"
            before.write_text(text, encoding="utf-8")
            result = subprocess.run(["patch", "--silent", "--fuzz=0", "--reject-file=-", "-o", source, before, patch],
                                    capture_output=True, text=True)
            before.unlink()
            if result.returncode != 0:
                raise Failure(f"{patch.relative_to(ROOT)} does not apply to {solution.relative_to(ROOT)}")
            text = source.read_text(encoding="utf-8")
        else:
            old, new = change
            if text.count(old) != 1:
                raise Failure(f"{solution.relative_to(ROOT)} has {text.count(old)} times, and not once: "
                              f"{old.strip().splitlines()[0]}")
            text = text.replace(old, new)
    source.write_text(text, encoding="utf-8")
    return source


def make_sources(folder):
    """[(variant, source)]. Says which variants cannot be made, and ends where there is one."""
    sources, wrong = [], []
    for variant in variants():
        try:
            sources.append((variant, make_source(variant, folder)))
        except (Failure, OSError) as error:
            wrong.append(f"{variant.guide}, {variant.name}: {error}")
    for line in wrong:
        warn(line)
    if wrong:
        sys.exit(1)
    return sources


# Building, checking, measuring.

def run(command, seconds, environment=None):
    """(exit code, all that it printed)."""
    try:
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds,
                                env=environment, stdin=subprocess.DEVNULL, errors="replace")
    except subprocess.TimeoutExpired:
        raise Failure(f"{pathlib.Path(command[0]).name} took longer than {seconds} s") from None
    except OSError as error:
        raise Failure(f"{command[0]}: {error.strerror}") from None
    return result.returncode, result.stdout + result.stderr


def one_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search("error|^diagnosis", line, re.I)]
    return re.sub(r"\s+", " ", (wrong or lines[-1:] or ["it did not say why"])[0])[:200]


def build(variant, source, nvcc, arch, build_folder):
    program = source.with_suffix("")
    code, said = run([nvcc, "-std=c++17", "-O3", f"-arch={arch}", f'-DLAB_STEP_NAME="{variant.base}"',
                      f"-I{ROOT}/lab/include", source, build_folder / "lab/liblab.a", "-o", program], 120)
    if code != 0:
        raise Failure(f"not built: {one_line(said)}")
    return program


def check(variant, program, build_folder):
    code, said = run([build_folder / "bin/validate", "--n", "250", "--time-limit", "30", program], 120)
    if variant.whole:
        right = code == 0
    else:  # the validator says so in a line of its own where only the residual is wrong
        right = code == 1 and re.search(r"^ *the field is right$", said, re.MULTILINE)
    if not right:
        raise Failure(f"not right: {one_line(said)}")


class Lab:
    """Runs programs and keeps what was measured."""

    def __init__(self, build_folder, folder, ncu):
        self.build, self.folder, self.ncu = build_folder, folder, ncu
        self.why_not = None if ncu else "ncu was not found"
        self.lines = []

    def note(self, variant, n, quantity, unit, values, words=None):
        """One line. values: (median, least, most), or why there are none."""
        if isinstance(values, str):
            cells, words = ["-"] * 3, values
            warn(f"{variant.guide}, {variant.name}, n = {n}, {quantity}: {values}")
        else:
            cells = [f"{value:.6g}" for value in values]
            print(f"{variant.guide} {variant.name} n = {n}: {quantity} {cells[0]} {unit}", flush=True)
        self.lines.append([variant.guide, variant.name, str(n), quantity, unit, *cells, words or variant.words])

    def iterations(self, program, n, iterations, environment=None):
        """(median, least, most) of an iteration in ms, without the first."""
        record = self.folder / "record"
        code, said = run([program, "--n", n, "--iterations", iterations, "--quiet", "--record", record,
                          "--record-field", "rows"], 60, environment)
        if code > 1:
            raise Failure(f"exit code {code}: {one_line(said)}")
        try:
            run_json = json.loads((record / "run.json").read_text())
            return tuple(float(run_json[f"iteration_ms_{what}"]) for what in ("median", "min", "max"))
        except (OSError, ValueError, KeyError, TypeError):
            raise Failure("it recorded no times") from None

    def trace(self, program, n, iterations):
        """{kernel: (median, least, most in ns, registers)}."""
        table = self.folder / "trace.tsv"
        table.unlink(missing_ok=True)
        environment = os.environ | {"CUDA_INJECTION64_PATH": str(self.build / "lib/liblab_trace.so"),
                                    "LAB_TRACE_TSV": str(table), "LAB_TRACE_QUIET": "1"}
        code, said = run([program, "--n", n, "--iterations", iterations, "--quiet"], 60, environment)
        if code > 1 or not table.exists():
            raise Failure(f"not traced, exit code {code}: {one_line(said)}")
        kernels = {}
        try:
            with table.open(newline="") as file:
                for row in csv.DictReader(file, delimiter="\t"):
                    if row["table"] == "kernels":
                        times = [float(row[column]) for column in ("median_ns", "min_ns", "max_ns")]
                        kernels[ncu_reading.kernel_name(row["name"])] = (*times, int(row["registers"]))
        except (KeyError, ValueError, TypeError):
            raise Failure("the tracer's table cannot be read") from None
        for kernel in (SWEEP, COPY):
            if kernel not in kernels:
                raise Failure(f"{kernel} was not traced")
        return kernels

    def count(self, program, n, kernel, metric):
        """(median, least, most) of one metric, over three launches."""
        if self.why_not:
            raise Failure(f"not counted: {self.why_not}")
        options = ["--clock-control", "none", "--cache-control", "none", "--kernel-name", f"regex:{kernel}",
                   "--launch-skip", 2, "--launch-count", 3]
        command = [program, "--n", n, "--iterations", 6, "--quiet"]
        try:
            launches = read_raw(ncu_reading.count(self.ncu, options, [metric], command, seconds=45))
        except NotAllowed as error:
            self.why_not = str(error)
            raise Failure(f"not counted: {error}") from None
        except NotPossible as error:
            raise Failure(f"not counted: {error}") from None
        values = [launch[metric] for launch in launches if isinstance(launch.get(metric), float)]
        if not values:
            raise Failure(f"not counted: ncu gave no {metric}")
        return statistics.median(values), min(values), max(values)

    def try_note(self, variant, n, quantity, unit, measure, words=None):
        try:
            values = measure()
        except Failure as error:
            values = str(error)
        self.note(variant, n, quantity, unit, values, words)


def copy_kernel_by_size(lab, variant, program):
    for n in COPY_SIZES:
        # An atomic of the sweep takes 1.8 ns: at most some 1.3 s a size.
        iterations = max(11, min(101, int(0.7e9 / (n * n))))
        size = 8.0 * n * n  # bytes that a copy reads and writes

        def bandwidth():
            median, least, most, _ = lab.trace(program, n, iterations)[COPY]
            return size / median, size / most, size / least

        lab.try_note(variant, n, "copy kernel", "GB/s", bandwidth, "8 bytes a point over the traced time")
        lab.try_note(variant, n, "DRAM bytes", "bytes a point",
                     lambda: tuple(value / n / n for value in lab.count(program, n, COPY, "dram__bytes.sum")),
                     "counted by ncu in the copy kernel, --cache-control none")


def measure_reduction(lab, variant, program):
    n = 8192
    kernels = [(COPY, "copy kernel")] if variant.name == "copy_with_loop" else \
        [(SWEEP, "sweep kernel"), (COPY, "copy kernel")] if variant.name == "as_it_is" else [(SWEEP, "sweep kernel")]
    try:
        traced = lab.trace(program, n, 100)
    except Failure as error:
        traced = str(error)
    for kernel, quantity in kernels:
        lab.note(variant, n, quantity, "ms",
                 traced if isinstance(traced, str) else tuple(1e-6 * value for value in traced[kernel][:3]))
    if variant.name in ("as_it_is", "sum_on_host"):
        lab.try_note(variant, n, "iteration", "ms", lambda: lab.iterations(program, n, 100))
    if variant.name.startswith("threads_"):
        lab.note(variant, n, "registers", "a thread",
                 traced if isinstance(traced, str) else (traced[SWEEP][3],) * 3)
        lab.try_note(variant, n, "occupancy", "%", lambda: lab.count(
            program, n, SWEEP, "sm__warps_active.avg.pct_of_peak_sustained_active"))


def measure_all(lab, sources, nvcc, arch):
    """Builds in the background, and measures whatever is ready in the order of variants()."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        built = [(variant, pool.submit(build, variant, source, nvcc, arch, lab.build)) for variant, source in sources]
        # Step 07 needs only itself, and takes longest. Compilers do not disturb a kernel.
        (first, program), *others = built
        measure_one(lab, first, program, lambda program: check(first, program, lab.build))
        concurrent.futures.wait([future for _, future in built])
        # The checks run beside one another, and nothing is timed meanwhile.
        checked = [pool.submit(lambda variant=variant, future=future: check(variant, future.result(), lab.build))
                   for variant, future in others]
        concurrent.futures.wait(checked)
    for (variant, program), checking in zip(others, checked):
        measure_one(lab, variant, program, lambda _, checking=checking: checking.result())


def measure_one(lab, variant, building, checking):
    n = 2048 if variant.guide == S05 else 8192
    quantity = {S05: "iteration", S07: "copy kernel"}.get(variant.guide, "sweep kernel")
    if variant.name == "copy_with_loop":
        quantity = "copy kernel"
    try:
        program = building.result()
        checking(program)
    except Failure as error:
        lab.note(variant, n, quantity, "GB/s" if variant.guide == S07 else "ms", str(error))
        return
    if variant.guide == S07:
        copy_kernel_by_size(lab, variant, program)
    elif variant.guide == S08:
        measure_reduction(lab, variant, program)
    else:
        lab.try_note(variant, n, quantity, "ms", lambda: lab.iterations(program, n, 30))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", metavar="DIR", type=pathlib.Path)
    what.add_argument("--dry-run", action="store_true")
    parser.add_argument("--sources", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--arch", default="native")
    arguments = parser.parse_args()
    if arguments.sources and not arguments.dry_run:
        parser.error("--sources goes with --dry-run")
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
            sources = make_sources(arguments.sources or folder)
            print(f"{len(sources)} variants can be made")
            return
        sources = make_sources(folder)
        measure(arguments, sources, folder)


def measure(arguments, sources, folder):
    ncu = ncu_reading.find_ncu()
    machine = ncu_reading.machine(ncu)
    if machine is None:
        fail("there is no NVIDIA GPU here, as far as nvidia-smi can tell: nothing can be measured", 77)
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        fail("nvcc was not found")
    release = re.search(r"release ([0-9.]+)", ncu_reading.printed_by([nvcc, "--version"]))
    machine["cuda"] = release.group(1) if release else machine["cuda"]
    build_folder = arguments.build.resolve()
    for part in ("lab/liblab.a", "lib/liblab_trace.so", "bin/validate"):
        if not (build_folder / part).exists():
            fail(f"{build_folder / part} has not been built")
    lab = Lab(build_folder, folder, ncu)
    measure_all(lab, sources, nvcc, arguments.arch)
    if all(line[5] == "-" for line in lab.lines):
        fail("nothing could be measured")
    lab.lines.sort(key=lambda line: line[0])  # the steps in order, each as measured
    text = ["# What the guides propose to try: variants of the solutions, each checked and timed.",
            "# Times of kernels are traced, the most is often that of the first launch, which waits for its pages;",
            "# times of iterations are without the first. '-' and the reason where there is no number.",
            "# Written by scripts/publish/experiments.py.",
            *[f"# {key}\t{value}" for key, value in machine.items()],
            "\t".join(COLUMNS), *["\t".join(word.replace("\t", " ") for word in line) for line in lab.lines]]
    try:
        write_aside(arguments.write / "experiments.tsv", "\n".join(text) + "\n")
    except OSError as error:
        fail(f"{arguments.write}: {error.strerror}")
    missing = sum(line[5] == "-" for line in lab.lines)
    print(f"{len(lab.lines)} lines, {missing} of them without a number; written to "
          f"{arguments.write / 'experiments.tsv'}")


if __name__ == "__main__":
    main()
