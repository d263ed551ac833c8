"""What the observations make of the threshold: how likely it is at each place.

Before that, margins of cells with few and with many intervals are brought to the same number of intervals. The worst of
720 intervals lies above the worst of 15 of the same system. From more intervals than asked, the expected worst of as
many drawn from them follows exactly. From fewer, the worst is raised by an exponential tail: it grows by the tail's
scale with each e-fold of intervals (Gumbel's domain of attraction).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import lgamma, log, pi

import numpy as np

from plimsoll.strategies.threshold.by_margins import BEYOND, Numbers, Places, by_margins, log_mean
from plimsoll.strategies.threshold.question import CellObservation, Question

_OUTCOMES = 0.1
"""The chance, before any cell, that margins tell no more than outcomes."""
_TAIL = 0.2
"""The share of all intervals, the highest, that shows the tail."""
_RATES = np.geomspace(2.0, 40.0, 6)
"""How steeply the log odds fall, per e-fold of load."""
_MEAN, _WEIGHT, _SHAPE, _SCALE = 0.3, 0.1, 1.0, 0.02
"""The prior of margins of one outcome, normal-inverse-gamma: around 0.3, with a spread of about 0.14."""

Cells = Sequence[CellObservation]


@dataclass(frozen=True, eq=False)
class Posterior:
    """The chance that the threshold lies at each place, over both models."""

    places: Places
    chances: Numbers
    by_outcomes: float
    """The chance that margins tell no more than outcomes."""

    def quantile(self, share: float) -> float:
        """Return the log load below which the threshold lies with that chance."""
        return float(np.interp(share, np.append(0.0, np.cumsum(self.chances)), self.places.edges))


def quantile_of(values: Numbers, weights: Numbers, share: float) -> float:
    """Return the value below which that share of the weights lies, where each value is the middle of its own weight."""
    shares = (np.cumsum(weights) - weights / 2) / weights.sum()
    return float(np.interp(share, shares, values))


def posterior(question: Question, cells: Cells, least: float, most: float, alike: Sequence[Cells] = ()) -> Posterior:
    """Return the posterior for a threshold anywhere around a range of loads (ops/s), equally likely in logs.

    `alike`: the cells of each other variant under the same load. The order of the cells does not change it.
    """
    places = Places.around(least, most, question.log_width)
    own = _known(question, cells)
    others = [[cell.evidence for cell in _known(question, other)] for other in alike if other]
    margins = by_margins(places, [cell.evidence for cell in own], question.chance, others)
    outcomes = np.log(_OUTCOMES) + by_outcomes(places, own, question.chance)
    joint = np.logaddexp(np.log(1 - _OUTCOMES) + margins, outcomes)
    total = np.logaddexp.reduce(joint)
    return Posterior(places, np.exp(joint - total), float(np.exp(np.logaddexp.reduce(outcomes) - total)))


def by_outcomes(places: Places, cells: Sequence[CellObservation], chance: float) -> Numbers:
    """Return, for each place of the threshold, its log likelihood if margins tell nothing but the outcome.

    So it is where cells miss by a pause that comes or does not come: the load changes how often, and not by how much.
    The chance to meet falls along a logistic curve of the log load, at any of the rates, equally likely in logs.
    Margins have one distribution among the cells that met and one among those that missed, both independent of the
    load; how well these explain the margins says how far to believe this model rather than the other.
    """
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


def _known(question: Question, cells: Cells) -> list[CellObservation]:
    """Return a variant's cells at the exposure that is asked for, in an order of their own."""
    return sorted(at_exposure(cells, question.intervals), key=_rank)


def _rank(cell: CellObservation) -> tuple[float, str, bool, float]:
    """Return a key by which sums are made in the same order, however the cells ran."""
    evidence = cell.evidence
    return evidence.log_load, evidence.outcome, evidence.is_censored, evidence.margin or 0.0


def at_exposure(cells: Cells, asked: int | None) -> tuple[CellObservation, ...]:
    """Return the cells as if each had `asked` judged intervals; None leaves them as they are.

    So it does with a cell whose intervals are not known, and with one that ended early: its margin stays at least that.
    """
    if asked is None:
        return tuple(cells)
    scale = tail_scale([cell.intervals for cell in cells])
    return tuple(_brought(cell, asked, scale) for cell in cells)


def tail_scale(cells: Sequence[Sequence[float]]) -> float:
    """Return the mean excess of the highest fifth of all intervals over its lower end, in natural logs.

    Each interval is counted from its own cell's median. 0 where no interval is known.
    """
    known = [np.asarray(intervals) - np.median(intervals) for intervals in cells if len(intervals)]
    if not known:
        return 0.0
    residuals = np.concatenate(known)
    end = np.quantile(residuals, 1 - _TAIL)
    above = residuals[residuals > end]
    return float((above - end).mean()) if len(above) else 0.0


def expected_worst(intervals: Sequence[float], asked: int) -> float:
    """Return the mean, over all choices of `asked` of the intervals, of the highest one."""
    count = len(intervals)
    ranks = range(asked, count + 1)  # the k-th lowest is the worst of (k - 1 choose asked - 1) choices
    logs = [_log_choices(rank - 1, asked - 1) - _log_choices(count, asked) for rank in ranks]
    return float(np.exp(logs) @ np.sort(intervals)[asked - 1 :])


def _brought(cell: CellObservation, asked: int, scale: float) -> CellObservation:
    count = len(cell.intervals)
    if cell.is_censored or cell.evidence.margin is None or not count or count == asked:
        return cell
    more = max(cell.intervals) + scale * log(asked / count) if count < asked else expected_worst(cell.intervals, asked)
    return replace(cell, margin=more, outcome="missed" if more > 0 else "met")


def _log_choices(of: int, chosen: int) -> float:
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)
