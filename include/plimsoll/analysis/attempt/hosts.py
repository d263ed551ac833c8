"""Summarise how busy each host was over the judged time, by its samples, how much other programs took, and the work of
the nodes' JVMs: processor time of collections, allocation rate, heap after them. One rule assigns samples to intervals.

A sample holds for the time since the one before it. It belongs to an interval with the part of that time that lies in
the interval, by the load generator's clock. So it does not matter whether a sample is written at the full second or
some milliseconds later, and the mean over several intervals lies between their means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from math import nan
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.analysis.logs.gc.pauses import HeapChange, Pauses
from plimsoll.analysis.logs.operations import Floats

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.keys.process import ProcessOnHost

MEANS = ("cpu_busy", "cpu_steal", "cpu_iowait", "cpu_others", "disk_busy", "network_bytes_s")
COLUMNS = ("host", *MEANS, "cpu_others_highest")
ALWAYS = (
    "time_s",
    "cpu_idle",
    "cpu_iowait",
    "cpu_steal",
    "memory_available_bytes",
    "disk_busy",
    "net_received_bytes",
    "net_sent_bytes",
)
"""The figures of samples that are read, and that those of the oldest attempts have, too."""

STEAL_NOTICED = 0.01
"""Share of processor time, over the judged time, beyond which what other machines take is worth a warning."""

OTHERS_NOTICED = 0.05
"""The same of what other programs take, in any interval: half a second of all processors out of ten."""

PERIOD_S = 1.0
"""Time for which the first sample holds, s: the sampler begins a second before it."""

COVERED = 0.5
"""An interval of which samples hold for no more than this share counts as not sampled."""


class Span(NamedTuple):
    """A stretch of time, s since the epoch by the load generator's clock."""

    begin_s: float
    end_s: float


def cpu_busy(samples: pd.DataFrame) -> pd.Series[float]:
    """Return the share of all processors' time spent on work. Waiting for a disk counts as idle."""
    return 1 - samples["cpu_idle"] - samples["cpu_iowait"]


def traffic_bytes(samples: pd.DataFrame) -> pd.Series[float]:
    """Return bytes received and sent in each second."""
    return samples["net_received_bytes"] + samples["net_sent_bytes"]


def sampled(samples: pd.DataFrame, column: str) -> pd.Series[float]:
    """Return a figure of the samples; NaN: not sampled. Samples of older attempts lack some figures."""
    return samples.reindex(columns=[column])[column].astype("float64")


def others_highest(
    samples: pd.DataFrame, within: tuple[Span, ...], ahead_ms: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Return the highest share of other programs in any of these intervals, by host, at least 0; NaN: not sampled."""
    table = samples.assign(cpu_others=sampled(samples, "cpu_others")) if not samples.empty else samples
    shares = ((host, means(own, "cpu_others", within)) for host, own in by_host(table, ahead_ms or {}))
    return {host: max(highest_of(own), 0.0) for host, own in shares}  # NaN stays NaN


def hosts_frame(
    samples: pd.DataFrame,
    judged: tuple[datetime, datetime],
    interval: timedelta,
    ahead_ms: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return a table with one row per sampled host, with means over its judged intervals.

    Figures are shares of all processors' time, and of the busiest disk's time. `cpu_others_highest` is the result of
    `others_highest`. NaN: not sampled. `ahead_ms`: how far each host's clock is ahead of the load generator's.
    """
    import pandas as pd  # late: few need it

    if samples.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    within = spans(*judged, interval)
    table = samples.assign(
        cpu_busy=cpu_busy(samples), cpu_others=sampled(samples, "cpu_others"), network_bytes_s=traffic_bytes(samples)
    )
    rows = []
    for host, own in by_host(table, ahead_ms or {}):
        figures = {name: mean_of(means(own, name, within)) for name in MEANS}
        # Earlier samplers subtracted figures of two clocks, so what others took came out below 0. NaN stays NaN, as the
        # first argument of `max`.
        others, highest = max(figures["cpu_others"], 0.0), max(highest_of(means(own, "cpu_others", within)), 0.0)
        rows.append({"host": host, **figures, "cpu_others": others, "cpu_others_highest": highest})
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"host": "str", **dict.fromkeys(COLUMNS[1:], "float64")})


