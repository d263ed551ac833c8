"""What was due and not answered is slow: the one rule for failed, skipped and dropped operations of every source.

Each counts in its interval as a value above all answers and at or above the bound. Where files do not tell when
operations failed, an interval counts as met only if it would be met with all of them in it.

The backlog is what was due and had no answer yet, second by second of the timed run.

By Little's law (J. D. C. Little, Operations Research 9, 1961: L = λW) the number of such operations, divided by the
rate at which operations come due, is the time that each of them waits while the backlog stays as it is. The backlog at
the end of warm-up must be answered in the judged time in addition to that time's own load.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.analysis import grouped
from plimsoll.analysis.logs.hdr.histograms import Ints, spare
from plimsoll.analysis.logs.operations import Failures, Floats
from plimsoll.domain.attempt.result import OpeningBacklog
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, ServiceLevel
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.attempt.judgement import JudgedInterval
    from plimsoll.analysis.logs.formats.reading import Reading
    from plimsoll.domain.keys.process import GeneratorSecond

ERROR_LIMIT = 0.001
"""Share of operations from which on failures are a miss by themselves: the complement of the published percentile."""

COLUMNS = ("start_s", "in_flight", "unsent", "behind_s", "lag_ms")
OLD, LATE = timedelta(seconds=1.5), timedelta(seconds=0.5)
"""How much older or later than the judged time's start a report may be: a second is reported a little after its end,
and on a machine that stalled later.
"""


@dataclass(frozen=True)
class _Timeline:
    """Moments of failures in order, s since the epoch, and how many there were up to each."""

    at_s: Floats
    so_far: Ints

    @classmethod
    def of(cls, failures: Sequence[Failures]) -> _Timeline:
        at_s = np.concatenate([failure.at_s for failure in failures])
        order = np.argsort(at_s, kind="stable")
        counts = np.concatenate([failure.counts for failure in failures])[order]
        return cls(at_s[order], np.concatenate([[0], np.cumsum(counts)]))

    def between(self, begin_s: float, end_s: float) -> int:
        first, last = np.searchsorted(self.at_s, [begin_s, end_s])
        return int(self.so_far[last] - self.so_far[first])


class Silence(NamedTuple):
    """The time after the files' end in which operations were due, s since the epoch. `ops_s`: the rate that was asked.

    Without a rate, and of a single operation, as many were due as had been answered before in the same interval.
    """

    begin_s: float
    end_s: float
    ops_s: float | None

    @property
    def leaves_any(self) -> bool:
        """Tell whether at least one operation was due in it; without a rate, operations are always under way."""
        return self.ops_s is None or self.ops_s * (self.end_s - self.begin_s) >= 1

    def due(self, operation: str, begin_s: float, end_s: float, answered: int) -> int:
        """Return how many operations were due in its part of an interval; 0 of one that is silent from its start."""
        silent_s = min(end_s, self.end_s) - max(begin_s, self.begin_s)
        if silent_s <= 0 or not answered:
            return 0
        asked_ops_s = self.ops_s if operation == ALL_OPERATIONS else None
        return round(silent_s * (asked_ops_s or answered / (self.begin_s - begin_s)))


@dataclass(frozen=True)
class Unanswered:
    """The operations of a run that were not answered. `without_time`: how many of them may lie anywhere in the run.

    `among_times`: those of which the files have a time too, like that of an answer. `last_s`: until when any are told,
    s since the epoch; None where no time is known. `silence`: after which the files tell of no operation that was due;
    intervals without any answer have no number of these, and are stalls. `waits`: of an operation, since when and until
    when those that got no answer were waited for, s since the epoch. `gave_up`: as in `Reading`.
    """

    timelines: Mapping[str, _Timeline] = field(default_factory=dict)
    among_times: Mapping[str, _Timeline] = field(default_factory=dict)
    without_time: int = 0
    total: int = 0
    last_s: float | None = None
    silence: Silence | None = None
    waits: tuple[tuple[str, Floats, Floats], ...] = ()
    gave_up: str = ""

    @classmethod
    def of(cls, reading: Reading) -> Unanswered:
        timed = sum(failure.total for failure in reading.failures)
        total = max(timed, sum((reading.errors or {}).values()))
        among_times = [failure for failure in reading.failures if failure.among_times]
        ends = [max(float(failure.at_s[-1]), failure.until_s) for failure in reading.failures if failure.total]
        waits = tuple((own.operation, own.at_s, own.ends_s) for own in reading.failures if own.ends_s is not None)
        return cls(
            _timelines(reading.failures),
            _timelines(among_times),
            total - timed,
            total,
            max(ends, default=None),
            waits=waits,
            gave_up=reading.gave_up,
        )

    def waits_through(self, operation: str, begin_s: float, end_s: float) -> bool:
        """Tell whether one that got no answer was under way all that time, s since the epoch."""
        return any(
            bool(((at_s <= begin_s) & (ends_s >= end_s)).any())
            for name, at_s, ends_s in self.waits
            if operation == ALL_OPERATIONS or name in (operation, "")
        )

    def between(self, operation: str, begin_s: float, end_s: float, answered: int) -> int:
        """Return how many operations were not answered then, s since the epoch, beside so many that were.

        A failure of which no operation is told counts for every operation: it may have been any.
        """
        silent = self.silence.due(operation, begin_s, end_s, answered) if self.silence else 0
        return _between(self.timelines, operation, begin_s, end_s) + silent

    def among_times_between(self, operation: str, begin_s: float, end_s: float) -> int:
        """Return how many of these are counted among the answers of the files, too."""
        return _between(self.among_times, operation, begin_s, end_s)

    def share(self, judged: Sequence[tuple[int, int]], answered: int) -> float:
        """Return the share of operations that failed in the judged time, or in the whole run where times are missing.

        `judged`: answered and failed operations of each judged interval; `answered`: those answered in the whole run.
        Failures that the files time like answers are no answers here.
        """
        if self.without_time:
            failed, operations = self.total, answered + self.total
        else:
            failed, operations = sum(count for _, count in judged), sum(map(sum, judged))
        return failed / operations if operations else 0.0

    def undecided(self, level: ServiceLevel, judged: Iterable[JudgedInterval]) -> str:
        """Explain why failures without a time leave open whether intervals that are met otherwise are met.

        Empty where even all these failures in any one interval would not make it miss.
        """
        if not self.without_time or not level.counts_failures:
            return ""
        spares = (spare(level.percentile, interval.total, interval.below) for interval in judged)
        left = min(spares, default=self.without_time)
        if self.without_time <= left:
            return ""
        failed = plural(self.without_time, "operation")
        return (
            f"{failed} failed at times that the files do not tell, and {left + 1} of them in one interval would miss "
            f"{level}: give the files that tell when they failed, or judge answers alone (`failures: apart`)"
        )


def _timelines(failures: Iterable[Failures]) -> dict[str, _Timeline]:
    by_operation = grouped((failure.operation, failure) for failure in failures if failure.total)
    return {operation: _Timeline.of(own) for operation, own in by_operation.items()}


def _between(timelines: Mapping[str, _Timeline], operation: str, begin_s: float, end_s: float) -> int:
    names = timelines if operation == ALL_OPERATIONS else {operation, ""} & timelines.keys()
    return sum(timelines[name].between(begin_s, end_s) for name in names)


def backlog_frame(
    seconds: Sequence[GeneratorSecond], started_at: datetime, attempted_ops_s: float, starts_s: Sequence[float]
) -> pd.DataFrame:
    """Return a table with one row for each interval for which the load generator reported anything.

    Rows are sorted by `starts_s`, s from the timed run's start. `in_flight`: the greatest number of operations sent and
    not answered, at the end of any second of the interval; `unsent`: the same of operations due and not sent.
    `behind_s`: `unsent` divided by the attempted rate, s. `lag_ms`: the longest delay of an operation that could have
    been sent at once; NaN where it was not reported.
    """
    import pandas as pd  # late: few need it

    # By the middle of the second that a report is about: it is made at its end.
    reported = [
        ((second.at - started_at).total_seconds() - 0.5, second.in_flight, second.backlog, second.lag_ms)
        for second in seconds
        if _reports_backlog(second)
    ]
    table = pd.DataFrame(reported, columns=["at_s", "in_flight", "unsent", "lag_ms"])
    begun = [bisect_right(starts_s, at_s) for at_s in table["at_s"].tolist()]
    table = table.assign(start_s=[starts_s[count - 1] if count else nan for count in begun])
    highest = table.groupby("start_s", as_index=False)[["in_flight", "unsent", "lag_ms"]].max()
    highest = highest.assign(behind_s=highest["unsent"].astype("float64") / attempted_ops_s)
    kinds = dict.fromkeys(COLUMNS, "float64") | dict.fromkeys(("in_flight", "unsent"), "int64")
    return highest[list(COLUMNS)].astype(kinds)


def opening_backlog(
    seconds: Sequence[GeneratorSecond], judged_from: datetime, attempted_ops_s: float, warmup: timedelta
) -> OpeningBacklog | None:
    """Return the backlog at the start of the judged time; None where the generator did not report it."""
    if not warmup and any(map(_reports_backlog, seconds)):
        return OpeningBacklog(in_flight=0, unsent=0, seconds=0.0)
    before = [second for second in seconds if _reports_backlog(second) and -OLD <= second.at - judged_from <= LATE]
    if not before:
        return None
    in_flight, unsent = before[-1].in_flight or 0, before[-1].backlog or 0
    return OpeningBacklog(in_flight=in_flight, unsent=unsent, seconds=(in_flight + unsent) / attempted_ops_s)


def begins_with_backlog(backlog: OpeningBacklog | None, level: ServiceLevel) -> bool:
    """Tell whether the backlog at the start of the judged time is large enough to make an interval miss by itself.

    False where the backlog is not known.
    """
    return backlog is not None and backlog.seconds * 1000 > level.stall_ms


def _reports_backlog(second: GeneratorSecond) -> bool:
    return second.in_flight is not None and second.backlog is not None
