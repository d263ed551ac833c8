"""Combine the reports of several load hosts that share one load. Pure.

Counts and rates add up. For figures that show whether a load generator was at its limit, the worst host's counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from math import fsum
from typing import Any

from plimsoll.analysis.logs.formats.operation_log.values import EPOCH_FROM_S
from plimsoll.analysis.logs.formats.reading import Reading
from plimsoll.analysis.logs.operations import totals
from plimsoll.domain.attempt.load_summary import LoadSummary, first_broken
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.text.errors import LogError

_ONE_BY_ONE = "put the load on from one host, or import each load generator's files as a campaign of their own"
_LARGEST = ("cpu_cores", "schedule_lag_p99_ms", "schedule_lag_max_ms", "hiccup_max_ms")


def summed(by_host: Mapping[str, LoadSummary]) -> LoadSummary:
    """Return the summaries of all hosts, by name, as the summary of the whole load.

    Where a stop rule ended it, one host broke the rule and the others ended later: what was answered until then is
    known from their logs alone.
    """
    summaries = list(by_host.values())
    if len(summaries) == 1:
        return summaries[0]
    if stopped := first_broken({host: summary.stopped for host, summary in by_host.items()}):
        from_start = {host: summary.from_start or summary for host, summary in by_host.items()}
        whole = None if from_start == by_host else summed(from_start)
        uncounted: dict[str, Any] = {"answered": None, "operations": {}}
        return _added(by_host).model_copy(update={**uncounted, "stopped": stopped, "from_start": whole})
    return _added(by_host)


def _added(by_host: Mapping[str, LoadSummary]) -> LoadSummary:
    summaries = list(by_host.values())
    incomplete = {host: summary.reason for host, summary in by_host.items() if not summary.complete}
    reasons = [f"{host}: {reason or 'not complete'}" for host, reason in incomplete.items()]
    return LoadSummary(
        complete=not reasons,
        reason="; ".join(reasons),
        generator=next((summary.generator for summary in summaries if summary.generator), ""),
        started_at=min((summary.started_at for summary in summaries if summary.started_at), default=None),
        duration_s=min(summary.duration_s for summary in summaries),
        warmup_s=min(summary.warmup_s for summary in summaries),
        # Hosts share a load in parts such as 100/3 ops/s: `fsum` rounds once, so that they add up to the load again
        **{name: _known(summaries, name, fsum) for name in ("attempted_ops_s", "achieved_ops_s", "rows_s")},
        **{name: _known(summaries, name, sum) for name in ("answered", "in_flight_max", "backlog_max")},
        **{name: _known(summaries, name, max) for name in _LARGEST},
        operations=_counts(summary.operations for summary in summaries),
        shares=next((summary.shares for summary in summaries if summary.shares), {}),
        errors=_counts(summary.errors for summary in summaries),
        gave_up="; ".join(f"{host}: {summary.gave_up}" for host, summary in by_host.items() if summary.gave_up),
        failures=tuple(f"{host}: {failure}" for host, summary in by_host.items() for failure in summary.failures),
        remarks=tuple(f"{host}: {remark}" for host, summary in by_host.items() for remark in summary.remarks),
        compactions_left=max(
            (summary.compactions_left for summary in summaries if summary.compactions_left is not None), default=None
        ),
    )


def merged_seconds(
    by_host: Mapping[str, Sequence[GeneratorSecond]], ahead_ms: Mapping[str, float]
) -> tuple[GeneratorSecond, ...]:
    """Return the hosts' own state, second by second of the timed run, by the first host's clock.

    Every host starts at the same instant and reports each second once, in order, so reports with the same number are
    about the same second. The time of a report does not show that, because a host that stalled reports late.
    `ahead_ms`: how far the other hosts' clocks are ahead of the first one's. Operations waiting or in flight add up; of
    stalls, processors and lateness the largest counts, and `host` is the one that stalled longest.
    """
    if len(by_host) == 1:
        return tuple(next(iter(by_host.values())))
    ahead = {host: timedelta(milliseconds=ahead_ms.get(host, 0.0)) for host in by_host}
    columns = (
        [replace(second, at=second.at - ahead[host], host=host) for second in seconds]
        for host, seconds in by_host.items()
    )
    return tuple(_second([second for second in row if second is not None]) for row in zip_longest(*columns))


def _second(of_hosts: Sequence[GeneratorSecond]) -> GeneratorSecond:
    worst = max(of_hosts, key=lambda host: max(host.hiccup_ms, host.gc_ms))
    return GeneratorSecond(
        at=max(second.at for second in of_hosts),
        **{name: _known(of_hosts, name, max) for name in ("hiccup_ms", "gc_ms", "cpu_cores", "lag_ms")},
        **{name: _known(of_hosts, name, sum) for name in ("in_flight", "backlog", "failed")},
        host=worst.host,
    )


def by_first_clock(reading: Reading, ahead_ms: float) -> Reading:
    """Return a host's measurements by the first host's clock, which that host's is ahead of by so much."""
    if not ahead_ms:
        return reading
    ahead_s = ahead_ms / 1000
    tracks = (
        replace(track, records=tuple(record._replace(start_s=record.start_s - ahead_s) for record in track.records))
        for track in reading.tracks
    )
    failures = (
        replace(
            failure,
            at_s=failure.at_s - ahead_s,
            until_s=failure.until_s - ahead_s,
            ends_s=None if failure.ends_s is None else failure.ends_s - ahead_s,
        )
        for failure in reading.failures
    )
    started_at = reading.started_at - timedelta(seconds=ahead_s) if reading.started_at else None
    return replace(reading, tracks=tuple(tracks), failures=tuple(failures), started_at=started_at)


