"""Open stages: compute the loads that a stage takes from an earlier one's results, once, and record them."""

from datetime import datetime

from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import parts
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.stage_starts import open_stage


def open_stages(campaign: CampaignStore, at: datetime) -> Definition:
    """Open every stage that can be opened now. Returns the campaign's definition with the loads of all open stages.

    Raises Refused while the campaign is being deleted.
    """
    definition = campaign.definition()
    while any(not part.is_open for part in parts(definition)):  # otherwise no verdicts are read: there may be many
        state = judged_state(campaign, definition)
        if not state.is_to_be_opened:
            break
        campaign.open_stage(open_stage(state, at))
        definition = campaign.with_stage_starts(definition)
    return definition
