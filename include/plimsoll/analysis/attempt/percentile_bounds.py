"""Judge by percentiles over time where there are no histograms, as far as percentiles decide the outcome.

Percentiles of several operations or stretches of time can't be merged. But they bound the number of operations that
took at least as long as a service level's bound: let the value at rank r of n be known. If it is below the bound, at
most n - r operations took as long as the bound; if not, at least n - r + 1 did. The sums of these limits decide an
interval, or leave it undecided.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.analysis import grouped
from plimsoll.analysis.attempt.alignment import Phase, Window, misfits, windows
from plimsoll.analysis.attempt.intervals import SHOWN_NAMES, IntervalRow, IntervalTable
from plimsoll.analysis.attempt.judgement import (
    JudgedInterval,
    Judgement,
    Run,
    due_until_s,
    judgement_of,
    may_be_worst,
    missed_of,
    ratios_of,
    schedule_of,
    uncovered,
    unless_open,
)
from plimsoll.analysis.attempt.missed_intervals import STEADY, Answers, stalls_s, without_operations
from plimsoll.analysis.attempt.unanswered import Unanswered
from plimsoll.analysis.logs.continuity import continuity_faults
from plimsoll.analysis.logs.formats.reading import Sample
from plimsoll.analysis.logs.hdr.histogram_layout import SHOWN, ranks
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, LevelVerdict, ServiceLevel

_NO_PAYLOAD = memoryview(b"")


@dataclass(frozen=True)
class _Part:
    """The samples of one operation (or of all) in one interval."""

    window: Window
    operation: str
    samples: tuple[Sample, ...]
    failed: int
    among_times: int = 0
    is_stall: bool = False

    @property
    def count(self) -> int:
        return sum(sample.count for sample in self.samples)

    def total(self, level: ServiceLevel) -> int:
        return self.count + (self.failed - self.among_times if level.counts_failures else 0)

    def met(self, level: ServiceLevel) -> bool | None:
        """Tell whether the percentile is strictly below the bound. None where that is open, or nothing counted."""
        # Operations were due, and none was answered
        if self.is_stall or (self.failed and not self.count):
            return False
        total = self.total(level)
        if not total:
            return None
        allowed, beside = total - _rank(level.percentile, total), total - self.count
        least, most = self._slow(level)
        return True if most + beside <= allowed else False if least + beside > allowed else None

    def below(self, level: ServiceLevel) -> int:
        """Return how many operations are certainly below the bound."""
        return self.count - self._slow(level)[1]

    def _slow(self, level: ServiceLevel) -> tuple[int, int]:
        """Return how many of the counted operations are slow, at least and at most: failed ones among them are."""
        bounds = [_at_or_above(sample, level.bound_ms) for sample in self.samples]
        least, most = sum(low for low, _ in bounds), sum(high for _, high in bounds)
        failed = self.among_times if level.counts_failures else 0
        return max(least, failed), min(most + failed, self.count)

    def value(self, percentile: float) -> float | None:
        """Return the percentile's value in ms. Of a single sample it is known; of several only the maximum is."""
        counted = [sample.values_ms for sample in self.samples if sample.count]
        if percentile == 100 and all(100 in values for values in counted):
            return max((values[100] for values in counted), default=None)
        return counted[0].get(percentile) if len(counted) == 1 else None

    def judged_ms(self, level: ServiceLevel) -> float | None:
        """Return the level's percentile, ms; None where it is not known, or nothing was answered in a stall.

        With failures the percentile of answers, which the files tell, is not that of all operations: of these it is
        known to be at least the bound where it misses, and the slowest answer where it is a failure.
        """
        if not self.failed or not level.counts_failures:
            return self.value(level.percentile)
        slowest_ms = self.value(100) if self.is_floor(level) else None
        least_ms = max(level.bound_ms, self._least_ms(level.percentile), slowest_ms or 0.0)
        return least_ms if self.met(level) is False else None

    def _least_ms(self, percentile: float) -> float:
        """Return what the answers' percentile is at least: all samples' lowest, 0 where one does not tell its own.

        Of each sample fewer than that share lie below its own value, so of all of them fewer lie below the lowest.
        """
        return min((sample.values_ms.get(percentile, 0.0) for sample in self.samples if sample.count), default=0.0)

    def is_floor(self, level: ServiceLevel) -> bool:
        """Tell whether the level's percentile is a failed operation, which is slower than every answer."""
        total = self.total(level)
        return level.counts_failures and self.failed > 0 and _rank(level.percentile, total) > total - self.failed

    def judged(self, level: ServiceLevel) -> JudgedInterval:
        end_s = self.window.start_s + level.interval.total_seconds()
        value_ms, is_floor = self.judged_ms(level), self.is_floor(level)
        is_stall, counts = value_ms is None and not self.count, (self.total(level), self.below(level))
        return JudgedInterval(self.window.start_s, end_s, value_ms, self.met(level), is_floor, is_stall, *counts)


