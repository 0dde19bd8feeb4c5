"""How long a step takes to the solution: computed for sweeps, measured for cycles."""

import math

from labtools.files import by_cycles
from labtools.numbers import number

SOLVED = 1e-7  # of the slowest error, about what a float can hold
SOLVED_N = 16384
# A sweep multiplies the slowest error, sin(pi x) sin(pi y), by this.
LEFT_BY_A_SWEEP = math.cos(math.pi / (SOLVED_N - 1))
SWEEPS = math.log(SOLVED) / math.log(LEFT_BY_A_SWEEP)  # to the solution


def seconds_to_solution(row):
    """Of a row of the ladder: SWEEPS sweeps at n = SOLVED_N, with its points per second at its own n."""
    return 1e-6 * SOLVED_N ** 2 / number(row["mpoints_per_s"]) * SWEEPS


def solution_by_cycles(experiments):
    """{quantity: median} of the step whose iterations are cycles, at n = SOLVED_N; from rows of experiments.tsv."""
    return {row["quantity"]: number(row["median"]) for row in experiments
            if by_cycles(row["step"]) and row["variant"] == "as_it_is" and row["n"] == str(SOLVED_N)}
