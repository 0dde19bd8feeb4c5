"""The published tables, and what several blocks say of them."""

from labtools.files import ROOT, steps

RESULTS = ROOT / "results/h200"
LADDER, TRACER, SCALING, LARGE, EXPERIMENTS, TUNING, KERNELS = (
    RESULTS / f"{name}.tsv" for name in ("ladder", "tracer", "scaling", "large", "experiments", "tuning", "kernels"))
COUNTERS = ROOT / "results/h100/counters.tsv"
PROFILES = RESULTS / "profiles"
MISTAKES = ROOT / "validate/tests/bank/found_on_cpu/09_shared_tile.tsv"


def step_before(step):
    """The name of the step that it begins with, as lab/steps.tsv has it."""
    return next(one.before for one in steps() if one.name == step)


def is_job(step):
    return any(one.name == step and one.needs == "ranks" for one in steps())
