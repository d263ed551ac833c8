"""Percentiles of counts, by the rank and with the values that Java's HdrHistogram gives."""

from collections.abc import Sequence

import numpy as np

from plimsoll.analysis.layout import UNITS_PER_MS, Ints, Unit, reported_values

SHOWN = (50.0, 90.0, 99.0, 99.9, 100.0)
"""The percentiles of every interval; the hundredth is the maximum."""


def ranks(percentiles: Sequence[float], total: int) -> Ints:
    """Of `total` sorted values, the place (from 1) of each percentile: ceil(p / 100 · n).

    As Java does, the percentile is first lowered by one unit in its last place, so that a product which floating point
    rounded up past a whole number is not taken one place too far.
    """
    lowered = np.nextafter(np.asarray(percentiles, dtype=np.float64), -np.inf)
    return np.maximum(np.ceil(lowered * total / 100.0).astype(np.int64), 1)


def values_at(counts: Ints, percentiles: Sequence[float]) -> Ints:
    """The value at each percentile in the log's unit: the highest that its slot can hold, so never too low.

    `counts` are those of the wide histogram; nothing at all is returned where they count nothing.
    """
    used = len(counts) - int(np.argmax(counts[::-1] != 0))
    cumulative = np.cumsum(counts[:used])
    total = int(cumulative[-1])
    slots = np.searchsorted(cumulative, ranks(percentiles, total)) if total else np.empty(0, dtype=np.int64)
    return reported_values()[slots]


def values_ms(counts: Ints, percentiles: Sequence[float], unit: Unit) -> tuple[float, ...]:
    """The value at each percentile in ms; nothing at all where nothing was counted."""
    return tuple((values_at(counts, percentiles) / UNITS_PER_MS[unit]).tolist())
