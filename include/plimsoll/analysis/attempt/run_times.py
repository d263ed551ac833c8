"""The times of a run: where its intervals lie, until when operations were due, and what failed in the judged time."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from math import inf, nextafter

from plimsoll.analysis.attempt.alignment import MISFIT, Schedule
from plimsoll.analysis.attempt.intervals import IntervalTable
from plimsoll.analysis.attempt.judgement import Run
from plimsoll.analysis.attempt.unanswered import Silence, Unanswered
from plimsoll.analysis.logs.formats.reading import Reading, totals
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.text.units import format_duration
from plimsoll.domain.text.wording import plural


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
