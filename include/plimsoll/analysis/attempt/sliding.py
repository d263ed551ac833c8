"""Sliding windows: a window begins with every record after warm-up, so that windows overlap.

Aligned intervals are a subset of them, so sliding windows miss at least as often. Azul's own analyser slides windows
too (AzulSystems/tussle-framework, MovingWindowSumHistogram).
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.analysis.attempt.alignment import Window
from plimsoll.analysis.attempt.intervals import IntervalTable, Measured, Wanted, maxima, maxima_by_operation
from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.level_outcomes import all_missed, judged_of, level_verdict, unless_open
from plimsoll.analysis.attempt.missed_intervals import stalls_s, unexplained_s, without_operations
from plimsoll.analysis.attempt.run_times import due_until_s, schedule_of
from plimsoll.analysis.attempt.unanswered import Unanswered
from plimsoll.analysis.logs.hdr.decode import Decoder
from plimsoll.analysis.logs.hdr.histogram_layout import Ints, Unit
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, LevelVerdict, ServiceLevel
from plimsoll.domain.text.errors import LogError


@dataclass(frozen=True)
class _Slides:
    """The positions of windows: `steps` records of `step_s` form one. The first begins `warmup_s` after the start."""

    origin_s: float
    warmup_s: float
    step_s: float
    steps: int
    last: int


def slid(judgement: Judgement, tracks: Sequence[Track], run: Run, unit: Unit, unanswered: Unanswered) -> Judgement:
    """Return the same judgement, with sliding windows for the service levels that ask for them.

    If the first service level asks for them, the table holds windows in place of intervals, too. Operations, rate and
    remarks stay those of the aligned intervals, which count every record once. Raises LogError where a window is not a
    whole number of records.
    """
    by_level = [_by_windows(verdict, tracks, run, unit, unanswered) for verdict in judgement.levels]
    judged = [judged_of(own.level, own.measured) for own in by_level]
    levels = tuple(own.verdict for own in by_level)
    missed = (*judgement.missed, *all_missed(levels, judged))
    reasons = tuple(reason for own in by_level for reason in own.reasons)
    judgement = unless_open(replace(judgement, levels=levels, missed=missed, reasons=reasons), judged)
    first = by_level[0]
    if not first.measured:
        return judgement
    table = IntervalTable(tuple(window.row(first.level) for window in first.measured))
    return replace(
        judgement,
        intervals=table,
        maxima=maxima(table.select("judged")),
        maxima_by_operation=maxima_by_operation(table),
        stalls_s=first.stalls_s,
        notes=(*judgement.notes, first.note),
    )


@dataclass(frozen=True)
class _ByWindows:
    """One service level's verdict by one kind of windows. All else is set only for sliding windows."""

    verdict: LevelVerdict
    measured: tuple[Measured, ...] = ()
    stalls_s: tuple[float, ...] = ()
    note: str = ""

    @property
    def level(self) -> ServiceLevel:
        return self.verdict.service_level

    @property
    def reasons(self) -> Iterator[str]:
        judged = _of(self.measured, self.level.operations)
        return without_operations(self.level, unexplained_s(judged, self.stalls_s), len(judged))


def _of(measured: Iterable[Measured], operation: str) -> list[Measured]:
    return [window for window in measured if window.operation == operation]


def _by_windows(
    aligned: LevelVerdict, tracks: Sequence[Track], run: Run, unit: Unit, unanswered: Unanswered
) -> _ByWindows:
    level = aligned.service_level
    if level.windows == "aligned":
        return _ByWindows(aligned)
    slides = _slides(tracks, run, level, unanswered)
    wanted = Wanted([level], unanswered, slides.origin_s)
    measured = tuple(_measured(tracks, slides, Decoder(unit), wanted))
    stalls = stalls_s(_of(measured, level.operations), _of(measured, ALL_OPERATIONS), run, unanswered.silence)
    note = f"windows slide: one of {slides.steps} records begins every {slides.step_s:g} s"
    return _ByWindows(level_verdict(level, judged_of(level, measured)), measured, stalls, note)


def _slides(tracks: Sequence[Track], run: Run, level: ServiceLevel, unanswered: Unanswered) -> _Slides:
    schedule = schedule_of(tracks, run, level.interval)
    step_s = max(track.record_s for track in tracks)
    steps = round(schedule.interval_s / step_s)
    if abs(steps * step_s - schedule.interval_s) > schedule.misfit_s:
        what = f"records of {step_s:g} s do not divide windows of {schedule.interval_s:g} s"
        raise LogError(what, where=tracks[0].name, mend="give `--interval` as a multiple of the records' length")
    # Records are seldom exactly as long as they should be. Steps are, so that windows do not drift.
    step_s = schedule.interval_s / steps
    answered_until_s = min(float(track.ends[-1]) for track in tracks)
    until_s = max(answered_until_s, due_until_s(schedule, run, unanswered) or answered_until_s)
    end_s = until_s - schedule.origin_s + schedule.misfit_s
    planned_s = schedule.interval_s * schedule.planned if schedule.planned is not None else end_s - schedule.warmup_s
    judged_s = min(end_s - schedule.warmup_s, planned_s)
    # A whole number of steps may be a little less in floating point
    return _Slides(schedule.origin_s, schedule.warmup_s, step_s, steps, int(judged_s / step_s + 1e-6) - 1)


def _measured(tracks: Sequence[Track], slides: _Slides, decoder: Decoder, wanted: Wanted) -> Iterator[Measured]:
    """Yield each window's values, from a running sum that gains the newest step and loses the oldest one."""
    inside: deque[Mapping[str, Ints]] = deque()
    sums: dict[str, Ints] = {}
    for number in range(slides.last + 1):
        newest = _step(tracks, slides, number, decoder)
        inside.append(newest)
        sums = {name: sums.get(name, np.zeros_like(counts)) + counts for name, counts in newest.items()}
        if len(inside) > slides.steps:
            oldest = inside.popleft()
            sums = {name: counts - oldest[name] for name, counts in sums.items()}
        if len(inside) == slides.steps:
            yield from _of_window(sums, slides, number - slides.steps + 1, decoder.unit, wanted)


def _step(tracks: Sequence[Track], slides: _Slides, number: int, decoder: Decoder) -> dict[str, Ints]:
    """Return the counts of one step, by operation: of the records whose middle lies in the step."""
    borders = slides.origin_s + slides.warmup_s + np.array([number, number + 1]) * slides.step_s
    by_name: dict[str, Ints] = {}
    for track in tracks:
        first, end = np.searchsorted((track.starts + track.ends) / 2, borders)
        # Of full length, so that steps can be added to a window and taken off it
        counts = decoder.merge(track.records[int(first) : int(end)], track.name)
        for name in dict.fromkeys((ALL_OPERATIONS, track.operation or ALL_OPERATIONS)):
            by_name[name] = by_name[name] + counts if name in by_name else counts
    return by_name


def _of_window(
    sums: Mapping[str, Ints], slides: _Slides, number: int, unit: Unit, wanted: Wanted
) -> Iterator[Measured]:
    start_s = slides.warmup_s + number * slides.step_s
    length_s = round(slides.steps * slides.step_s, 3)
    window = Window(round(start_s, 3), round(start_s + length_s, 3), length_s, "judged", ())
    for name in (ALL_OPERATIONS, *sorted(sums.keys() - {ALL_OPERATIONS})):
        yield wanted.of(sums[name], window, name, unit)
