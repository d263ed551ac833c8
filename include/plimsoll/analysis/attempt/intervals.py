"""The intervals table: the response times of every interval, for all operations and separately for reads and writes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.attempt.alignment import Phase, Window
from plimsoll.analysis.logs.hdr.histogram_layout import wide_length
from plimsoll.analysis.logs.hdr.percentiles import SHOWN, total_and_values_ms
from plimsoll.domain.level_verdict import Percentiles
from plimsoll.domain.service_level import ALL_OPERATIONS

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.logs.hdr.decode import Decoder
    from plimsoll.analysis.logs.hdr.histogram_layout import Ints
    from plimsoll.analysis.logs.operations import Track
    from plimsoll.domain.service_level import ServiceLevel

SHOWN_NAMES = ("p50_ms", "p90_ms", "p99_ms", "p99_9_ms", "max_ms")


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One interval of one operation. Times in ms are None where nothing was counted.

    `start_s`: from the timed run's start; `duration_s`: the time that the interval's records cover; `operation`: `all`,
    `reads`, `writes` (or the operation's own name if it is neither); `judged_ms`: the first service level's percentile;
    `met`: set only where that service level judges this row.
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


@dataclass(frozen=True)
class IntervalTable:
    """All rows, in order of time, with `all` before the single operations."""

    rows: tuple[IntervalRow, ...] = ()

    def select(self, phase: Phase, operation: str = ALL_OPERATIONS) -> tuple[IntervalRow, ...]:
        """Return the rows of one phase and operation."""
        return tuple(row for row in self.rows if row.phase == phase and row.operation == operation)

    @property
    def operations(self) -> tuple[str, ...]:
        """Return the names of the single operations, sorted."""
        return tuple(sorted({row.operation for row in self.rows} - {ALL_OPERATIONS}))

    def frame(self) -> pd.DataFrame:
        """Return the table as a data frame, one column per field.

        Data types do not depend on the content; `met` is nullable.
        """
        import pandas as pd  # late: judging needs none of it

        columns = [field.name for field in fields(IntervalRow)]
        frame = pd.DataFrame([asdict(row) for row in self.rows], columns=columns)
        floats = {name: "float64" for name in columns if name.endswith(("_s", "_ms"))}
        return frame.astype({**floats, "count": "int64", "phase": "str", "operation": "str", "met": "boolean"})


@dataclass(frozen=True)
class Measured:
    """One window's values for one operation: at each requested percentile, in ms; empty if nothing was counted."""

    window: Window
    operation: str
    count: int
    values_ms: tuple[float, ...]

    def at(self, place: int) -> float | None:
        """Return the value at the requested percentile with that index."""
        return self.values_ms[place] if self.values_ms else None

    def meets(self, level: ServiceLevel, place: int) -> bool:
        """Tell whether the value with that index lies strictly below the level's bound; false without an operation."""
        value = self.at(place)
        return value is not None and value < level.bound_ms

    def row(self, judged: int, met: bool | None) -> IntervalRow:
        """Return the values as a row of the table; `judged` is the index of the service level's percentile."""
        duration_s = self.window.duration_s
        return IntervalRow(
            start_s=self.window.start_s,
            duration_s=duration_s,
            phase=self.window.phase,
            operation=self.operation,
            count=self.count,
            rate_ops_s=self.count / duration_s if duration_s > 0 else 0.0,
            judged_ms=self.at(judged),
            met=met,
            **{name: self.at(SHOWN_NAMES.index(name)) for name in SHOWN_NAMES},
        )


def measure(
    tracks: Sequence[Track],
    windows: Sequence[Window],
    decoder: Decoder,
    further: Sequence[float] = (),
    judged: dict[str, Ints] | None = None,
) -> Iterator[Measured]:
    """Yield percentiles of every window (SHOWN, then `further`) from merged counts: of all operations, then of each
    one.

    `judged` receives the merged counts of all judged windows, by operation.
    """
    percentiles = (*SHOWN, *further)
    for window in windows:
        for operation, counts in _counts(tracks, window, decoder).items():
            if judged is not None and window.phase == "judged":
                if operation not in judged:
                    judged[operation] = np.zeros(wide_length(decoder.unit), dtype=np.int64)
                judged[operation][: len(counts)] += counts
            count, values = total_and_values_ms(counts, percentiles, decoder.unit)
            yield Measured(window, operation, count, values)


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
    """Return the highest value of each percentile that is known for every interval with an operation.

    None where there is none.
    """
    counted = [row for row in rows if row.count]
    if not counted:
        return None
    known = {name: [getattr(row, name) for row in counted] for name in SHOWN_NAMES}
    return Percentiles(**{name: None if None in found else max(found) for name, found in known.items()})


def maxima_by_operation(table: IntervalTable) -> dict[str, Percentiles]:
    """Return the maxima of the judged intervals for each single operation that has any."""
    found = {name: maxima(table.select("judged", name)) for name in table.operations}
    return {name: highest for name, highest in found.items() if highest}