def spans(begin: datetime, end: datetime, interval: timedelta) -> tuple[Span, ...]:
    """Return the whole intervals from `begin` to `end`."""
    each_s = interval.total_seconds()
    starts = [begin.timestamp() + number * each_s for number in range((end - begin) // interval)]
    return tuple(Span(start, start + each_s) for start in starts)


def by_host(samples: pd.DataFrame, ahead_ms: Mapping[str, float]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each host's samples in order of time, with `begin_s` and `end_s`: the time for which a sample holds.

    `ahead_ms`: how far each host's clock is ahead of the load generator's.
    """
    if samples.empty:
        return
    for name, own in samples.groupby("host"):
        table = own.sort_values("time_s", ignore_index=True)
        ends = table["time_s"] - ahead_ms.get(str(name), 0.0) / 1000
        yield str(name), table.assign(begin_s=ends.shift().fillna(ends - PERIOD_S), end_s=ends)


def overlaps_s(own: pd.DataFrame, span: Span) -> Floats:
    """Return the time for which each sample of `by_host` holds within the span, s."""
    begins, ends = own["begin_s"].to_numpy(dtype=np.float64), own["end_s"].to_numpy(dtype=np.float64)
    held: Floats = np.clip(np.minimum(ends, span.end_s) - np.maximum(begins, span.begin_s), 0, None)
    return held


def means(own: pd.DataFrame, column: str, within: tuple[Span, ...]) -> Floats:
    """Return the mean of one figure in each span, weighted by time; NaN where the span is not sampled.

    `own`: the samples of one host as `by_host` gives them.
    """
    values = own[column].to_numpy(dtype=np.float64)
    known = ~np.isnan(values)
    begins, ends = own["begin_s"].to_numpy(dtype=np.float64), own["end_s"].to_numpy(dtype=np.float64)
    lengths = (ends - begins) * known
    # Sums up to each edge rise evenly between two edges, so a span takes of a sample at its border what lies within it
    edges = np.concatenate([begins[:1], ends])
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0) * lengths)])
    held = np.concatenate([[0.0], np.cumsum(lengths)])
    first, last = np.array([span.begin_s for span in within]), np.array([span.end_s for span in within])
    total = np.interp(last, edges, sums) - np.interp(first, edges, sums)
    covered = np.interp(last, edges, held) - np.interp(first, edges, held)
    enough = covered > COVERED * (last - first)
    weighted: Floats = np.divide(total, covered, out=np.full(len(within), np.nan), where=enough)
    return weighted


def mean_of(found: Floats) -> float:
    """Return the mean over intervals of equal length that were sampled; NaN where none was."""
    known = found[~np.isnan(found)]
    return float(known.mean()) if len(known) else float("nan")


def highest_of(found: Floats) -> float:
    """Return the highest mean of any interval that was sampled; NaN where none was."""
    known = found[~np.isnan(found)]
    return float(known.max()) if len(known) else float("nan")


OF_JVMS = (
    "host",
    "process",
    "judged_s",
    "gc_cpu_share",
    "allocated_bytes_s",
    "heap_after_median_bytes",
    "heap_after_max_bytes",
    "unread_lines",
)


def jvms_frame(
    by_process: Mapping[ProcessOnHost, Pauses],
    judged: tuple[datetime, datetime],
    ahead_ms: Mapping[str, float],
    cpus: Mapping[str, int],
) -> pd.DataFrame:
    """Return a table with one row per JVM, over the judged time by the load host's clock.

    NaN: the GC log does not tell.

    `gc_cpu_share`: the share of all the host's processors that pauses took; no JDK up to 25 logs the share of
    concurrent phases. `allocated_bytes_s`: bytes allocated per second between the end of one collection and the
    beginning of the next. `unread_lines`: lines of the whole GC log whose form is not known.
    """
    import pandas as pd  # late: parsing needs none of it

    rows = [
        _jvm(jvm, pauses, judged, ahead_ms.get(jvm.host, 0.0), cpus.get(jvm.host)) for jvm, pauses in by_process.items()
    ]
    frame = pd.DataFrame(rows, columns=list(OF_JVMS))
    return frame.astype({"host": "str", "process": "str", **dict.fromkeys(OF_JVMS[2:], "float64")})


def _jvm(
    jvm: ProcessOnHost, pauses: Pauses, judged: tuple[datetime, datetime], ahead_ms: float, cpus: int | None
) -> dict[str, object]:
    begin, end = (moment + timedelta(milliseconds=ahead_ms) for moment in judged)
    judged_s = (end - begin).total_seconds()
    heap = [change for change in pauses.heap if begin <= change.at < end]
    cpu_s = [time.cpu_s for time in pauses.cpu if begin <= time.at < end]
    after = [change.after_bytes for change in heap]
    return {
        "host": jvm.host,
        "process": jvm.process,
        "judged_s": judged_s,
        # ZGC and Shenandoah log no processor time of pauses: the share is unknown, and not 0
        "gc_cpu_share": sum(cpu_s) / judged_s / cpus if pauses.cpu and cpus else nan,
        "allocated_bytes_s": _allocation_rate(heap),
        "heap_after_median_bytes": median(after) if after else nan,
        "heap_after_max_bytes": max(after, default=nan),
        "unread_lines": pauses.unread.lines if pauses.unread else 0,
    }


def _allocation_rate(heap: list[HeapChange]) -> float:
    """Return bytes by which the heap grew between collections, divided by the time between them.

    The rate during a collection can't be known: between the two clean-ups of Shenandoah's cycle, copies make the heap
    grow too.
    """
    grown, seconds = 0, 0.0
    for change, following in pairwise(heap):
        between_s = (following.at - change.at).total_seconds() - following.took_ms / 1000
        if between_s > 0 and (change.cycle is None or change.cycle != following.cycle):
            grown += max(0, following.before_bytes - change.after_bytes)
            seconds += between_s
    return grown / seconds if seconds else nan
