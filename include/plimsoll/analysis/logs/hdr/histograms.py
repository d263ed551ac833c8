"""HdrHistogram's histograms: the slot in which a value is counted, by its index arithmetic (Gil Tene's, as in its Java
library), percentiles of such counts, with the same ranks and values, and histograms of any layout that are decoded and
added up in one wide histogram, or encoded, for formats that have single values.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
import pybase64
from pyhdrh import decode

from plimsoll.analysis.logs.hdr.record_line import INNER, OUTER, Header, Record, inflate, read_header
from plimsoll.domain.text.errors import LogError

Ints = npt.NDArray[np.int64]
Unit = Literal["ms", "us", "ns"]

UNITS_PER_MS: dict[Unit, int] = {"ms": 1, "us": 1_000, "ns": 1_000_000}

SHOWN = (50.0, 90.0, 99.0, 99.9, 100.0)
"""The percentiles of every interval; the hundredth is the maximum."""
_COUNTER_BYTES = 8
_WORDS_OF_8 = 0x80
_ENCODED_V1, _COMPRESSED_V1 = 0x1C849301 | _WORDS_OF_8, 0x1C849302 | _WORDS_OF_8
_DIGITS, _LOWEST = 3, 1


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


@dataclass(frozen=True)
class _Source:
    """Scratch memory for histograms of one layout, zero between uses. `target` None: the layout is the wide one."""

    header: Header
    scratch: Ints
    target: Ints | None
    address: int

    @classmethod
    def of(cls, header: Header, unit: Unit) -> "_Source":
        layout = HistogramLayout.of(header.lowest, header.digits)
        length, target = wide_length(unit), None
        if layout != WIDE:
            last = WIDE.highest_values(np.array([length - 1]))[0]
            values = layout.lowest_values(np.arange(int(layout.index_of(np.array([last]))[0]) + 1, dtype=np.int64))
            # By its highest value, which HdrHistogram reports: a log of few digits must not be read too low
            highest = np.minimum(layout.highest_values(np.arange(len(values), dtype=np.int64)), last)
            length, target = len(values), WIDE.index_of(highest)
        scratch = np.zeros(length, dtype=np.int64)
        return cls(header, scratch, target, scratch.ctypes.data)

    def add_to(self, counts: Ints, body: bytes) -> int:
        """Add a histogram to `counts`. Returns the end of the slots of `counts` that may have changed."""
        used = self._fill_words(body) if self.header.word_bytes else self._fill_packed(body)
        filled = self.scratch[used]
        if self.target is None:
            # `counts[used] += filled` would copy the sums once more, and take twice the time
            sums = counts[used]
            sums += filled
        else:
            # Several slots may fall into one of the wide layout, of which `+=` would add only the last
            np.add.at(counts, self.target[used], filled)
        filled.fill(0)
        return used.stop if self.target is None or not used.stop else int(self.target[used.stop - 1]) + 1

    def _fill_packed(self, body: bytes) -> slice:
        decoded = decode(body, self.header.counts_at, self.address, len(self.scratch), _COUNTER_BYTES)
        # pyhdrh tells an empty histogram's first index as -1 and its last one as 0
        return slice(max(0, decoded["min_nonzero_index"]), decoded["max_nonzero_index"] + 1)

    def _fill_words(self, body: bytes) -> slice:
        words = np.frombuffer(body, dtype=f">i{self.header.word_bytes}", offset=self.header.counts_at)
        # A histogram may have slots for more than an hour, as long as they count nothing
        if words[len(self.scratch) :].any():
            raise IndexError("a value beyond the last slot")
        if (words < 0).any():
            raise ValueError("has a negative count")
        used = slice(0, min(len(words), len(self.scratch)))
        self.scratch[used] = words[used]
        return used


class Decoder:
    """A decoder that merges records whose values are in `unit`. It holds scratch memory: use one per thread."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._forget()

    def _forget(self) -> None:
        self._sources: dict[Header, _Source] = {}
        self._sums = np.zeros(wide_length(self.unit), dtype=np.int64)  # all zero between two uses

    def merge(self, records: Iterable[Record], name: str) -> Ints:
        """Return the sum of the records' counts. Raises LogError, with log and line, on a record that can't be read."""
        counts = np.zeros(wide_length(self.unit), dtype=np.int64)
        used = self.merge_used(records, name)
        counts[: len(used)] = used
        return counts

    def merge_used(self, records: Iterable[Record], name: str) -> Ints:
        """Return the same up to the last slot in use (but at least the first slot): most slots come after it."""
        end = 1
        for record in records:
            try:
                end = max(end, self._add(record))
            except (ValueError, OverflowError, IndexError) as error:
                self._forget()  # scratch memory may hold half a histogram
                what, mend = f"the histogram can't be decoded ({error})", "copy the log again"
                if isinstance(error, IndexError):
                    what = f"the histogram holds a value above one hour, if its values are in {self.unit}"
                    mend = "check the unit of the log's values"
                raise LogError(what, where=f"{name}, line {record.line}", mend=mend) from error
        counts = self._sums[:end].copy()
        self._sums[:end] = 0
        if counts.min() < 0:
            raise LogError("its counts are higher than 64 bits hold", where=name, mend="copy the log again")
        return counts

    def _add(self, record: Record) -> int:
        body = inflate(record.payload)
        header = read_header(body)
        source = self._sources.get(header)
        if source is None:
            source = self._sources[header] = _Source.of(header, self.unit)
        return source.add_to(self._sums, body)


def encoded_counts(counts: Ints) -> memoryview:
    """Return a histogram's payload, in encoding V1, with these counts in the first slots of `WIDE`, at least one."""
    # HdrHistogram asks for a highest value of at least twice the lowest
    highest = max(2, int(WIDE.highest_values(np.array([len(counts) - 1]))[0]))
    words = counts.astype(">i8").tobytes()
    inner = INNER.pack(_ENCODED_V1, len(words), 0, _DIGITS, _LOWEST, highest, 1.0)
    packed = zlib.compress(inner + words, level=1)  # fast, since nobody keeps the result
    return memoryview(pybase64.b64encode(OUTER.pack(_COMPRESSED_V1, len(packed)) + packed))


EMPTY = encoded_counts(np.zeros(1, dtype=np.int64))
"""A histogram without a value."""
