"""The input and the result of judging a run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import nextafter

from plimsoll.analysis.attempt.alignment import MISFIT, Schedule
from plimsoll.analysis.attempt.intervals import IntervalTable, Measured, maxima, maxima_by_operation
from plimsoll.analysis.attempt.unanswered import ERROR_LIMIT, Silence, Unanswered
from plimsoll.analysis.logs.formats.reading import Reading, WholeRun, totals
from plimsoll.analysis.logs.formats.selection import LeftOut
from plimsoll.analysis.logs.hdr.histogram_layout import Ints, Unit
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, LevelVerdict, Percentiles, ServiceLevel
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.units import format_duration, four_digits
from plimsoll.domain.text.wording import plural

RATE_TOLERANCE = 0.01
"""A rate at most this share below the attempted one counts as achieved."""


@dataclass(frozen=True)
class MissedInterval:
    """An interval in which the run missed, s from its start.

    `late_ms`: how much time was lost in it: the response time at the service level's percentile, the whole interval
    where nothing was answered, or how far the interval's operations fell behind. `stall_ms`: the shortest
    stall that makes such an interval miss by itself.
    """

    start_s: float
    end_s: float
    late_ms: float
    stall_ms: float


@dataclass(frozen=True)
class JudgedInterval:
    """A judged interval of one service level, s from the run's start.

    `value_ms` is None where nothing was answered, as `is_stall` tells, or where percentiles over time do not tell it;
    `met` is None where these leave it open. `is_floor`: `value_ms` is the least that it can be, as the percentile is a
    failed operation. `total`: its operations, failed ones included; `below`: how many are certainly below the bound.
    """

    start_s: float
    end_s: float
    value_ms: float | None
    met: bool | None
    is_floor: bool = False
    is_stall: bool = False
    total: int = 0
    below: int = 0


def judged_of(level: ServiceLevel, measured: Iterable[Measured]) -> list[JudgedInterval]:
    """Return the judged intervals of the level's operations.

    One without an answer and a value is a stall, or the run is invalid.
    """
    judged = []
    for interval in measured:
        if interval.window.phase == "judged" and interval.operation == level.operations:
            start_s, value_ms = interval.window.start_s, interval.value_ms(level)
            met, is_floor = interval.meets(level), interval.is_floor(level)
            end_s, is_stall = start_s + level.interval.total_seconds(), value_ms is None and not interval.count
            counts = interval.total_and_below(level)
            judged.append(JudgedInterval(start_s, end_s, value_ms, met, is_floor, is_stall, *counts))
    return judged


@dataclass(frozen=True)
class Run:
    """The facts about a timed run besides its logs. None: not known, so not checked.

    `duration` includes the warm-up. `started_at`, the start of the timed run, and `operations`, the number of its
    answered operations with warm-up, are the load generator's own report. `due`: for how long operations were due
    without a pause, from the timed run's start; `aborted`: the load generator gave up before that, so that nothing was
    answered after its logs' end. `rate_tolerance`: share by which the rate may differ from the attempted one.
    """

    warmup: timedelta
    duration: timedelta | None = None
    attempted_ops_s: float | None = None
    started_at: datetime | None = None
    operations: int | None = None
    due: timedelta | None = None
    aborted: bool = False
    rate_tolerance: float = RATE_TOLERANCE

    @property
    def due_s(self) -> float | None:
        return None if self.due is None else self.due.total_seconds()


@dataclass(frozen=True)
class Judgement:
    """The result of judging a run.

    `reasons` say why the measurement is unsound; without any it is valid as far as its logs tell. `notes` are remarks
    that change nothing.

    `levels` are in the order of the service levels, and empty where no intervals could be formed. `maxima`,
    `operations`, `achieved_ops_s`, `stalls_s` and the table belong to the first service level's judged intervals.
    `rate_achieved` is None where no rate was asked for. `stalls_s` are the starts of intervals in which nothing was
    answered though operations were under way; such intervals miss. `missed`: the missed intervals of all service
    levels. `by_level`: the judged aligned intervals of each service level.

    `errors` are the failed operations of the whole run by kind, None where the files don't tell; `judged_errors` those
    of the judged time, None where not all of their times are known; `failed_share` their share of the judged time's
    operations, or of the whole run's where times are missing. `counts` are the merged counts of the judged intervals by
    operation, in `unit`; empty where the files hold no histograms.

    `format` is the title of the `Reading`. All else is as the `Reading` has it, and empty where the files could not be
    read.
    """

    intervals: IntervalTable = field(default_factory=IntervalTable)
    levels: tuple[LevelVerdict, ...] = ()
    maxima: Percentiles | None = None
    maxima_by_operation: Mapping[str, Percentiles] = field(default_factory=dict)
    operations: int = 0
    achieved_ops_s: float | None = None
    rate_achieved: bool | None = None
    stalls_s: tuple[float, ...] = ()
    missed: tuple[MissedInterval, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    format: str = ""
    whole_run: tuple[WholeRun, ...] = ()
    errors: Mapping[str, int] | None = None
    judged_errors: Mapping[str, int] | None = None
    failed_share: float = 0.0
    own_lag_p99_ms: float | None = None
    counts: Mapping[str, Ints] = field(default_factory=dict, compare=False, repr=False)
    unit: Unit = "us"
    unit_why: str = ""
    left_out: tuple[LeftOut, ...] = ()
    started_at: datetime | None = None
    by_level: tuple[tuple[JudgedInterval, ...], ...] = field(default=(), compare=False, repr=False)
    unanswered: Unanswered = field(default_factory=Unanswered, compare=False, repr=False)

    @property
    def unit_taken(self) -> str:
        """Return the unit that the files' values are read in, and why; empty where the files could not be read."""
        return f"{self.unit}: {self.unit_why}" if self.unit_why else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the notes, and the records that were left out without their counts, so that many cells agree."""
        measures = sorted({left.measure for left in self.left_out})
        return (*self.notes, f"left out: {' and '.join(measures)}") if measures else self.notes

    @property
    def failures_remark(self) -> str:
        """Say how many operations failed according to the files, and what that means; empty where none did."""
        if self.errors is None:
            return "the files do not tell how many operations failed"
        if not (failed := sum(self.errors.values())):
            return ""
        if not self.levels:
            return f"{plural(failed, 'operation')} of the whole run failed"
        counted = any(level.service_level.counts_failures for level in self.levels)
        how = "each counts as slower than the bound" if counted else "FAILED OPERATIONS ARE APART, and not judged"
        return f"{plural(failed, 'operation')} of the whole run failed: {how}"

    @property
    def valid(self) -> bool:
        return not self.reasons

    @property
    def met(self) -> bool | None:
        """Tell whether every service level was met, and few operations failed; None for an invalid measurement."""
        return all(level.met for level in self.levels) and not self.too_many_failed if self.valid else None

    @property
    def too_many_failed(self) -> bool:
        """Tell whether so many operations failed that this alone is a miss, unless failures are kept apart."""
        return self.failed_share >= ERROR_LIMIT and any(level.service_level.counts_failures for level in self.levels)


def judgement_of(  # noqa: PLR0913  # what both ways of judging find
    measured: Sequence[Measured],
    levels: Sequence[LevelVerdict],
    judged: Sequence[Sequence[JudgedInterval]],
    run: Run,
    unanswered: Unanswered,
    *,
    stalls_s: Iterable[float],
    reasons: Iterable[str],
    notes: Iterable[str],
) -> Judgement:
    """Return the judgement on a run with its table and the outcomes of its service levels.

    `measured`: all intervals of the first level; `judged`: the judged intervals of each level. Windows that slide get
    neither into `missed` nor into `by_level`. Repeated reasons are dropped.
    """
    table = IntervalTable(tuple(interval.row(levels[0].service_level) for interval in measured))
    of_all = [interval for interval in measured if interval.operation == ALL_OPERATIONS]
    counts = [(interval.answers, interval.failed) for interval in of_all if interval.window.phase == "judged"]
    rows = table.select("judged")
    operations, seconds = sum(row.count for row in rows), sum(row.duration_s for row in rows)
    achieved = operations / seconds if seconds else None
    least_ops_s = None if run.attempted_ops_s is None else (1 - run.rate_tolerance) * run.attempted_ops_s
    by_level = tuple(
        tuple(own) if level.service_level.windows == "aligned" else ()
        for level, own in zip(levels, judged, strict=True)
    )
    judgement = Judgement(
        intervals=table,
        levels=tuple(levels),
        maxima=maxima(rows),
        maxima_by_operation=maxima_by_operation(table),
        operations=operations,
        achieved_ops_s=achieved,
        rate_achieved=None if least_ops_s is None else achieved is not None and achieved >= least_ops_s,
        stalls_s=tuple(stalls_s),
        missed=all_missed(levels, by_level),
        failed_share=unanswered.share(counts, sum(interval.answers for interval in of_all)),
        reasons=tuple(dict.fromkeys(reasons)),
        notes=tuple(notes),
        by_level=by_level,
        unanswered=unanswered,
    )
    return unless_open(judgement, by_level)


def unless_open(judgement: Judgement, judged: Iterable[Sequence[JudgedInterval]]) -> Judgement:
    """Return the judgement, invalid where no interval is known to have missed and what is not known leaves one open.

    `judged`: each service level's intervals.
    """
    return replace(judgement, reasons=tuple(open_reasons(judgement, judged))) if judgement.valid else judgement


def open_reasons(judgement: Judgement, judged: Iterable[Sequence[JudgedInterval]]) -> Iterator[str]:
    """Yield the reason against each service level that percentiles over time, or failures without a time, leave open.

    There is none where the run has missed by any level or its failures: it has, whatever the others are.
    """
    if judgement.too_many_failed or any(level.missed for level in judgement.levels):
        return
    for verdict, own in zip(judgement.levels, judged, strict=True):
        level = verdict.service_level
        if reason := _left_open(level, own) or judgement.unanswered.undecided(level, own):
            yield reason


def level_verdict(level: ServiceLevel, judged: Sequence[JudgedInterval], not_judged: int = 0) -> LevelVerdict:
    """Return the outcome of a service level over its judged intervals.

    Its ratios are each interval's percentile over the bound, to four digits; there are none of windows that slide,
    which overlap.
    """
    known = [interval.value_ms for interval in judged if interval.value_ms is not None]
    is_worst_known = all(interval.value_ms is not None or interval.is_stall for interval in may_be_worst(judged))
    # In a stall operations wait for longer than the interval lasts
    stalled_ms = level.interval / timedelta(milliseconds=1)
    values = (stalled_ms if interval.value_ms is None else interval.value_ms for interval in judged)
    ratios = tuple(four_digits(value / level.bound_ms) for value in values)
    return LevelVerdict(
        service_level=level,
        met=bool(judged) and all(interval.met for interval in judged),
        judged=len(judged),
        missed=sum(interval.met is False for interval in judged),
        not_judged=not_judged,
        worst_ms=max(known, default=None) if is_worst_known else None,
        ratios=ratios if level.windows == "aligned" else (),
        worst_is_floor=any(interval.is_floor for interval in judged),
    )


def may_be_worst(judged: Sequence[JudgedInterval]) -> list[JudgedInterval]:
    """Return the intervals of which one is the worst: none that met where another missed, whatever its value is."""
    some_missed = any(interval.met is False for interval in judged)
    return [interval for interval in judged if not (some_missed and interval.met)]


def missed_of(level: ServiceLevel, judged: Iterable[JudgedInterval]) -> Iterator[MissedInterval]:
    length_s = level.interval.total_seconds()
    for interval in judged:
        if interval.met is False:
            late_ms = length_s * 1000 if interval.value_ms is None else interval.value_ms
            yield MissedInterval(interval.start_s, interval.start_s + length_s, late_ms, level.stall_ms)


def all_missed(
    levels: Iterable[LevelVerdict], judged: Iterable[Iterable[JudgedInterval]]
) -> tuple[MissedInterval, ...]:
    """Return the missed intervals of all levels. `judged`: the judged intervals of each level."""
    pairs = zip(levels, judged, strict=True)
    return tuple(interval for level, own in pairs for interval in missed_of(level.service_level, own))


def _left_open(level: ServiceLevel, judged: Sequence[JudgedInterval]) -> str:
    """Explain which intervals percentiles over time leave open; empty where they decide all."""
    open_s = [interval.start_s for interval in judged if interval.met is None]
    if not open_s:
        return ""
    intervals = f"{plural(len(judged), 'interval')} of {format_duration(level.interval)}"
    return (
        f"the percentiles given leave open whether {level} in {len(open_s)} of {intervals}, "
        f"the first at {open_s[0]:g} s; no other was missed"
    )


def unreadable(error: LogError) -> Judgement:
    mend = f" ({error.mend})" if error.mend else ""
    return Judgement(reasons=(f"{error.headline}{mend}",))


def schedule_of(tracks: Sequence[Track], run: Run, interval: timedelta) -> Schedule:
    """Return the positions of a run's intervals.

    They count from the run's start as the load generator reports it, else from the first record.
    """
    log_start_s = min(float(track.starts[0]) for track in tracks)
    return Schedule(
        origin_s=run.started_at.timestamp() if run.started_at else log_start_s,
        warmup_s=run.warmup.total_seconds(),
        interval_s=interval.total_seconds(),
        planned=(run.duration - run.warmup) // interval if run.duration else None,
    )


def due_until_s(schedule: Schedule, run: Run, unanswered: Unanswered) -> float | None:
    """Return until when operations are known to have been due, s since the epoch; None where it is not known."""
    ends = [unanswered.last_s, schedule.origin_s + run.due_s if run.aborted and run.due_s else None]
    return max((end for end in ends if end is not None), default=None)


def silence_of(reading: Reading, run: Run, levels: Iterable[ServiceLevel], unanswered: Unanswered) -> Silence | None:
    """Return the time in which operations were due though the files have ended; None where it is not known of any.

    Nor is it where the files end so little early that their records do not fit the intervals any better.
    """
    ends = [float(track.ends[-1]) for track in reading.tracks]
    ends += [sample.start_s + sample.length_s for sample in reading.samples]
    if not run.aborted or not run.due_s or not ends:
        return None
    until_s, due_s = max(*ends, unanswered.last_s or 0.0), _origin_s(reading, run) + run.due_s
    misfit_s = (MISFIT * min(level.interval for level in levels)).total_seconds()
    return Silence(until_s, due_s, run.attempted_ops_s) if due_s - until_s > misfit_s else None


def judged_errors(
    reading: Reading, run: Run, level: ServiceLevel, unanswered: Unanswered, table: IntervalTable
) -> dict[str, int] | None:
    """Return the failed operations of the judged time by kind; None where not all of their times are known.

    `table`: the intervals of that service level.
    """
    rows = table.select("judged")
    if reading.errors is None or unanswered.without_time or not rows:
        return None
    origin_s = _origin_s(reading, run)
    begin_s, end_s = origin_s + rows[0].start_s, origin_s + rows[-1].start_s + level.interval.total_seconds()
    # What failed just at the end belongs to the next interval
    return totals(failure.between(begin_s, nextafter(end_s, begin_s)) for failure in reading.failures)


def _origin_s(reading: Reading, run: Run) -> float:
    """Return the start of a run whose files hold times, s since the epoch, as `schedule_of` does."""
    if run.started_at:
        return run.started_at.timestamp()
    starts = [float(track.starts[0]) for track in reading.tracks] or [sample.start_s for sample in reading.samples]
    return min(starts)


def uncovered(covered: int, schedule: Schedule, level: ServiceLevel) -> Iterator[str]:
    """Yield the reason against a measurement with fewer intervals than planned, if there is one."""
    if schedule.planned is not None and covered < schedule.planned:
        planned = f"{plural(schedule.planned, 'interval')} of {format_duration(level.interval)}"
        yield f"only {covered} of {planned} are covered by the logs"


def rate_fault(judgement: Judgement, attempted: float, tolerance: float) -> Iterator[str]:
    """Yield the reason why a sound judgement is not about the attempted rate, ops/s, if there is one.

    A load that was missed may have fallen short: what was answered was too slow already. It may also have been
    exceeded by what came due in warm-up and was answered late: over the whole run no more was answered than was due.
    """
    achieved = judgement.achieved_ops_s
    if achieved is None or not judgement.valid:
        return
    share = achieved / attempted
    if 1 - tolerance <= share <= 1 + tolerance:
        return
    # From the first interval of warm-up to the last that is judged
    rows = (*judgement.intervals.select("warm-up"), *judgement.intervals.select("judged"))
    seconds, answered = sum(row.duration_s for row in rows), sum(row.count for row in rows)
    whole_ops_s = answered / seconds if seconds else None
    if not judgement.met and (share < 1 or not answered_more(whole_ops_s, attempted, tolerance)):
        return
    yield (
        f"{achieved:,.6g} ops/s were answered where {attempted:,.6g} ops/s were due ({share:.1%}, allowed: "
        f"{1 - tolerance:.1%} to {1 + tolerance:.1%}), so the outcome is not about that load: give the files of that "
        "load, or name the load that was run, or let what was achieved be judged (`rate: achieved`)"
    )


def answered_more(achieved_ops_s: float | None, attempted_ops_s: float, tolerance: float = RATE_TOLERANCE) -> bool:
    """Tell whether more was answered than the attempted rate allows for, beyond the tolerance.

    False where the achieved rate is not known.
    """
    return achieved_ops_s is not None and achieved_ops_s / attempted_ops_s > 1 + tolerance
