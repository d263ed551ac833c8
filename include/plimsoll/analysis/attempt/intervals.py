"""The intervals table: the response times of every interval, for all operations and separately for reads and writes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.analysis.attempt.alignment import Phase, Window
from plimsoll.analysis.logs.hdr.histograms import SHOWN, Ints, Unit, count_below, total_and_values_ms, wide_length
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, Percentiles, ServiceLevel

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.attempt.unanswered import Unanswered
    from plimsoll.analysis.logs.hdr.histograms import Decoder
    from plimsoll.analysis.logs.operations import Track

SHOWN_NAMES = ("p50_ms", "p90_ms", "p99_ms", "p99_9_ms", "max_ms")


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One interval of one operation. Times in ms are None where nothing was counted.

    `start_s`: from the timed run's start; `duration_s`: the time that the interval's records cover, or in which
    operations are known to have been due; `operation`: `all`, `reads`, `writes` (or the operation's own name if it is
    neither); `count`, `rate_ops_s`: of answered operations; `judged_ms`: the first service level's percentile of all
    operations, of which `failed` ones are slower than every answer; all other times are of answers, and of failures
    that the files time like answers; `met`: set only where that service level judges this row.
    """

    start_s: float
    duration_s: float
    phase: Phase
    operation: str
    count: int
    rate_ops_s: float
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    p99_9_ms: float | None
    max_ms: float | None
    judged_ms: float | None
    met: bool | None = None
    failed: int = 0


@dataclass(frozen=True)
class IntervalTable:
    """All rows, in order of time, with `all` before the single operations."""

    rows: tuple[IntervalRow, ...] = ()

    def select(self, phase: Phase, operation: str = ALL_OPERATIONS) -> tuple[IntervalRow, ...]:
        return tuple(row for row in self.rows if row.phase == phase and row.operation == operation)

    @property
    def operations(self) -> tuple[str, ...]:
        """Return the names of the single operations, sorted; `all` is none of them."""
        return tuple(sorted({row.operation for row in self.rows} - {ALL_OPERATIONS}))

    def frame(self) -> pd.DataFrame:
        """Return the table as a data frame, one column per field. Types don't depend on content; `met` is nullable."""
        import pandas as pd  # late: judging needs none of it

        columns = [field.name for field in fields(IntervalRow)]
        frame = pd.DataFrame([asdict(row) for row in self.rows], columns=columns)
        floats = {name: "float64" for name in columns if name.endswith(("_s", "_ms"))}
        counts = dict.fromkeys(("count", "failed"), "int64")
        return frame.astype({**floats, **counts, "phase": "str", "operation": "str", "met": "boolean"})


class Quantile(NamedTuple):
    """A percentile of answered operations alone, or also of those that were not answered, which are slower."""

    percentile: float
    of_all: bool = False

    @classmethod
    def of(cls, level: ServiceLevel) -> Quantile:
        return cls(level.percentile, level.counts_failures)


@dataclass(frozen=True)
class Measured:
    """One window's values for one operation: at each wanted quantile, in ms; empty if nothing was counted.

    `count`: operations with a time; `failed`: those that were due and not answered, of which `among_times` are in
    `count` too. `below`: how many answers are below each bound that was asked for, ms.
    """

    window: Window
    operation: str
    count: int
    values_ms: Mapping[Quantile, float]
    failed: int = 0
    among_times: int = 0
    below: Mapping[float, int] = field(default_factory=dict)

    @property
    def answers(self) -> int:
        """Return how many were answered without a failure."""
        # A record on an interval's border may be counted in the one, and its failures in the other
        return max(0, self.count - self.among_times)

    def total_and_below(self, level: ServiceLevel) -> tuple[int, int]:
        """Return the number of operations, failed ones included, and how many are certainly below the level's bound."""
        return self.answers + self.failed, self.below.get(level.bound_ms, 0) - self.among_times

    def shown_ms(self, percentile: float) -> float | None:
        """Return the answers' percentile, ms; None where nothing was answered, or it is not known."""
        return self.values_ms.get(Quantile(percentile))

    def value_ms(self, level: ServiceLevel) -> float | None:
        """Return the level's percentile, ms; None where nothing is known to have been due.

        Where it is a failed operation, the value is the least that it can be: the bound, or the slowest answer.
        """
        if self.is_floor(level):
            return max(level.bound_ms, self.shown_ms(100) or 0.0)
        return self.values_ms.get(Quantile.of(level))

    def is_floor(self, level: ServiceLevel) -> bool:
        """Tell whether the level's percentile is a failed operation, which is slower than every answer."""
        value = self.values_ms.get(Quantile.of(level))
        return value == inf or (value is None and self.failed > 0 and level.counts_failures)

    def meets(self, level: ServiceLevel) -> bool | None:
        """Tell whether the level's percentile lies strictly below its bound; false without an operation."""
        value = self.value_ms(level)
        return value is not None and value < level.bound_ms

    def row(self, level: ServiceLevel) -> IntervalRow:
        """Return the values as a row of the table; `level` is the first service level."""
        is_judged = self.window.phase == "judged" and self.operation == level.operations
        duration_s = self.window.duration_s
        return IntervalRow(
            start_s=self.window.start_s,
            duration_s=duration_s,
            phase=self.window.phase,
            operation=self.operation,
            count=self.answers,
            rate_ops_s=self.answers / duration_s if duration_s > 0 else 0.0,
            judged_ms=self.value_ms(level),
            met=self.meets(level) if is_judged else None,
            failed=self.failed,
            **{name: self.shown_ms(percentile) for name, percentile in zip(SHOWN_NAMES, SHOWN, strict=True)},
        )


