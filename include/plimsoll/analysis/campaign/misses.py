"""The worst missed intervals, each with the causes that touched it and the nodes' log lines of that time; and how
many of each cell's a cause touched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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

    @property
    def badness(self) -> float:
        """Return a sort key: the judged percentile, ms; infinite for an interval in which nothing was answered."""
        return float("inf") if self.judged_ms is None else self.judged_ms


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
    missed = [cell for cell in cells if cell.verdict and cell.verdict.levels and cell.verdict.levels[0].missed]
    each = min(_PER_CELL, max(1, _ALL // max(1, len(missed))))
    own = {one.cell.id: _worst_rows(one.counted, WORST) for one in missed if one.counted}
    every = sorted((row for rows in own.values() for row in rows), key=_badness, reverse=True)
    least = _badness(every[WORST - 1]) if len(every) >= WORST else 0.0
    found = [
        miss
        for one in missed
        if one.counted
        for place, row in enumerate(own[one.cell.id])
        if place < (_PER_CELL if one.cell.id in decisive else each) or _badness(row) >= least
        for miss in _misses(one.counted, [row], bound_ms)
    ]
    return tuple(sorted(found, key=lambda miss: miss.badness, reverse=True))


def misses_of(attempt: AttemptData, bound_ms: float) -> tuple[Miss, ...]:
    """Return the worst missed intervals of one attempt, the worst first."""
    return tuple(_misses(attempt, _worst_rows(attempt, _PER_CELL), bound_ms))


def decisive_cell(cells: Sequence[CellResult], capacity: Capacity) -> CellResult | None:
    """Return the cell that decided a variant's capacity, out of the variant's `cells`.

    None where none has valid intervals. It is the worst valid repeat at the lowest load that missed, else at the
    highest load that was run.
    """
    valid = [cell for cell in cells if cell.counted and not cell.counted.intervals.empty]
    load = capacity.lowest_missed_ops_s or max((one.cell.load_ops_s for one in valid), default=0)
    own = [one for one in valid if one.cell.load_ops_s == load]
    return max(own, key=lambda one: (one.verdict and distance(one.verdict)) or 0.0, default=None)


_Row = tuple[float, float | None]
"""Start (s) and judged percentile (ms) of an interval."""


def _worst_rows(attempt: AttemptData, most: int) -> list[_Row]:
    """Return an attempt's missed intervals, the worst first."""
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
    return float("inf") if row[1] is None else row[1]


def _misses(attempt: AttemptData, rows: Sequence[_Row], bound_ms: float) -> Iterator[Miss]:
    for start_s, judged_ms in rows:
        yield Miss(
            cell_id=attempt.key.cell_id,
            start_s=start_s,
            judged_ms=judged_ms,
            touched=_touched(attempt, start_s, bound_ms),
            lines=_lines(attempt, start_s),
        )


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
    links = {(one.variant, share.cause): share.link for one in variants for share in one.causes}
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
    level = result.verdict.levels[0] if result.verdict and result.verdict.levels else None
    if result.counted is None or not (level and level.missed) or result.counted.coincidences.empty:
        return None
    return result.counted.coincidences
