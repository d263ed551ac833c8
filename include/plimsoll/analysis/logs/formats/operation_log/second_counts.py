"""Count operations by the second of their end and by the slot of their latency, in memory that their number does not
fill, and tell whether the rows are those of one whole run by one clock.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from plimsoll.analysis.logs.formats.operation_log.parsing import Chunk
from plimsoll.analysis.logs.formats.reading import RunFile
from plimsoll.analysis.logs.hdr.histograms import EMPTY, WIDE, Ints, encoded_counts
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Floats
from plimsoll.domain.text.errors import LogError

MOST_SECONDS = 1_000_000
_MOST_NAMES = 100
DISORDER_S = 1.5
"""The most by which a row may be earlier than one before it: threads write late, and some times are of whole seconds.
A clock that is set back by less moves operations to the interval beside theirs at worst.
"""
_NO_CHANCE = 20
"""Operations whose absence is no chance: of a random schedule, 20 due ones are absent once in 10⁸ times."""
_BESIDE_S = 10
# 2^18 is more than the 45,056 slots that `WIDE` has for values below 2^53
_SLOT_BITS = 18
_SLOT = (1 << _SLOT_BITS) - 1
_MERGED_FROM, _MERGED_SHARE = 1 << 18, 0.25
"""New counts are merged into the others once there are so many, and this share of the others."""

_NONE = np.zeros(0, dtype=np.int64)


@dataclass
class Order:
    """Whether rows follow one another in time, by their starts or by their ends."""

    last_start_s: float = -np.inf
    last_end_s: float = -np.inf
    back_start: tuple[float, int] = (0.0, 0)
    back_end: tuple[float, int] = (0.0, 0)

    def add(self, starts_s: Floats, ends_s: Floats, lines: Ints) -> None:
        self.last_start_s, self.back_start = _further(self.last_start_s, starts_s, lines, self.back_start)
        self.last_end_s, self.back_end = _further(self.last_end_s, ends_s, lines, self.back_end)

    def require(self, where: str) -> None:
        """Raise LogError where the time goes back by more than writers of several threads explain."""
        back_s, line = min(self.back_start, self.back_end)
        if back_s > DISORDER_S:
            what = f"the time goes back by {back_s:.3f} s: the clock was set, or this is more than one log"
            mend = "give the log of one run, as it was written, each thread's as a file of its own; or sort it by time"
            raise LogError(what, where=f"{where}, line {line}", mend=mend)


@dataclass
class Activity:
    """When the operations of one file were under way. `origin_s`: what seconds count from."""

    name: str
    origin_s: float
    first_s: float = np.inf
    end_s: float = -np.inf
    rows: int = 0
    _under_way: Counter[int] = field(default_factory=Counter)
    """By second: how many operations begin in it, less those that end in it."""
    _ended: Counter[int] = field(default_factory=Counter)

    def add(self, starts_s: Floats, ends_s: Floats) -> None:
        """Take further rows. Raises LogError where they span more than a run can."""
        self.rows += len(ends_s)
        self.first_s, self.end_s = min(self.first_s, float(starts_s.min())), max(self.end_s, float(ends_s.max()))
        require_length_of_a_run(self.first_s, self.end_s, self.name)
        for times_s, sign in ((starts_s, 1), (ends_s, -1)):
            seconds, counts = np.unique(seconds_of(times_s, self.origin_s), return_counts=True)
            for second, count in zip(seconds.tolist(), counts.tolist(), strict=True):
                self._under_way[second] += sign * count
                self._ended[second] += count if sign < 0 else 0

    @property
    def chance_s(self) -> float:
        """Return the time for which such a log may hold nothing by chance."""
        return _NO_CHANCE * (self.end_s - self.first_s) / self.rows

    def require_no_silence(self) -> None:
        """Raise LogError where nothing ended and nothing was under way for longer than by chance.

        What the database delays is under way. So either the clock was set forward, or lines are missing, or the load
        generator stood still.
        """
        active = np.array(sorted(self._under_way), dtype=np.int64)
        under_way = np.cumsum([self._under_way[second] for second in active.tolist()])
        steps = np.diff(active) - 1
        for index in np.flatnonzero((steps >= 1) & (under_way[:-1] == 0)).tolist():
            second, length_s = int(active[index]) + 1, int(steps[index])
            sides = (range(second - _BESIDE_S, second), range(second + length_s, second + length_s + _BESIDE_S))
            rate = min(sum(self._ended[number] for number in side) / _BESIDE_S for side in sides)
            if length_s * rate >= _NO_CHANCE:
                at_s = self.origin_s + second - self.first_s
                what = f"nothing ends and nothing is under way for {length_s} s, {at_s:.0f} s after its begin"
                why = "the clock was set forward, what had no answer has no line, or the load generator stood still"
                raise LogError(f"{what}: {why}", where=self.name, mend="measure again")


def require_length_of_a_run(first_s: float, end_s: float, where: str) -> None:
    """Raise LogError where operations span more time than a run can."""
    if end_s - first_s > MOST_SECONDS:
        what = f"spans {end_s - first_s:,.0f} s, so a time is damaged, or its unit wrong"
        raise LogError(what, where=where, mend="look for a damaged line, or say the unit of the times")


def _further(last_s: float, times_s: Floats, lines: Ints, worst: tuple[float, int]) -> tuple[float, tuple[float, int]]:
    highest = np.maximum.accumulate(np.concatenate([[last_s], times_s]))
    back = highest[1:] - times_s
    index = int(back.argmax())
    return float(highest[-1]), max(worst, (float(back[index]), int(lines[index])), key=lambda step: step[0])


def seconds_of(times_s: Floats, origin_s: float) -> Ints:
    return np.floor(times_s - origin_s).astype(np.int64)


@dataclass
class SecondCounts:
    """The operations of one name in one file. `origin_s`: what the seconds count from, on the clock of the rows."""

    origin_s: float
    failed: Counter[tuple[int, str]] = field(default_factory=Counter)
    """How many operations failed, by second and kind."""
    waited_s: dict[tuple[int, str], float] = field(default_factory=dict)
    """Until when the longest of these failures was waited for."""
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
            # A last record that begins with the last operation's end has a length, too
            yield Record(tag, start_s, max(1e-6, min(1.0, end_s - start_s)), payload, number + 1)

    def _merge(self) -> None:
        """Add the new counts up with the others: every key is there once, in order."""
        keys, counts = (np.concatenate(column) for column in zip((self._keys, self._counts), *self._new, strict=True))
        order = np.argsort(keys, kind="stable")
        keys, self._new = keys[order], []
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        self._keys, self._counts = keys[first], np.add.reduceat(counts[order], first) if len(first) else _NONE


class CountedFile:
    """The operations of one file, by name."""

    def __init__(self, file: RunFile, origin_s: float) -> None:
        self.file, self.name = file, file.name
        self.activity = Activity(self.name, origin_s)
        self.by_name: dict[str, SecondCounts] = {}
        self.orders: dict[str, Order] = {}

    def add(self, chunk: Chunk) -> None:
        self.activity.add(chunk.starts_s, chunk.ends_s)
        seconds = seconds_of(chunk.starts_s, self.activity.origin_s)
        names = list(dict.fromkeys(chunk.names))
        # A dict takes a quarter of the time of `np.unique`, which sorts the texts
        codes = np.array(list(map({name: code for code, name in enumerate(names)}.__getitem__, chunk.names)))
        for code, name in enumerate(names):
            own, counts = codes == code, self._counts(name)
            self.orders[name].add(chunk.starts_s[own], chunk.ends_s[own], chunk.lines[own])
            answered = own & ~chunk.is_failed
            counts.add(chunk.ends_s[answered], chunk.latencies_us[answered])
            for row in np.flatnonzero(own & chunk.is_failed).tolist():
                key = int(seconds[row]), chunk.failed[row]
                counts.failed[key] += chunk.counts[row]
                counts.waited_s[key] = max(counts.waited_s.get(key, -np.inf), float(chunk.ends_s[row]))

    def _counts(self, name: str) -> SecondCounts:
        if name not in self.by_name:
            if len(self.by_name) == _MOST_NAMES:
                what = f"has more than {_MOST_NAMES} operations, such as {name[:40]!r}"
                mend = "leave `operation` out of `--columns`: they are judged together"
                raise LogError(what, where=self.name, mend=mend)
            self.by_name[name], self.orders[name] = SecondCounts(self.activity.origin_s), Order()
        return self.by_name[name]