def judge_samples(
    samples: Sequence[Sample], run: Run, levels: Sequence[ServiceLevel], unanswered: Unanswered
) -> Judgement:
    """Judge percentiles over time. A run with undecided intervals is invalid, unless another interval missed."""
    by_series = grouped(((sample.operation, sample.series), sample) for sample in samples)
    tracks = [_track(own) for own in by_series.values()]
    faults = [*continuity_faults(tracks, min(level.interval.total_seconds() for level in levels))]
    if not faults:
        schedules = (schedule_of(tracks, run, level.interval) for level in levels)
        faults = [fault for schedule in schedules for fault in misfits(tracks, schedule)]
    if faults:
        return Judgement(reasons=tuple(dict.fromkeys(faults)))
    parts = {
        level: _with_stalls([*_parts(tracks, list(by_series.values()), run, level, unanswered)], level, run, unanswered)
        for level in levels
    }
    judged = {level: tuple(part.judged(level) for part in _judged(level, parts[level])) for level in levels}
    reasons = [reason for level in levels for reason in _reasons(level, parts[level], tracks, run)]
    return _judgement(parts, judged, run, unanswered, reasons)


def _track(samples: Sequence[Sample]) -> Track:
    """Return the samples as records without histograms, so that they can be aligned as histograms are."""
    first = samples[0]
    numbered = enumerate(samples, 1)
    records = (Record("", sample.start_s, sample.length_s, _NO_PAYLOAD, number) for number, sample in numbered)
    return Track(f"samples of {first.series or first.operation or ALL_OPERATIONS}", first.operation, tuple(records))


def _parts(
    tracks: Sequence[Track], samples: Sequence[Sequence[Sample]], run: Run, level: ServiceLevel, unanswered: Unanswered
) -> Iterator[_Part]:
    schedule = schedule_of(tracks, run, level.interval)
    names = (ALL_OPERATIONS, *sorted({track.operation for track in tracks} - {""}))
    for window in windows(tracks, schedule, due_until_s(schedule, run, unanswered)):
        in_window = tuple(sample for own, part in zip(samples, window.parts, strict=True) for sample in own[part])
        for name in names:
            own = tuple(sample for sample in in_window if name in (ALL_OPERATIONS, sample.operation))
            begin_s, end_s = schedule.origin_s + window.start_s, schedule.origin_s + window.end_s
            failed = unanswered.between(name, begin_s, end_s, sum(sample.count for sample in own))
            yield _Part(window, name, own, failed, unanswered.among_times_between(name, begin_s, end_s))


def _with_stalls(parts: Sequence[_Part], level: ServiceLevel, run: Run, unanswered: Unanswered) -> tuple[_Part, ...]:
    """Mark the level's intervals in which nothing was answered though operations were under way."""
    own = [part for part in parts if part.operation == level.operations]
    of_all = [part for part in parts if part.operation == ALL_OPERATIONS]
    stalls = {*stalls_s(_answers(own), _answers(of_all), run, unanswered.silence), *_silences(own)}
    return tuple(
        replace(part, is_stall=part.operation == level.operations and part.window.start_s in stalls) for part in parts
    )


def _answers(parts: Sequence[_Part]) -> list[Answers]:
    return [Answers(part.window, part.count, part.value(100), part.failed) for part in parts]


def _silences(parts: Sequence[_Part]) -> Iterator[float]:
    """Yield the starts of empty intervals after one with answers: who goes on to print figures waits for answers."""
    seen = False
    for part in parts:
        if seen and not part.count and part.samples and part.window.phase == "judged":
            yield part.window.start_s
        seen = seen or part.count >= STEADY


