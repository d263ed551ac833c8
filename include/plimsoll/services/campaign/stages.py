"""Start stages: compute the loads that a stage takes from an earlier one's results, once, and record them."""

from datetime import datetime

from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import parts
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.stage_starts import find_stage_start


def start_stages(campaign: CampaignStore, at: datetime) -> Definition:
    """Start every stage whose source is complete. Returns the definition with the loads of all started stages.

    Raises Refused while the campaign is being deleted.
    """
    definition = campaign.definition()
    while any(not part.has_loads for part in parts(definition)):  # otherwise no verdicts are read: there may be many
        state = judged_state(campaign, definition)
        if not state.can_start_stage:
            break
        campaign.record_stage_start(find_stage_start(state, at))
        definition = campaign.with_stage_starts(definition)
    return definition
