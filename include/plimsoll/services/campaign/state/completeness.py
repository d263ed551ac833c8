"""Whether a campaign is complete, and what its newest run goes on with: when the requested cells have run, the
strategy is asked again, stage by stage. The loads that a stage takes from an earlier one's results are computed
once and recorded.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from pydantic import AwareDatetime

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.keys.strategy import TRIES_BY_ITSELF
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.wording import plural
from plimsoll.ports.controller import Clock
from plimsoll.services.campaign.state.reading import judged_state
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import Record
from plimsoll.strategies.stage_starts import find_stage_start
from plimsoll.strategies.state import C, CampaignState


@dataclass(frozen=True)
class Completeness:
    """The cells that still need a valid attempt, the number of all cells, and the number that a search need not run.

    `stages_without_loads`: ids of stages without cells so far, because their loads depend on earlier stages' results.
    """

    missing: tuple[str, ...]
    total: int
    not_needed: int = 0
    stages_without_loads: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Tell whether every needed cell has a valid attempt, and the loads of every stage are known."""
        return not self.missing and not self.stages_without_loads

    @property
    def words(self) -> str:
        have = "has" if self.total == 1 else "have"
        spared = f", {self.not_needed} need not run" if self.not_needed else ""
        if self.is_complete and not spared:
            return f"campaign complete: all of {plural(self.total, 'cell')} {have} a valid attempt"
        valid = self.total - len(self.missing) - self.not_needed
        state = "complete" if self.is_complete else "incomplete"
        return f"campaign {state}: {valid} of {plural(self.total, 'cell')} {have} a valid attempt{spared}{self.to_come}"

    @property
    def to_come(self) -> str:
        """Return the end of a sentence about stages without cells so far; empty where there are none."""
        if not self.stages_without_loads:
            return ""
        noun, names = "stage" if len(self.stages_without_loads) == 1 else "stages", ", ".join(self.stages_without_loads)
        return f"; {noun} {names} will follow, with loads from the results of those before"

    def lost(self, requested: Iterable[str]) -> tuple[str, ...]:
        """Return the cells that were asked for and still have no valid attempt."""
        return tuple(cell for cell in requested if cell in self.missing)


class RequestedCells(Model):
    """The cells that a run was asked for, and the time of the request.

    `for_all`: whether this run, or one before it, was asked for everything that the campaign needs.
    """

    at: AwareDatetime
    cells: tuple[str, ...]
    for_all: bool = False


REQUEST = Record("asked.json", RequestedCells, indent=None)


def completeness(campaign: CampaignStore) -> Completeness:
    """Return the campaign's completeness now. Raises NotFound when there is no such campaign."""
    return completeness_of(judged_state(campaign, campaign.resolved()))


def completeness_of(state: CampaignState[C]) -> Completeness:
    missing = tuple(cell.cell.id for cell in state.missing)
    return Completeness(missing, len(state.cells), len(state.not_needed), state.stages_without_loads)


def record_request(campaign: CampaignStore, requested: RequestedCells) -> None:
    """Record the cells that a new run was asked for. The campaign's progress is about these cells."""
    REQUEST.write(campaign.store, campaign.campaign_id, requested)


def add_to_request(campaign: CampaignStore, cells: Iterable[Cell]) -> None:
    """Record further cells for a run that goes on, because its strategy asked for them."""
    requested = newest_request(campaign)
    if requested is not None:
        more = tuple(cell.id for cell in cells)
        record_request(campaign, requested.model_copy(update={"cells": (*requested.cells, *more)}))


def newest_request(campaign: CampaignStore) -> RequestedCells | None:
    """Return the cells that the newest run was asked for; None, meaning all cells, where this was not recorded."""
    return REQUEST.read_sound(campaign.store, campaign.campaign_id)


def next_round(campaign: CampaignStore, at: datetime) -> tuple[Cell, ...]:
    """Return the cells that the strategy asks for at that time, without those that wait for a person.

    A search or a ramp runs an invalid cell once more by itself. If the next stage can begin, its loads are set first.
    The result is empty when the campaign is complete, or when it waits for a person.
    """
    return tuple(cell.cell for cell in judged_state(campaign, start_stages(campaign, at)).to_go_on_with)


def name_of_next(campaign: CampaignStore) -> str:
    """Return a name for the next round: the number of attempts so far and the start of the first.

    It stays the same until another attempt begins. A campaign that was created again under the id of a deleted one has
    as many attempts as that one had, but they began later.
    """
    attempts = [campaign.attempts(cell_id) for cell_id in campaign.cells_with_attempts()]
    first = [attempt for keys in attempts for key in keys[:1] if (attempt := layout.ATTEMPT.read(campaign.store, key))]
    number = str(sum(map(len, attempts)))
    return f"{number}-{min(attempt.started_at for attempt in first):%Y%m%dt%H%M%S%f}" if first else number


def all_rounds(campaign: CampaignStore, clock: Clock, first: tuple[Cell, ...]) -> Iterator[Cell]:
    """Yield the cells of the first round and, each time one is over, of the next that the strategy asks for.

    No cell comes more than twice, even if its attempts leave no record.
    """
    tried: Counter[str] = Counter()
    cells = first
    while cells:
        yield from cells
        tried.update(cell.id for cell in cells)
        cells = tuple(cell for cell in next_round(campaign, clock.now()) if tried[cell.id] < TRIES_BY_ITSELF)
        if cells:
            add_to_request(campaign, cells)


def start_stages(campaign: CampaignStore, at: datetime) -> Campaign:
    """Start every stage whose source is complete. Returns the campaign with the loads of all started stages.

    Raises Refused while the campaign is being deleted.
    """
    resolved = campaign.resolved()
    while any(not part.has_loads for part in resolved.parts):  # otherwise no verdicts are read: there may be many
        state = judged_state(campaign, resolved)
        if not state.can_start_stage:
            break
        campaign.record_stage_start(find_stage_start(state, at))
        resolved = campaign.with_stage_starts(resolved)
    return resolved
