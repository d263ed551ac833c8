"""Stop-the-world time of each variant's processes at each load, over the judged time of all nodes and valid repeats.

Whether a cell was steady after warm-up: trend and change point of the judged percentile over the judged time.

Neighbouring intervals are not independent, so the tests run on medians of blocks: at most 24 blocks, none shorter than
six intervals. Trend: Mann and Kendall's test with Sen's slope, on log percentiles. Change point: Pettitt's test. Holm's
correction covers all cells and both tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import exp, isnan
from statistics import median
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

import numpy as np
from pydantic import Field

from plimsoll.analysis.campaign.series import judged_series, log_ms, pettitt, trend
from plimsoll.analysis.campaign.statistics import CONFIDENCE, holm
from plimsoll.analysis.logs.gc.pauses import stopped_ms
from plimsoll.domain.text.base import LeftOutIfEmpty, Model

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.campaign.cell_results import CellResult
    from plimsoll.analysis.logs.operations import Floats

_ONE_STOP_S = 0.05
"""The time within which collections of one safepoint end. Logs give all of them the same stop, to the nanosecond."""


class Range(Model):
    """The lowest, median and highest value over repeats."""

    low: float
    median: float
    high: float


class PauseStatistics(Model):
    """The pauses of one variant's process at one load. Percentiles are of all of them, ms. Null: no GC log tells."""

    variant: str
    load_ops_s: int
    process: Annotated[str, Field(description="The process of the nodes that runs in these JVMs")]
    repeats: Annotated[int, Field(description="Valid repeats of which GC logs were read")]
    stops: Annotated[int, Field(description="Stop-the-world pauses, all nodes and repeats")]
    stalls: Annotated[int, Field(description="Allocation stalls, which stop one thread each")]
    stopped_share: Annotated[float, Field(description="Share of a node's time for which its threads stood")]
    p50_ms: float | None
    p99_ms: float | None
    longest_ms: Annotated[Range | None, Field(description="Longest stop of each repeat")]
    to_safepoint_p99_ms: float | None
    to_safepoint_longest_ms: Annotated[Range | None, Field(description="Longest time to safepoint of each repeat")]
    gc_cpu_share: Annotated[Range | None, Field(description="Processor time of pauses / the host's, mean over nodes")]
    allocated_bytes_s: Annotated[Range | None, Field(description="Allocation rate of a node, mean over nodes")]
    heap_after_bytes: Annotated[Range | None, Field(description="Heap after collections, highest of all nodes")]
    unread_lines: Annotated[
        LeftOutIfEmpty[int], Field(description="Lines of GC logs of unknown form: pauses may be missing")
    ] = 0


class _GcLogs(NamedTuple):
    """Stops in the judged time (their lengths and times to safepoint, ms) of one process in one attempt, and its JVMs.

    `stops` counts single collections, of which several may stop the threads as one.
    """

    lengths: Floats
    waits: Floats
    stops: int
    stalls: int
    jvms: pd.DataFrame


def pause_statistics(cells: Iterable[CellResult], warmup_s: float, duration_s: float) -> tuple[PauseStatistics, ...]:
    """Return the pauses of every variant, load and process with a GC log, in the cells' order. Of what counts."""
    grouped: dict[tuple[str, int, str], list[_GcLogs]] = {}
    for result in cells:
        if result.counted is not None and not result.counted.jvms.empty:
            pauses = result.counted.pauses
            judged = pauses["start_s"].between(warmup_s, duration_s, inclusive="left")
            for process, jvms in result.counted.jvms.groupby("process", sort=False):
                key = result.cell.variant, result.cell.load_ops_s, str(process)
                grouped.setdefault(key, []).append(_gc_logs(pauses[judged & (pauses["process"] == process)], jvms))
    return tuple(_statistics(*key, attempts) for key, attempts in grouped.items())


def _statistics(variant: str, load: int, process: str, attempts: Sequence[_GcLogs]) -> PauseStatistics:
    lengths, waits = [attempt.lengths for attempt in attempts], [attempt.waits for attempt in attempts]
    nodes_s = sum(float(attempt.jvms["judged_s"].sum()) for attempt in attempts)
    return PauseStatistics(
        variant=variant,
        load_ops_s=load,
        process=process,
        repeats=len(attempts),
        stops=sum(attempt.stops for attempt in attempts),
        stalls=sum(attempt.stalls for attempt in attempts),
        stopped_share=sum(float(length.sum()) for length in lengths) / 1000 / nodes_s,
        p50_ms=_quantile(lengths, 0.5),
        p99_ms=_quantile(lengths, 0.99),
        longest_ms=_range(float(length.max()) for length in lengths if len(length)),
        to_safepoint_p99_ms=_quantile(waits, 0.99),
        to_safepoint_longest_ms=_range(float(wait.max()) for wait in waits if len(wait)),
        gc_cpu_share=_of_nodes(attempts, "gc_cpu_share", lambda column: float(column.mean())),
        allocated_bytes_s=_of_nodes(attempts, "allocated_bytes_s", lambda column: float(column.mean())),
        heap_after_bytes=_of_nodes(attempts, "heap_after_max_bytes", lambda column: float(column.max())),
        unread_lines=sum(int(attempt.jvms["unread_lines"].sum()) for attempt in attempts),
    )


