"""The machine that a script measures on: its GPU and its tools, and what must be there before anything is timed."""

import datetime
import re
import shutil

from labtools.files import ROOT
from labtools.process import attempt, fail, printed_by, reason, run


def find_profiler(tool):
    """The path of ncu or nsys, or None. Looks where scripts/lib/profilers.sh does."""
    script = 'source "$1/scripts/lib/profilers.sh" && find_tool "$2"'
    code, out, _ = attempt(["bash", "-c", script, "find", ROOT, tool], 30)
    return out.strip() or None if code == 0 else None


def gpu_facts(tool, path):
    """{"date", "gpu", "driver", "cuda" (the driver's)}, and the version of ncu or nsys, which lies at `path`, if it
    is there; None without a GPU."""
    smi = printed_by(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"])
    if ", " not in smi:
        return None
    gpu, driver = smi.strip().splitlines()[0].rsplit(", ", 1)
    cuda = re.search(r"CUDA(?: UMD)? Version *:? *([0-9.]+)", printed_by(["nvidia-smi"]))
    facts = {"date": str(datetime.date.today()), "gpu": gpu, "driver": driver, "cuda": cuda[1] if cuda else "unknown"}
    version = re.search(r"[Vv]ersion (\d[\d.]*)", printed_by([path, "--version"])) if path else None
    return {**facts, tool: version[1] if version else "none"}


def compiler_and_facts():
    """(nvcc, what it is measured on: gpu, driver, and nvcc's cuda); ends the script if one is missing."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin") or fail("nvcc was not found")
    if not shutil.which("nvidia-smi"):
        fail("nvidia-smi was not found: this needs an NVIDIA GPU")
    said = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]).strip()
    if said.count(", ") != 1:
        fail(f"nvidia-smi names no GPU and its driver: {reason(said)}")
    gpu, driver = said.split(", ")
    release = re.search(r"release ([0-9.]+)", run([nvcc, "--version"]))
    if not release:
        fail(f"{nvcc} --version: names no release")
    return nvcc, {"date": datetime.date.today(), "gpu": gpu, "driver": driver, "cuda": release[1]}


def need_programs(build, names):
    """Before anything is measured: is all of it built?"""
    for name in names:
        path = build / (name if "/" in name else f"bin/{name}")
        if not path.is_file():
            fail(f"{path} is not there: build it first")


def need_folder(folder):
    """Before anything is measured: can the results be written?"""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"{folder}: cannot be created: {error.strerror}")
