"""A campaign's results taken apart: each workload as if it were a campaign of its own, so that nothing is mixed."""

from dataclasses import replace

from plimsoll.analysis.campaign import CampaignData, CellResult, require_no_strays
from plimsoll.domain.cost import Spending
from plimsoll.domain.parts import Part, parts
from plimsoll.strategies.state import CampaignState


def data_of_parts(data: CampaignData) -> tuple[CampaignData, ...]:
    """The data of each part of the definition, in its order; of a campaign with one part the data themselves.

    Raises NotFound for an attempt at a cell that the definition does not have.
    """
    found = parts(data.definition)
    if len(found) == 1:
        return (replace(data, definition=found[0].definition),)
    require_no_strays(data)
    return tuple(_part_of(data, part) for part in found)


def _part_of(data: CampaignData, part: Part) -> CampaignData:
    cells = tuple(one for one in data.state.cells if one.cell.part == part.name)
    return replace(
        data,
        definition=part.definition,
        attempts=tuple(attempt for one in cells for attempt in one.attempts),
        spending=_spending_of(data.spending, cells),
        part=part.name,
        known_state=CampaignState(part.definition, cells),
    )


def _spending_of(spending: Spending | None, cells: tuple[CellResult, ...]) -> Spending | None:
    """What the attempts at these cells have cost.

    Estimate, budget and the idle time of kept hosts are the whole campaign's, so they are left out.
    """
    if spending is None:
        return None
    ids = {one.cell.id for one in cells}
    entries = tuple(entry for entry in spending.entries if entry.key.cell_id in ids)
    return spending.model_copy(update={"entries": entries, "idle": (), "estimated_usd": None, "budget_usd": None})
