"""The published tables."""

from labtools.files import ROOT

RESULTS = ROOT / "results/h200"
LADDER, TRACER, SCALING, LARGE, EXPERIMENTS, TUNING, KERNELS = (
    RESULTS / f"{name}.tsv" for name in ("ladder", "tracer", "scaling", "large", "experiments", "tuning", "kernels"))
COUNTERS = ROOT / "results/h100/counters.tsv"
PROFILES = RESULTS / "profiles"
MISTAKES = ROOT / "validate/tests/bank/found_on_cpu/09_shared_tile.tsv"
