"""Percentiles of counts, with the same ranks and values as Java's HdrHistogram."""

from collections.abc import Sequence

import numpy as np

from plimsoll.analysis.logs.hdr.histogram_layout import UNITS_PER_MS, Ints, Unit, reported_values

SHOWN = (50.0, 90.0, 99.0, 99.9, 100.0)
"""The percentiles of every interval; the hundredth is the maximum."""


def ranks(percentiles: Sequence[float], total: int) -> Ints:
    """Return the rank (from 1) of each percentile among `total` sorted values: ceil(p / 100 · n).

    As in Java, the percentile is first lowered by one unit in its last place. Otherwise a product that floating point
    rounded up past a whole number would give a rank that is one too high.
    """
    lowered = np.nextafter(np.asarray(percentiles, dtype=np.float64), -np.inf)
    return np.maximum(np.ceil(lowered * total / 100.0).astype(np.int64), 1)


def used_slots(counts: Ints) -> int:
    """Return the number of slots up to the last one that counts anything; all slots where none does."""
    return (counts != 0).tobytes().rfind(1) + 1 or len(counts)


def values_ms(counts: Ints, percentiles: Sequence[float], unit: Unit) -> tuple[float, ...]:
    """Return the value at each percentile in ms: the highest value of its slot, so never too low.

    `counts` are those of the wide histogram. The result is empty where they are all zero.
    """
    return total_and_values_ms(counts, percentiles, unit)[1]


def total_and_values_ms(counts: Ints, percentiles: Sequence[float], unit: Unit) -> tuple[int, tuple[float, ...]]:
    """Return the number of operations counted, and the value at each percentile in ms.

    No value where nothing was counted.
    """
    total, values = _total_and_values(counts, percentiles)
    return total, tuple((values / UNITS_PER_MS[unit]).tolist())


def _total_and_values(counts: Ints, percentiles: Sequence[float]) -> tuple[int, Ints]:
    cumulative = np.cumsum(counts[: used_slots(counts)])
    total = int(cumulative[-1])
    slots = np.searchsorted(cumulative, ranks(percentiles, total)) if total else np.empty(0, dtype=np.int64)
    return total, reported_values()[slots]
