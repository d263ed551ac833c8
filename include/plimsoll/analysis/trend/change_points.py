"""Where a series of figures changes its level, by E-divisive with Hunter's split and merge.

E-divisive: Matteson and James, A nonparametric approach for multiple change point analysis of multivariate data, JASA
109 (2014). Split and merge by t-test: Fleming et al., Hunter: using change point detection to hunt for performance
regressions, ICPE 2023, doi 10.1145/3578244.3583719. Two things are added to Hunter. Its p value is that of a place
which was chosen as the best, so it is multiplied by the number of places (Bonferroni). And a permutation test, with a
fixed seed, drops what only a t-test believes, because figures are not normally distributed.

Figures of which all are above zero are compared as logarithms: noise and changes of response times are ratios.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from plimsoll.analysis.logs.operations import Floats

P_VALUE = 0.001
"""The highest p value of a change point, after correction for the places of its series.

A trend has hundreds of series, so 0.05 would give false alarms on every page. `benchmarks.trend` measures the rates.
"""
SMALLEST = 0.01
"""The smallest change that is told: an achieved rate can be steady to a thousandth."""
FEWEST = 3
"""The fewest figures on each side of a change: one or two odd campaigns are no new level."""
ENOUGH = 8
"""The fewest figures in all: of fewer, too large a share of their permutations looks as changed as they do."""
# As in Hunter: the split takes places up to ten times `P_VALUE`, in windows of 50 figures; merging drops weak ones
_WEAK = 0.01
_WINDOW = 50
_PERMUTATIONS = 199
_BY_CHANCE = 0.05
"""The share of permutations that may look as changed as the series does. With four figures on each side it is 0.03 at
best, so a smaller one would find nothing in short series.
"""
_NEAREST = 30
"""How many figures on each side of a change are shuffled at most, so that a long series takes no longer."""


@dataclass(frozen=True)
class Change:
    """A change of level. `place`: of the first figure after it, among all figures, known or not.

    `before` and `after`: means between the neighbouring changes, geometric where all figures are above zero. `p`: of
    the t-test, after correction. `gradual`: a straight line describes the figures better than a step.
    """

    place: int
    before: float
    after: float
    p: float
    gradual: bool

    @property
    def ratio(self) -> float | None:
        return self.after / self.before if self.before else None


def change_points(figures: Sequence[float | None], smallest: float = SMALLEST) -> tuple[Change, ...]:
    """Return the changes of level in a series, in order. None among the figures are unknown, and skipped.

    `smallest`: the smallest change that is told, as a share of the mean before.
    """
    known = [(index, figure) for index, figure in enumerate(figures) if figure is not None]
    values = np.array([figure for _, figure in known], dtype=float)
    if len(values) < ENOUGH or values.min() == values.max():
        return ()
    by_ratio = bool(values.min() > 0)
    series = np.log(values) if by_ratio else values
    places = _merged(series, _split(series), by_ratio, smallest)
    while doubtful := [stretch for stretch in _stretches(series, places) if _chance(series, stretch) > _BY_CHANCE]:
        weakest = max(doubtful, key=lambda stretch: _p_value(series, stretch))
        places = _merged(series, [place for place in places if place != weakest.place], by_ratio, smallest)
    return tuple(_change(series, stretch, known[stretch.place][0], by_ratio) for stretch in _stretches(series, places))


@dataclass(frozen=True)
class _Stretch:
    """The figures around a place, from the change before to the change after it."""

    start: int
    place: int
    end: int


def _stretches(series: Floats, places: Sequence[int]) -> list[_Stretch]:
    ends = [0, *places, len(series)]
    return [_Stretch(*around) for around in zip(ends, ends[1:], ends[2:], strict=False)]


def _split(series: Floats) -> list[int]:
    """Return places that may be changes: those of windows that overlap, so that no later change hides an earlier."""
    places: set[int] = set()
    start = 0
    while start + 2 * FEWEST <= len(series):
        divisions = _divide(series, start, min(start + _WINDOW, len(series)))
        places.update(divisions)
        start = max(start + _WINDOW // 2, max(divisions, default=0))
    return [place for place in sorted(places) if FEWEST <= place <= len(series) - FEWEST]


def _divide(series: Floats, start: int, end: int) -> list[int]:
    """Return places of changes between two others, each the best of the figures between its neighbours."""
    if end - start < 2 * FEWEST:
        return []
    place, until = (start + offset for offset in _best_division(series[start:end]))
    if _t_test(series[start:place], series[place:until]) > _WEAK:
        return []
    return [*_divide(series, start, place), place, *_divide(series, place, end)]


def _best_division(series: Floats) -> tuple[int, int]:
    """Return where to divide the figures, so that those before differ most from the next ones; and where these end.

    They end where the difference is greatest, so that a third level behind them does not blur it.
    """
    sums = np.zeros((len(series) + 1, len(series) + 1))
    sums[1:, 1:] = np.abs(series[:, None] - series[None, :]).cumsum(axis=0).cumsum(axis=1)
    inside = np.diagonal(sums)
    place, end = np.meshgrid(*[np.arange(FEWEST, len(series) + 1)] * 2, indexing="ij")
    left, right = place, np.maximum(end - place, 1)
    between = sums[place, end] - inside[place]
    after = inside[end] - 2 * sums[place, end] + inside[place]
    divergence = _divergence(between, inside[place] / 2, after / 2, left, right)
    best = np.where(end - place >= FEWEST, divergence, -inf)
    row, column = np.unravel_index(best.argmax(), best.shape)
    return FEWEST + int(row), FEWEST + int(column)


def _divergence(
    between: Floats, before: Floats, after: Floats, left: NDArray[np.int_], right: NDArray[np.int_]
) -> Floats:
    """Return how much two groups of figures differ, from the sums of distances between and within them."""
    # Fewer than two figures after a place have no pair to divide by, and the caller does not choose such a place
    pairs_before, pairs_after = left * (left - 1) / 2, np.maximum(right * (right - 1) / 2, 1)
    mean_distance = 2 * between / (left * right) - before / pairs_before - after / pairs_after
    return left * right / (left + right) * mean_distance


def _merged(series: Floats, places: Sequence[int], by_ratio: bool, smallest: float) -> list[int]:
    """Drop the weakest place until all that stay are sure and large, and stand where their steps fit best."""
    kept = list(places)
    while kept:
        around = _stretches(series, kept)
        p_values = [_p_value(series, stretch) for stretch in around]
        means = (_means(series, stretch, by_ratio) for stretch in around)
        sizes = [abs(after / before - 1) if before else inf for before, after in means]
        if max(p_values) > P_VALUE:
            del kept[int(np.argmax(p_values))]
        elif min(sizes) < smallest:
            del kept[int(np.argmin(sizes))]
        elif (moved := _moved(series, kept)) == kept:
            break
        else:
            kept = moved
    return kept


def _moved(series: Floats, places: Sequence[int]) -> list[int]:
    """Return each place where it leaves the least squares about the means of both sides, from the first to the last."""
    moved = list(places)
    for number in range(len(moved)):
        stretch = _stretches(series, moved)[number]
        moved[number] = stretch.start + FEWEST + int(_squares_of_steps(series[stretch.start : stretch.end]).argmin())
    return moved


def _squares_of_steps(series: Floats) -> Floats:
    """Return the squares about the means of both sides, for each place with enough figures on both."""
    left = np.arange(FEWEST, len(series) - FEWEST + 1)
    before = (series - series.mean()).cumsum()[left - 1]
    # The sums of both sides of a centred series are opposite. Less squares between the means leaves less about them.
    between = before**2 * (1 / left + 1 / (len(series) - left))
    squares: Floats = ((series - series.mean()) ** 2).sum() - between
    return squares


def _p_value(series: Floats, stretch: _Stretch) -> float:
    """Return the p value of the t-test between both sides, after correction for the places that were looked at."""
    if min(stretch.place - stretch.start, stretch.end - stretch.place) < FEWEST:
        return inf
    places = stretch.end - stretch.start - 2 * FEWEST + 1
    return min(1.0, places * _t_test(series[stretch.start : stretch.place], series[stretch.place : stretch.end]))


def _t_test(before: Floats, after: Floats) -> float:
    """Return the p value of Student's two-sided t-test, with one variance for both sides."""
    freedom = len(before) + len(after) - 2
    variance = (before.var() * len(before) + after.var() * len(after)) / freedom
    difference = abs(after.mean() - before.mean())
    if difference == 0:
        return 1.0
    error = np.sqrt(variance * (1 / len(before) + 1 / len(after)))
    return float(2 * stdtr(freedom, -difference / error)) if error else 0.0


