"""The likelihood of observations if margins rise with the load: a line in logs, bent at the threshold.

Far from its bound a margin says little about where the bound is crossed: latency rises slowly at low loads and without
end at high ones. So a margin beyond ±0.6, a factor of 1.8, counts only as being beyond it, and a censored one as being
at least what was seen.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from plimsoll.strategies.threshold.noise import Hiccups, Numbers, log_mean, quantile
from plimsoll.strategies.threshold.observation import CellObservation, Evidence
from plimsoll.strategies.threshold.places import Places

BEYOND = 0.6
_SLOPES = np.geomspace(1.25, 100.0, 8)
"""The rise of the margin per e-fold of load, from hardly steeper than the load itself to a cliff."""
_BEND = 0.75
"""The slope below the threshold over that above it: latency bends upwards near the limit of any queue. With a straight
line 6 % of a queue's true loads lay above the interval.
"""
_SPREADS = np.geomspace(0.25, 1.2, 5)
"""Cells of the same load differ by a quarter or more. Few cells may agree better by chance, and a search that ends once
its interval is narrow ends just then: with spreads from 0.05 the interval held 82 to 88 % of true loads under much
noise, with two regimes or with hiccups.
"""
_ODD = 0.03
"""The share of cells that no model explains. It bounds how far a single cell can move the answer."""


def log_likelihood(places: Places, cells: Sequence[CellObservation], chance: float, hiccups: Hiccups) -> Numbers:
    """Return, for each place of the threshold, its log likelihood over all slopes and spreads, equally likely."""
    total = np.zeros((places.count, len(_SLOPES), len(_SPREADS)))
    for cell in cells:
        total += _of_cell(places, cell.evidence, chance, hiccups)
    return log_mean(total.reshape(places.count, -1))


@lru_cache(maxsize=512)  # each cell is looked at again in every round: 40 kB each
def _of_cell(places: Places, cell: Evidence, chance: float, hiccups: Hiccups) -> Numbers:
    """Return the log likelihood of one cell for each place, slope and spread."""
    steps = cell.log_load - places.log_loads
    bent = np.where(steps < 0, _BEND * steps, steps)
    expected = _SLOPES[None, :, None] * bent[:, None, None] - quantile(hiccups, chance) * _SPREADS
    result: Numbers = np.log(_likelihood(cell, expected, hiccups))
    result.flags.writeable = False
    return result


def _likelihood(cell: Evidence, expected: Numbers, hiccups: Hiccups) -> Numbers:
    """Return the likelihood of one cell where its margin is expected to be that."""
    margin = cell.margin
    if margin is not None and abs(margin) < BEYOND and not cell.is_censored:
        near = hiccups.density((margin - expected) / _SPREADS) / _SPREADS
        return (1 - _ODD) * near + _ODD / (2 * BEYOND)
    end = 0.0 if margin is None else min(max(margin, -BEYOND), BEYOND)
    below = hiccups.below((end - expected) / _SPREADS)
    return (1 - _ODD) * (below if cell.outcome == "met" else 1 - below) + _ODD / 4