def _judgement(
    parts: Mapping[ServiceLevel, Sequence[_Part]],
    judged: Mapping[ServiceLevel, tuple[JudgedInterval, ...]],
    run: Run,
    unanswered: Unanswered,
    reasons: Sequence[str],
) -> Judgement:
    levels = list(parts)
    table = IntervalTable(tuple(_row(part, levels[0]) for part in parts[levels[0]]))
    judgement = judgement_of(
        table,
        [_level_verdict(level, parts[level], own) for level, own in judged.items()],
        run,
        unanswered,
        counts=[
            (part.count - part.among_times, part.failed)
            for part in parts[levels[0]]
            if part.operation == ALL_OPERATIONS and part.window.phase == "judged"
        ],
        reasons=reasons,
        notes=["judged by percentiles over time, not by histograms: a value that they don't have is left out"],
    )
    return replace(
        unless_open(judgement, judged.values()),
        stalls_s=tuple(part.window.start_s for part in parts[levels[0]] if part.is_stall),
        missed=tuple(missed for level, own in judged.items() for missed in missed_of(level, own)),
        by_level=tuple(judged.values()),
    )


def _judged(level: ServiceLevel, parts: Sequence[_Part], phase: Phase = "judged") -> list[_Part]:
    return [part for part in parts if part.window.phase == phase and part.operation == level.operations]


def _reasons(level: ServiceLevel, parts: Sequence[_Part], tracks: Sequence[Track], run: Run) -> Iterator[str]:
    judged = _judged(level, parts)
    covered = sum(part.window.phase == "judged" and part.operation == ALL_OPERATIONS for part in parts)
    yield from uncovered(covered, schedule_of(tracks, run, level.interval), level)
    empty_s = [part.window.start_s for part in judged if not part.count and part.met(level) is None]
    if not judged:
        yield "the samples cover no whole interval after warm-up, or don't distinguish the service level's operations"
    yield from without_operations(level, empty_s, len(judged))


def _level_verdict(level: ServiceLevel, parts: Sequence[_Part], judged: Sequence[JudgedInterval]) -> LevelVerdict:
    values = [interval.value_ms for interval in judged]
    known = [value for value in values if value is not None]
    is_worst_known = all(interval.value_ms is not None for interval in may_be_worst(judged))
    are_all_known = all(
        part.is_stall or value is not None for part, value in zip(_judged(level, parts), values, strict=True)
    )
    return LevelVerdict(
        service_level=level,
        met=bool(judged) and all(interval.met for interval in judged),
        judged=len(judged),
        missed=sum(interval.met is False for interval in judged),
        not_judged=len(_judged(level, parts, "partial")),
        worst_ms=max(known, default=None) if is_worst_known else None,
        ratios=ratios_of(level, values) if are_all_known else (),
        worst_is_floor=any(interval.is_floor for interval in judged),
    )


def _row(part: _Part, level: ServiceLevel) -> IntervalRow:
    window, judges = part.window, part.window.phase == "judged" and part.operation == level.operations
    return IntervalRow(
        start_s=window.start_s,
        duration_s=window.duration_s,
        phase=window.phase,
        operation=part.operation,
        count=part.count,
        rate_ops_s=part.count / window.duration_s if window.duration_s > 0 else 0.0,
        judged_ms=part.judged_ms(level),
        met=part.met(level) if judges else None,
        failed=part.failed,
        **{name: part.value(percentile) for name, percentile in zip(SHOWN_NAMES, SHOWN, strict=True)},
    )


def _at_or_above(sample: Sample, bound_ms: float) -> tuple[int, int]:
    """Return the least and the greatest number of a sample's operations that took at least as long as the bound.

    The value may be that of the rank p · n / 100 rounded up, or to nearest as HdrHistogram does before 2.1.10, which
    YCSB's releases contain. What is said holds for both, and for what the writer may have rounded off the value.
    """
    least, most = 0, sample.count
    for percentile, value in sample.values_ms.items():
        off_ms = sample.off_ms.get(percentile, 0.0)
        if value + off_ms < bound_ms:
            most = min(most, sample.count - max(1, int(percentile / 100.0 * sample.count + 0.5)))
        elif value - off_ms >= bound_ms:
            least = max(least, sample.count - _rank(percentile, sample.count) + 1)
    return least, most


def _rank(percentile: float, count: int) -> int:
    return int(ranks([percentile], count)[0])
