"""How long a step takes to the solution: computed for sweeps, measured for cycles."""

import math

from labtools.files import by_cycles
from labtools.numbers import number

SOLVED = 1e-7  # of the slowest error, about what a float can hold
SOLVED_N = 16384


def sweeps_for(factor, n):
    """How many sweeps multiply the slowest error by `factor`. A sweep multiplies the error sin(pi x) sin(pi y) by
    cos(pi / (n - 1))."""
    return math.log(factor) / math.log(math.cos(math.pi / (n - 1)))


def seconds_to_solution(row):
    """Of a row of the ladder: that many sweeps at n = SOLVED_N, with its points per second at its own n."""
    return 1e-6 * SOLVED_N ** 2 / number(row["mpoints_per_s"]) * sweeps_for(SOLVED, SOLVED_N)


def solution_by_cycles(experiments):
    """{quantity: median} of the step whose iterations are cycles, at n = SOLVED_N; from rows of experiments.tsv."""
    return {row["quantity"]: number(row["median"]) for row in experiments
            if by_cycles(row["step"]) and row["variant"] == "as_it_is" and row["n"] == str(SOLVED_N)}
