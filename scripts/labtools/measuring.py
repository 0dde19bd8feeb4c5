"""What scripts that measure on a machine with a GPU share: tile_loading.py, graph_table.py, tune.py, scaling.py."""

import datetime
import json
import pathlib
import re
import shutil
import subprocess
import sys

from labtools.files import ROOT, write_aside


def fail(message):
    """One line, and out."""
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {message}")


def attempt(command, seconds=300, **options):
    """(exit code, standard output, standard error)."""
    try:
        result = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=seconds,
                                **options)
    except subprocess.TimeoutExpired:
        return 124, "", f"did not end within {seconds} s"
    except OSError as error:
        return 126, "", str(error)
    return result.returncode, result.stdout, result.stderr


def reason(out, error):
    """In one line what a program that failed has said: the first line that speaks of an error, or the first."""
    lines = [" ".join(line.split()) for line in (error + "\n" + out).splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "it says nothing")[:300]


def run(command, **options):
    """What the command prints; where it fails, that is the end."""
    code, out, error = attempt(command, **options)
    if code != 0:
        fail(f"{' '.join(map(str, command))}: exit code {code}: {reason(out, error)}")
    return out


def machine():
    """(nvcc, what it is measured on): gpu, driver and cuda."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        fail("nvcc was not found")
    if not shutil.which("nvidia-smi"):
        fail("nvidia-smi was not found: this needs an NVIDIA GPU")
    said = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]).strip()
    if said.count(", ") != 1:
        fail(f"nvidia-smi names no GPU and its driver: {reason(said, '')}")
    gpu, driver = said.split(", ")
    release = re.search(r"release ([0-9.]+)", run([nvcc, "--version"]))
    if not release:
        fail(f"{nvcc} --version: names no release")
    return nvcc, {"date": datetime.date.today(), "gpu": gpu, "driver": driver, "cuda": release[1]}


def need_programs(build, names):
    """Before anything is measured: is all of it built?"""
    for name in names:
        if not (build / "bin" / name).is_file():
            fail(f"{build / 'bin' / name} is not there: build it first")


def need_folder(folder):
    """Before anything is measured: can the results be written?"""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"{folder}: cannot be made: {error.strerror}")


def compile_command(nvcc, build, step, source, program, *options):
    """What makes a program, for the GPU that is here, of a file that stands for the step's own."""
    return [nvcc, "-std=c++17", "-O3", "-arch=native", *options, f'-DLAB_STEP_NAME="{step}"', f"-I{ROOT}/lab/include",
            source, build / "lab/liblab.a", "-o", program]


def compile_variant(nvcc, build, folder, step, patch):
    """The program, in the folder, of the step's solution with a patch applied."""
    source, program = folder / f"{patch.stem}.cu", folder / patch.stem
    run(["patch", "--silent", "-o", source, ROOT / "solutions" / step / "jacobi.cu", patch])
    run(compile_command(nvcc, build, step, source, program))
    return program


def record_of(folder):
    """run.json of a run, which must hold the times."""
    try:
        record = json.loads((folder / "run.json").read_text())
        for name in ("median", "q1", "q3"):
            float(record[f"iteration_ms_{name}"])
        int(record["iteration_samples"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{folder / 'run.json'}: no record with times ({type(error).__name__}: {error})")
    return record


def write_table(path, words, facts, columns, rows):
    """A table with comment lines above it, whole or not at all."""
    lines = [f"# {line}" for line in words] + [f"# {name}\t{value}" for name, value in facts.items()]
    lines += ["\t".join(row) for row in [columns, *rows]]
    try:
        write_aside(path, "\n".join(lines) + "\n")
    except OSError as error:
        fail(f"{path}: cannot be written: {error.strerror}")
