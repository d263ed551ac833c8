"""What was due and not answered is slow: the one rule for failed, skipped and dropped operations of every source.

Each counts in its interval as a value above all answers and at or above the bound. Where files do not tell when
operations failed, an interval counts as met only if it would be met with all of them in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.logs.hdr.percentiles import spare
from plimsoll.domain.plurals import plural
from plimsoll.domain.service_level import ALL_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.analysis.logs.formats.reading import Reading
    from plimsoll.analysis.logs.hdr.histogram_layout import Ints
    from plimsoll.analysis.logs.operations import Failures, Floats
    from plimsoll.domain.service_level import ServiceLevel

ERROR_LIMIT = 0.001
"""Share of operations from which on failures are a miss by themselves: the complement of the published percentile."""


@dataclass(frozen=True)
class _Timeline:
    """Moments of failures in order, s since the epoch, and how many there were up to each."""

    at_s: Floats
    so_far: Ints

    @classmethod
    def of(cls, failures: Sequence[Failures]) -> _Timeline:
        at_s = np.concatenate([one.at_s for one in failures])
        order = np.argsort(at_s, kind="stable")
        counts = np.concatenate([one.counts for one in failures])[order]
        return cls(at_s[order], np.concatenate([[0], np.cumsum(counts)]))

    def between(self, begin_s: float, end_s: float) -> int:
        first, last = np.searchsorted(self.at_s, [begin_s, end_s])
        return int(self.so_far[last] - self.so_far[first])


@dataclass(frozen=True)
class Unanswered:
    """The operations of a run that were not answered. `without_time`: how many of them may lie anywhere in the run.

    `among_times`: those of which the files have a time too, like that of an answer. `last_s`: until when any are told,
    s since the epoch; None where no time is known.
    """

    timelines: Mapping[str, _Timeline] = field(default_factory=dict)
    among_times: Mapping[str, _Timeline] = field(default_factory=dict)
    without_time: int = 0
    total: int = 0
    last_s: float | None = None

    @classmethod
    def of(cls, reading: Reading) -> Unanswered:
        """Return what the files of a run tell of operations that were not answered."""
        timed = sum(one.total for one in reading.failures)
        total = max(timed, sum((reading.errors or {}).values()))
        among_times = [one for one in reading.failures if one.among_times]
        ends = [max(float(one.at_s[-1]), one.until_s) for one in reading.failures if one.total]
        last_s = max(ends, default=None)
        return cls(_timelines(reading.failures), _timelines(among_times), total - timed, total, last_s)

    def between(self, operation: str, begin_s: float, end_s: float) -> int:
        """Return how many operations were not answered then, s since the epoch.

        A failure of which no operation is told counts for every operation: it may have been any.
        """
        return _between(self.timelines, operation, begin_s, end_s)

    def among_times_between(self, operation: str, begin_s: float, end_s: float) -> int:
        """Return how many of these are counted among the answers of the files, too."""
        return _between(self.among_times, operation, begin_s, end_s)

    def share(self, judged: Sequence[tuple[int, int]], answered: int) -> float:
        """Return the share of operations that failed in the judged time, or in the whole run where times are missing.

        `judged`: answered and failed operations of each judged interval; `answered`: those of the whole run.
        """
        if self.without_time:
            among_times = sum(int(timeline.so_far[-1]) for timeline in self.among_times.values())
            failed, every = self.total, answered - among_times + self.total
        else:
            failed, every = sum(count for _, count in judged), sum(map(sum, judged))
        return failed / every if every else 0.0

    def undecided(self, level: ServiceLevel, judged: Iterable[tuple[int, int]]) -> str:
        """Explain why failures without a time leave open whether intervals that are met otherwise are met.

        `judged`: operations of each interval, failed ones included, and how many are below the bound. Empty where even
        all these failures in any one interval would not make it miss.
        """
        if not self.without_time or not level.counts_failures:
            return ""
        left = min((spare(level.percentile, total, below) for total, below in judged), default=self.without_time)
        if self.without_time <= left:
            return ""
        failed = plural(self.without_time, "operation")
        return (
            f"{failed} failed at times that the files do not tell, and {left + 1} of them in one interval would miss "
            f"{level}: give the files that tell when they failed, or judge answers alone (`failures: apart`)"
        )


def _timelines(failures: Iterable[Failures]) -> dict[str, _Timeline]:
    by_operation: dict[str, list[Failures]] = {}
    for one in failures:
        if one.total:
            by_operation.setdefault(one.operation, []).append(one)
    return {operation: _Timeline.of(own) for operation, own in by_operation.items()}


def _between(timelines: Mapping[str, _Timeline], operation: str, begin_s: float, end_s: float) -> int:
    names = timelines if operation == ALL_OPERATIONS else {operation, ""} & timelines.keys()
    return sum(timelines[name].between(begin_s, end_s) for name in names)
