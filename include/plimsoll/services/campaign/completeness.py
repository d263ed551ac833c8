"""Whether a campaign is complete, and which cells were requested of its newest run."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import AwareDatetime

from plimsoll.domain.base import Model
from plimsoll.domain.cell import Cell
from plimsoll.domain.plurals import plural
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.records import find_sound_record
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
        """Return the completeness in a sentence."""
        have = "has" if self.total == 1 else "have"
        spared = f", {self.not_needed} need not run" if self.not_needed else ""
        if self.is_complete and not spared:
            return f"campaign complete: all of {plural(self.total, 'cell')} {have} a valid attempt"
        valid, state = (
            self.total - len(self.missing) - self.not_needed,
            "complete" if self.is_complete else "incomplete",
        )
        return f"campaign {state}: {valid} of {plural(self.total, 'cell')} {have} a valid attempt{spared}{self.to_come}"

    @property
    def to_come(self) -> str:
        """Return the end of a sentence about stages without cells so far; empty where there are none."""
        if not self.stages_without_loads:
            return ""
        stages = (
            f"{'stage' if len(self.stages_without_loads) == 1 else 'stages'} {', '.join(self.stages_without_loads)}"
        )
        return f"; {stages} will follow, with loads from the results of those before"

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


def completeness(campaign: CampaignStore) -> Completeness:
    """Return the campaign's completeness now. Raises NotFound when there is no such campaign."""
    return completeness_of(judged_state(campaign, campaign.resolved()))


def completeness_of(state: CampaignState[C]) -> Completeness:
    """Return the completeness of a campaign in that state."""
    missing = tuple(one.cell.id for one in state.missing)
    return Completeness(missing, len(state.cells), len(state.not_needed), state.stages_without_loads)


def record_request(campaign: CampaignStore, requested: RequestedCells) -> None:
    """Record the cells that a new run was asked for. The campaign's progress is about these cells."""
    campaign.store.write(layout.request_key(campaign.campaign_id), requested.model_dump_json().encode())


def add_to_request(campaign: CampaignStore, cells: Iterable[Cell]) -> None:
    """Record further cells for a run that goes on, because its strategy asked for them."""
    requested = newest_request(campaign)
    if requested is not None:
        more = tuple(cell.id for cell in cells)
        record_request(campaign, requested.model_copy(update={"cells": (*requested.cells, *more)}))


def was_everything_requested(campaign: CampaignStore) -> bool:
    """Tell whether any run was asked for everything that the campaign needs. False where this was not recorded."""
    requested = newest_request(campaign)
    return requested is not None and requested.for_all


def newest_request(campaign: CampaignStore) -> RequestedCells | None:
    """Return the cells that the newest run was asked for; None, meaning all cells, where this was not recorded."""
    return find_sound_record(campaign.store, layout.request_key(campaign.campaign_id), RequestedCells)