def _gc_logs(pauses: pd.DataFrame, jvms: pd.DataFrame) -> _GcLogs:
    stopped = pauses[pauses["stop_the_world"].astype(bool)]
    waits = stopped["to_safepoint_ms"].dropna().to_numpy(dtype=np.float64)
    return _GcLogs(_stopped_ms(stopped), waits, len(stopped), len(pauses) - len(stopped), jvms)


def _stopped_ms(table: pd.DataFrame) -> Floats:
    """Return the duration of the stalls of application threads, ms. Collections within one safepoint are one pause."""
    hosts, _ = table["host"].factorize(sort=True)
    stopped = stopped_ms(table).to_numpy(dtype=np.float64)
    ends = (table["start_s"] + table["duration_ms"] / 1000).to_numpy(dtype=np.float64)
    order = np.lexsort((ends, hosts))
    hosts, stopped, ends = hosts[order], stopped[order], ends[order]
    of_same_stop = (np.diff(hosts) == 0) & (np.diff(stopped) == 0) & (np.diff(ends) < _ONE_STOP_S)
    # Cut to length, since an empty table has no first stop
    lengths: Floats = stopped[np.append(True, ~of_same_stop)[: len(stopped)]]
    return lengths


def _quantile(columns: Sequence[Floats], share: float) -> float | None:
    values = np.concatenate(columns) if columns else np.empty(0)
    # The length of a pause that happened, and never too short
    return float(np.quantile(values, share, method="higher")) if len(values) else None


def _of_nodes(attempts: Sequence[_GcLogs], column: str, figure: Callable[[pd.Series[float]], float]) -> Range | None:
    return _range(figure(attempt.jvms[column]) for attempt in attempts)


def _range(values: Iterable[float]) -> Range | None:
    known = [value for value in values if not isnan(value)]
    return Range(low=min(known), median=median(known), high=max(known)) if known else None


BLOCKS, FEWEST_BLOCKS, SHORTEST_BLOCK = 24, 8, 6
_TOO_SHORT: Final = "too short to tell"


class Steadiness(Model):
    """The trend and the change point of one cell's judged time."""

    cell: str
    finding: Literal["no drift shown", "drifts", "jumps", "too short to tell"]
    change: Annotated[float | None, Field(description="Percentile at the end / at the start, by Sen's slope")]
    jump: Annotated[float | None, Field(description="Median after the likeliest change point / before it")]
    jump_at_s: Annotated[float | None, Field(description="Where that is, s from the timed run's start")]
    trend_p: float | None
    jump_p: float | None
    p_holm: Annotated[float | None, Field(description="The smaller of both after Holm's correction over all cells")]


def steadiness(cells: Iterable[CellResult]) -> tuple[Steadiness, ...]:
    """Return the steadiness of every cell with a valid attempt that has intervals, in the cells' order."""
    known = [_cell(result) for result in cells if result.counted and not result.counted.intervals.empty]
    adjusted = holm([p_value for of_cell in known for p_value in (of_cell.trend_p, of_cell.jump_p)])
    return tuple(map(_concluded, known, adjusted[::2], adjusted[1::2]))


def unsteady(found: Iterable[Steadiness]) -> tuple[Steadiness, ...]:
    return tuple(of_cell for of_cell in found if of_cell.finding in ("drifts", "jumps"))


def _cell(result: CellResult) -> Steadiness:
    series = judged_series(result.counted)
    logs = log_ms(series)
    count = min(BLOCKS, len(logs) // SHORTEST_BLOCK)
    if count < FEWEST_BLOCKS:
        nothing = dict.fromkeys(("change", "jump", "jump_at_s", "trend_p", "jump_p", "p_holm"))
        return Steadiness(cell=result.cell.id, finding=_TOO_SHORT, **nothing)
    starts_s = series.start_s[~np.isnan(series.judged_ms)]
    blocks = np.array_split(logs, count)
    medians = np.array([np.median(block) for block in blocks])
    change, jump_p = pettitt(medians)
    trend_p, slope = trend(medians)
    return Steadiness(
        cell=result.cell.id,
        finding="jumps" if _step_fits_better(medians, change, slope) else "drifts",
        change=exp(slope * (count - 1)),
        jump=exp(float(np.median(medians[change:]) - np.median(medians[:change]))),
        jump_at_s=float(starts_s[sum(map(len, blocks[:change]))]),
        trend_p=trend_p,
        jump_p=jump_p,
        p_holm=None,
    )


def _concluded(tested: Steadiness, trend_p: float | None, jump_p: float | None) -> Steadiness:
    """Return the finding with its corrected p value; "no drift shown" where neither test is significant.

    A significant result of either test confirms the finding, because a jump also makes a trend, and a trend a change.
    """
    if trend_p is None or jump_p is None:
        return tested
    finding = tested.finding if min(trend_p, jump_p) <= 1 - CONFIDENCE else "no drift shown"
    return tested.model_copy(update={"finding": finding, "p_holm": min(trend_p, jump_p)})


def _step_fits_better(values: Floats, change: int, slope: float) -> bool:
    """Tell whether a step fits better than a line, by the sum of absolute deviations."""
    flat = values - slope * np.arange(len(values))
    step = sum(float(np.abs(part - np.median(part)).sum()) for part in (values[:change], values[change:]))
    return step < float(np.abs(flat - np.median(flat)).sum())
