"""Campaigns that cost something: their cells, and what is on record."""

from datetime import timedelta

from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cost import Cost
from plimsoll.ports.store import ResultStore
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.spending import ledger, spent_usd
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

HOUR = timedelta(hours=1)


def opened(installation: Installation, *, budget: float | None, hours: float = 2) -> CampaignStore:
    """Return a campaign of 4 cells; each is 4 hosts for so many hours."""
    made = instant_definition()
    timing = made.timing.model_copy(update={"duration": hours * HOUR, "warmup": 0 * HOUR})
    return installation.open_campaign(made.model_copy(update={"budget": budget, "timing": timing}))


def start(tools: Toolkit, cell_id: str = "v1-001k-r1") -> AttemptContext:
    work = begin(tools, "campaign", cell_id, "me")
    actions.provision(work)
    return work


def read_cost(store: ResultStore, key: AttemptKey) -> Cost | None:
    """Return the record of an attempt that is over."""
    names = [name for name in store.keys(f"{key.campaign_id}/costs/{key.cell_id}/{key.attempt}") if ".json" in name]
    assert len(names) < 2
    return Cost.model_validate_json(store.read(names[0])) if names else None


def spent(tools: Toolkit, campaign: CampaignStore) -> float:
    return spent_usd(ledger(campaign, tools.clock.now()))
