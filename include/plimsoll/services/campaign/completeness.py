"""How complete a campaign is, and which of its cells the newest run was asked for."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import AwareDatetime, ValidationError

from plimsoll.domain.base import Model
from plimsoll.domain.errors import NotFound
from plimsoll.domain.plurals import plural
from plimsoll.services import layout
from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.planning import missing_cells, running_order


@dataclass(frozen=True)
class Completeness:
    """Ids of the cells without a valid attempt, of how many cells."""

    missing: tuple[str, ...]
    total: int

    @property
    def is_complete(self) -> bool:
        """Whether every cell has a valid attempt."""
        return not self.missing

    @property
    def words(self) -> str:
        """In a sentence."""
        valid, have = self.total - len(self.missing), "has" if self.total == 1 else "have"
        if self.is_complete:
            return f"campaign complete: all of {plural(self.total, 'cell')} {have} a valid attempt"
        return f"campaign incomplete: {valid} of {plural(self.total, 'cell')} {have} a valid attempt"

    def lost(self, asked: Iterable[str]) -> tuple[str, ...]:
        """Those that were asked for and still have no valid attempt."""
        return tuple(cell for cell in asked if cell in self.missing)


class Asked(Model):
    """The cells that a run was asked for, and when."""

    at: AwareDatetime
    cells: tuple[str, ...]


def completeness(campaign: CampaignStore) -> Completeness:
    """Of the campaign as it is now. NotFound when there is no such campaign."""
    definition = campaign.definition()
    missing = tuple(cell.id for cell in missing_cells(campaign, definition))
    return Completeness(missing, len(running_order(definition)))


def note_asked(campaign: CampaignStore, asked: Asked) -> None:
    """Put on record what the run that begins was asked for: progress speaks of these cells."""
    campaign.store.write(layout.asked_key(campaign.campaign_id), asked.model_dump_json().encode())


def asked_cells(campaign: CampaignStore) -> frozenset[str] | None:
    """Ids of the cells that the newest run was asked for; None where that is not on record: all of them."""
    try:
        return frozenset(Asked.model_validate_json(campaign.store.read(layout.asked_key(campaign.campaign_id))).cells)
    except (NotFound, ValidationError):
        return None
