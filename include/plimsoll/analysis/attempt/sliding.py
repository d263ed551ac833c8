"""Sliding windows: a window begins with every record after warm-up, so that windows overlap.

Aligned intervals are a subset of them, so sliding windows miss at least as often. Azul's own analyser slides windows
too (AzulSystems/tussle-framework, MovingWindowSumHistogram).
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.analysis.attempt.alignment import Window, due_until_s, schedule_of
from plimsoll.analysis.attempt.intervals import IntervalTable, Measured, Wanted, maxima, maxima_by_operation
from plimsoll.analysis.attempt.judgement import Judgement, Run
from plimsoll.analysis.attempt.level_outcomes import Evaluation, all_missed, unless_open
from plimsoll.analysis.attempt.unanswered import Unanswered
from plimsoll.analysis.logs.hdr.histograms import Decoder, Ints, Unit
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, ServiceLevel
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
    by_level = [_by_windows(verdict.service_level, tracks, run, unit, unanswered) for verdict in judgement.levels]
    judged = [own.judged if own else [] for own in by_level]
    levels = tuple(own.verdict if own else aligned for own, aligned in zip(by_level, judgement.levels, strict=True))
    missed = (*judgement.missed, *all_missed(levels, judged))
    reasons = tuple(reason for own in by_level if own for reason in own.unexplained())
    judgement = unless_open(replace(judgement, levels=levels, missed=missed, reasons=reasons), judged)
    first = by_level[0]
    if first is None or not first.measured:
        return judgement
    slides = _slides(tracks, run, first.level, unanswered)
    table = IntervalTable(tuple(window.row(first.level) for window in first.measured))
    return replace(
        judgement,
        intervals=table,
        maxima=maxima(table.select("judged")),
        maxima_by_operation=maxima_by_operation(table),
        stalls_s=first.stalls_s,
        notes=(*judgement.notes, f"windows slide: one of {slides.steps} records begins every {slides.step_s:g} s"),
    )


def _by_windows(
    level: ServiceLevel, tracks: Sequence[Track], run: Run, unit: Unit, unanswered: Unanswered
) -> Evaluation | None:
    """Return the level over sliding windows; None where it does not ask for them."""
    if level.windows == "aligned":
        return None
    slides = _slides(tracks, run, level, unanswered)
    measured = tuple(_measured(tracks, slides, Decoder(unit), Wanted([level], unanswered, slides.origin_s)))
    return Evaluation(level, schedule_of(tracks, run, level.interval), measured, run, unanswered)


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
