"""Counts of each cell's missed intervals that a cause touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.coincidence import causes_in

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.campaign.causes import Link, VariantCauses
    from plimsoll.analysis.campaign.cell_results import CellResult


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
    """Return the cell's judged intervals with their causes; None where none missed, or only response times are
    known.
    """
    level = result.verdict.levels[0] if result.verdict and result.verdict.levels else None
    if result.counted is None or not (level and level.missed) or result.counted.coincidences.empty:
        return None
    return result.counted.coincidences
