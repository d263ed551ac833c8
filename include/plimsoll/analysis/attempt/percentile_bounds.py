"""Judge by percentiles over time where there are no histograms, as far as percentiles decide the outcome.

Percentiles of several operations or stretches of time can't be merged. But they bound the number of operations that
took at least as long as a service level's bound: let the value at rank r of n be known. If it is below the bound, at
most n - r operations took as long as the bound; if not, at least n - r + 1 did. The sums of these limits decide an
interval, or leave it undecided.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from plimsoll.analysis import grouped
from plimsoll.analysis.attempt.alignment import Schedule, due_until_s, schedule_of, uncovered, unplaceable, windows
from plimsoll.analysis.attempt.intervals import Measured
from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.level_outcomes import Evaluation, judgement_of, level_verdict, may_be_worst
from plimsoll.analysis.attempt.missed_intervals import STEADY, stalls_s, without_operations
from plimsoll.analysis.attempt.unanswered import Unanswered
from plimsoll.analysis.logs.formats.reading import Sample
from plimsoll.analysis.logs.hdr.histograms import ranks
from plimsoll.analysis.logs.hdr.record_line import Record
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, LevelVerdict, ServiceLevel


@dataclass(frozen=True)
class _Part(Measured):
    """The samples of one operation (or of all) in one interval."""

    samples: tuple[Sample, ...] = ()
    is_stall: bool = False

    def total(self, level: ServiceLevel) -> int:
        return self.answers + self.failed if level.counts_failures else self.count

    def meets(self, level: ServiceLevel) -> bool | None:
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

    def total_and_below(self, level: ServiceLevel) -> tuple[int, int]:
        return self.total(level), self.count - self._slow(level)[1]

    def _slow(self, level: ServiceLevel) -> tuple[int, int]:
        """Return how many of the counted operations are slow, at least and at most: failed ones among them are."""
        bounds = [_at_or_above(sample, level.bound_ms) for sample in self.samples]
        least, most = sum(low for low, _ in bounds), sum(high for _, high in bounds)
        failed = self.among_times if level.counts_failures else 0
        return max(least, failed), min(most + failed, self.count)

    def shown_ms(self, percentile: float) -> float | None:
        """Return the percentile's value in ms. Of a single sample it is known; of several only the maximum is."""
        counted = [sample.values_ms for sample in self.samples if sample.count]
        if percentile == 100 and all(100 in values for values in counted):
            return max((values[100] for values in counted), default=None)
        return counted[0].get(percentile) if len(counted) == 1 else None

    def value_ms(self, level: ServiceLevel) -> float | None:
        """Return the level's percentile, ms; None where it is not known, or nothing was answered in a stall.

        With failures the percentile of answers, which the files tell, is not that of all operations: of these it is
        known to be at least the bound where it misses, and the slowest answer where it is a failure.
        """
        if not self.failed or not level.counts_failures:
            return self.shown_ms(level.percentile)
        slowest_ms = self.shown_ms(100) if self.is_floor(level) else None
        least_ms = max(level.bound_ms, self._least_ms(level.percentile), slowest_ms or 0.0)
        return least_ms if self.meets(level) is False else None

    def _least_ms(self, percentile: float) -> float:
        """Return what the answers' percentile is at least: all samples' lowest, 0 where one does not tell its own.

        Of each sample fewer than that share lie below its own value, so of all of them fewer lie below the lowest.
        """
        return min((sample.values_ms.get(percentile, 0.0) for sample in self.samples if sample.count), default=0.0)

    def is_floor(self, level: ServiceLevel) -> bool:
        total = self.total(level)
        return level.counts_failures and self.failed > 0 and _rank(level.percentile, total) > total - self.failed