def require_times_of_day(readings: Mapping[str, Reading]) -> None:
    """Raise LogError where the files of one do not tell when it ran, so that nobody knows what was at the same time."""
    for name, reading in readings.items():
        if any(float(track.starts[0]) < EPOCH_FROM_S for track in reading.tracks):
            raise LogError(f"the files of {name} do not tell the time of day", mend=_ONE_BY_ONE)


def over_common_time(by_loader: Mapping[str, Reading]) -> Reading:
    """Return the files of load generators that were started apart as those of one run, over the time that all ran.

    They are aligned by the wall clock. Raises LogError where their files do not tell it, and where they have no time in
    common.
    """
    _require_tracks(list(by_loader.values()))
    require_times_of_day(by_loader)
    starts_s = {name: min(float(track.starts[0]) for track in own.tracks) for name, own in by_loader.items()}
    first, last = min(starts_s, key=starts_s.__getitem__), max(starts_s, key=starts_s.__getitem__)
    start_s = starts_s[last]
    end_s = min(max(float(track.ends[-1]) for track in own.tracks) for own in by_loader.values())
    if end_s <= start_s:
        raise LogError(f"{first} had ended when {last} began", mend="import only what ran at the same time")
    common = merged_readings([_within(reading, start_s, end_s) for reading in by_loader.values()])
    note = (
        f"judged over the {end_s - start_s:.0f} s that all {len(by_loader)} loaders ran: {last} began "
        f"{start_s - starts_s[first]:.1f} s after {first}"
    )
    return replace(common, notes=(*common.notes, note), started_at=datetime.fromtimestamp(start_s, UTC))


def _within(reading: Reading, start_s: float, end_s: float) -> Reading:
    """Return the measurements of that time: the records whose middle lies in it, less failures of other times."""
    tracks = []
    for track in reading.tracks:
        middles = track.starts + track.lengths / 2
        inside = (middles >= start_s) & (middles <= end_s)
        kept = tuple(record for record, is_inside in zip(track.records, inside, strict=True) if is_inside)
        tracks += [replace(track, records=kept)] if kept else []
    failures = tuple(failure.between(start_s, end_s) for failure in reading.failures)
    errors = Counter(reading.errors)
    errors.subtract(Counter(totals(reading.failures)) - Counter(totals(failures)))
    told = None if reading.errors is None else dict(+errors)
    return replace(reading, tracks=tuple(tracks), failures=failures, errors=told)


def merged_readings(readings: Sequence[Reading]) -> Reading:
    """Return the files of all hosts as those of one run: their histograms are added interval by interval.

    Raises LogError where they can't be added, because units differ or some have no histograms.
    """
    first = readings[0]
    if len(readings) == 1:
        return first
    _require_tracks(readings)
    if any(reading.unit.unit != first.unit.unit for reading in readings):
        raise LogError("files in different units can't be added", mend=_ONE_BY_ONE)
    return Reading(
        title=first.title,
        tracks=tuple(track for reading in readings for track in reading.tracks),
        unit=first.unit,
        left_out=tuple(left for reading in readings for left in reading.left_out),
        obstacles=tuple(dict.fromkeys(obstacle for reading in readings for obstacle in reading.obstacles)),
        notes=tuple(dict.fromkeys(note for reading in readings for note in reading.notes)),
        errors=_known(readings, "errors", _counts),
        failures=tuple(failures for reading in readings for failures in reading.failures),
        attempted_ops_s=_known(readings, "attempted_ops_s", fsum),
        own_lag_p99_ms=_known(readings, "own_lag_p99_ms", max),
        started_at=min((reading.started_at for reading in readings if reading.started_at), default=None),
    )


def _require_tracks(readings: Sequence[Reading]) -> None:
    for reading in readings:
        if not reading.tracks:
            why = "; ".join(reading.obstacles) or f"{reading.title}: has no histograms, and nothing else can be added"
            raise LogError(why, mend=_ONE_BY_ONE)


def _known(of_hosts: Sequence[object], name: str, how: Callable[[list[Any]], Any]) -> Any:
    """Return the hosts' figures of that name as one; None where any is not known, since it may be the greatest."""
    figures = [getattr(host, name) for host in of_hosts]
    return None if None in figures else how(figures)


def _counts(by_name: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counts in by_name:
        total.update(counts)
    return dict(total)
