"""The outcomes of service levels over the intervals of a run, and the judgement on the run that they make."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from plimsoll.analysis.attempt.alignment import Phase, Schedule, uncovered
from plimsoll.analysis.attempt.intervals import IntervalRow, IntervalTable, Measured, maxima, maxima_by_operation
from plimsoll.analysis.attempt.judgement import JudgedInterval, Judgement, MissedInterval, Run
from plimsoll.analysis.attempt.missed_intervals import stalls_s, unexplained_s, without_operations
from plimsoll.analysis.attempt.unanswered import Unanswered
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, LevelVerdict, ServiceLevel
from plimsoll.domain.text.units import format_duration, four_digits
from plimsoll.domain.text.wording import plural


@dataclass(frozen=True)
class Evaluation:
    """A service level over a run's windows, measured at the percentiles of all levels with windows of that length."""

    level: ServiceLevel
    schedule: Schedule
    measured: tuple[Measured, ...]
    run: Run
    unanswered: Unanswered

    def of(self, operations: str, phase: Phase | None = None) -> list[Measured]:
        """Return the windows of some operations, of all phases or of one."""
        own = (interval for interval in self.measured if interval.operation == operations)
        return [interval for interval in own if phase in (None, interval.window.phase)]

    @cached_property
    def judged(self) -> list[JudgedInterval]:
        """Return the judged intervals; one without an answer and a value is a stall, or the run is invalid."""
        own = self.of(self.level.operations, "judged")
        return [_judged(interval, self.level) for interval in own if interval.window.start_s not in self._open_s]

    @cached_property
    def stalls_s(self) -> tuple[float, ...]:
        own, of_all = self.of(self.level.operations), self.of(ALL_OPERATIONS)
        active_s = [interval.window.start_s for interval in of_all if interval.count or interval.failed]
        # Later ones may lie behind the load's end
        waiting_s = {start_s for start_s in self._waiting_s if start_s < max(active_s, default=0.0)}
        return tuple(sorted({*stalls_s(own, of_all, self.run, self.unanswered.silence), *waiting_s}))

    @cached_property
    def _waiting_s(self) -> frozenset[float]:
        """Return the starts of the judged intervals in which nothing ended or failed, as one that got no answer was
        waited for all along.
        """
        origin_s, misfit_s = self.schedule.origin_s, self.schedule.misfit_s
        windows = (one.window for one in self.of(self.level.operations, "judged") if not one.count and not one.failed)
        spans = ((own.start_s, origin_s + own.start_s, origin_s + own.end_s - misfit_s) for own in windows)
        operations = self.level.operations
        return frozenset(start_s for start_s, *span in spans if self.unanswered.waits_through(operations, *span))

    @cached_property
    def _open_s(self) -> frozenset[float]:
        """Return the starts of those that may lie behind the load's end, as nothing began after them."""
        return self._waiting_s.difference(self.stalls_s)

    @property
    def verdict(self) -> LevelVerdict:
        return level_verdict(self.level, self.judged, len(self.of(ALL_OPERATIONS, "partial")) + len(self._open_s))

    def row(self, interval: Measured) -> IntervalRow:
        """Return the interval as a row of the table of the run, of which this is the first service level."""
        row = interval.row(self.level)
        # Of other operations there may be answers
        is_open = interval.window.start_s in self._open_s and not (interval.count or interval.failed)
        return replace(row, phase="partial", met=None) if is_open else row

    def reasons(self) -> Iterator[str]:
        """Yield why the measurement is unsound."""
        covered = len(self.of(ALL_OPERATIONS, "judged"))
        yield from uncovered(covered, self.schedule, self.level)
        if not covered:
            end_s = sum(interval.window.duration_s for interval in self.of(ALL_OPERATIONS))
            yield f"the logs cover {end_s:g} s: no whole interval after {self.schedule.warmup_s:g} s of warm-up"
        elif not self.of(self.level.operations, "judged"):
            yield f"the logs don't distinguish {self.level.operations}, so their service level can't be judged"
        if self.level.windows == "aligned":  # windows that slide have their own reasons
            yield from self.unexplained()

    def unexplained(self) -> Iterator[str]:
        """Yield the reason against windows without an operation that are no stalls.

        Where another one missed, those that may lie behind the load's end change nothing.
        """
        judged = self.of(self.level.operations, "judged")
        empty_s = unexplained_s(judged, self.stalls_s)
        if self.level.windows == "sliding":  # one that begins within a stall holds the rest of it
            length_s = self.schedule.interval_s
            empty_s = [
                start_s for start_s in empty_s if not any(0 < start_s - at_s < length_s for at_s in self.stalls_s)
            ]
        if any(own.met is False and own.start_s not in empty_s for own in self.judged):
            empty_s = [start_s for start_s in empty_s if start_s not in self._open_s]
        yield from without_operations(self.level, empty_s, len(judged))

    def notes(self) -> Iterator[str]:
        if self.stalls_s:
            intervals = f"{plural(len(self.stalls_s), 'interval')} of {format_duration(self.level.interval)}"
            first = f"the first at {self.stalls_s[0]:g} s, though operations were under way: missed"
            yield f"nothing was answered in {intervals}, {first}"


