"""What a campaign still needs, by its strategy and the attempts that are valid now."""

from dataclasses import dataclass

from plimsoll.domain.cell import Cell
from plimsoll.domain.definition import Definition
from plimsoll.domain.result import ValidOutcome
from plimsoll.services.campaigns import CampaignStore
from plimsoll.strategies.decision import StrategyOfCampaign
from plimsoll.strategies.matrix import running_order


@dataclass(frozen=True)
class Needs:
    """Cells in running order.

    `now`: those that the strategy asks for; the full grid asks for all that are missing. `missing`: those without a
    valid attempt that it may still ask for; none ends the campaign. `not_needed`: how many it will never ask for.
    """

    now: tuple[Cell, ...]
    missing: tuple[Cell, ...]
    not_needed: int


def needs_of(campaign: CampaignStore, definition: Definition) -> Needs:
    """Read from every valid attempt's verdict."""
    order = running_order(definition)
    outcomes = _outcomes(campaign, order)
    decision = StrategyOfCampaign(definition).next(outcomes)
    missing = tuple(cell for cell in order if cell.id not in outcomes and cell.id not in decision.not_needed)
    return Needs(tuple(cell for cell in missing if cell.id in decision.run), missing, len(decision.not_needed))


def _outcomes(campaign: CampaignStore, cells: tuple[Cell, ...]) -> dict[str, ValidOutcome]:
    valid = ((cell.id, campaign.valid_verdict(cell.id)) for cell in cells)
    return {cell_id: outcome for cell_id, verdict in valid if verdict and (outcome := verdict.valid_outcome)}
