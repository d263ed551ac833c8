"""Where the threshold may lie: a grid of log loads, within and beyond the range of loads."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_BEYOND = 0.7
"""How far beyond the range of loads the threshold is looked for, in natural logs: a factor of two."""
_STEPS = 7
"""The number of grid steps in an interval that is narrow enough."""


@dataclass(frozen=True)
class Places:
    """Evenly spaced natural logs of loads in ops/s, both ends included."""

    low: float
    high: float
    count: int

    @classmethod
    def around(cls, least: float, most: float, log_width: float) -> "Places":
        """Return the places around a range of loads (ops/s), fine enough for an interval of that width."""
        low, high = log(least) - _BEYOND, log(most) + _BEYOND
        return cls(low, high, 1 + ceil((high - low) / log_width * _STEPS))

    @cached_property
    def log_loads(self) -> Numbers:
        return np.linspace(self.low, self.high, self.count)

    @cached_property
    def edges(self) -> Numbers:
        """Return the ends of the stretch around each place."""
        half = (self.high - self.low) / (self.count - 1) / 2
        return np.append(self.log_loads - half, self.high + half)


def log_mean(logs: Numbers) -> Numbers:
    """Return the logs of the means of rows of values that are given by their logs."""
    highest = logs.max(axis=1, keepdims=True)
    result: Numbers = highest[:, 0] + np.log(np.exp(logs - highest).mean(axis=1))
    return result
