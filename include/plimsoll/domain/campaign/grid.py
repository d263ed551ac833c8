"""The cells of a campaign: all that it asks for, and those whose loads are not known yet."""

from collections.abc import Callable, Iterator, Sequence

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.loads import NO_LOAD


def cells_by_id(campaign: Campaign) -> dict[str, Cell]:
    """Return all cells by id, in the definition's order."""
    return {cell.id: cell for cell in grid(campaign)}


def cell_of(campaign: Campaign, cell_id: str) -> Cell:
    """Return the campaign's cell with that id. Raises KeyError when the campaign has no such cell."""
    return cells_by_id(campaign)[cell_id]


def parts_of(campaign: Campaign, cell_id: str) -> Sequence[Part]:
    """Return the cell's part alone; all parts where the campaign does not have that cell."""
    cell = cells_by_id(campaign).get(cell_id) if len(campaign.stages) > 1 else None
    return campaign.parts if cell is None else [campaign.part(cell.part)]


def grid(campaign: Campaign) -> tuple[Cell, ...]:
    """Return all cells whose loads are known, in definition order: stages, workloads, repeats, variants, loads."""
    return tuple(cell for part in campaign.parts for cell in _cells_of(part, part.loads_of))


def awaited_cells(campaign: Campaign) -> tuple[Cell, ...]:
    """Return the cells of stages whose loads are not known yet, in the definition's order, each without a load: ids
    have its `level` in its place.
    """
    return tuple(cell for part in campaign.parts if not part.has_loads for cell in _cells_of(part, lambda _: NO_LOAD))


def _cells_of(part: Part, loads_of: Callable[[str], Sequence[int]]) -> Iterator[Cell]:
    """Yield the cells of a part, with those loads of each variant, by its id."""
    for repeat in range(1, part.repeats + 1):
        for variant in part.variants:
            for load in loads_of(variant.id):
                yield Cell(
                    stage=part.stage,
                    variant=variant.id,
                    workload=part.workload_id,
                    load_ops_s=load,
                    level=part.level,
                    repeat=repeat,
                )


def cell_ids(campaign: Campaign) -> tuple[str, ...]:
    """Return the ids of all cells, including the cells of stages whose loads are not known yet."""
    return (*cells_by_id(campaign), *(cell.id for cell in awaited_cells(campaign)))
