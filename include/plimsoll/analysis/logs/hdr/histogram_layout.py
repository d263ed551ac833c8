"""The slot in which HdrHistogram counts a value: its index arithmetic (Gil Tene's, as in its Java library)."""

from dataclasses import dataclass
from functools import cache
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Unit = Literal["ms", "us", "ns"]

UNITS_PER_MS: dict[Unit, int] = {"ms": 1, "us": 1_000, "ns": 1_000_000}
_MS_PER_HOUR = 3_600_000


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
        bits = np.frexp(values.astype(np.float64))[1].astype(np.int64)
        bucket = np.maximum(0, bits - (self.unit_magnitude + self.half_magnitude + 1))
        slots: Ints = (bucket << self.half_magnitude) + (values >> (bucket + self.unit_magnitude))
        return slots

    def lowest_values(self, indices: Ints) -> Ints:
        """Return the smallest value of each slot, as Java's valueFromIndex."""
        bucket = self._bucket(indices)
        values: Ints = (indices - (bucket << self.half_magnitude)) << (bucket + self.unit_magnitude)
        return values

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
    return WIDE.length(_MS_PER_HOUR * UNITS_PER_MS[unit])


@cache
def reported_values() -> Ints:
    """Return the value that is reported for each slot of the wide histogram, in the log's own unit."""
    return WIDE.highest_values(np.arange(wide_length("ns"), dtype=np.int64))