@dataclass(frozen=True)
class Wanted:
    """What is measured in each window: SHOWN of the answers, then the levels' quantiles, and what is below bounds.

    `unanswered`: what was not answered, by the epoch; `origin_s`: the timed run's start.
    """

    levels: Sequence[ServiceLevel]
    unanswered: Unanswered
    origin_s: float

    @cached_property
    def quantiles(self) -> tuple[Quantile, ...]:
        return tuple(dict.fromkeys((*map(Quantile, SHOWN), *map(Quantile.of, self.levels))))

    def of(self, counts: Ints, window: Window, operation: str, unit: Unit) -> Measured:
        span = self.origin_s + window.start_s, self.origin_s + window.end_s
        failed = self.unanswered.between(operation, *span, int(counts.sum()))
        among_times = self.unanswered.among_times_between(operation, *span)
        of_all = np.array([int(quantile.of_all) for quantile in self.quantiles]) if failed else 0
        beyond, moved = (failed - among_times) * of_all, among_times * of_all
        percentiles = [quantile.percentile for quantile in self.quantiles]
        count, values = total_and_values_ms(counts, percentiles, unit, beyond, moved)
        bounds_ms = [level.bound_ms for level in self.levels] if self.unanswered.without_time else []
        below = dict(zip(bounds_ms, count_below(counts, bounds_ms, unit), strict=True)) if bounds_ms else {}
        values_ms = dict(zip(self.quantiles, values, strict=False))  # no values where nothing was counted
        return Measured(window, operation, count, values_ms, failed, among_times, below)


def measure(
    tracks: Sequence[Track], windows: Sequence[Window], decoder: Decoder, wanted: Wanted, judged: dict[str, Ints]
) -> Iterator[Measured]:
    """Yield the wanted values of every window, from merged counts: of all operations, then of each one.

    `judged` receives the merged counts of all judged windows, by operation.
    """
    for window in windows:
        for operation, counts in _counts(tracks, window, decoder).items():
            if window.phase == "judged":
                if operation not in judged:
                    judged[operation] = np.zeros(wide_length(decoder.unit), dtype=np.int64)
                judged[operation][: len(counts)] += counts
            yield wanted.of(counts, window, operation, decoder.unit)


def _counts(tracks: Sequence[Track], window: Window, decoder: Decoder) -> dict[str, Ints]:
    """Return the merged counts of one window, by operation, up to the last slot in use: most slots come after it."""
    merged: dict[str, Ints] = {}
    for track, part in zip(tracks, window.parts, strict=True):
        counts = decoder.merge_used(track.records[part], track.name)
        known = merged.get(track.operation)
        merged[track.operation] = counts if known is None else _sum((known, counts))
    named = {operation: merged[operation] for operation in sorted(merged) if operation}
    return {ALL_OPERATIONS: _sum(merged.values()), **named}


def _sum(parts: Collection[Ints]) -> Ints:
    """Return the sum of counts that end at different slots."""
    total = np.zeros(max(map(len, parts)), dtype=np.int64)
    for part in parts:
        total[: len(part)] += part
    return total


def maxima(rows: Sequence[IntervalRow]) -> Percentiles | None:
    """Return the highest value of each percentile known for every interval with operations. Else None."""
    counted = [row for row in rows if row.count]
    if not counted:
        return None
    known = {name: [getattr(row, name) for row in counted] for name in SHOWN_NAMES}
    return Percentiles(**{name: None if None in values else max(values) for name, values in known.items()})


def maxima_by_operation(table: IntervalTable) -> dict[str, Percentiles]:
    """Return the maxima of the judged intervals for each single operation that has any."""
    by_name = {name: maxima(table.select("judged", name)) for name in table.operations}
    return {name: highest for name, highest in by_name.items() if highest}
