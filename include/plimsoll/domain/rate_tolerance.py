"""How far the number of operations may be from the load where a program draws its schedule at random."""

from math import inf, sqrt

LEAST = 0.01
"""The share of a load by which every rate may differ."""
_DEVIATIONS = 3
ENOUGH_OPERATIONS = round((_DEVIATIONS / LEAST) ** 2)
"""So many operations of a random schedule come within the least tolerance: 90,000."""


def rate_tolerance(operations: float) -> float:
    """Return the share by which a random schedule's number of operations may differ from the load, at least 1 %.

    `operations`: the load times the judged time. A program that sends at random times (a Poisson process) sends n
    give or take √n of n operations: three standard deviations are 3/√n of them. Beyond that is one of 370 cells.
    """
    return max(LEAST, _DEVIATIONS / sqrt(operations)) if operations > 0 else inf
