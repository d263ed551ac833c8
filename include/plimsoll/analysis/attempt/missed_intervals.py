"""The intervals of a missed attempt in which it missed: by response times, by its rate, or by failed operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.attempt.judgement import RATE_TOLERANCE, Judgement, MissedInterval

if TYPE_CHECKING:
    from datetime import datetime

    from plimsoll.domain.log_events import GeneratorSecond
    from plimsoll.domain.service_level import ServiceLevel
    from plimsoll.domain.stop_rule import StopRule

ERROR_LIMIT = 0.001
"""Share of operations that may fail: the complement of the published percentile."""


def distinct(missed: Iterable[MissedInterval]) -> tuple[MissedInterval, ...]:
    """Return each interval once, in order of time. Of several reasons for a miss that with most time lost counts."""
    found: dict[tuple[float, float], MissedInterval] = {}
    for one in missed:
        place = one.start_s, one.end_s
        found[place] = max(found.get(place, one), one, key=lambda either: either.late_ms)
    return tuple(found[place] for place in sorted(found))


def short_of_rate(judgement: Judgement, attempted_ops_s: float, level: ServiceLevel) -> Iterator[MissedInterval]:
    """Yield the judged intervals in which the rate was not achieved."""
    for row in judgement.intervals.select("judged"):
        missing = 1 - row.rate_ops_s / attempted_ops_s
        if missing > RATE_TOLERANCE:
            yield _lost(row.start_s, missing, level)


def with_failures(
    judgement: Judgement, seconds: Sequence[GeneratorSecond], started_at: datetime, level: ServiceLevel
) -> tuple[MissedInterval, ...]:
    """Return the judged intervals in which too many operations failed.

    All of them where none stands out, such as where the load generator does not tell when operations failed.
    """
    rows = judgement.intervals.select("judged")
    shares = [_failed_share(row.start_s, row.count, seconds, started_at, level) for row in rows]
    too_many = tuple(
        _lost(row.start_s, share, level) for row, share in zip(rows, shares, strict=True) if share >= ERROR_LIMIT
    )
    return too_many or tuple(_lost(row.start_s, 1.0, level) for row in rows)


def when_stopped(rule: StopRule, stopped_s: float) -> MissedInterval:
    """Return the time whose operations broke a stop rule, which ended the load `stopped_s` after its start."""
    return MissedInterval(stopped_s - rule.within.total_seconds(), stopped_s, rule.stall_ms, rule.stall_ms)


def _failed_share(
    start_s: float, count: int, seconds: Sequence[GeneratorSecond], started_at: datetime, level: ServiceLevel
) -> float:
    """Return the share of failed operations in the interval that begins at that time."""
    begin_s = started_at.timestamp() + start_s
    # A second is reported a little after its end; its middle lies in the interval that it is about.
    middles = np.array([one.at.timestamp() - 0.5 for one in seconds])
    first, last = np.searchsorted(middles, [begin_s, begin_s + level.interval.total_seconds()], "right")
    failed = sum(one.failed or 0 for one in seconds[int(first) : int(last)])
    return failed / (count + failed) if failed else 0.0


def _lost(start_s: float, share: float, level: ServiceLevel) -> MissedInterval:
    length_s = level.interval.total_seconds()
    return MissedInterval(start_s, start_s + length_s, share * length_s * 1000, level.stall_ms)
