"""Start stages: compute the loads that a stage takes from an earlier one's results, once, and record them."""

from datetime import datetime

from plimsoll.domain.campaign import Campaign
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.stage_starts import find_stage_start


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
