"""How much cells of the same load differ: normal noise, and hiccups that only make a cell worse.

A cell's margin is its expected margin, plus normal noise, plus in some share of the cells a hiccup of exponential size.
An exponential tail is that of a block maximum in Gumbel's domain, to which the worst of many intervals belongs.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

Numbers = NDArray[np.float64]
_DENSITY_AT_0 = 1 / np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Hiccups:
    """The share of cells with a hiccup, and the mean rise of their margin by it, in spreads of the normal noise.

    Distances are between a margin and its expected value, in spreads too.
    """

    share: float
    size: float

    def below(self, distance: Numbers) -> Numbers:
        """Return the chance of a margin that exceeds its expected value by at most `distance`."""
        result: Numbers = ndtr(distance) - (self.share * self._tail(distance) if self.share else 0.0)
        return result

    def density(self, distance: Numbers) -> Numbers:
        """Return the density of a margin at that distance, per spread."""
        normal: Numbers = _DENSITY_AT_0 * np.exp(-(distance**2) / 2)
        return (1 - self.share) * normal + self.share * self._tail(distance) / self.size if self.share else normal

    def _tail(self, distance: Numbers) -> Numbers:
        """Return how far a hiccup lowers the chance: P(normal ≤ d) − P(normal + exponential ≤ d)."""
        rate = 1 / self.size
        # In logs: far below the expected value the one factor overflows while the other becomes 0
        result: Numbers = np.exp(log_ndtr(distance - rate) - rate * distance + rate * rate / 2)
        return result


@lru_cache(maxsize=64)
def quantile(hiccups: Hiccups, chance: float) -> float:
    """Return the distance that is not exceeded with that chance."""

    def excess(distance: float) -> float:
        return float(hiccups.below(np.array(distance))) - chance

    # Outside of 10 spreads of noise and 40 sizes of a hiccup the chance is 0 or 1 to all digits
    return float(brentq(excess, -10.0, 10.0 + 40.0 * hiccups.size))


def log_mean(logs: Numbers) -> Numbers:
    """Return the logs of the means of rows of values that are given by their logs."""
    highest = logs.max(axis=1, keepdims=True)
    result: Numbers = highest[:, 0] + np.log(np.exp(logs - highest).mean(axis=1))
    return result
