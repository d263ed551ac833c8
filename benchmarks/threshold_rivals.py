"""Other ways to the same threshold, from outcomes or from plain repeats, played on the same synthetic systems."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm, t

from plimsoll.strategies.threshold.question import CellObservation

Observe = Callable[[float], CellObservation]
_MOST = 200
"""The cells after which a rival that finds no end is ended."""
_TRIALS, _MOST_TRIALS = 2, 10
"""Repeats of a load far from the threshold, and the most near it."""


@dataclass(frozen=True)
class Bounds:
    """The interval (ops/s) that a search ends with, and its cells."""

    low: float
    high: float
    cells: int


class _TooMany(Exception):
    """The search has run as many cells as it may."""


def mlrsearch(observe: Observe, least: float, most: float, chance: float, within: float) -> Bounds:
    """Run MLRsearch: a load is a bound once ten trials say so, and a tenth of them may miss.

    Each cell is a trial of one unit of time, lost as a whole if it missed.
    """
    mlr: Any = import_module("MLRsearch")

    cells = 0

    class Measurer(mlr.AbstractMeasurer):  # type: ignore[misc]
        """Answers trials by cells."""

        def measure(self, intended_duration: float, intended_load: float) -> Any:
            nonlocal cells
            if cells >= _MOST:
                raise _TooMany
            cells += 1
            lost = int(observe(intended_load).outcome == "missed")
            return mlr.MeasurementResult(intended_duration, intended_load, offered_count=1, loss_count=lost)

    width = 1 - 1 / (1 + within) ** 2
    goal = mlr.SearchGoal(0.0, 1 - chance, width, 1.0, 1.0, duration_sum=10.0, fail_fast=False)
    config = mlr.Config([goal], least, most, search_duration_max=600.0, warmup_duration=0.0)
    try:
        found = mlr.MultipleLossRatioSearch(config).search(Measurer(), debug=lambda _: None)[goal]
    except _TooMany:
        return Bounds(least, most, cells)
    lower, upper = found.relevant_lower_bound, found.relevant_upper_bound
    return Bounds(float(lower) if lower else 0.0, float(upper) if upper else float("inf"), cells)


def has_mlrsearch(folder: Path | None) -> bool:
    """Tell whether MLRsearch can be imported, also from that folder."""
    if folder is not None:
        sys.path.append(str(folder))
    return find_spec("MLRsearch") is not None


def cutting_corners(observe: Observe, least: float, most: float, chance: float, within: float) -> Bounds:
    """Bisect in the manner of Shivam and others (Cutting Corners, USENIX 2008).

    Each load is repeated, twice at least, until a 95 % interval of its mean margin is clear of the margin at which so
    many cells meet, and ten times at most: far from the threshold few repeats do.
    """
    low, high, cells = log(least), log(most), 0
    while high - low > 2 * log(1 + within):
        middle, margins = (low + high) / 2, list[float]()
        for margin in _margins(observe, exp(middle)):
            margins.append(margin)
            excess = _excess(margins, chance)
            if len(margins) >= _TRIALS and abs(excess) > _uncertainty(margins):
                break
        cells += len(margins)
        low, high = (low, middle) if excess > 0 else (middle, high)
    return Bounds(exp(low), exp(high), cells)


def _margins(observe: Observe, load: float) -> Iterator[float]:
    return (observe(load).margin or 0.0 for _ in range(_MOST_TRIALS))


def _spread(margins: list[float]) -> float:
    return float(np.std(margins, ddof=1)) if len(margins) > 1 else 0.0


def _excess(margins: list[float], chance: float) -> float:
    """Return by how much the margin that so many cells keep lies above the bound, if margins are normal."""
    return float(np.mean(margins)) + float(norm.ppf(chance)) * _spread(margins)


def _uncertainty(margins: list[float]) -> float:
    return float(t.ppf(0.975, len(margins) - 1)) * _spread(margins) / sqrt(len(margins))
