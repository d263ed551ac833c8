"""Cut an attempt's judged intervals into those before, during and after an action. Pure.

An interval that the action touches at all is one during it, so that none of the others holds a part of it.

The activity of hosts and JVMs in each interval of a timed run, to be drawn below the response times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.attempt.coincidence import Collected
from plimsoll.analysis.attempt.hosts import Span, by_host, cpu_busy, means
from plimsoll.analysis.attempt.intervals import IntervalTable
from plimsoll.analysis.attempt.judgement import JudgedInterval, Judgement
from plimsoll.analysis.attempt.level_outcomes import all_missed, level_verdict, open_reasons, unless_open
from plimsoll.analysis.logs.gc.pauses import Pauses, stopped_ms
from plimsoll.analysis.logs.operations import Floats
from plimsoll.domain.keys.action import (
    ActionBegin,
    ActionEnd,
    ActionResult,
    FailedOperations,
    LevelAroundAction,
    PhaseFigures,
    RecordedAction,
)
from plimsoll.domain.keys.process import GeneratorSecond, ProcessOnHost
from plimsoll.domain.keys.service_level import LevelVerdict

if TYPE_CHECKING:
    import pandas as pd

MET_AGAIN = 3
"""So many intervals in a row must be met before the service level counts as met again."""


@dataclass(frozen=True)
class ActionTimes:
    """Begin and end of an action, s from the start of the timed run."""

    begun_s: float
    ended_s: float

    def cut(self, judged: Iterable[JudgedInterval]) -> tuple[list[JudgedInterval], ...]:
        """Return the intervals before, during and after the action."""
        phases: tuple[list[JudgedInterval], ...] = ([], [], [])
        for interval in judged:
            phases[self.phase(interval.start_s, interval.end_s)].append(interval)
        return phases

    def phase(self, start_s: float, end_s: float) -> int:
        """Return 0 for an interval before the action, 1 for one that it touches, 2 for one after it."""
        return 0 if end_s <= self.begun_s else 2 if start_s >= self.ended_s else 1


def times_of(begin: ActionBegin, end: ActionEnd, started_at: datetime, ahead: timedelta) -> ActionTimes:
    """Return the action's times from `started_at`, the start of the timed run by the load generator's clock.

    `ahead`: how far that clock is ahead of the controller's, which the records have.
    """
    began_at = RecordedAction(begin, end).began_at
    begun, ended = ((at + ahead - started_at).total_seconds() for at in (began_at, end.at))
    return ActionTimes(round(begun, 3), round(max(begun, ended), 3))


def during_action(judgement: Judgement, times: ActionTimes) -> Judgement:
    """Return the same judgement, with service levels of the action judged by the intervals during it alone.

    It is invalid where there is no such interval.
    """
    kept = [
        tuple(times.cut(judged)[1]) if level.service_level.during else judged
        for level, judged in zip(judgement.levels, judgement.by_level, strict=True)
    ]
    levels = tuple(
        _of_intervals(level, judged) if level.service_level.during else level
        for level, judged in zip(judgement.levels, kept, strict=True)
    )
    empty = [
        f"no judged interval of {level} lies in the action, from {times.begun_s:g} s to {times.ended_s:g} s"
        for level in (verdict.service_level for verdict in levels if not verdict.judged)
        if level.during
    ]
    # What is open or missed outside of the action decides nothing of what is open in it
    of_all = {*open_reasons(judgement, judgement.by_level)}
    during = replace(
        judgement,
        levels=levels,
        missed=all_missed(levels, kept),
        intervals=_only_judged(judgement, times),
        reasons=(*(reason for reason in judgement.reasons if reason not in of_all), *empty),
    )
    return unless_open(during, kept)


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
            _around(level, times, judged) for level, judged in zip(judgement.levels, judgement.by_level, strict=True)
        ),
    )


def failed_by_phase(
    seconds: Sequence[GeneratorSecond], times: ActionTimes, started_at: datetime, warmup: timedelta
) -> FailedOperations | None:
    """Count the failed operations of the judged time by phase; None where the load generator does not tell when."""
    counts = [0, 0, 0]
    known = [second for second in seconds if second.failed is not None]
    for second in known:
        end_s = (second.at - started_at).total_seconds()
        # A second is reported a little after its end; its middle lies in the time that it is about.
        if end_s - 0.5 >= warmup.total_seconds():
            counts[times.phase(end_s - 1, end_s)] += second.failed or 0
    return FailedOperations(before=counts[0], during=counts[1], after=counts[2]) if known else None


def _around(level: LevelVerdict, times: ActionTimes, judged: Sequence[JudgedInterval]) -> LevelAroundAction:
    before, during, after = times.cut(judged)
    rows = (after[first : first + MET_AGAIN] for first in range(len(after) - MET_AGAIN + 1))
    met_again_s = (row[0].start_s - times.ended_s for row in rows if all(interval.met for interval in row))
    return LevelAroundAction(
        service_level=level.service_level.model_copy(update={"during": None}),
        before=_figures(level, before),
        during=_figures(level, during),
        after=_figures(level, after),
        met_again_s=next((round(since_s, 3) for since_s in met_again_s), None),
    )


def _figures(level: LevelVerdict, judged: Sequence[JudgedInterval]) -> PhaseFigures:
    verdict = level_verdict(level.service_level, judged)
    met = False if verdict.missed else verdict.met or None
    return PhaseFigures(judged=verdict.judged, missed=verdict.missed, met=met, worst_ms=verdict.worst_ms)


def _of_intervals(level: LevelVerdict, judged: Sequence[JudgedInterval]) -> LevelVerdict:
    verdict = level_verdict(level.service_level, judged, level.not_judged)
    # A level that had no ratios so far lacks some values of its intervals
    return verdict if level.ratios else verdict.model_copy(update={"ratios": ()})


def _only_judged(judgement: Judgement, times: ActionTimes) -> IntervalTable:
    """Return the table, without `met` outside of the action where the first service level judges that time alone."""
    level = judgement.levels[0].service_level if judgement.levels else None
    if level is None or not level.during:
        return judgement.intervals
    length_s = level.interval.total_seconds()
    rows = (
        row if times.phase(row.start_s, row.start_s + length_s) == 1 else replace(row, met=None)
        for row in judgement.intervals.rows
    )
    return IntervalTable(tuple(rows))


_PLACE = ["host", "process"]
COLUMNS = ("start_s", *_PLACE, "cpu_busy", "heap_bytes", "stopped_ms")


def activity_frame(
    starts_s: Sequence[float], interval_s: float, collected: Collected, gc_logs: Mapping[ProcessOnHost, Pauses]
) -> pd.DataFrame:
    """Return a table with one row per interval and host, and per interval and JVM, which has a `process`.

    NaN: not collected. Intervals are `interval_s` long; the first one may be shorter. Rows are sorted by the interval's
    start, s from the timed run's start on the load generator's clock. `cpu_busy`: mean share of all the host's
    processors; `heap_bytes`: the most that was in use at the start or end of any collection; `stopped_ms`: how long all
    threads of the JVM were stopped.
    """
    import pandas as pd  # late: judging needs none of it

    if not len(starts_s):
        return pd.DataFrame(columns=list(COLUMNS))
    starts = np.asarray(starts_s, dtype=np.float64)
    begin = {jvm: collected.started_at.timestamp() + collected.ahead_ms.get(jvm.host, 0.0) / 1000 for jvm in gc_logs}
    tables = [
        _busy(starts, interval_s, collected),
        _binned(starts, interval_s, _heap(gc_logs, begin), "max"),
        _binned(starts, interval_s, _stopped(collected.pauses), "sum"),
    ]
    # a JVM that never collected in the timed run has a row all the same: it was stopped for 0 ms
    sources = sorted({*gc_logs, *((host, process) for table in tables for _, host, process in table.index)})
    rows = pd.MultiIndex.from_tuples([(at, *source) for at in starts.tolist() for source in sources], names=COLUMNS[:3])
    table = pd.concat(tables, axis=1).reindex(rows)
    of_jvm = np.tile([source in gc_logs for source in sources], len(starts))
    table.loc[of_jvm & table["stopped_ms"].isna(), "stopped_ms"] = 0.0
    kinds = {**dict.fromkeys(_PLACE, "str"), **dict.fromkeys(COLUMNS[3:], "float32")}
    return table.reset_index()[list(COLUMNS)].astype(kinds)


def _busy(starts_s: Floats, interval_s: float, collected: Collected) -> pd.DataFrame:
    """Return the mean share of busy processors in each interval, by host."""
    import pandas as pd

    begin_s, samples, starts = collected.started_at.timestamp(), collected.samples, starts_s.tolist()
    ends = [*starts[1:], starts[-1] + interval_s]
    within = tuple(Span(begin_s + start, begin_s + end) for start, end in zip(starts, ends, strict=True))
    table = samples if samples.empty else samples.assign(cpu_busy=cpu_busy(samples))
    rows = [
        (start, host, "", share)
        for host, own in by_host(table, collected.ahead_ms)
        for start, share in zip(starts, means(own, "cpu_busy", within).tolist(), strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS[:4]).set_index(["start_s", *_PLACE]).dropna()


def _heap(gc_logs: Mapping[ProcessOnHost, Pauses], begin: Mapping[ProcessOnHost, float]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (*jvm, change.at.timestamp() - begin[jvm], max(change.before_bytes, change.after_bytes))
        for jvm, log in gc_logs.items()
        for change in log.heap
    ]
    return pd.DataFrame(rows, columns=[*_PLACE, "t", "heap_bytes"])


def _stopped(pauses: pd.DataFrame | None) -> pd.DataFrame:
    import pandas as pd

    if pauses is None or pauses.empty:
        return pd.DataFrame(columns=[*_PLACE, "t", "stopped_ms"])
    stops = pauses[pauses["stop_the_world"].astype(bool)]
    return stops[_PLACE].assign(t=stops["start_s"], stopped_ms=stopped_ms(stops))


def _binned(starts_s: Floats, interval_s: float, table: pd.DataFrame, how: str) -> pd.DataFrame:
    """Combine all figures of each interval and JVM into one. Figures before and after all intervals are dropped."""
    at = table["t"].to_numpy(dtype=np.float64)
    kept = (at >= starts_s[0]) & (at < starts_s[-1] + interval_s)
    numbers = np.searchsorted(starts_s, at[kept], "right") - 1
    own = table[kept].assign(start_s=starts_s[numbers]).drop(columns="t")
    binned: pd.DataFrame = own.groupby(["start_s", *_PLACE]).agg(how)
    return binned