def _judged(interval: Measured, level: ServiceLevel) -> JudgedInterval:
    start_s, value_ms = interval.window.start_s, interval.value_ms(level)
    total, below = interval.total_and_below(level)
    return JudgedInterval(
        start_s=start_s,
        end_s=start_s + level.interval.total_seconds(),
        value_ms=value_ms,
        met=interval.meets(level),
        is_floor=interval.is_floor(level),
        is_stall=value_ms is None and not interval.count,
        total=total,
        below=below,
    )


def judgement_of(evaluations: Sequence[Evaluation], *, lost: Iterable[str] = (), notes: Iterable[str]) -> Judgement:
    """Return the judgement on a run with its table, by the evaluation of each service level.

    `lost`: further reasons. Windows that slide get neither into `missed` nor into `by_level`. Repeated reasons are
    dropped.
    """
    first, levels = evaluations[0], tuple(own.verdict for own in evaluations)
    run, unanswered = first.run, first.unanswered
    table = IntervalTable(tuple(map(first.row, first.measured)))
    answered = sum(interval.answers for interval in first.of(ALL_OPERATIONS))
    counts = [(interval.answers, interval.failed) for interval in first.of(ALL_OPERATIONS, "judged")]
    rows = table.select("judged")
    operations, seconds = sum(row.count for row in rows), sum(row.duration_s for row in rows)
    achieved = operations / seconds if seconds else None
    least_ops_s = None if run.attempted_ops_s is None else (1 - run.rate_tolerance) * run.attempted_ops_s
    by_level = tuple(tuple(own.judged) if own.level.windows == "aligned" else () for own in evaluations)
    judgement = Judgement(
        intervals=table,
        levels=levels,
        maxima=maxima(rows),
        maxima_by_operation=maxima_by_operation(table),
        operations=operations,
        achieved_ops_s=achieved,
        rate_achieved=None if least_ops_s is None else achieved is not None and achieved >= least_ops_s,
        stalls_s=first.stalls_s,
        missed=all_missed(levels, by_level),
        failed_share=unanswered.share(counts, answered),
        reasons=tuple(dict.fromkeys((*(reason for own in evaluations for reason in own.reasons()), *lost))),
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
    """Yield why service levels are left open: by percentiles over time, failures without a time, a tool that gave up.

    There is none where the run has missed by any level or its failures: it has, whatever the others are.
    """
    if judgement.too_many_failed or any(level.missed for level in judgement.levels):
        return
    if judgement.unanswered.gave_up:
        yield judgement.unanswered.gave_up
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
            end_s = interval.start_s + length_s
            yield MissedInterval(interval.start_s, end_s, late_ms, level.stall_ms, interval.is_stall)


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
