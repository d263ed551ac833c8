"""The records of one operation that are judged together."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np
import numpy.typing as npt

from plimsoll.analysis.logs.hdr.record_line import Record

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Track:
    """The records of one operation in the order written. `operation`: `reads`, `writes`, or the operation's own name.

    `log` is the name of the file that holds the records, where they come from a file. `starts` and `ends` are in s
    since the epoch.
    """

    name: str
    operation: str
    records: tuple[Record, ...]
    log: str = ""

    @cached_property
    def starts(self) -> Floats:
        return np.array([record.start_s for record in self.records])

    @cached_property
    def lengths(self) -> Floats:
        return np.array([record.length_s for record in self.records])

    @cached_property
    def ends(self) -> Floats:
        return self.starts + self.lengths

    @cached_property
    def record_s(self) -> float:
        """Return the usual length of a record; the last may be a stub."""
        values = self.lengths[:-1] if len(self.lengths) > 1 else self.lengths
        return median(values)


def median(values: npt.ArrayLike) -> float:
    """Return the median. `np.median` imports numpy.ma, which takes longer than a small log."""
    ordered = np.sort(values)
    return float((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)


@dataclass(frozen=True)
class Failures:
    """Operations that were due and not answered: failed, timed out, skipped, dropped, given up, never sent.

    `kind`: the load generator's own word for it. `at_s`: when they were due, or ended where that is all that is known,
    s since the epoch; `counts`: how many at each of these times. `operation`: as in `Track`. `name`: where they stand.
    `among_times`: the tracks hold them too, timed like answered ones. `until_s`: the end of the time that the last of
    them is told for, s since the epoch.
    """

    name: str
    operation: str
    kind: str
    at_s: Floats
    counts: npt.NDArray[np.int64]
    among_times: bool = False
    until_s: float = -inf

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def between(self, first_s: float, last_s: float) -> "Failures":
        """Return those of that time, s since the epoch."""
        inside = (self.at_s >= first_s) & (self.at_s <= last_s)
        until_s = self.until_s if inside.all() else -inf
        return replace(self, at_s=self.at_s[inside], counts=self.counts[inside], until_s=until_s)
