"""The judged percentile of a cell's intervals, as a series in order of time, and tests for its change: a trend, a
trend within seasons, a change point.

Sources: Mann, Econometrica 13 (1945), and Kendall, Rank Correlation Methods (1975), the trend; Sen, JASA 63 (1968), its
size; Hirsch, Slack and Smith, Water Resources Research 18 (1982), seasons; Pettitt, Applied Statistics 28 (1979).

The uncertainty of a variant's figures at a load: a bootstrap over runs, and in each run over blocks of intervals.

Repeats are drawn with replacement. Of each drawn repeat, circular blocks of neighbouring intervals are drawn, since
neighbours are not independent (Politis and Romano, in Exploring the Limits of Bootstrap (1992); Davison and Hinkley,
Bootstrap Methods and their Application (1997), chapters 3.8 and 8.2). Confidence intervals reach from the 2.5th to the
97.5th percentile. The bootstrap does not work for a *maximum*, so it is applied to means: of log percentiles, and of
misses.

The meaning of a difference of one load step: how often two full grids of one system find different capacities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import erfc, exp, sqrt
from typing import TYPE_CHECKING, Annotated, NamedTuple
from zlib import crc32

import numpy as np
from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.domain.text.base import Model

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from plimsoll.analysis.campaign.cell_results import AttemptData, CellResult
    from plimsoll.analysis.logs.operations import Floats


class Series(NamedTuple):
    """Intervals that the first service level judged: start in s, percentile in ms (NaN: nothing answered), missed."""

    start_s: Floats
    judged_ms: Floats
    missed: NDArray[np.bool_]


NOTHING = Series(np.empty(0), np.empty(0), np.empty(0, dtype=bool))


def judged_series(attempt: AttemptData | None) -> Series:
    """Return the series of one attempt; empty where there is no attempt, or it has no intervals."""
    return NOTHING if attempt is None else attempt.series


def series_of(table: pd.DataFrame) -> Series:
    if table.empty:
        return NOTHING
    judged = table.loc[table["met"].notna(), ["start_s", "judged_ms", "met"]].sort_values("start_s")
    return Series(
        judged["start_s"].to_numpy(dtype=np.float64),
        judged["judged_ms"].to_numpy(dtype=np.float64),
        ~judged["met"].to_numpy(dtype=bool),
    )


def log_ms(series: Series) -> Floats:
    """Return the natural logarithms of the known percentiles, as response times vary by factors, not by sums."""
    return _logs(series)[~np.isnan(series.judged_ms)]


LEAST_MS = 0.5
"""What 0 ms counts as, which has no logarithm and divides nothing: a time in whole milliseconds, rounded to 0."""


def _logs(series: Series) -> Floats:
    """Return the natural logarithm of every percentile; NaN where nothing was answered."""
    logs: Floats = np.log(np.where(series.judged_ms == 0, LEAST_MS, series.judged_ms))
    return logs


def trend(values: Floats) -> tuple[float, float]:
    """Return the two-sided p value of Mann and Kendall's test, and Sen's slope per step."""
    from scipy.stats import kendalltau, theilslopes  # a second to import

    steps = np.arange(len(values))
    return float(kendalltau(steps, values).pvalue), float(theilslopes(values, steps).slope)


def seasonal_trend(seasons: Sequence[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Return the two-sided p value of the seasonal Kendall test, and the seasonal slope per unit of time.

    `seasons`: times and values, ordered by time. Values are compared only within their season, so other differences
    between seasons have no influence, and no mean must be subtracted.
    """
    score, variance, slopes = 0.0, 0.0, [np.zeros(0)]
    for times, values in seasons:
        count = len(values)
        earlier, later = np.triu_indices(count, 1)
        rises = values[later] - values[earlier]
        score += float(np.sign(rises).sum())
        variance += count * (count - 1) * (2 * count + 5) / 18
        slopes.append(rises / (times[later] - times[earlier]))
    if not variance:
        return 1.0, 0.0
    # Corrected for continuity: the score changes by two at least.
    deviate = max(0.0, abs(score) - 1) / sqrt(variance)
    return erfc(deviate / sqrt(2)), float(np.median(np.concatenate(slopes)))


def pettitt(values: Floats) -> tuple[int, float]:
    """Return the index of the first value after the likeliest change, and Pettitt's approximate two-sided p value."""
    signs = np.sign(values[:, None] - values[None, :])
    sums = np.array([signs[:index, index:].sum() for index in range(1, len(values))])
    likeliest = int(np.argmax(np.abs(sums)))
    count = len(values)
    p_value = 2 * exp(-6 * float(sums[likeliest]) ** 2 / (count**3 + count**2))
    return likeliest + 1, min(1.0, p_value)


