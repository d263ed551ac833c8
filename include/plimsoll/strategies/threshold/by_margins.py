"""The likelihood of observations if margins rise with the load: a line in logs, bent at the threshold. And the places
of a threshold, on a grid of log loads within and beyond the range of loads.

Far from its bound a margin says little about where the bound is crossed: latency rises slowly at low loads and without
end at high ones. So a margin beyond ±0.6, a factor of 1.8, counts only as being beyond it. A censored one counts only
as missed: a load that ends at its first miss shows the less of its margin the smaller that is, so what was seen is no
floor that was set before. Counted as such, it held 89 to 92 % of true loads where noise is 0.1 or loads queue.

A cell's margin is its expected margin, plus normal noise, plus in some share of the cells a hiccup of exponential size,
which only makes it worse. An exponential tail is that of a block maximum in Gumbel's domain, to which the worst of many
intervals belongs.

How steeply margins rise, and how much cells of one load differ, few cells of one variant can't tell. The variants of a
campaign run the same load on the same hosts, so each learns it from the others too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from plimsoll.strategies.threshold.question import Evidence

Numbers = NDArray[np.float64]

_AROUND = 0.7
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
        low, high = log(least) - _AROUND, log(most) + _AROUND
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


BEYOND = 0.6
_SLOPES = np.geomspace(0.5, 100.0, 9)
"""The rise of the margin per e-fold of load, from less steep than the load itself to a cliff. Without slopes below 1.25
the interval held 67 % of true loads where the longest of ever more pauses misses.
"""
_BEND = 0.6
"""The slope below the threshold over that above it: latency bends upwards near the limit of any queue. With a straight
line 6 % of a queue's true loads lay above the interval; with 0.75, 12 % of a queue's whose service times vary.
"""
_CALM, _CHANCE_OF_CALM = 0.1, 0.01
_NOISY = np.geomspace(0.25, 1.2, 5)
_SPREADS: Numbers = np.array([_CALM, *_NOISY])
"""Cells of the same load differ by a quarter or more, unless several show that they differ by a tenth. Few cells may
agree better by chance, and a search that ends once its interval is narrow ends just then: with spreads from 0.05, each
as likely, the interval held 82 to 88 % of true loads under much noise, with two regimes or with hiccups. Without any
below a quarter it held 7 to 17 % of those of a calm queue, all others of which lay above it: now 89 %. A greater chance
of calm, or other spreads from 0.05 to 0.14, held less of them, or less under much noise.
"""
_ODD = 0.03
"""The share of cells that no model explains. It bounds how far a single cell can move the answer."""
_HICCUPS = ((Hiccups(0.0, 1.0), 0.8), (Hiccups(0.5, 2.0), 0.1), (Hiccups(0.5, 6.0), 0.1))
"""No hiccups beyond the noise; or in half of the cells, and as large. Each with its chance before any cell."""
_OF_SPREADS = np.array([_CHANCE_OF_CALM, *[(1 - _CHANCE_OF_CALM) / len(_NOISY)] * len(_NOISY)])
_PRIOR: Numbers = np.concatenate(
    [np.log(chance / len(_SLOPES) * np.tile(_OF_SPREADS, len(_SLOPES))) for _, chance in _HICCUPS]
)
"""The log chance of each kind of system before any cell: hiccups, slope and spread."""
_OTHERS_COUNT = 0.2
"""What a cell of another variant tells of the kind of system, beside an own cell (a power prior: Ibrahim and Chen,
Statistical Science 15, 2000). Counted half, they held 91 % of true loads under hiccups.
"""
_APART = 0.1
"""The chance that a variant is of another kind than the others."""


def by_margins(
    places: Places, cells: Sequence[Evidence], chance: float, alike: Sequence[Sequence[Evidence]]
) -> Numbers:
    """Return, for each place of the threshold, its log likelihood over all kinds of systems.

    `alike`: the cells of each other variant, whose threshold lies elsewhere.
    """
    weights = _PRIOR
    if alike:
        of_others = sum(_of_kinds(places, tuple(own), chance) for own in alike)
        learnt = _PRIOR + _OTHERS_COUNT * of_others
        weights = np.logaddexp(np.log(1 - _APART) + learnt - np.logaddexp.reduce(learnt), np.log(_APART) + _PRIOR)
    result: Numbers = np.logaddexp.reduce(_of_cells(places, cells, chance) + weights, axis=1)
    return result


@lru_cache(maxsize=512)  # in each round most variants have the same cells as before
def _of_kinds(places: Places, cells: tuple[Evidence, ...], chance: float) -> Numbers:
    """Return the log likelihood of each kind of system, over all places, equally likely."""
    return log_mean(_of_cells(places, cells, chance).T)


def _of_cells(places: Places, cells: Sequence[Evidence], chance: float) -> Numbers:
    """Return the log likelihood of cells for each place and kind of system."""
    return sum((_of_cell(places, cell, chance) for cell in cells), np.zeros((places.count, len(_PRIOR))))


@lru_cache(maxsize=512)  # each cell is looked at again in every round: 100 kB each
def _of_cell(places: Places, cell: Evidence, chance: float) -> Numbers:
    """Return the log likelihood of one cell for each place and kind of system."""
    steps = cell.log_load - places.log_loads
    bent = np.where(steps < 0, _BEND * steps, steps)
    rise = _SLOPES[None, :, None] * bent[:, None, None]
    of_hiccups = (
        np.log(_likelihood(cell, rise - quantile(hiccups, chance) * _SPREADS, hiccups)).reshape(places.count, -1)
        for hiccups, _ in _HICCUPS
    )
    result = np.concatenate([*of_hiccups], axis=1)
    # All who ask get the same array from the cache
    result.flags.writeable = False
    return result


def _likelihood(cell: Evidence, expected: Numbers, hiccups: Hiccups) -> Numbers:
    """Return the likelihood of one cell where its margin is expected to be that."""
    margin = cell.margin
    if margin is not None and abs(margin) < BEYOND and not cell.is_censored:
        near = hiccups.density((margin - expected) / _SPREADS) / _SPREADS
        return (1 - _ODD) * near + _ODD / (2 * BEYOND)
    end = 0.0 if margin is None or cell.is_censored else min(max(margin, -BEYOND), BEYOND)
    below = hiccups.below((end - expected) / _SPREADS)
    return (1 - _ODD) * (below if cell.outcome == "met" else 1 - below) + _ODD / 4
