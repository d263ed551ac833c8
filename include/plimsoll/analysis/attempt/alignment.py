"""The times of a run: the division of its records into intervals, which are aligned to the end of warm-up; until when
operations were due; and what failed in the judged time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from math import inf, nextafter
from typing import TYPE_CHECKING, Literal

import numpy as np

from plimsoll.analysis.attempt.unanswered import Silence, Unanswered
from plimsoll.analysis.logs.hdr.histograms import Ints
from plimsoll.analysis.logs.operations import Floats, Track, continuity_faults, totals
from plimsoll.domain.text.units import format_duration
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    from plimsoll.analysis.attempt.intervals import IntervalTable
    from plimsoll.analysis.attempt.judgement import Run
    from plimsoll.analysis.logs.formats.reading import Reading
    from plimsoll.domain.keys.service_level import ServiceLevel

Phase = Literal["warm-up", "judged", "partial"]

MISFIT = 0.05
"""The share of an interval by which it may begin or end beside its place, since records can't be cut."""


@dataclass(frozen=True)
class Schedule:
    """The positions of intervals. `origin_s` (since the epoch) is the start of the timed run, from which times count.

    `planned` is the number of intervals to judge, if that is known. Later intervals are not judged.
    """

    origin_s: float
    warmup_s: float
    interval_s: float
    planned: int | None = None

    @property
    def misfit_s(self) -> float:
        """Tell how far a record may extend across the border of an interval, s."""
        return MISFIT * self.interval_s

    @property
    def planned_end_s(self) -> float | None:
        """Tell when the last interval to judge ends, s since the epoch; None where that is not known."""
        return None if self.planned is None else self.origin_s + self.warmup_s + self.planned * self.interval_s

    def place(self, times_s: Floats) -> Ints:
        """Return the number of the interval with each time. 0 begins when warm-up ends; earlier are negative."""
        return np.floor((times_s - self.origin_s - self.warmup_s) / self.interval_s).astype(np.int64)


@dataclass(frozen=True)
class Window:
    """One interval: start and end from the timed run's start, the seconds that its records cover, and which records.

    Where operations are known to have been due after the records' end, `duration_s` holds that time, too.
    """

    start_s: float
    end_s: float
    duration_s: float
    phase: Phase
    parts: tuple[slice, ...]
    """The records of each track in this interval."""


@dataclass(frozen=True)
class _Placed:
    """A track, with the number of the interval that contains the middle of each of its records."""

    track: Track
    schedule: Schedule

    @cached_property
    def numbers(self) -> Ints:
        return self.schedule.place((self.track.starts + self.track.ends) / 2)

    def part(self, number: int) -> slice:
        """Return the records in that interval: none before the first record's interval and after the last one's."""
        index = number - int(self.numbers[0])
        if not 0 <= index < len(self._borders) - 1:
            return slice(0, 0)
        return slice(self._borders[index], self._borders[index + 1])

    @cached_property
    def _borders(self) -> list[int]:
        """Return the number of each interval's first record, from that of the first to one after the last."""
        # One search for all borders, since two for each interval take much longer
        numbers = np.arange(self.numbers[0], self.numbers[-1] + 2)
        return [int(border) for border in np.searchsorted(self.numbers, numbers)]

    def covered_s(self, number: int) -> float:
        part = self.part(number)
        return float(self.track.ends[part][-1] - self.track.starts[part][0]) if part.stop > part.start else 0.0


def windows(tracks: Sequence[Track], schedule: Schedule, due_until_s: float | None = None) -> tuple[Window, ...]:
    """Return all intervals that the tracks touch, in order. The tracks must have passed `continuity_faults`.

    `due_until_s`, s since the epoch: operations were due until then, answered or not, so intervals go on until then.
    """
    placed = [_Placed(track, schedule) for track in tracks]
    first = min(int(placed_track.numbers[0]) for placed_track in placed)
    last = max(int(placed_track.numbers[-1]) for placed_track in placed)
    end_s = answered_s = min(float(track.ends[-1]) for track in tracks)
    if due_until_s is not None and due_until_s > end_s:
        end_s = due_until_s
        # Nothing was due in an interval that begins just at that end
        last = max(last, int(schedule.place(np.array([np.nextafter(end_s, -np.inf)]))[0]))
    answered_s, end_s = answered_s - schedule.origin_s, end_s - schedule.origin_s
    return tuple(_window(number, placed, schedule, answered_s, end_s) for number in range(first, last + 1))


