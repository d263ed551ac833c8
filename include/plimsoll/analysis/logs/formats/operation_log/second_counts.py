"""Count operations by the second of their end and by the slot of their latency, in memory that their number does not
fill.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from plimsoll.analysis.logs.hdr.encode import EMPTY, encoded_counts
from plimsoll.analysis.logs.hdr.histogram_layout import WIDE, Ints
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Floats

_SLOT_BITS = 18
_SLOT = (1 << _SLOT_BITS) - 1
_MERGED_FROM, _MERGED_SHARE = 1 << 18, 0.25
"""New counts are merged into the others once there are so many, and this share of the others."""
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
    _keys: Ints = field(default_factory=_NONE.copy)
    """Second and slot, in order."""
    _counts: Ints = field(default_factory=_NONE.copy)
    _new: list[tuple[Ints, Ints]] = field(default_factory=list)

    def add(self, ends_s: Floats, latencies_us: Ints) -> None:
        """Count operations that were answered."""
        keys = (seconds_of(ends_s, self.origin_s) << _SLOT_BITS) + WIDE.index_of(latencies_us)
        self._new.append(np.unique(keys, return_counts=True))
        if sum(len(keys) for keys, _ in self._new) > max(_MERGED_FROM, _MERGED_SHARE * len(self._keys)):
            self._merge()

    def records(self, tag: str, first: int, last: int, end_s: float) -> Iterator[Record]:
        """Yield a record for each second from `first` to `last`; the last one ends at `end_s` at the latest."""
        self._merge()
        keys, counts = self._keys, self._counts
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

    def _merge(self) -> None:
        keys, counts = _added_up(self._new)
        self._new = []
        places = np.searchsorted(self._keys, keys)
        known = np.searchsorted(self._keys, keys, side="right") > places
        self._counts[places[known]] += counts[known]
        self._keys = np.insert(self._keys, places[~known], keys[~known])
        self._counts = np.insert(self._counts, places[~known], counts[~known])


def _added_up(parts: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Return every key once, in order, with the sum of its counts."""
    keys, counts = (
        (np.concatenate([_NONE, *columns]) for columns in zip(*parts, strict=True)) if parts else (_NONE, _NONE)
    )
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(counts[order], first) if len(first) else _NONE
