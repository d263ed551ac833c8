"""Turn the response times of one attempt into intervals, and decide whether each service level was met. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

from plimsoll.analysis.attempt.alignment import Schedule, Window, misfits, windows
from plimsoll.analysis.attempt.few_operations import few_in_intervals
from plimsoll.analysis.attempt.intervals import Measured, Wanted, measure
from plimsoll.analysis.attempt.judgement import JudgedInterval, Judgement, Run, unreadable
from plimsoll.analysis.attempt.level_outcomes import judged_of, judgement_of, level_verdict
from plimsoll.analysis.attempt.missed_intervals import stalls_s, unexplained_s, without_operations
from plimsoll.analysis.attempt.run_times import (
    due_until_s,
    judged_errors,
    planned_end_s,
    schedule_of,
    silence_of,
    uncovered,
)
from plimsoll.analysis.attempt.unanswered import Silence, Unanswered
from plimsoll.analysis.logs.continuity import continuity_faults, continuity_notes
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.analysis.logs.hdr.decode import Decoder
from plimsoll.analysis.logs.hdr.histogram_layout import Ints, Unit
from plimsoll.analysis.logs.operations import Track
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, LevelVerdict, ServiceLevel
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.units import format_duration
from plimsoll.domain.text.wording import plural


@dataclass(frozen=True)
class _Evaluation:
    """A service level over a run's windows, measured at the percentiles of all levels with intervals of that length."""

    level: ServiceLevel
    schedule: Schedule
    measured: tuple[Measured, ...]
    run: Run
    silence: Silence | None

    def of(self, operations: str) -> list[Measured]:
        return [interval for interval in self.measured if interval.operation == operations]

    @property
    def windows(self) -> list[Window]:
        return [interval.window for interval in self.of(ALL_OPERATIONS)]

    @cached_property
    def judged(self) -> list[JudgedInterval]:
        return judged_of(self.level, self.measured)

    @cached_property
    def stalls_s(self) -> tuple[float, ...]:
        return stalls_s(self.of(self.level.operations), self.of(ALL_OPERATIONS), self.run, self.silence)

    @property
    def verdict(self) -> LevelVerdict:
        return level_verdict(self.level, self.judged, sum(window.phase == "partial" for window in self.windows))

    def reasons(self) -> Iterator[str]:
        """Yield why the measurement is unsound."""
        judged = [interval for interval in self.of(self.level.operations) if interval.window.phase == "judged"]
        covered = sum(window.phase == "judged" for window in self.windows)
        yield from uncovered(covered, self.schedule, self.level)
        if not covered:
            end_s = sum(window.duration_s for window in self.windows)
            yield f"the logs cover {end_s:g} s: no whole interval after {self.schedule.warmup_s:g} s of warm-up"
        elif not judged:
            yield f"the logs don't distinguish {self.level.operations}, so their service level can't be judged"
        if self.level.windows == "aligned":  # windows that slide have their own reasons
            yield from without_operations(self.level, unexplained_s(judged, self.stalls_s), len(judged))

    def notes(self) -> Iterator[str]:
        if self.stalls_s:
            intervals = f"{plural(len(self.stalls_s), 'interval')} of {format_duration(self.level.interval)}"
            first = f"the first at {self.stalls_s[0]:g} s, though operations were under way: missed"
            yield f"nothing was answered in {intervals}, {first}"


def judge_logs(  # noqa: PLR0913  # one for each thing a user may say of the files
    files: Mapping[str, bytes],
    run: Run,
    levels: Sequence[ServiceLevel],
    *,
    unit: Unit | None = None,
    kinds: Mapping[str, str] | None = None,
    tags: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    forced: str | None = None,
) -> Judgement:
    """Judge a load generator's files of one run. `files`: contents by file name; names may tell what a file holds.

    `unit`: the unit of the histograms' values; by default the unit that the load generator is known to write, or that
    the logs show themselves. `kinds` maps further operation names to `reads` or `writes`. `tags`: the tags to judge in
    logs with tags. `columns`: what the columns of a log of operations hold. `forced` is the name of the files' format,
    by default detected from their content. Files that can't be read make the measurement invalid; no error is raised.
    """
    try:
        options = ReadOptions(unit, kinds or {}, tuple(tags), columns or {})
        reading = read_run([RunFile(name, data) for name, data in files.items()], options, forced)
        return judge_reading(reading, run, levels)
    except LogError as error:
        return unreadable(error)


