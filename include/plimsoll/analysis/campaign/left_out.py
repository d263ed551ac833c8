"""The cells that a strategy did not run, and the outcomes that made them unnecessary."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from plimsoll.analysis import grouped
from plimsoll.analysis.campaign.cell_results import CellResult
from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.keys.strategy import FullGrid, Strategy, Threshold
from plimsoll.domain.text.base import Model


class DecidingCell(Model):
    """A cell whose outcome made other cells unnecessary."""

    cell: str
    outcome: ValidOutcome
    spared: Annotated[int, Field(description="Cells that need not run for it")]


class LeftOut(Model):
    """The cells of one variant that a strategy ran, and those that it did not."""

    variant: str
    run: Annotated[int, Field(description="Cells with a valid attempt")]
    missing: Annotated[int, Field(description="Cells that it may still ask for")]
    not_needed: Annotated[int, Field(description="Cells that it will never ask for")]
    decided_by: tuple[DecidingCell, ...]


@dataclass(frozen=True)
class SharedData:
    """The number of cells that used the data of lower loads, for a strategy whose loads share data.

    `cells`: the number of cells with a fingerprint; `went_on`: of those, on the data of lower loads. `fresh_above`: ids
    of those that began with fresh data although a lower load belongs to the same repeat.
    """

    cells: int
    went_on: int
    fresh_above: tuple[str, ...]


def left_out(strategy: Strategy, cells: Sequence[CellResult]) -> tuple[LeftOut, ...]:
    """Return the cells left out, variant by variant in the order of `cells`.

    Empty for a full grid, which runs them all, and for a threshold, which has no cells but those that it asks for.
    """
    if isinstance(strategy, FullGrid | Threshold):
        return ()
    of_variants = grouped((result.cell.variant, result) for result in cells)
    return tuple(_of_variant(variant, own) for variant, own in of_variants.items())


def _of_variant(variant: str, cells: Sequence[CellResult]) -> LeftOut:
    spared = Counter(cell.decided_by for cell in cells if cell.decided_by)
    return LeftOut(
        variant=variant,
        run=sum(result.verdict is not None for result in cells),
        missing=sum(not result.is_settled for result in cells),
        not_needed=spared.total(),
        decided_by=tuple(DecidingCell(cell=by.cell_id, outcome=by.outcome, spared=n) for by, n in spared.items()),
    )


def shared_data(cells: Sequence[CellResult]) -> SharedData:
    """Tell whose data the cells ran on, from the fingerprints of attempts that count."""
    counted = ((result.cell, result.counted) for result in cells if result.counted)
    ran = [(cell, attempt.fingerprint) for cell, attempt in counted if attempt.fingerprint]
    lowest: dict[str, int] = {}
    for result in cells:
        lowest[result.cell.ladder] = min(lowest.get(result.cell.ladder, result.cell.load_ops_s), result.cell.load_ops_s)
    fresh = [cell for cell, fingerprint in ran if not fingerprint.data_of]
    return SharedData(
        cells=len(ran),
        went_on=len(ran) - len(fresh),
        fresh_above=tuple(cell.id for cell in fresh if cell.load_ops_s > lowest[cell.ladder]),
    )
