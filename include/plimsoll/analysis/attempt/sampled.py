"""Assign a host's samples to intervals, by one rule for all figures of intervals.

A sample holds for the time since the one before it. It belongs to an interval with the part of that time that lies in
the interval, by the load generator's clock. So it does not matter whether a sample is written at the full second or
some milliseconds later, and the mean over several intervals lies between their means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PERIOD_S = 1.0
"""Time for which the first sample holds, s: the sampler begins a second before it."""

COVERED = 0.5
"""An interval of which samples hold for no more than this share counts as not sampled."""


class Span(NamedTuple):
    """A stretch of time, s since the epoch by the load generator's clock."""

    begin_s: float
    end_s: float


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
        begins = ends.shift()
        yield str(name), table.assign(begin_s=begins.fillna(ends - PERIOD_S), end_s=ends)


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
    edges = np.concatenate([begins[:1], ends])
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0) * lengths)])
    held = np.concatenate([[0.0], np.cumsum(lengths)])
    first, last = np.array([one.begin_s for one in within]), np.array([one.end_s for one in within])
    total = np.interp(last, edges, sums) - np.interp(first, edges, sums)
    covered = np.interp(last, edges, held) - np.interp(first, edges, held)
    enough = covered > COVERED * (last - first)
    found: Floats = np.divide(total, covered, out=np.full(len(within), np.nan), where=enough)
    return found


def mean_of(found: Floats) -> float:
    """Return the mean over intervals of equal length that were sampled; NaN where none was."""
    known = found[~np.isnan(found)]
    return float(known.mean()) if len(known) else float("nan")


def highest_of(found: Floats) -> float:
    """Return the highest mean of any interval that was sampled; NaN where none was."""
    known = found[~np.isnan(found)]
    return float(known.max()) if len(known) else float("nan")
