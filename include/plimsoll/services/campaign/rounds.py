"""A campaign in rounds: once the cells that were asked for have run, its strategy is asked again, stage by stage."""

from collections.abc import Iterator
from datetime import datetime

from plimsoll.domain.cell import Cell
from plimsoll.ports.clock import Clock
from plimsoll.services.campaign.completeness import note_asked_too
from plimsoll.services.campaign.stages import open_stages
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.store.campaigns import CampaignStore


def next_round(campaign: CampaignStore, at: datetime) -> tuple[Cell, ...]:
    """The cells that the strategy asks for at that time, less those whose newest attempt was unsound.

    A person looks at these. A stage whose time has come is opened. None ends the campaign, or has it wait for cells
    that are to be run again.
    """
    definition = open_stages(campaign, at)
    return tuple(one.cell for one in judged_state(campaign, definition).to_run_now if not one.was_unsound)


def all_rounds(campaign: CampaignStore, clock: Clock, first: tuple[Cell, ...]) -> Iterator[Cell]:
    """The first round's cells, then those of each further one, to the end. Each is asked for when the last is over."""
    tried: set[str] = set()
    cells = first
    while cells:
        yield from cells
        tried |= {cell.id for cell in cells}
        cells = tuple(cell for cell in next_round(campaign, clock.now()) if cell.id not in tried)
        if cells:
            note_asked_too(campaign, cells)
