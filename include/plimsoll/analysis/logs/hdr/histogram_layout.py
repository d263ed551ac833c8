"""The slot in which HdrHistogram counts a value, by its index arithmetic (Gil Tene's, as in its Java library), and
percentiles of such counts, with the same ranks and values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Unit = Literal["ms", "us", "ns"]

UNITS_PER_MS: dict[Unit, int] = {"ms": 1, "us": 1_000, "ns": 1_000_000}

SHOWN = (50.0, 90.0, 99.0, 99.9, 100.0)
"""The percentiles of every interval; the hundredth is the maximum."""


@dataclass(frozen=True)
class HistogramLayout:
    """The layout of a histogram: buckets, each twice as wide per slot as the one before.

    Each bucket has `2 ** half_magnitude` slots; the first has twice as many.
    """

    unit_magnitude: int
    half_magnitude: int

    @classmethod
    def of(cls, lowest: int, digits: int) -> Self:
        """Return the layout for a lowest discernible value and a number of significant decimal digits."""
        sub_buckets = max(2, (2 * 10**digits - 1).bit_length())
        return cls(unit_magnitude=lowest.bit_length() - 1, half_magnitude=sub_buckets - 1)

    def length(self, highest: int) -> int:
        """Return the number of slots needed to count values up to `highest`."""
        first_bucket_bits = self.unit_magnitude + self.half_magnitude + 1
        buckets = max(1, highest.bit_length() - first_bucket_bits + 1)
        return (buckets + 1) << self.half_magnitude

    def index_of(self, values: Ints) -> Ints:
        """Return the slot of each value. Values must be below 2 ** 53, where floating point is still exact."""
        # NumPy has no bit length, but a float's exponent is one
        bits = np.frexp(values.astype(np.float64))[1].astype(np.int64)
        bucket = np.maximum(0, bits - (self.unit_magnitude + self.half_magnitude + 1))
        slots: Ints = (bucket << self.half_magnitude) + (values >> (bucket + self.unit_magnitude))
        return slots

    def lowest_values(self, indices: Ints) -> Ints:
        """Return the smallest value of each slot, as Java's valueFromIndex."""
        bucket = self._bucket(indices)
        return (indices - (bucket << self.half_magnitude)) << (bucket + self.unit_magnitude)

    def highest_values(self, indices: Ints) -> Ints:
        """Return the largest value of each slot, which is the value reported, as Java's highestEquivalentValue."""
        widths: Ints = np.int64(1) << (self._bucket(indices) + self.unit_magnitude)
        values: Ints = self.lowest_values(indices) + widths - 1
        return values

    def _bucket(self, indices: Ints) -> Ints:
        bucket: Ints = np.maximum(0, (indices >> self.half_magnitude) - 1)
        return bucket


WIDE = HistogramLayout.of(lowest=1, digits=3)
"""The layout into which all histograms are merged: autosized ones do not fit each other."""


def wide_length(unit: Unit) -> int:
    """Return the number of slots of the wide histogram, which counts values up to one hour."""
    return WIDE.length(3_600_000 * UNITS_PER_MS[unit])


@cache
def reported_values() -> Ints:
    """Return the value that is reported for each slot of the wide histogram, in the log's own unit."""
    return WIDE.highest_values(np.arange(wide_length("ns"), dtype=np.int64))


def ranks(percentiles: Sequence[float], total: int | Ints) -> Ints:
    """Return the rank (from 1) of each percentile among `total` sorted values (of all, or of each): ceil(p / 100 · n).

    As in Java, the percentile is first lowered by one unit in its last place. Otherwise a product that floating point
    rounded up past a whole number would give a rank that is one too high.
    """
    lowered = np.nextafter(np.asarray(percentiles, dtype=np.float64), -np.inf)
    return np.maximum(np.ceil(lowered * total / 100.0).astype(np.int64), 1)


def used_slots(counts: Ints) -> int:
    """Return the number of slots up to the last one that counts anything; all slots where none does."""
    # Bytes are searched from their end in a twentieth of the time in which `flatnonzero` lists all slots
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
