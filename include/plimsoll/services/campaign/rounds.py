"""A campaign in rounds: when the requested cells have run, the strategy is asked again, stage by stage."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from plimsoll.domain.cell import Cell
from plimsoll.domain.strategy import TRIES_BY_ITSELF
from plimsoll.ports.clock import Clock
from plimsoll.services.campaign.completeness import add_to_request
from plimsoll.services.campaign.stages import start_stages
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.store.campaigns import CampaignStore, read_attempt


def next_round(campaign: CampaignStore, at: datetime) -> tuple[Cell, ...]:
    """Return the cells that the strategy asks for at that time, without those that wait for a person.

    A search or a ramp runs an invalid cell once more by itself. If the next stage can begin, its loads are set first.
    The result is empty when the campaign is complete, or when it waits for a person.
    """
    resolved = start_stages(campaign, at)
    return tuple(one.cell for one in judged_state(campaign, resolved).to_go_on_with)


def name_of_next(campaign: CampaignStore) -> str:
    """Return a name for the next round: the number of attempts so far and the start of the first.

    It stays the same until another attempt begins. A campaign that was created again under the id of a deleted one has
    as many attempts as that one had, but they began later.
    """
    attempts = [campaign.attempts(cell_id) for cell_id in campaign.cells_with_attempts()]
    first = [one for keys in attempts for key in keys[:1] if (one := read_attempt(campaign.store, key))]
    number = str(sum(map(len, attempts)))
    return f"{number}-{min(one.started_at for one in first):%Y%m%dt%H%M%S%f}" if first else number


def all_rounds(campaign: CampaignStore, clock: Clock, first: tuple[Cell, ...]) -> Iterator[Cell]:
    """Yield the cells of the first round, then of every further round until the strategy asks for no more.

    The strategy is asked for a round when the round before it is over. No cell comes more than twice, even if
    its attempts leave no record.
    """
    tried: Counter[str] = Counter()
    cells = first
    while cells:
        yield from cells
        tried.update(cell.id for cell in cells)
        cells = tuple(cell for cell in next_round(campaign, clock.now()) if tried[cell.id] < TRIES_BY_ITSELF)
        if cells:
            add_to_request(campaign, cells)
