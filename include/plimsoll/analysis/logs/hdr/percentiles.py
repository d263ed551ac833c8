"""Percentiles of counts, with the same ranks and values as Java's HdrHistogram."""

from collections.abc import Sequence

import numpy as np

from plimsoll.analysis.logs.hdr.histogram_layout import UNITS_PER_MS, Ints, Unit, reported_values

SHOWN = (50.0, 90.0, 99.0, 99.9, 100.0)
"""The percentiles of every interval; the hundredth is the maximum."""


def ranks(percentiles: Sequence[float], total: int | Ints) -> Ints:
    """Return the rank (from 1) of each percentile among `total` sorted values (of all, or of each): ceil(p / 100 · n).

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


def total_and_values_ms(
    counts: Ints, percentiles: Sequence[float], unit: Unit, beyond: Ints | int = 0, moved: Ints | int = 0
) -> tuple[int, tuple[float, ...]]:
    """Return the number of operations counted, and the value at each percentile in ms.

    No value where nothing was counted. `beyond`: how many values above all of these each percentile also covers; one
    that falls among them is infinite. `moved`: how many of those counted are in truth among these: at worst the lowest.
    """
    cumulative = np.cumsum(counts[: used_slots(counts)])
    total = int(cumulative[-1])
    if not total:
        return 0, ()
    slots = np.searchsorted(cumulative, ranks(percentiles, total + beyond) + moved)
    values = reported_values()[np.minimum(slots, len(cumulative) - 1)] / UNITS_PER_MS[unit]
    return total, tuple(np.where(slots < len(cumulative), values, np.inf).tolist())


def spare(percentile: float, total: int, below: int) -> int:
    """Return how many further values at or above a bound leave the percentile below it; negative where it is not.

    `below` of the `total` values are below the bound.
    """
    # The greatest number of values among which the rank is not beyond those below; floating point may be off by one.
    most = int(below * 100 / percentile) + 1
    while most > 0 and int(ranks([percentile], most)[0]) > below:
        most -= 1
    return most - total


def count_below(counts: Ints, bounds_ms: Sequence[float], unit: Unit) -> tuple[int, ...]:
    """Return how many values are below each bound, by the value that is reported for their slots."""
    used = counts[: used_slots(counts)]
    slots = np.searchsorted(reported_values()[: len(used)] / UNITS_PER_MS[unit], bounds_ms)
    return tuple(int(used[:slot].sum()) for slot in slots)
