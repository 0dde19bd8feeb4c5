"""The machine that a script measures on: its GPU and its tools, and what must be there before anything is timed."""

import argparse
import datetime
import pathlib
import re
import shutil

from labtools.files import BUILD, ROOT
from labtools.process import fail, printed_by

NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def gpu_here():
    """Whether this machine has an NVIDIA GPU, as far as nvidia-smi can tell."""
    return printed_by(["nvidia-smi", "--list-gpus"], 30).startswith("GPU ")


def find_profiler(tool):
    """The path of ncu or nsys, or None. Looks where scripts/lib/profilers.sh does."""
    script = 'source "$1/scripts/lib/profilers.sh" && find_tool "$2"'
    return printed_by(["bash", "-c", script, "find", ROOT, tool], 30).strip() or None


def parser_of(words):
    """Reads the options of a script that measures: --write DIR; `words` are the script's own, for --help."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="DIR", type=pathlib.Path, required=True)
    return parser


def ready(folder, programs, tool=None):
    """(what is known of the machine, the path of ncu or nsys, or None): {"date", "gpu", "driver", "cuda" (nvcc's)} and
    the tool's version. Ends the script if there is no GPU, a program has not been built, or `folder` cannot be written."""
    for name in programs:
        if not (BUILD / name).is_file():
            fail(f"{BUILD / name} is not there: build it first")
    smi = printed_by(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]).strip()
    if ", " not in smi:
        fail("there is no NVIDIA GPU here, as far as nvidia-smi can tell: nothing can be measured", 77)
    gpu, driver = smi.rsplit(", ", 1)
    release = re.search(r"release ([0-9.]+)", printed_by([NVCC, "--version"])) if NVCC else None
    facts = {"date": str(datetime.date.today()), "gpu": gpu, "driver": driver, "cuda": release[1] if release else "unknown"}
    path = find_profiler(tool) if tool else None
    if tool:
        version = re.search(r"[Vv]ersion (\d[\d.]*)", printed_by([path, "--version"])) if path else None
        facts[tool] = version[1] if version else "none"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"{folder}: cannot be created: {error.strerror}")
    return facts, path
