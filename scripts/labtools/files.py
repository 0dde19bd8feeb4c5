"""Where the lab is, and its steps."""

import collections
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results/h200"  # what was published
BUILD = pathlib.Path(os.environ.get("LAB_BUILD_DIR") or ROOT / "build").absolute()


# A line of lab/steps.tsv. `before`: the name of the step that it begins with, "-" for the first.
Step = collections.namedtuple("Step", "name source needs n iterations title before")


def steps(lab=ROOT):
    lines = [line.split("\t") for line in (lab / "lab/steps.tsv").read_text().splitlines() if line[:1].isdigit()]
    return [Step(*fields[:3], int(fields[3]), int(fields[4]), *fields[5:7]) for fields in lines]


def step_named(name):
    return next(step for step in steps() if step.name == name)


def clinic_kernels():
    """The kernels of lab/clinic.tsv: [(name, default n)]."""
    lines = (ROOT / "lab/clinic.tsv").read_text().splitlines()
    return [tuple(line.split("\t")[:2]) for line in lines if line[:1].islower()]


def by_cycles(step):
    """Whether a step's iterations are cycles over several grids, and no Jacobi sweeps."""
    return step[:2] >= "16"


def steps_with_kernels():
    """The steps for one GPU that sweep in kernels of their own."""
    return [step for step in steps() if step.source.endswith(".cu") and step.needs == "cuda" and not by_cycles(step.name)]


STEPS = {step.name[:2]: step.name for step in steps()}
