"""The likelihood of observations if margins tell nothing but the outcome.

So it is where cells miss by a pause that comes or does not come: the load changes how often, and not by how much. The
chance to meet falls along a logistic curve of the log load. Margins have one distribution among the cells that met and
one among those that missed, both independent of the load; how well these explain the margins says how far to believe
this model rather than the other.
"""

from collections.abc import Iterable, Sequence
from math import lgamma, log, pi

import numpy as np

from plimsoll.strategies.threshold.by_margins import BEYOND
from plimsoll.strategies.threshold.observation import CellObservation
from plimsoll.strategies.threshold.places import Numbers, Places, log_mean

_RATES = np.geomspace(2.0, 40.0, 6)
"""How steeply the log odds fall, per e-fold of load."""
_MEAN, _WEIGHT, _SHAPE, _SCALE = 0.3, 0.1, 1.0, 0.02
"""The prior of margins of one outcome, normal-inverse-gamma: around 0.3, with a spread of about 0.14."""


def log_likelihood(places: Places, cells: Sequence[CellObservation], chance: float) -> Numbers:
    """Return, for each place of the threshold, its log likelihood over all rates, equally likely in logs."""
    total = np.zeros((places.count, len(_RATES)))
    for cell in cells:
        steps = cell.evidence.log_load - places.log_loads
        odds_of_missing = _RATES * steps[:, None] - log(chance / (1 - chance))
        total -= np.logaddexp(0, odds_of_missing if cell.outcome == "met" else -odds_of_missing)
    return log_mean(total) + sum(_of_margins(cells, outcome) for outcome in ("met", "missed"))


def _of_margins(cells: Iterable[CellObservation], outcome: str) -> float:
    """Return the log of the marginal likelihood of one outcome's margins, those beyond ±0.6 counted as such.

    Only those count that are what they seem: not censored, or beyond what is told apart anyway.
    """
    whole = (cell for cell in cells if not cell.is_censored or (cell.margin or 0.0) >= BEYOND)
    known = (cell.evidence.margin for cell in whole if cell.outcome == outcome)
    margins = [abs(margin) for margin in known if margin is not None]
    near = np.array([margin for margin in margins if margin < BEYOND])
    # The log chance of such a sequence of near and far ones, whose share is anything (Jeffreys's prior)
    shares = lgamma(len(near) + 0.5) + lgamma(len(margins) - len(near) + 0.5) - lgamma(len(margins) + 1) - log(pi)
    return shares + _log_of_normal(near)


def _log_of_normal(values: Numbers) -> float:
    """Return the log of the marginal density of normal values with unknown mean and spread."""
    count = len(values)
    if not count:
        return 0.0
    weight, shape = _WEIGHT + count, _SHAPE + count / 2
    off = float(values.mean()) - _MEAN
    scale = _SCALE + float(values.var()) * count / 2 + _WEIGHT * count * off**2 / (2 * weight)
    gammas = lgamma(shape) - lgamma(_SHAPE) + _SHAPE * log(_SCALE) - shape * log(scale)
    return gammas + (log(_WEIGHT) - log(weight) - count * log(2 * pi)) / 2