DRAWS = 2_000
BLOCK = 30
"""Intervals in a block: five minutes of ten-second intervals; a third of the run where that is shorter."""


class Estimate(Model):
    """A figure with its 95 % bootstrap interval; the interval is null where there is only one repeat."""

    value: float
    low: float | None
    high: float | None


class Typical(Model):
    """The typical figures of one variant at one load, over its valid repeats."""

    variant: str
    load_ops_s: int
    repeats: int
    typical_ms: Annotated[Estimate, Field(description="Geometric mean of the intervals' judged percentile")]
    missed_share: Annotated[Estimate, Field(description="Share of judged intervals that missed")]


def typical_by_load(cells: Iterable[CellResult]) -> tuple[Typical, ...]:
    """Return the typical figures of each variant and load with a valid repeat with intervals, in the cells' order."""
    known = ((result.cell, judged_series(result.counted)) for result in cells)
    runs = grouped(((cell.variant, cell.load_ops_s), series) for cell, series in known if len(log_ms(series)))
    return tuple(_typical(variant, load, own) for (variant, load), own in runs.items())


def _typical(variant: str, load: int, runs: Sequence[Series]) -> Typical:
    # A report made again must be the same byte for byte; Python's own hash of a text is another in each process
    random = np.random.default_rng(crc32(f"{variant} {load}".encode()))
    # A stall has no percentile: its interval counts as missed, and in the typical value as the run's highest.
    logs = [np.where(np.isnan(own), np.nanmax(own), own) for own in map(_logs, runs)]
    missed = [run.missed.astype(np.float64) for run in runs]
    middle = _estimate(logs, random)
    return Typical(
        variant=variant,
        load_ops_s=load,
        repeats=len(runs),
        typical_ms=Estimate(**{name: value if value is None else float(np.exp(value)) for name, value in middle}),
        missed_share=_estimate(missed, random),
    )


def _estimate(runs: Sequence[Floats], random: np.random.Generator) -> Estimate:
    """Return the mean over runs of each run's mean, so that one cut short has the same weight as the others."""
    value = float(np.mean([run.mean() for run in runs]))
    if len(runs) < 2:
        return Estimate(value=value, low=None, high=None)
    drawn = np.stack([_block_means(run, random, len(runs)) for run in runs])
    chosen = random.integers(0, len(runs), (DRAWS, len(runs)))
    means = drawn[chosen, np.arange(DRAWS)[:, None], np.arange(len(runs))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(value=value, low=float(low), high=float(high))


def _block_means(run: Floats, random: np.random.Generator, copies: int) -> Floats:
    """Draw DRAWS × `copies` means of resampled runs in circular blocks. The sum of each block is computed only once."""
    block = max(1, min(BLOCK, len(run) // 3))
    around = np.concatenate([run, run[: block - 1]])
    sums = np.convolve(around, np.ones(block), "valid") / block
    starts = random.integers(0, len(run), (DRAWS, copies, -(-len(run) // block)))
    means: Floats = sums[starts].mean(axis=2)
    return means


_LEVELS = range(-14, 15)
_PLACES = 20


def grids_disagree(repeats: int, width: float) -> float:
    """Return the chance that two full grids of the same system, with that many repeats, find different capacities.

    The chance that a repeat is met falls with the load along a logistic curve of that width, in load steps: four and a
    half widths lie between the loads where 90 % and 10 % are met. The curve's middle lies anywhere between two loads,
    and the loads extend far to either side. The result is exact except that 20 positions stand for all positions of the
    middle.
    """
    middles = [(number + 0.5) / _PLACES for number in range(_PLACES)]
    return sum(1 - _agree(middle, repeats, width) for middle in middles) / _PLACES


def _agree(middle: float, repeats: int, width: float) -> float:
    """Return the chance that two independent grids agree: the sum of the squared chances of each capacity."""
    climbed, same = 1.0, 0.0
    for level in _LEVELS:
        scaled = (middle - level) / width
        # Further off the chance is 0 or 1 to all digits, and exp overflows from 710 on
        carried = (1 / (1 + exp(-scaled)) if abs(scaled) < 50 else float(scaled > 0)) ** repeats
        same += (climbed * (1 - carried)) ** 2
        climbed *= carried
    return same + climbed**2