def judge_load_hosts(
    files: Mapping[str, Mapping[str, bytes]],
    run: Run,
    levels: Sequence[ServiceLevel],
    options: ReadOptions,
    ahead_ms: Mapping[str, float] | None = None,
) -> Judgement:
    """Judge a run that several load hosts produced together: file contents by name, by host.

    Every host's logs count time from the same start; with `ahead_ms` by its own clock, which is ahead of the first
    one's by so much. Their histograms are added interval by interval.
    """
    from plimsoll.analysis.attempt.several_load_hosts import (  # most have one load host
        by_first_clock,
        merged_readings,
        require_times_of_day,
    )

    try:
        readings = [
            by_first_clock(
                # Hosts name their logs alike, but judging and messages know a log by its name
                read_run([RunFile(f"{host}/{name}" if len(files) > 1 else name, own[name]) for name in own], options),
                (ahead_ms or {}).get(host, 0.0),
            )
            for host, own in files.items()
        ]
        if ahead_ms is not None and len(readings) > 1:
            require_times_of_day(dict(zip(files, readings, strict=True)))
        return judge_reading(merged_readings(readings), run, levels)
    except LogError as error:
        return unreadable(error)


def judge_reading(reading: Reading, run: Run, levels: Sequence[ServiceLevel]) -> Judgement:
    """Judge the content of a run's files: by histograms, else by percentiles over time as far as they decide, else not.

    Raises LogError when a histogram can't be decoded, and for sliding windows where there are no histograms.
    """
    slides, unanswered = any(level.windows == "sliding" for level in levels), Unanswered.of(reading)
    unanswered = replace(unanswered, silence=silence_of(reading, run, levels, unanswered))
    if reading.tracks:
        judgement = judge_tracks(reading.tracks, run, levels, reading.unit, unanswered)
        if slides and judgement.valid:
            from plimsoll.analysis.attempt.sliding import slid  # late: few ask for windows that slide

            judgement = slid(judgement, reading.tracks, run, reading.unit, unanswered)
    elif reading.samples:
        from plimsoll.analysis.attempt.percentile_bounds import judge_samples  # late: most files have histograms

        if slides:
            what = f"{reading.title}: has percentiles over time, but no histograms: sliding windows can't be made of it"
            raise LogError(what, mend="judge it by aligned intervals alone")
        judgement = judge_samples(reading.samples, run, levels, unanswered)
    else:
        judgement = Judgement(reasons=reading.obstacles)
    return replace(
        judgement,
        notes=(*reading.notes, *judgement.notes, *dict.fromkeys(few_in_intervals(judgement.intervals, levels))),
        format=reading.title,
        whole_run=reading.whole_run,
        unit=reading.unit,
        unit_why=reading.unit_why,
        left_out=reading.left_out,
        errors=reading.errors,
        judged_errors=judged_errors(reading, run, levels[0], unanswered, judgement.intervals),
        own_lag_p99_ms=reading.own_lag_p99_ms,
        started_at=reading.started_at,
    )


def judge_tracks(
    tracks: Sequence[Track], run: Run, levels: Sequence[ServiceLevel], unit: Unit, unanswered: Unanswered
) -> Judgement:
    """Judge the response times of one run, at least one track, against at least one service level.

    Raises LogError when a histogram inside a track can't be decoded. Every other fault becomes one of the reasons.
    """
    schedules = {level.interval: schedule_of(tracks, run, level.interval) for level in levels}
    shortest_s = min(schedule.interval_s for schedule in schedules.values())
    end_s = planned_end_s(schedules.values(), run)
    faults = continuity_faults(tracks, shortest_s, end_s)
    # Only records without gaps and overlaps can be placed in intervals
    if not faults:
        faults = tuple(fault for schedule in schedules.values() for fault in misfits(tracks, schedule))
    if faults:
        return Judgement(reasons=tuple(dict.fromkeys(faults)))
    decoder, measured, counts = Decoder(unit), dict[timedelta, tuple[Measured, ...]](), dict[str, Ints]()
    # Service levels with intervals of one length are measured together: unpacking histograms is most of the work
    for interval, schedule in schedules.items():
        wanted = Wanted([level for level in levels if level.interval == interval], unanswered, schedule.origin_s)
        spans = windows(tracks, schedule, due_until_s(schedule, run, unanswered))
        own_counts = counts if interval == levels[0].interval else {}
        measured[interval] = tuple(measure(tracks, spans, decoder, wanted, own_counts))
    evaluations = [
        _Evaluation(level, schedules[level.interval], measured[level.interval], run, unanswered.silence)
        for level in levels
    ]
    first = evaluations[0]
    logged = sum(interval.count for interval in first.of(ALL_OPERATIONS))
    is_whole = run.operations is None or logged == run.operations
    lost = f"the logs hold {plural(logged, 'operation')}, the load generator answered for {run.operations}"
    judgement = judgement_of(
        first.measured,
        [own.verdict for own in evaluations],
        [own.judged for own in evaluations],
        run,
        unanswered,
        stalls_s=first.stalls_s,
        reasons=[*(reason for own in evaluations for reason in own.reasons()), *([] if is_whole else [lost])],
        notes=[*continuity_notes(tracks, end_s), *(note for own in evaluations for note in own.notes())],
    )
    return replace(judgement, counts=counts)
