"""The intervals in which an attempt missed: by response times, by its rate, by failed operations, or without any
answer; and the lines of the nodes' logs from the time of the worst.

Response times count from the intended start. So an operation that a stall delayed appears after the stall, with a
response time that spans it, and the logs alone distinguish a database that stalled from a load that was not
applied. Of a load that ran here it is known besides how long operations were due, and how often.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.judgement import RATE_TOLERANCE, Judgement, MissedInterval, Run
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT, Silence
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, ServiceLevel
from plimsoll.domain.text.units import format_duration
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.attempt.intervals import Measured
    from plimsoll.domain.attempt.load_summary import BrokenRule
    from plimsoll.domain.keys.process import LogLine, ProcessOnHost
    from plimsoll.domain.keys.timing import StopRule

COLUMNS = ("start_s", "at_s", "host", "process", "text")
_INTERVALS, _LINES, _LENGTH = 10, 8, 300
"""The worst intervals that lines are kept of, lines of a process in an interval, and characters of a line: at most."""

STEADY = 10
"""Operations of an interval from which on an interval without any is no chance of a low rate."""


def unexplained_s(judged: Iterable[Measured], stalls_s: Collection[float]) -> list[float]:
    """Return the starts of the intervals without an operation, answered or failed, that are no stalls."""
    empty = [interval.window.start_s for interval in judged if not interval.count and not interval.failed]
    return [start_s for start_s in empty if start_s not in stalls_s]


def distinct(missed: Iterable[MissedInterval]) -> tuple[MissedInterval, ...]:
    """Return each interval once, in order of time. Of several reasons for a miss that with most time lost counts,
    before all others that nothing was answered.
    """
    worst: dict[tuple[float, float], MissedInterval] = {}
    for interval in missed:
        span = interval.start_s, interval.end_s
        worst[span] = max(worst.get(span, interval), interval, key=lambda either: (either.is_silent, either.late_ms))
    return tuple(worst[span] for span in sorted(worst))


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


def when_stopped(rule: StopRule, broken: BrokenRule) -> MissedInterval:
    """Return the time whose operations broke that stop rule, which ended the load."""
    begin_s = broken.seconds - rule.within.total_seconds()
    return MissedInterval(begin_s, broken.seconds, rule.stall_ms, rule.stall_ms, broken.silent)


def _lost(start_s: float, share: float, level: ServiceLevel) -> MissedInterval:
    length_s = level.interval.total_seconds()
    return MissedInterval(start_s, start_s + length_s, share * length_s * 1000, level.stall_ms)


def stalls_s(
    own: Sequence[Measured], of_all: Sequence[Measured], run: Run, silence: Silence | None
) -> tuple[float, ...]:
    """Return the starts of the judged intervals that are misses for this reason, s from the timed run's start.

    `own`: of all intervals, of one operation or all, in order of time; `of_all`: the same of all operations. Where
    operations failed, these are the miss, and no stall is needed.
    """
    empty_or_answered = [interval for interval in own if interval.count or not interval.failed]
    due_s = _due_s(own, of_all, run)
    if silence is not None and silence.leaves_any:
        after_answers = takewhile(lambda interval: not interval.count, reversed(of_all))
        due_s |= {interval.window.start_s for interval in after_answers}
    return tuple(
        interval.window.start_s
        for index, interval in enumerate(empty_or_answered)
        if interval.window.phase == "judged"
        and not interval.count
        and (interval.window.start_s in due_s or _is_spanned(interval, empty_or_answered[index + 1 :]))
    )


def _due_s(own: Sequence[Measured], of_all: Sequence[Measured], run: Run) -> frozenset[float]:
    """Return the starts of the intervals in which it is no chance that none of these operations was answered.

    In any interval so many of them are due, or so many of all, and none of all was answered. A closed loop, which has
    no rate, always has operations under way.
    """
    answered = sum(interval.count for interval in of_all)
    length_s = max((interval.window.end_s - interval.window.start_s for interval in of_all), default=0.0)
    usual = answered / max(1, sum(interval.count > 0 for interval in of_all))
    due = usual if run.attempted_ops_s is None else run.attempted_ops_s * length_s
    own_due = due * sum(interval.count for interval in own) / answered if answered else 0.0
    always, if_silent = own_due >= STEADY, run.attempted_ops_s is None or due >= STEADY
    starts_s = (interval.window.start_s for interval in of_all if always or (if_silent and not interval.count))
    return frozenset(start_s for start_s in starts_s if start_s < (run.due_s or 0.0))


def _is_spanned(empty: Measured, later: Sequence[Measured]) -> bool:
    """Tell whether the next interval with answers holds an operation that was under way at the stall's start.

    Of windows that slide the next one overlaps this one, after whose end the operation was answered.
    """
    after = next((interval for interval in later if interval.count), None)
    max_ms = after.shown_ms(100) if after else None
    if after is None or max_ms is None:
        return False
    return max_ms / 1000 >= max(after.window.start_s, empty.window.end_s) - empty.window.start_s


def without_operations(level: ServiceLevel, empty_s: Sequence[float], judged: int) -> Iterator[str]:
    """Yield the reason against intervals that hold no operation, though none is known to have been due in them.

    `empty_s`: their starts, s; `judged`: the number of all judged intervals.
    """
    if empty_s:
        whose = "operation" if level.operations == ALL_OPERATIONS else level.operations
        windows = plural(judged, "interval" if level.windows == "aligned" else "window")
        share = f"{len(empty_s)} of {windows} of {format_duration(level.interval)}"
        yield f"{share} {'holds' if len(empty_s) == 1 else 'hold'} no {whose}, the first at {empty_s[0]:g} s"


def log_lines_frame(
    intervals: pd.DataFrame,
    lines: Mapping[ProcessOnHost, Sequence[LogLine]],
    started_at: datetime,
    ahead_ms: Mapping[str, float],
    bound_ms: float,
) -> pd.DataFrame:
    """Return a table of the lines that processes logged in a missed interval, or up to the bound before it, in order of
    time.

    `start_s`: the interval's start; `at_s`: the line's time; both in s from the timed run's start on the load
    generator's clock. `ahead_ms`: how far hosts' clocks are ahead of that clock. Where a process logged more lines than
    are kept, warnings and errors are kept first.
    """
    import pandas as pd  # late: judging needs none of it

    missed = intervals[intervals["met"].notna() & ~intervals["met"].fillna(value=True).astype(bool)]
    # An interval without an answer has no percentile, and is worse than any that has one
    worst = missed.sort_values("judged_ms", ascending=False, na_position="first").head(_INTERVALS)
    rows = [
        (start_s, at_s, *process, text[:_LENGTH])
        for start_s, length_s in sorted(zip(worst["start_s"], worst["duration_s"], strict=True))
        for at_s, process, text in _within(lines, started_at, ahead_ms, (start_s - bound_ms / 1000, start_s + length_s))
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"start_s": "float64", "at_s": "float64", **dict.fromkeys(COLUMNS[2:], "str")})


def _within(
    lines: Mapping[ProcessOnHost, Sequence[LogLine]],
    started_at: datetime,
    ahead_ms: Mapping[str, float],
    span_s: tuple[float, float],
) -> list[tuple[float, ProcessOnHost, str]]:
    begin_s, end_s = span_s
    timed_lines: list[tuple[float, ProcessOnHost, str]] = []
    for process, own in lines.items():
        ahead_s = ahead_ms.get(process.host, 0.0) / 1000
        times = (((line.at - started_at).total_seconds() - ahead_s, line.text) for line in own)
        timed = [(round(at_s, 3), text) for at_s, text in times if begin_s <= at_s < end_s]
        grave_first = sorted(timed, key=lambda line: not line[1].startswith(("WARN", "ERROR")))
        timed_lines += [(at_s, process, text) for at_s, text in grave_first[:_LINES]]
    return sorted(timed_lines)
