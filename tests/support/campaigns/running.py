"""Run a whole campaign in this process, without Airflow."""

from plimsoll.ports.log import Log
from plimsoll.services.campaign.rounds import all_rounds
from plimsoll.services.campaign.stages import start_stages
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.steps.running import CellRunEnd, run_cells
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit


def run_missing(toolkit: Toolkit, campaign_id: str, owner: str, log: Log) -> tuple[CellRunEnd, ...]:
    """Run every cell that the campaign needs and that has no valid attempt, once, one after another."""
    campaign = CampaignStore(toolkit.store, campaign_id)
    definition = start_stages(campaign, toolkit.clock.now())
    first = tuple(one.cell for one in judged_state(campaign, definition).to_run_now)
    cells = all_rounds(campaign, toolkit.clock, first)
    return run_cells(toolkit, campaign_id, (cell.id for cell in cells), owner, log)
