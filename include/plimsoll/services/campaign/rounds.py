"""A search in rounds: once the cells that were asked for have run, its strategy is asked again."""

from collections.abc import Iterator

from plimsoll.domain.cell import Cell
from plimsoll.domain.definition import Definition
from plimsoll.services.campaign.completeness import note_asked_too
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.store.campaigns import CampaignStore


def next_round(campaign: CampaignStore, definition: Definition) -> tuple[Cell, ...]:
    """The cells that the strategy asks for now, less those whose newest attempt was unsound: a person looks at these.

    None ends the search, or has it wait for cells that are to be run again.
    """
    return tuple(one.cell for one in judged_state(campaign, definition).to_run_now if not one.was_unsound)


def all_rounds(campaign: CampaignStore, definition: Definition, first: tuple[Cell, ...]) -> Iterator[Cell]:
    """The first round's cells, then those of each further one, to the end. Each is asked for when the last is over."""
    tried: set[str] = set()
    cells = first
    while cells:
        yield from cells
        tried |= {cell.id for cell in cells}
        cells = tuple(cell for cell in next_round(campaign, definition) if cell.id not in tried)
        if cells:
            note_asked_too(campaign, cells)