@dataclass(frozen=True)
class _Evaluation(Evaluation):
    """A service level over a run's intervals, as far as percentiles decide it."""

    measured: tuple[_Part, ...]

    @cached_property
    def stalls_s(self) -> tuple[float, ...]:
        return tuple(part.window.start_s for part in self.measured if part.is_stall)

    @property
    def verdict(self) -> LevelVerdict:
        verdict = level_verdict(self.level, self.judged, len(self.of(self.level.operations, "partial")))
        is_worst_known = all(interval.value_ms is not None for interval in may_be_worst(self.judged))
        stalls = frozenset(self.stalls_s)
        are_known = all(
            part.window.start_s in stalls or part.value_ms(self.level) is not None
            for part in self.of(self.level.operations, "judged")
        )
        worst_ms, ratios = verdict.worst_ms if is_worst_known else None, verdict.ratios if are_known else ()
        return verdict.model_copy(update={"worst_ms": worst_ms, "ratios": ratios})

    def reasons(self) -> Iterator[str]:
        """Yield why the measurement is unsound."""
        judged = self.of(self.level.operations, "judged")
        yield from uncovered(len(self.of(ALL_OPERATIONS, "judged")), self.schedule, self.level)
        if not judged:
            yield (
                "the samples cover no whole interval after warm-up, or don't distinguish the service level's operations"
            )
        empty_s = [part.window.start_s for part in judged if not part.count and part.meets(self.level) is None]
        yield from without_operations(self.level, empty_s, len(judged))


def judge_samples(
    samples: Sequence[Sample], run: Run, levels: Sequence[ServiceLevel], unanswered: Unanswered
) -> Judgement:
    """Judge percentiles over time. A run with undecided intervals is invalid, unless another interval missed."""
    by_series = list(grouped(((sample.operation, sample.series), sample) for sample in samples).values())
    tracks = list(map(_track, by_series))
    schedules = {level: schedule_of(tracks, run, level.interval) for level in levels}
    if faults := unplaceable(tracks, schedules.values(), run):
        return Judgement(reasons=faults)
    evaluations = [
        _Evaluation(
            level,
            schedule,
            _with_stalls([*_parts(tracks, by_series, run, schedule, unanswered)], level, run, unanswered),
            run,
            unanswered,
        )
        for level, schedule in schedules.items()
    ]
    note = "judged by percentiles over time, not by histograms: a value that they don't have is left out"
    return judgement_of(evaluations, notes=[note])


def _track(samples: Sequence[Sample]) -> Track:
    """Return the samples as records without histograms, so that they can be aligned as histograms are."""
    first = samples[0]
    numbered = enumerate(samples, 1)
    records = (Record("", sample.start_s, sample.length_s, memoryview(b""), number) for number, sample in numbered)
    return Track(f"samples of {first.series or first.operation or ALL_OPERATIONS}", first.operation, tuple(records))


def _parts(
    tracks: Sequence[Track], samples: Sequence[Sequence[Sample]], run: Run, schedule: Schedule, unanswered: Unanswered
) -> Iterator[_Part]:
    names = (ALL_OPERATIONS, *sorted({track.operation for track in tracks} - {""}))
    for window in windows(tracks, schedule, due_until_s(schedule, run, unanswered)):
        in_window = tuple(sample for own, part in zip(samples, window.parts, strict=True) for sample in own[part])
        for name in names:
            own = tuple(sample for sample in in_window if name in (ALL_OPERATIONS, sample.operation))
            begin_s, end_s = schedule.origin_s + window.start_s, schedule.origin_s + window.end_s
            count = sum(sample.count for sample in own)
            failed = unanswered.between(name, begin_s, end_s, count)
            among_times = unanswered.among_times_between(name, begin_s, end_s)
            yield _Part(window, name, count, {}, failed, among_times, samples=own)


def _with_stalls(parts: Sequence[_Part], level: ServiceLevel, run: Run, unanswered: Unanswered) -> tuple[_Part, ...]:
    """Mark the level's intervals in which nothing was answered though operations were under way."""
    own = [part for part in parts if part.operation == level.operations]
    of_all = [part for part in parts if part.operation == ALL_OPERATIONS]
    stalls = {*stalls_s(own, of_all, run, unanswered.silence), *_silences(own)}
    return tuple(
        replace(part, is_stall=part.operation == level.operations and part.window.start_s in stalls) for part in parts
    )


def _silences(parts: Sequence[_Part]) -> Iterator[float]:
    """Yield the starts of empty intervals after one with answers: who goes on to print figures waits for answers."""
    seen = False
    for part in parts:
        if seen and not part.count and part.samples and part.window.phase == "judged":
            yield part.window.start_s
        seen = seen or part.count >= STEADY


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
