"""Show what else happened in each judged interval: a table with a row for each interval and columns for each cause.

All collected data is put on the load generator's clock and counted the same way in missed and met intervals. An
occurrence belongs to every interval that it touches. It counts beyond its own end for as long as it lasted, and at
least for the service level's bound, because operations that it delayed are answered later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.analysis.attempt.hosts import cpu_busy, sampled, traffic_bytes
from plimsoll.analysis.logs.gc.pauses import stopped_ms
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.keys.process import MILLISECONDS, Event, EventKind, GeneratorSecond, ProcessOnHost

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_NOISE = Disturbance()


class Cause(NamedTuple):
    """One kind of event that may make an interval miss. It counts from `least(bound_ms)` on, in `unit`."""

    id: str
    label: str
    unit: str
    least: Callable[[float], float]


def _half_the_bound(bound_ms: float) -> float:
    """Return half the bound: two such stalls in a row, or one and a queue, make an operation exceed the bound."""
    return bound_ms / 2


_OF_JVMS = (
    Cause("pause", "stop-the-world pause", "ms", _half_the_bound),
    Cause("stall", "allocation stall", "ms", _half_the_bound),
)
_OF_HOSTS = (
    Cause("cpu", "CPU saturated", "share", lambda _: 0.95),
    Cause("steal", "CPU stolen", "share", lambda _: _NOISE.steal / 100),
    Cause("others", "CPU taken by other programs", "share", lambda _: _NOISE.foreign_cpu / 100),
    Cause("throttled", "CPU quota used up", "share", lambda _: _NOISE.throttled / 100),
    Cause("disk", "disk saturated", "share", lambda _: 0.95),
    Cause("network", "network burst", "× usual", lambda _: 2.0),
    Cause("generator_pause", "load generator stalled", "ms", _half_the_bound),
    Cause("generator_cpu", "load generator's CPU", "share", lambda _: 0.9),
)


def causes_with(kinds: Iterable[EventKind]) -> tuple[Cause, ...]:
    """Return all causes in the order in which reports show them, with these kinds of events in logs of products."""
    of_logs = (
        Cause(*kind, _half_the_bound if kind.unit == MILLISECONDS else lambda _: 1) for kind in dict.fromkeys(kinds)
    )
    return (*_OF_JVMS, *of_logs, *_OF_HOSTS)


def causes_in(tables: Iterable[pd.DataFrame]) -> tuple[Cause, ...]:
    """Return all causes of these tables, which name the kinds of events themselves."""
    return causes_with(kind for table in tables if not table.empty for kind in _kinds_in(table))


def _kinds_in(table: pd.DataFrame) -> Iterator[EventKind]:
    for column in table.columns:
        name = str(column).removesuffix(_LABEL)
        if name != column:
            yield EventKind(name, str(table[column].iloc[0]), str(table[f"{name}{_UNIT}"].iloc[0]))


class Occurrence(NamedTuple):
    """An event between two times, s from the timed run's start; `amount` is in its cause's unit.

    `held_s`: how long it delayed operations; 0 where the log gives only the time in which it happened. `process`: the
    process of the host to which it happened; empty for an event of the host as a whole.
    """

    start_s: float
    end_s: float
    amount: float
    host: str
    held_s: float = 0.0
    process: str = ""


_LABEL, _UNIT = "_label", "_unit"

Occurrences = Mapping[str, "Sequence[Occurrence] | None"]
"""Cause → its occurrences; None or absent: nothing was collected that could show it."""


@dataclass(frozen=True)
class Collected:
    """The data collected for one attempt, other than response times.

    `started_at`: start of the timed run, by the (first) load host's clock. `ahead_ms`: how far each host's clock is
    ahead of that one. `kinds`: those of the events. `pauses` as `pauses_frame` makes them, None where no GC log
    could be read. `samples`: one row per second, with `time_s`, the `host`, and shares. `load_cpus`: processors of
    the load host, the fewest where there are several, None if not known.
    """

    started_at: datetime
    ahead_ms: Mapping[str, float]
    pauses: pd.DataFrame | None
    events: Mapping[ProcessOnHost, Sequence[Event]]
    kinds: Sequence[EventKind]
    seconds: Sequence[GeneratorSecond]
    samples: pd.DataFrame
    load_cpus: int | None


def occurrences(collected: Collected) -> dict[str, Sequence[Occurrence] | None]:
    """Return all occurrences by cause, on the load generator's clock."""
    return {**_pauses(collected), **_events(collected), **_samples(collected), **_generator(collected)}


def coincidence_frame(
    intervals: pd.DataFrame, found: Occurrences, bound_ms: float, kinds: Sequence[EventKind]
) -> pd.DataFrame:
    """Return a row for each interval that the first service level judged: start_s, missed, and three columns for each
    cause.

    `<cause>`: the largest amount that touches the interval, 0 where nothing does, NaN where the cause was not
    collected; `<cause>_host` and `<cause>_process`: where that amount was, empty where nothing touches the interval.
    For each kind of event also `<cause>_label` and `<cause>_unit`, the same in every row: a report needs no product.
    """
    import pandas as pd

    judged = intervals[intervals["met"].notna()].sort_values("start_s", ignore_index=True)
    starts = judged["start_s"].to_numpy(dtype=np.float64)
    ends = starts + judged["duration_s"].to_numpy(dtype=np.float64)
    columns: dict[str, object] = {"start_s": starts, "missed": ~judged["met"].astype(bool)}
    for cause in causes_with(kinds):
        happened = found.get(cause.id)
        amounts, largest = _placed(starts, ends, happened or (), bound_ms)
        columns[cause.id] = amounts if happened is not None else np.full(len(starts), np.nan, dtype=np.float32)
        for field in ("host", "process"):
            names = [getattr(occurrence, field) if occurrence else "" for occurrence in largest]
            columns[f"{cause.id}_{field}"] = pd.Series(names, dtype="str")
    for kind in kinds:
        columns |= {f"{kind.id}{_LABEL}": kind.label, f"{kind.id}{_UNIT}": kind.unit}
    return pd.DataFrame(columns)


