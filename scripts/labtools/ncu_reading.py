"""Finds ncu, runs it and reads what it prints: what counters.py and roofline.py share."""

import csv
import datetime
import os
import re
import shutil
import subprocess

from labtools.files import ROOT

# What ncu's units are in ns and bytes, should it not have kept to base units.
UNITS = {"nsecond": 1, "ns": 1, "usecond": 1e3, "us": 1e3, "msecond": 1e6, "ms": 1e6, "second": 1e9, "s": 1e9,
         "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}


class NotPossible(Exception):
    """Why ncu cannot count here, in words."""


class NotAllowed(NotPossible):
    """The same where no other program could be counted either."""


def find_ncu():
    """ncu's path, or None. Looks where scripts/lib/profilers.sh does."""
    named = os.environ.get("LAB_NCU")
    if named:
        return named if os.access(named, os.X_OK) else None
    on_path = shutil.which("ncu")
    if on_path:
        return on_path
    found = subprocess.run(["bash", "-c", f'source "{ROOT}/scripts/lib/profilers.sh" && find_profiler ncu'],
                           capture_output=True, text=True)
    return found.stdout.strip() or None if found.returncode == 0 else None


def printed_by(command, seconds=60):
    """What a command prints; nothing where it cannot be run or fails."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout if result.returncode == 0 else ""


def machine(ncu):
    """{"date": ..., "gpu": ..., "driver": ..., "cuda": ..., "ncu": ...}; None where there is no GPU."""
    smi = printed_by(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"])
    if ", " not in smi:
        return None
    gpu, driver = smi.strip().splitlines()[0].rsplit(", ", 1)
    cuda = re.search(r"CUDA(?: UMD)? Version *:? *([0-9.]+)", printed_by(["nvidia-smi"]))
    version = re.search(r"Version (\S+)", printed_by([ncu, "--version"])) if ncu else None
    return {"date": str(datetime.date.today()), "gpu": gpu, "driver": driver,
            "cuda": cuda.group(1) if cuda else "unknown", "ncu": version.group(1) if version else "none"}


def kernel_name(text):
    """"void sweep<(bool)1, float>(float*, int)" and "sweep<true, float>" are sweep<1, float>."""
    text = re.sub(r"\((?:bool|(?:unsigned )?(?:int|long|char|short))\)", "", text.strip())
    text = text.removeprefix("void ").replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    text = re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", text))
    # The parameters begin at the first bracket outside of the template's arguments.
    depth = 0
    for k, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if character == "(" and depth == 0:
            return text[:k].strip()
    return text


def number(text):
    """ncu's "1,234.5" as a float; None where it is none ("n/a")."""
    try:
        return float(text.replace(",", ""))
    except (ValueError, AttributeError):
        return None


def read_raw(text):
    """What `ncu --csv --page raw` printed, around it anything else: one {"kernel": name, metric: value} a launch.
    Values are floats in ns and bytes, or text."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    table = [line for line in lines[start:] if line.startswith('"')]
    rows = list(csv.reader(table))
    if len(rows) < 2:
        return []
    titles, units, launches = rows[0], rows[1], []
    for fields in rows[2:]:
        if len(fields) != len(titles):
            continue  # another program's line
        launch = {}
        for title, unit, field in zip(titles, units, fields):
            value = number(field)
            launch[title] = field if value is None else value * UNITS.get(unit, 1)
        launch["kernel"] = kernel_name(str(launch.get("Kernel Name", "")))
        launches.append(launch)
    return launches


def why_not(said):
    """The exception for what ncu said when it failed."""
    if "ERR_NVGPUCTRPERM" in said or "INSUFFICIENT_PRIVILEGES" in said:
        return NotAllowed("the driver lets only administrators read the counters (ERR_NVGPUCTRPERM)")
    if re.search(r"driver resource was unavailable|HARDWARE_BUSY|like DCGM", said, re.I):
        return NotAllowed("another program holds the counters (DCGM, or another profiler)")
    errors = [line for line in said.splitlines() if "==ERROR==" in line] or said.strip().splitlines()[-1:]
    return NotPossible(errors[0].replace("==ERROR==", "").strip() if errors else "ncu failed, and did not say why")


def count(ncu, options, metrics, command, seconds=600):
    """What `ncu --page raw` prints for the command. Metrics that this GPU does not have are left out. Raises
    NotPossible or NotAllowed."""
    metrics = list(metrics)
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_INJECTION64_PATH")}
    while True:
        chosen = ["--metrics", ",".join(metrics)] if metrics else []
        try:
            result = subprocess.run([str(word) for word in (ncu, "--csv", "--page", "raw", "--print-units", "base",
                                                            *options, *chosen, *command)],
                                    capture_output=True, text=True, timeout=seconds, env=environment,
                                    stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise NotPossible(f"it took longer than {seconds} s") from None
        except OSError as error:
            raise NotPossible(f"{ncu}: {error.strerror}") from None
        said = result.stdout + result.stderr
        if read_raw(result.stdout):
            return result.stdout
        unknown = [metric for metric in metrics
                   if re.search(rf"[Ff]ailed to find metric.*{re.escape(metric)}", said)]
        if not unknown:
            raise why_not(said)
        metrics = [metric for metric in metrics if metric not in unknown]
