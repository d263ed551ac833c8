"""What the observations make of the threshold: how likely it is at each place.

Before that, margins of cells with few and with many intervals are brought to the same number of intervals. The worst of
720 intervals lies above the worst of 15 of the same system. From more intervals than asked, the expected worst of as
many drawn from them follows exactly. From fewer, the worst is raised by an exponential tail: it grows by the tail's
scale with each e-fold of intervals (Gumbel's domain of attraction).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lgamma, log

import numpy as np

from plimsoll.strategies.threshold import by_margins, by_outcomes
from plimsoll.strategies.threshold.observation import CellObservation
from plimsoll.strategies.threshold.places import Numbers, Places
from plimsoll.strategies.threshold.question import Question

_OUTCOMES = 0.1
"""The chance, before any cell, that margins tell no more than outcomes."""
_TAIL = 0.2
"""The share of all intervals, the highest, that shows the tail."""

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
    margins = by_margins.log_likelihood(places, [cell.evidence for cell in own], question.chance, others)
    outcomes = np.log(_OUTCOMES) + by_outcomes.log_likelihood(places, own, question.chance)
    joint = np.logaddexp(np.log(1 - _OUTCOMES) + margins, outcomes)
    total = np.logaddexp.reduce(joint)
    return Posterior(places, np.exp(joint - total), float(np.exp(np.logaddexp.reduce(outcomes) - total)))


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
