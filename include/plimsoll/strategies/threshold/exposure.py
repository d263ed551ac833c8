"""Margins of cells with few and with many intervals, brought to the same number of intervals.

The worst of 720 intervals lies above the worst of 15 of the same system. From more intervals than asked, the expected
worst of as many drawn from them follows exactly. From fewer, the worst is raised by an exponential tail: it grows by
the tail's scale with each e-fold of intervals (Gumbel's domain of attraction).
"""

from collections.abc import Sequence
from dataclasses import replace
from math import lgamma, log

import numpy as np

from plimsoll.strategies.threshold.observation import CellObservation

_TAIL = 0.2
"""The share of all intervals, the highest, that shows the tail."""


def at_exposure(cells: Sequence[CellObservation], asked: int | None) -> tuple[CellObservation, ...]:
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
