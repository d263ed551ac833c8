"""Combine the reports of several load hosts that share one load. Pure.

Counts and rates add up. For figures that show whether a load generator was at its limit, the worst host's counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from math import fsum
from operator import itemgetter
from typing import Any

from plimsoll.analysis.logs.formats.operation_log.values import EPOCH_FROM_S
from plimsoll.analysis.logs.formats.reading import Reading
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.keys.process import GeneratorSecond
from plimsoll.domain.text.errors import LogError

_ONE_BY_ONE = "put the load on from one host, or import each load generator's files as a campaign of their own"
_LARGEST = ("cpu_cores", "schedule_lag_p99_ms", "schedule_lag_max_ms", "hiccup_max_ms")


def summed(by_host: Mapping[str, LoadSummary]) -> LoadSummary:
    """Return the summaries of all hosts, by name, as the summary of the whole load."""
    every = list(by_host.values())
    if len(every) == 1:
        return every[0]
    reasons = [f"{host}: {one.reason or 'not complete'}" for host, one in by_host.items() if not one.complete]
    return LoadSummary(
        complete=not reasons,
        reason="; ".join(reasons),
        generator=next((one.generator for one in every if one.generator), ""),
        started_at=min((one.started_at for one in every if one.started_at), default=None),
        duration_s=min(one.duration_s for one in every),
        warmup_s=min(one.warmup_s for one in every),
        **{name: _known(every, name, fsum) for name in ("attempted_ops_s", "achieved_ops_s", "rows_s")},
        **{name: _known(every, name, sum) for name in ("answered", "in_flight_max", "backlog_max")},
        **{name: _known(every, name, max) for name in _LARGEST},
        operations=_counts(one.operations for one in every),
        shares=next((one.shares for one in every if one.shares), {}),
        errors=_counts(one.errors for one in every),
        gave_up="; ".join(f"{host}: {one.gave_up}" for host, one in by_host.items() if one.gave_up),
        failures=tuple(f"{host}: {failure}" for host, one in by_host.items() for failure in one.failures),
        remarks=tuple(f"{host}: {remark}" for host, one in by_host.items() for remark in one.remarks),
        compactions_left=max((one.compactions_left for one in every if one.compactions_left is not None), default=None),
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
    columns = [_by_first_clock(host, seconds, ahead_ms.get(host, 0.0)) for host, seconds in by_host.items()]
    return tuple(_second([one for one in row if one is not None]) for row in zip_longest(*columns))


def _by_first_clock(host: str, seconds: Iterable[GeneratorSecond], ahead_ms: float) -> list[GeneratorSecond]:
    ahead = timedelta(milliseconds=ahead_ms)
    return [replace(one, at=one.at - ahead, host=host) for one in seconds]


def _second(of_hosts: Sequence[GeneratorSecond]) -> GeneratorSecond:
    worst = max(of_hosts, key=lambda host: max(host.hiccup_ms, host.gc_ms))
    return GeneratorSecond(
        at=max(one.at for one in of_hosts),
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
        replace(track, records=tuple(one._replace(start_s=one.start_s - ahead_s) for one in track.records))
        for track in reading.tracks
    )
    failures = (replace(one, at_s=one.at_s - ahead_s, until_s=one.until_s - ahead_s) for one in reading.failures)
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
    spans = {
        name: (min(float(one.starts[0]) for one in reading.tracks), max(float(one.ends[-1]) for one in reading.tracks))
        for name, reading in by_loader.items()
    }
    (first, first_s), (last, start_s) = (choose(_starts(spans), key=itemgetter(1)) for choose in (min, max))
    end_s = min(end_s for _, end_s in spans.values())
    if end_s <= start_s:
        raise LogError(f"{first} had ended when {last} began", mend="import only what ran at the same time")
    common = merged_readings([_within(reading, start_s, end_s) for reading in by_loader.values()])
    note = (
        f"judged over the {end_s - start_s:.0f} s that all {len(by_loader)} loaders ran: {last} began "
        f"{start_s - first_s:.1f} s after {first}"
    )
    return replace(common, notes=(*common.notes, note), started_at=datetime.fromtimestamp(start_s, UTC))


def _starts(spans: Mapping[str, tuple[float, float]]) -> list[tuple[str, float]]:
    return [(name, start_s) for name, (start_s, _) in spans.items()]


def _within(reading: Reading, start_s: float, end_s: float) -> Reading:
    """Return the measurements of that time: the records whose middle lies in it."""
    tracks = []
    for track in reading.tracks:
        middles = track.starts + track.lengths / 2
        inside = (middles >= start_s) & (middles <= end_s)
        kept = tuple(record for record, is_inside in zip(track.records, inside, strict=True) if is_inside)
        tracks += [replace(track, records=kept)] if kept else []
    failures = tuple(one.between(start_s, end_s) for one in reading.failures)
    return replace(reading, tracks=tuple(tracks), failures=failures)


def merged_readings(readings: Sequence[Reading]) -> Reading:
    """Return the files of all hosts as those of one run: their histograms are added interval by interval.

    Raises LogError where they can't be added, because units differ or some have no histograms.
    """
    first = readings[0]
    if len(readings) == 1:
        return first
    _require_tracks(readings)
    if any(reading.unit != first.unit for reading in readings):
        raise LogError("files in different units can't be added", mend=_ONE_BY_ONE)
    return Reading(
        title=first.title,
        tracks=tuple(track for one in readings for track in one.tracks),
        unit=first.unit,
        unit_why=first.unit_why,
        left_out=tuple(other for one in readings for other in one.left_out),
        obstacles=tuple(dict.fromkeys(obstacle for one in readings for obstacle in one.obstacles)),
        notes=tuple(dict.fromkeys(note for one in readings for note in one.notes)),
        errors=_counts(one.errors or {} for one in readings)
        if all(one.errors is not None for one in readings)
        else None,
        failures=tuple(failures for one in readings for failures in one.failures),
        attempted_ops_s=_known(readings, "attempted_ops_s", fsum),
        own_lag_p99_ms=_known(readings, "own_lag_p99_ms", max),
        started_at=min((one.started_at for one in readings if one.started_at), default=None),
    )


def _require_tracks(readings: Sequence[Reading]) -> None:
    for reading in readings:
        if not reading.tracks:
            why = "; ".join(reading.obstacles) or f"{reading.title}: has no histograms, and nothing else can be added"
            raise LogError(why, mend=_ONE_BY_ONE)


def _known(of_hosts: Sequence[object], name: str, how: Callable[[list[Any]], Any]) -> Any:
    """Return the hosts' figures of that name as one; None where any is not known, since it may be the greatest."""
    every = [getattr(host, name) for host in of_hosts]
    return None if None in every else how(every)


def _counts(by_name: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counts in by_name:
        total.update(counts)
    return dict(total)
