"""The published tables, and what several blocks say of them."""

from labtools.files import ROOT, steps, steps_before

RESULTS = ROOT / "results/h200"
LADDER, TRACER, COUNTERS, SCALING, CLINIC = (
    RESULTS / f"{name}.tsv" for name in ("ladder", "tracer", "counters", "scaling", "clinic"))
CLINIC_H100 = ROOT / "results/h100/clinic.tsv"
PROFILES = RESULTS / "profiles"
MISTAKES = ROOT / "validate/tests/bank/found_on_cpu/09_shared_tile.tsv"


def number(step):
    """"04" of "04_jacobi_kernel"."""
    return step[:2]


def step_before(step):
    """The name of the step that it begins with, as lab/steps.tsv has it."""
    return steps_before()[step]


def is_job(step):
    """Whether a step is a job of several ranks."""
    return any(name == step and needs == "ranks" for name, _, needs, *_ in steps())
