"""Tests for change over time: a trend, a trend within seasons, a change point.

Sources: Mann, Econometrica 13 (1945), and Kendall, Rank Correlation Methods (1975), the trend; Sen, JASA 63 (1968), its
size; Hirsch, Slack and Smith, Water Resources Research 18 (1982), seasons; Pettitt, Applied Statistics 28 (1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, exp, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
