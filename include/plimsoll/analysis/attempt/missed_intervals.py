"""The intervals of a missed attempt in which it missed: by response times, by its rate, or by failed operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.judgement import RATE_TOLERANCE, Judgement, MissedInterval
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT

if TYPE_CHECKING:
    from plimsoll.domain.service_level import ServiceLevel
    from plimsoll.domain.stop_rule import StopRule


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


def with_failures(judgement: Judgement, level: ServiceLevel) -> tuple[MissedInterval, ...]:
    """Return the judged intervals in which too many operations failed.

    All of them where none stands out, such as where the files do not tell when operations failed.
    """
    rows = judgement.intervals.select("judged")
    shares = [(row, row.failed / (row.count + row.failed)) for row in rows if row.failed]
    too_many = tuple(_lost(row.start_s, share, level) for row, share in shares if share >= ERROR_LIMIT)
    return too_many or tuple(_lost(row.start_s, 1.0, level) for row in rows)


def when_stopped(rule: StopRule, stopped_s: float) -> MissedInterval:
    """Return the time whose operations broke a stop rule, which ended the load `stopped_s` after its start."""
    return MissedInterval(stopped_s - rule.within.total_seconds(), stopped_s, rule.stall_ms, rule.stall_ms)


def _lost(start_s: float, share: float, level: ServiceLevel) -> MissedInterval:
    length_s = level.interval.total_seconds()
    return MissedInterval(start_s, start_s + length_s, share * length_s * 1000, level.stall_ms)
