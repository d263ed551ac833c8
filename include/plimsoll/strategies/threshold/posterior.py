"""What the observations make of the threshold: how likely it is at each place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.strategies.threshold import by_margins, by_outcomes
from plimsoll.strategies.threshold.exposure import at_exposure
from plimsoll.strategies.threshold.observation import CellObservation
from plimsoll.strategies.threshold.places import Numbers, Places
from plimsoll.strategies.threshold.question import Question

_OUTCOMES = 0.1
"""The chance, before any cell, that margins tell no more than outcomes."""

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