def _window(number: int, placed: Sequence[_Placed], schedule: Schedule, answered_s: float, log_end_s: float) -> Window:
    """Return that interval; operations were answered until `answered_s`, and due until `log_end_s`."""
    end_s = schedule.warmup_s + (number + 1) * schedule.interval_s
    start_s = max(0.0, schedule.warmup_s + number * schedule.interval_s)  # none starts before the timed run
    goes_on = answered_s < min(end_s, log_end_s)
    covered_s = 0.0 if goes_on else max(placed_track.covered_s(number) for placed_track in placed)
    is_complete = log_end_s >= end_s - schedule.misfit_s
    is_wanted = schedule.planned is None or number < schedule.planned
    return Window(
        start_s=round(start_s, 3),
        end_s=round(end_s, 3),
        duration_s=round(covered_s or min(end_s, log_end_s) - start_s, 3),
        phase="warm-up" if number < 0 else "judged" if is_complete and is_wanted else "partial",
        parts=tuple(placed_track.part(number) for placed_track in placed),
    )


def misfits(tracks: Sequence[Track], schedule: Schedule) -> Iterator[str]:
    """Explain why the tracks' records can't be cut into its intervals; one sentence for each such track."""
    for track in tracks:
        late_s = float(track.starts[0] - schedule.origin_s)
        off = _furthest_off(_Placed(track, schedule))
        if abs(late_s) > schedule.misfit_s:
            yield f"{track.name}: begins {late_s:+.3f} s from the start of the timed run"
        elif track.record_s > schedule.interval_s + schedule.misfit_s:
            lengths = f"its records of {track.record_s:g} s are longer than intervals of {schedule.interval_s:g} s"
            yield f"{track.name}: {lengths}"
        elif abs(off) > schedule.misfit_s:
            yield (
                f"{track.name}: its records of {track.record_s:g} s do not fit intervals of {schedule.interval_s:g} s "
                f"after {schedule.warmup_s:g} s of warm-up: a border lies {off:+.3f} s beside a record's"
            )


def unplaceable(tracks: Sequence[Track], schedules: Collection[Schedule], run: Run) -> tuple[str, ...]:
    """Return why the tracks' records can't be placed in intervals; empty where they can be.

    Only records without gaps and overlaps can be.
    """
    shortest_s = min(schedule.interval_s for schedule in schedules)
    faults = continuity_faults(tracks, shortest_s, planned_end_s(schedules, run))
    return tuple(dict.fromkeys(faults or (fault for schedule in schedules for fault in misfits(tracks, schedule))))


def _furthest_off(placed: _Placed) -> float:
    """Return the greatest distance of any interval's border from the nearest start of a record, s."""
    firsts = np.flatnonzero(np.diff(placed.numbers)) + 1
    if not len(firsts):
        return 0.0
    schedule = placed.schedule
    borders_s = schedule.origin_s + schedule.warmup_s + placed.numbers[firsts] * schedule.interval_s
    off = placed.track.starts[firsts] - borders_s
    return float(off[np.argmax(np.abs(off))])


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


def planned_end_s(schedules: Iterable[Schedule], run: Run) -> float | None:
    """Return when logs may end at different times, s since the epoch: once the last interval is over; None: not known.

    Of a load that a stop rule ended they always may. A program that fell silent, and was ended for it, has written
    nothing for so long, while other load hosts went on.
    """
    ends = [end_s for schedule in schedules if (end_s := schedule.planned_end_s) is not None]
    return -inf if run.stopped else max(ends, default=None)


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
