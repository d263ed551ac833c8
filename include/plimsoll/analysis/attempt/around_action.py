"""Cut an attempt's judged intervals into those before, during and after an action. Pure.

An interval that the action touches at all is one during it, so that none of the others holds a part of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from plimsoll.analysis.attempt.intervals import IntervalTable
from plimsoll.analysis.attempt.judgement import JudgedInterval, Judgement, missed_of
from plimsoll.domain.action import (
    ActionBegin,
    ActionEnd,
    ActionResult,
    FailedOperations,
    LevelAroundAction,
    PhaseFigures,
    RecordedAction,
)
from plimsoll.domain.process import GeneratorSecond
from plimsoll.domain.service_level import LevelVerdict

MET_AGAIN = 3
"""So many intervals in a row must be met before the service level counts as met again."""
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class ActionTimes:
    """Begin and end of an action, s from the start of the timed run."""

    begun_s: float
    ended_s: float

    def cut(self, judged: Iterable[JudgedInterval]) -> tuple[list[JudgedInterval], ...]:
        """Return the intervals before, during and after the action."""
        found: tuple[list[JudgedInterval], ...] = ([], [], [])
        for one in judged:
            found[self.phase(one.start_s, one.end_s)].append(one)
        return found

    def touches(self, start_s: float, end_s: float) -> bool:
        """Tell whether the action touches that interval."""
        return self.phase(start_s, end_s) == 1

    def phase(self, start_s: float, end_s: float) -> int:
        """Return 0 for an interval before the action, 1 for one that it touches, 2 for one after it."""
        return 0 if end_s <= self.begun_s else 2 if start_s >= self.ended_s else 1


def times_of(begin: ActionBegin, end: ActionEnd, started_at: datetime, ahead: timedelta) -> ActionTimes:
    """Return the action's times from `started_at`, the start of the timed run by the load generator's clock.

    `ahead`: how far that clock is ahead of the controller's, which the records have.
    """
    began_at = RecordedAction(begin, end).began_at
    begun, ended = ((one + ahead - started_at) / _SECOND for one in (began_at, end.at))
    return ActionTimes(round(begun, 3), round(max(begun, ended), 3))


def during_action(judgement: Judgement, times: ActionTimes) -> Judgement:
    """Return the same judgement, with service levels of the action judged by the intervals during it alone.

    It is invalid where there is no such interval.
    """
    kept = [
        tuple(times.cut(judged)[1]) if one.service_level.during else judged
        for one, judged in zip(judgement.levels, judgement.by_level, strict=True)
    ]
    levels = tuple(
        _of_intervals(one, judged) if one.service_level.during else one
        for one, judged in zip(judgement.levels, kept, strict=True)
    )
    empty = [
        f"no judged interval of {one.service_level} lies in the action, from {times.begun_s:g} s to {times.ended_s:g} s"
        for one in levels
        if one.service_level.during and not one.judged
    ]
    missed = (missed_of(level.service_level, own) for level, own in zip(levels, kept, strict=True))
    return replace(
        judgement,
        levels=levels,
        missed=tuple(one for of_level in missed for one in of_level),
        intervals=_only_judged(judgement, times),
        reasons=(*judgement.reasons, *empty),
    )


def action_result(
    begin: ActionBegin, end: ActionEnd, times: ActionTimes, judgement: Judgement, failed: FailedOperations | None
) -> ActionResult:
    """Return the action with the service levels around it. `judgement`: of all judged intervals."""
    return ActionResult(
        action=begin.action,
        hosts=begin.hosts,
        begun_s=times.begun_s,
        ended_s=times.ended_s,
        duration_s=round(max(times.ended_s - times.begun_s - end.waited_s, 0.0), 3),
        waited_s=round(end.waited_s, 3),
        undated_s=round(end.undated_s, 3),
        evidence=end.evidence,
        parts=end.parts,
        streamed_bytes=end.streamed_bytes,
        failed=failed,
        levels=tuple(
            _around(one, times, judged) for one, judged in zip(judgement.levels, judgement.by_level, strict=True)
        ),
    )


def failed_by_phase(
    seconds: Sequence[GeneratorSecond], times: ActionTimes, started_at: datetime, warmup: timedelta
) -> FailedOperations | None:
    """Count the failed operations of the judged time by phase; None where the load generator does not tell when."""
    counts = [0, 0, 0]
    known = [one for one in seconds if one.failed is not None]
    for one in known:
        end_s = (one.at - started_at) / _SECOND
        # A second is reported a little after its end; its middle lies in the time that it is about.
        if end_s - 0.5 >= warmup / _SECOND:
            counts[times.phase(end_s - 1, end_s)] += one.failed or 0
    return FailedOperations(before=counts[0], during=counts[1], after=counts[2]) if known else None


def _around(level: LevelVerdict, times: ActionTimes, judged: Sequence[JudgedInterval]) -> LevelAroundAction:
    before, during, after = times.cut(judged)
    return LevelAroundAction(
        service_level=level.service_level.model_copy(update={"during": None}),
        before=_figures(before),
        during=_figures(during),
        after=_figures(after),
        met_again_s=_met_again_s(after, times.ended_s),
    )


def _figures(judged: Sequence[JudgedInterval]) -> PhaseFigures:
    values = [one.value_ms for one in judged if one.value_ms is not None]
    missed = sum(not one.met for one in judged)
    met = not missed if judged else None
    return PhaseFigures(judged=len(judged), missed=missed, met=met, worst_ms=max(values, default=None))


def _met_again_s(after: Sequence[JudgedInterval], ended_s: float) -> float | None:
    rows = (after[first : first + MET_AGAIN] for first in range(len(after) - MET_AGAIN + 1))
    return next((round(row[0].start_s - ended_s, 3) for row in rows if all(one.met for one in row)), None)


def _of_intervals(level: LevelVerdict, judged: Sequence[JudgedInterval]) -> LevelVerdict:
    figures = _figures(judged)
    return level.model_copy(update={**dict(figures), "met": bool(figures.met)})


def _only_judged(judgement: Judgement, times: ActionTimes) -> IntervalTable:
    """Return the table, without `met` outside of the action where the first service level judges that time alone."""
    level = judgement.levels[0].service_level if judgement.levels else None
    if level is None or not level.during:
        return judgement.intervals
    length_s = level.interval / _SECOND
    return IntervalTable(
        tuple(
            row if times.touches(row.start_s, row.start_s + length_s) else replace(row, met=None)
            for row in judgement.intervals.rows
        )
    )
