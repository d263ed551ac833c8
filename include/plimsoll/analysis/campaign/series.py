"""The judged percentile of a cell's intervals, as a series in order of time, and tests for its change: a trend, a
trend within seasons, a change point.

Sources: Mann, Econometrica 13 (1945), and Kendall, Rank Correlation Methods (1975), the trend; Sen, JASA 63 (1968), its
size; Hirsch, Slack and Smith, Water Resources Research 18 (1982), seasons; Pettitt, Applied Statistics 28 (1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, exp, sqrt
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class Series(NamedTuple):
    """Intervals that the first service level judged: start in s, percentile in ms (NaN: nothing answered), missed."""

    start_s: NDArray[np.float64]
    judged_ms: NDArray[np.float64]
    missed: NDArray[np.bool_]


class HasSeries(Protocol):
    """An attempt whose series is known."""

    @property
    def series(self) -> Series:
        """Return the judged percentile of the attempt's intervals."""


NOTHING = Series(np.empty(0), np.empty(0), np.empty(0, dtype=bool))


def judged_series(attempt: HasSeries | None) -> Series:
    """Return the series of one attempt; empty where there is no attempt, or it has no intervals."""
    return NOTHING if attempt is None else attempt.series


def series_of(table: pd.DataFrame) -> Series:
    """Return the series of an attempt's intervals table."""
    if table.empty:
        return NOTHING
    judged = table.loc[table["met"].notna(), ["start_s", "judged_ms", "met"]].sort_values("start_s")
    return Series(
        judged["start_s"].to_numpy(dtype=np.float64),
        judged["judged_ms"].to_numpy(dtype=np.float64),
        ~judged["met"].to_numpy(dtype=bool),
    )


def log_ms(series: Series) -> NDArray[np.float64]:
    """Return the natural logarithms of the known percentiles, as response times vary by factors, not by sums."""
    known = series.judged_ms[series.judged_ms > 0]
    logs: NDArray[np.float64] = np.log(known)
    return logs


def trend(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the two-sided p value of Mann and Kendall's test, and Sen's slope per step."""
    from scipy.stats import kendalltau, theilslopes  # a second to import

    steps = np.arange(len(values))
    return float(kendalltau(steps, values).pvalue), float(theilslopes(values, steps).slope)


def seasonal_trend(seasons: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> tuple[float, float]:
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


def pettitt(values: NDArray[np.float64]) -> tuple[int, float]:
    """Return the index of the first value after the likeliest change, and Pettitt's approximate two-sided p value."""
    signs = np.sign(values[:, None] - values[None, :])
    sums = np.array([signs[:place, place:].sum() for place in range(1, len(values))])
    place = int(np.argmax(np.abs(sums)))
    count = len(values)
    p_value = 2 * exp(-6 * float(sums[place]) ** 2 / (count**3 + count**2))
    return place + 1, min(1.0, p_value)
