"""Decode histograms of any layout and add their counts in one wide histogram, and encode values as one, for formats
that have single values.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pybase64
from pyhdrh import decode

from plimsoll.analysis.logs.hdr.histogram_layout import WIDE, HistogramLayout, Ints, Unit, wide_length
from plimsoll.analysis.logs.hdr.record_line import INNER, OUTER, Header, Record, inflate, read_header
from plimsoll.domain.text.errors import LogError

_COUNTER_BYTES = 8
_WORDS_OF_8 = 0x80
_ENCODED_V1, _COMPRESSED_V1 = 0x1C849301 | _WORDS_OF_8, 0x1C849302 | _WORDS_OF_8
_DIGITS, _LOWEST = 3, 1


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
