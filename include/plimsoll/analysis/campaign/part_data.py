"""Divide a campaign's results by part: each workload in each stage, as if it were a campaign of its own."""

from dataclasses import replace

from plimsoll.analysis.campaign.cell_results import CampaignData, CellResult, require_no_strays
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.hosts.cost import Spending
from plimsoll.strategies.state import CampaignState


def data_of_parts(data: CampaignData) -> tuple[CampaignData, ...]:
    """Return the data of each part that has cells, in the definition's order.

    For a campaign with one part: its data unchanged.

    Raises NotFound for an attempt at a cell that the definition does not have.
    """
    found = data.campaign.parts
    if len(found) == 1:
        return (data,)
    require_no_strays(data)
    divided = tuple(_part_of(data, part) for part in found if any(part.loads_of(one.id) for one in part.variants))
    return tuple(replace(one, other_stages=_other_stages(one, divided)) for one in divided)


def _part_of(data: CampaignData, part: Part) -> CampaignData:
    cells = tuple(one for one in data.state.cells if one.cell.part == part.id)
    return replace(
        data,
        attempts=tuple(attempt for one in cells for attempt in one.attempts),
        spending=_spending_of(data.spending, cells),
        incomplete=tuple(one.cell.id for one in cells if one.cell.id in data.incomplete),
        of_part=_without_idle(part),
        known_state=CampaignState(data.campaign, cells),
    )


def _other_stages(data: CampaignData, divided: tuple[CampaignData, ...]) -> tuple[CampaignData, ...]:
    """Return the data of the parts with the same workload in other stages."""
    return tuple(one for one in divided if one is not data and one.part.workload_id == data.part.workload_id)


def _without_idle(part: Part) -> Part:
    """Return the part with only the variants that have loads. Without a capacity there is no share to take."""
    kept = tuple(variant for variant in part.variants if part.loads_of(variant.id))
    if len(kept) == len(part.variants):
        return part
    control = part.control if part.control in {variant.id for variant in kept} else None
    return replace(part, variants=kept, control=control)


def _spending_of(spending: Spending | None, cells: tuple[CellResult, ...]) -> Spending | None:
    """Return the cost of the attempts at these cells.

    Estimate, budget and the idle time of kept hosts belong to the whole campaign, so they are left out.
    """
    if spending is None:
        return None
    ids = {one.cell.id for one in cells}
    entries = tuple(entry for entry in spending.entries if entry.key.cell_id in ids)
    return spending.model_copy(update={"entries": entries, "idle": (), "estimated_usd": None, "budget_usd": None})
