"""The worst missed intervals, each with the causes that touched it and the nodes' log lines of that time; and how
many of each cell's a cause touched.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.coincidence import Cause, causes_in
from plimsoll.analysis.campaign.cell_results import distance

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.campaign.capacity import Capacity
    from plimsoll.analysis.campaign.causes import Link, VariantCauses
    from plimsoll.analysis.campaign.cell_results import AttemptData, CellResult

WORST = 20
"""The number of the worst missed intervals of the whole campaign that are always listed."""
_ALL, _PER_CELL = 120, 10
"""The greatest number of further intervals that are listed, evenly over the cells that missed, in all and per cell."""


@dataclass(frozen=True)
class Coincidence:
    """A cause that touched an interval: its amount in the cause's unit, and where it was, as people read it."""

    cause: Cause
    amount: float
    place: str


@dataclass(frozen=True)
class Miss:
    """A missed interval of a cell.

    `start_s` counts from the timed run's start. `judged_ms` is None where nothing was answered. `touched` is None where
    only response times were analysed. `lines` are the nodes' log lines of that time, each with its place.
    """

    cell_id: str
    start_s: float
    judged_ms: float | None
    touched: tuple[Coincidence, ...] | None
    lines: tuple[str, ...]


@dataclass(frozen=True)
class CellCause:
    """One cause that touched missed intervals of one cell; `cell` and `cause` are ids, `label` is the cause in words.

    `missed`: the cell's missed intervals; `missed_with`: those that the cause touched, at least one. `link`: the result
    of the test over all cells of the variant.
    """

    cell: str
    cause: str
    label: str
    missed: int
    missed_with: int
    link: Link


def worst_misses(
    cells: Sequence[CellResult], bound_ms: float, decisive: Collection[str] = frozenset()
) -> tuple[Miss, ...]:
    """Return missed intervals of attempts that count, the worst first.

    The result holds the WORST of all, some of every cell with a miss, and more of the cells in `decisive` (ids).
    """
    missed = [result for result in cells if result.missed_intervals]
    per_cell = min(_PER_CELL, max(1, _ALL // max(1, len(missed))))
    own = {result.cell.id: _worst_rows(result.counted, WORST) for result in missed if result.counted}
    worst_first = sorted((row for rows in own.values() for row in rows), key=_badness, reverse=True)
    least = _badness(worst_first[WORST - 1]) if len(worst_first) >= WORST else 0.0
    listed = [
        (result.counted, row)
        for result in missed
        if result.counted
        for rank, row in enumerate(own[result.cell.id])
        if rank < (_PER_CELL if result.cell.id in decisive else per_cell) or _badness(row) >= least
    ]
    listed.sort(key=lambda pair: _badness(pair[1]), reverse=True)
    return tuple(_miss(attempt, row, bound_ms) for attempt, row in listed)


def misses_of(attempt: AttemptData, bound_ms: float) -> tuple[Miss, ...]:
    """Return the worst missed intervals of one attempt, the worst first."""
    return tuple(_miss(attempt, row, bound_ms) for row in _worst_rows(attempt, _PER_CELL))


def decisive_cell(cells: Sequence[CellResult], capacity: Capacity) -> CellResult | None:
    """Return the cell that decided a capacity: the worst at the lowest missed load, else at the highest that ran."""
    own = (result for result in cells if result.cell.variant == capacity.variant)
    valid = [result for result in own if result.counted and not result.counted.intervals.empty]
    load = capacity.lowest_missed_ops_s or max((result.cell.load_ops_s for result in valid), default=0)
    at_load = (result for result in valid if result.cell.load_ops_s == load)
    return max(at_load, key=lambda result: (result.verdict and distance(result.verdict)) or 0.0, default=None)


_Row = tuple[float, float | None]
"""Start (s) and judged percentile (ms) of an interval."""


def _worst_rows(attempt: AttemptData, most: int) -> list[_Row]:
    table = attempt.intervals
    if table.empty:
        return []
    missed = table[table["met"].eq(False).fillna(value=False)]
    rows = [
        (float(start_s), None if ms != ms else float(ms))  # noqa: PLR0124 - NaN is nothing answered
        for start_s, ms in zip(missed["start_s"].tolist(), missed["judged_ms"].astype(float).tolist(), strict=True)
    ]
    return sorted(rows, key=_badness, reverse=True)[:most]


def _badness(row: _Row) -> float:
    """Return a sort key: the judged percentile, ms; infinite for an interval in which nothing was answered."""
    return float("inf") if row[1] is None else row[1]


def _miss(attempt: AttemptData, row: _Row, bound_ms: float) -> Miss:
    start_s, judged_ms = row
    touched, lines = _touched(attempt, start_s, bound_ms), _lines(attempt, start_s)
    return Miss(attempt.key.cell_id, start_s, judged_ms, touched, lines)


def _touched(attempt: AttemptData, start_s: float, bound_ms: float) -> tuple[Coincidence, ...] | None:
    """Return every cause that touched the interval, in the order of causes."""
    table = attempt.coincidences
    if table.empty:
        return None
    own = table[table["start_s"] == start_s]
    if own.empty:
        return None
    row = own.iloc[0]
    return tuple(
        Coincidence(cause, float(row[cause.id]), attempt.place(row[f"{cause.id}_host"], row[f"{cause.id}_process"]))
        for cause in causes_in([table])
        # A table of an earlier version lacks causes that were added since.
        if cause.id in table and float(row[cause.id]) >= cause.least(bound_ms)
    )


def _lines(attempt: AttemptData, start_s: float) -> tuple[str, ...]:
    table = attempt.log_lines
    if table.empty:
        return ()
    own = table[table["start_s"] == start_s]
    rows = zip(own["host"], own["process"], own["text"], strict=True)
    return tuple(f"{attempt.place(host, process)}: {text}" for host, process, text in rows)


def causes_by_cell(
    cells: Sequence[CellResult], variants: Sequence[VariantCauses], bound_ms: float
) -> tuple[CellCause, ...]:
    """Return every cell with misses and every cause that touched one of them, in the order of cells and causes.

    `variants`: the result of `causes_of_misses` for these cells. `bound_ms`: the first service level's bound, ms.
    """
    links = {(variant.variant, share.cause): share.link for variant in variants for share in variant.causes}
    return tuple(
        CellCause(result.cell.id, cause.id, cause.label, missed, touched, links[result.cell.variant, cause.id])
        for result in cells
        if (table := _judged(result)) is not None
        for missed in [int(table["missed"].sum())]
        for cause in causes_in([table])
        if cause.id in table and (touched := int((table["missed"] & (table[cause.id] >= cause.least(bound_ms))).sum()))
    )


def _judged(result: CellResult) -> pd.DataFrame | None:
    """Return the cell's judged intervals with their causes; None where none missed, or all but times is unknown."""
    if result.counted is None or not result.missed_intervals or result.counted.coincidences.empty:
        return None
    return result.counted.coincidences
