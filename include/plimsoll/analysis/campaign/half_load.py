"""The load at which half of the repeats would meet the service level, with a confidence interval.

A capacity is one of the loads of the campaign. This estimate shows where between and beyond these loads the boundary
may lie. The model: the chance that a repeat is met falls with the logarithm of the load along a logistic curve, and
repeats are independent. The interval holds every load for which some slope of the curve, from flat to a step, makes the
outcomes at least 0.147 times as likely as the best curve does: the profile likelihood against χ² with one degree of
freedom at 95 % (Williams, Interval Estimation of the Median Lethal Dose, Biometrics 42, 1986). It needs no standard
errors, which do not exist in the usual case that every load up to one was met and every higher load missed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from plimsoll.domain.base import Model

_DROP = 1.920729
"""The fall of the log likelihood within the interval: half of the 95 % point of χ² with one degree of freedom."""
_ALIKE = 1e-7
_BEYOND = 7.0
"""How far beyond the loads that were run the place is looked for, on the natural log scale: at a thousandth, at 1,000
times.
"""
_STEEPEST = 1e7
_HALVINGS = 30
_POINTS, _ZOOMS = 12, 4

_Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class LevelTrials:
    """A load (ops/s), with the numbers of valid repeats that met and that missed the service level there."""

    load_ops_s: float
    met: int
    missed: int


class HalfLoad(Model):
    """The load that half of the repeats would meet, with its 95 % interval. Null: the repeats do not bound it."""

    ops_s: Annotated[float | None, Field(description="Best estimate (ops/s); null where all repeats came out alike")]
    low_ops_s: Annotated[float | None, Field(description="Lower end of the interval (ops/s); null: there is none")]
    high_ops_s: Annotated[float | None, Field(description="Upper end of the interval (ops/s); null: there is none")]


def half_load(tried: Sequence[LevelTrials]) -> HalfLoad:
    """Return the estimate from one variant's valid repeats; everything is null where no load was tried."""
    run = [one for one in tried if one.load_ops_s and one.met + one.missed]
    if not run:
        return HalfLoad(ops_s=None, low_ops_s=None, high_ops_s=None)
    fit = _Fit(
        np.log([one.load_ops_s for one in run]),
        np.array([one.met for one in run], dtype=np.float64),
        np.array([one.missed for one in run], dtype=np.float64),
    )
    return HalfLoad(ops_s=_ops(fit.best()), low_ops_s=_ops(fit.end(-1)), high_ops_s=_ops(fit.end(1)))


@dataclass(frozen=True, eq=False)
class _Fit:
    """The logarithms of the loads, with the numbers of repeats that met and missed at each."""

    loads: _Numbers
    met: _Numbers
    missed: _Numbers

    def best(self) -> float | None:
        """Return the most likely place, or the middle of all equally likely places.

        None where these reach to infinity.
        """
        places, found = self._scan
        if max(self._far(-1), self._far(1)) >= found.max() - _ALIKE:
            return None
        for _ in range(_ZOOMS):
            likely = np.flatnonzero(found >= found.max() - _ALIKE)
            low, high = places[max(likely[0] - 1, 0)], places[min(likely[-1] + 1, len(places) - 1)]
            places = np.linspace(low, high, 4 * _POINTS + 1)
            found = self._profile(places)
        middle = places[found >= found.max() - _ALIKE]
        return float(middle[0] + middle[-1]) / 2

    def end(self, side: int) -> float | None:
        """Return the lowest (-1) or highest (1) place within the interval, within the range of loads that were run.

        None where the interval has no end on that side.
        """
        places, found = self._scan
        least = max(found.max(), self._far(-1), self._far(1)) - _DROP
        inside = np.flatnonzero(found >= least)
        if self._far(side) >= least:
            return None
        if not len(inside):  # the other side alone fits: all that is known is that it lies beyond what was run
            return float(self.loads.max() if side < 0 else self.loads.min())
        last = inside[0] if side < 0 else inside[-1]
        if last + side in (-1, len(places)):
            return None
        end = self._boundary(places[last], places[last + side], least)
        return float(min(end, self.loads.max()) if side < 0 else max(end, self.loads.min()))

    def _boundary(self, inside: float, outside: float, least: float) -> float:
        """Return the place where the profile falls below that value; where the profile jumps, the place of the jump."""
        for _ in range(_ZOOMS):
            places = np.linspace(inside, outside, 4 * _POINTS + 1)
            within = np.flatnonzero(self._profile(places) >= least)
            last = within[-1] if len(within) else 0
            inside, outside = places[last], places[min(last + 1, len(places) - 1)]
        return (inside + outside) / 2

    @cached_property
    def _scan(self) -> tuple[_Numbers, _Numbers]:
        """Return the loads that were run, places between and beyond them, and the profile at all of these."""
        places = self._places()
        return places, self._profile(places)

    def _places(self) -> _Numbers:
        ends = [self.loads.min() - _BEYOND, *np.unique(self.loads), self.loads.max() + _BEYOND]
        between = [np.linspace(low, high, _POINTS, endpoint=False) for low, high in pairwise(ends)]
        return np.concatenate([*between, ends[-1:]])

    def _profile(self, places: _Numbers) -> _Numbers:
        """Return the log likelihood with half of the repeats met at each place, at the slope that makes it highest.

        It is concave in the slope, so bisection on its derivative finds that slope.
        """
        distance = places[:, None] - self.loads[None, :]
        low, high = np.zeros(len(places)), np.full(len(places), _STEEPEST)
        for _ in range(_HALVINGS):
            slope = np.where(low > 0, np.sqrt(np.maximum(low, 1e-12) * high), high * 1e-3)
            rises = self._derivative(slope[:, None] * distance, distance) > 0
            low, high = np.where(rises, slope, low), np.where(rises, high, slope)
        return np.maximum(self._likelihood(low[:, None] * distance), self._likelihood(0 * distance))

    def _derivative(self, scaled: _Numbers, distance: _Numbers) -> _Numbers:
        lost = self.met * _falling(scaled) - self.missed * _falling(-scaled)
        result: _Numbers = (distance * lost).sum(axis=1)
        return result

    def _likelihood(self, scaled: _Numbers) -> _Numbers:
        result: _Numbers = -(self.met * np.logaddexp(0, -scaled) + self.missed * np.logaddexp(0, scaled)).sum(axis=1)
        return result

    def _far(self, side: int) -> float:
        """Return the profile with the place infinitely far below (-1) or above (1).

        All loads then have the same chance, below or above ½.
        """
        met, missed = float(self.met.sum()), float(self.missed.sum())
        many, few = (met, missed) if side > 0 else (missed, met)
        share = max(0.5, many / (many + few))
        return float(many * np.log(share) + (few * np.log1p(-share) if few else 0.0))


def _falling(scaled: _Numbers) -> _Numbers:
    """Compute 1 / (1 + e^x), without overflow."""
    result: _Numbers = np.exp(-np.logaddexp(0, scaled))
    return result


def _ops(log_load: float | None) -> float | None:
    """Return the load in ops/s, rounded to four digits so that it is the same on every machine."""
    return None if log_load is None else float(f"{np.exp(log_load):.4g}")