def _placed(
    starts: NDArray[np.float64], ends: NDArray[np.float64], happened: Sequence[Occurrence], bound_ms: float
) -> tuple[NDArray[np.float32], list[Occurrence | None]]:
    """Return the largest occurrence that touches each interval, and its amount, 0 for none."""
    amounts, largest = np.zeros(len(starts), dtype=np.float32), list[Occurrence | None]([None] * len(starts))
    for occurrence in happened:
        reach_s = occurrence.end_s + max(occurrence.held_s, bound_ms / 1000)
        first = np.searchsorted(ends, occurrence.start_s, "right")
        for number in range(first, np.searchsorted(starts, reach_s, "left")):
            if occurrence.amount > amounts[number]:
                amounts[number], largest[number] = occurrence.amount, occurrence
    return amounts, largest


def _pauses(collected: Collected) -> dict[str, Sequence[Occurrence] | None]:
    if collected.pauses is None:
        return {}
    table = collected.pauses.assign(ms=stopped_ms(collected.pauses))
    by_cause: dict[str, list[Occurrence]] = {"pause": [], "stall": []}
    columns = (table[name].tolist() for name in ("stop_the_world", "start_s", "ms", "host", "process"))
    for all_threads, start_s, ms, host, process in zip(*columns, strict=True):
        stop = Occurrence(start_s, start_s + ms / 1000, ms, host, ms / 1000, process)
        by_cause["pause" if all_threads else "stall"].append(stop)
    return dict(by_cause)


def _events(collected: Collected) -> dict[str, Sequence[Occurrence] | None]:
    if not collected.events:
        return {}
    by_kind: dict[str, list[Occurrence]] = {kind.id: [] for kind in collected.kinds}
    for (host, process), events in collected.events.items():
        ahead_s = collected.ahead_ms.get(host, 0.0) / 1000
        for event in events:
            start_s, end_s = ((at - collected.started_at).total_seconds() - ahead_s for at in (event.start, event.end))
            held_s = event.amount / 1000 if event.kind.unit == MILLISECONDS else 0.0
            by_kind[event.kind.id].append(Occurrence(start_s, end_s, event.amount, host, held_s, process))
    return dict(by_kind)


def _samples(collected: Collected) -> dict[str, Sequence[Occurrence] | None]:
    """Return the occurrences in each host's one-second samples. Network traffic is by the host's median second."""
    if collected.samples.empty:
        return {}
    by_cause: dict[str, list[Occurrence]] = {}
    for name, own in collected.samples.groupby("host"):
        host = str(name)
        ahead_s = collected.started_at.timestamp() + collected.ahead_ms.get(host, 0.0) / 1000
        ends = own["time_s"].to_numpy(dtype=np.float64) - ahead_s
        traffic = traffic_bytes(own).to_numpy(dtype=np.float64)
        usual = float(np.median(traffic))
        shares: dict[str, Sequence[float]] = {
            "cpu": cpu_busy(own).tolist(),
            "steal": own["cpu_steal"].tolist(),
            "others": sampled(own, "cpu_others").tolist(),
            "throttled": sampled(own, "cpu_throttled").tolist(),
            "disk": own["disk_busy"].tolist(),
            "network": (traffic / usual).tolist() if usual else [0.0] * len(own),
        }
        for cause, amounts in shares.items():
            by_cause.setdefault(cause, []).extend(
                _second(float(end), float(amount), host)
                for end, amount in zip(ends, amounts, strict=True)
                # Neither NaN, which is not sampled, nor figures below 0, which old samplers told
                if amount > 0
            )
    # Older samplers do not take these figures: then the cause is unknown, and not one that never came
    unknown = {cause for cause in ("others", "throttled") if sampled(collected.samples, f"cpu_{cause}").isna().all()}
    return {cause: happened for cause, happened in by_cause.items() if cause not in unknown}


def _generator(collected: Collected) -> dict[str, Sequence[Occurrence] | None]:
    if not collected.seconds:
        return {}
    ends = [(second.at - collected.started_at).total_seconds() for second in collected.seconds]
    stalled_ms = [max(second.hiccup_ms, second.gc_ms) for second in collected.seconds]
    by_cause: dict[str, Sequence[Occurrence] | None] = {
        "generator_pause": [
            _second(end, ms, second.host)._replace(held_s=ms / 1000)
            for second, end, ms in zip(collected.seconds, ends, stalled_ms, strict=True)
            if ms > 0
        ]
    }
    if collected.load_cpus:
        shares = [second.cpu_cores / collected.load_cpus for second in collected.seconds]
        timed = zip(collected.seconds, ends, shares, strict=True)
        by_cause["generator_cpu"] = [_second(end, share, second.host) for second, end, share in timed]
    return by_cause


def _second(end_s: float, amount: float, host: str) -> Occurrence:
    """Return the occurrence of a sample: the second that ends at that time, as there is one sample per second."""
    return Occurrence(end_s - 1, end_s, amount, host)
