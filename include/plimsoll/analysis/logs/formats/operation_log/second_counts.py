"""Count operations by the second of their end and by the slot of their latency, in memory that their number does not
fill.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from plimsoll.analysis.logs.hdr.encode import EMPTY, encoded_counts
from plimsoll.analysis.logs.hdr.histogram_layout import WIDE, Ints
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Floats

_SLOT_BITS = 18
_SLOT = (1 << _SLOT_BITS) - 1
_COMPACTED_FROM = 1 << 20
_SHORTEST_S = 1e-6
"""The length of a last record that begins with the last operation's end."""
_NONE = np.zeros(0, dtype=np.int64)


def seconds_of(times_s: Floats, origin_s: float) -> Ints:
    """Return the second in which each time lies."""
    seconds: Ints = np.floor(times_s - origin_s).astype(np.int64)
    return seconds


@dataclass
class SecondCounts:
    """The operations of one name in one file. `origin_s`: what the seconds count from, on the clock of the rows."""

    origin_s: float
    failed: Counter[tuple[int, str]] = field(default_factory=Counter)
    """How many operations failed, by second and kind."""
    _keys: list[Ints] = field(default_factory=list)
    _counts: list[Ints] = field(default_factory=list)
    _held: int = 0

    def add(self, ends_s: Floats, latencies_us: Ints) -> None:
        """Count operations that were answered."""
        keys = (seconds_of(ends_s, self.origin_s) << _SLOT_BITS) + WIDE.index_of(latencies_us)
        unique, counts = np.unique(keys, return_counts=True)
        self._keys.append(unique)
        self._counts.append(counts)
        if sum(map(len, self._keys)) > max(_COMPACTED_FROM, 2 * self._held):
            self._compact()

    def records(self, tag: str, first: int, last: int, end_s: float) -> Iterator[Record]:
        """Yield a record for each second from `first` to `last`; the last one ends at `end_s` at the latest."""
        self._compact()
        keys, counts = self._keys[0], self._counts[0]
        edges = np.searchsorted(keys, np.arange(first, last + 2) << _SLOT_BITS).tolist()
        for number, (begin, end) in enumerate(pairwise(edges)):
            payload = EMPTY
            if begin < end:
                slots = keys[begin:end] & _SLOT
                dense = np.zeros(int(slots[-1]) + 1, dtype=np.int64)
                dense[slots] = counts[begin:end]
                payload = encoded_counts(dense)
            start_s = self.origin_s + first + number
            yield Record(tag, start_s, max(_SHORTEST_S, min(1.0, end_s - start_s)), payload, number + 1)

    def _compact(self) -> None:
        keys, places = np.unique(np.concatenate([_NONE, *self._keys]), return_inverse=True)
        sums = np.zeros(len(keys), dtype=np.int64)
        np.add.at(sums, places, np.concatenate([_NONE, *self._counts]))
        self._keys, self._counts, self._held = [keys], [sums], len(keys)
