"""Turn the response times of one attempt into intervals, and decide whether each service level was met. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from plimsoll.analysis.attempt.alignment import (
    due_until_s,
    judged_errors,
    planned_end_s,
    schedule_of,
    silence_of,
    unplaceable,
    windows,
)
from plimsoll.analysis.attempt.few_operations import few_in_intervals
from plimsoll.analysis.attempt.intervals import Measured, Wanted, measure
from plimsoll.analysis.attempt.judgement import Judgement, Run, unreadable
from plimsoll.analysis.attempt.level_outcomes import Evaluation, judgement_of
from plimsoll.analysis.attempt.unanswered import Unanswered
from plimsoll.analysis.logs.formats import Reading, ReadOptions, RunFile, read_run
from plimsoll.analysis.logs.hdr.histograms import Decoder, Ints, Unit
from plimsoll.analysis.logs.operations import Track, continuity_notes
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, ServiceLevel
from plimsoll.domain.text.errors import LogError
from plimsoll.domain.text.wording import plural


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
        judgement = judge_tracks(reading.tracks, run, levels, reading.unit.unit, unanswered)
        if slides and judgement.valid:
            from plimsoll.analysis.attempt.sliding import slid  # late: few ask for windows that slide

            judgement = slid(judgement, reading.tracks, run, reading.unit.unit, unanswered)
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
        unit=reading.unit.unit,
        unit_why=reading.unit.why,
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
    if faults := unplaceable(tracks, schedules.values(), run):
        return Judgement(reasons=faults)
    decoder, measured, counts = Decoder(unit), dict[timedelta, tuple[Measured, ...]](), dict[str, Ints]()
    # Service levels with intervals of one length are measured together: unpacking histograms is most of the work
    for interval, schedule in schedules.items():
        wanted = Wanted([level for level in levels if level.interval == interval], unanswered, schedule.origin_s)
        spans = windows(tracks, schedule, due_until_s(schedule, run, unanswered))
        own_counts = counts if interval == levels[0].interval else {}
        measured[interval] = tuple(measure(tracks, spans, decoder, wanted, own_counts))
    evaluations = [
        Evaluation(level, schedules[level.interval], measured[level.interval], run, unanswered) for level in levels
    ]
    first, end_s = evaluations[0], planned_end_s(schedules.values(), run)
    logged = sum(interval.count for interval in first.of(ALL_OPERATIONS))
    is_whole = run.operations is None or logged == run.operations
    lost = f"the logs hold {plural(logged, 'operation')}, the load generator answered for {run.operations}"
    judgement = judgement_of(
        evaluations,
        lost=[] if is_whole else [lost],
        notes=[*continuity_notes(tracks, end_s), *(note for own in evaluations for note in own.notes())],
    )
    return replace(judgement, counts=counts)