def _means(series: Floats, stretch: _Stretch, by_ratio: bool) -> tuple[float, float]:
    sides = series[stretch.start : stretch.place], series[stretch.place : stretch.end]
    before, after = (float(side.mean()) for side in sides)
    return (exp(before), exp(after)) if by_ratio else (before, after)


def _chance(series: Floats, stretch: _Stretch) -> float:
    """Return the share of permutations of the nearest figures that can be divided as clearly as the figures can."""
    own = series[max(stretch.start, stretch.place - _NEAREST) : min(stretch.end, stretch.place + _NEAREST)]
    shuffled = np.random.default_rng(1).permuted(np.tile(own, (_PERMUTATIONS, 1)), axis=1)
    shown = _divergences(own[None, :])[0]
    # Equal divisions differ in the last digits, by the order of their sums.
    as_clear = int((_divergences(shuffled) >= shown * (1 - 1e-9)).sum())
    return (as_clear + 1) / (_PERMUTATIONS + 1)


def _divergences(rows: Floats) -> Floats:
    """Return the greatest divergence over all places of each row of figures."""
    count = rows.shape[1]
    distances = np.abs(rows[:, :, None] - rows[:, None, :])
    to_earlier = np.tril(distances).sum(axis=2)
    to_later = np.triu(distances).sum(axis=2)
    left = np.arange(FEWEST, count - FEWEST + 1)
    before = to_earlier.cumsum(axis=1)[:, left - 1]
    after = to_later[:, ::-1].cumsum(axis=1)[:, ::-1][:, left]
    between = to_earlier.sum(axis=1)[:, None] - before - after
    best: Floats = _divergence(between, before, after, left, count - left).max(axis=1)
    return best


def _change(series: Floats, stretch: _Stretch, place: int, by_ratio: bool) -> Change:
    before, after = _means(series, stretch, by_ratio)
    own = series[stretch.start : stretch.end]
    places = np.arange(len(own)) - (len(own) - 1) / 2
    off_line = ((own - own.mean()) ** 2).sum() - (places * own).sum() ** 2 / (places**2).sum()
    is_line = bool(off_line < _squares_of_steps(own).min())
    return Change(place=place, before=before, after=after, p=_p_value(series, stretch), gradual=is_line)
