"""Whether a campaign may launch hosts: either it costs no more than its definition lets it, or a person has approved
what it may cost.

The cost is what the definition lets the campaign take, and not what was spent, for which there is `budget`. It grows
with its prices, and then the campaign needs another approval.
"""

from dataclasses import dataclass

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.part import run_command
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.units import format_usd, show_usd
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.stage_plans import stage_plans, usd_at_most


@dataclass(frozen=True)
class MissingApproval:
    """What a person has to approve: that the campaign may cost so much, USD; None: its cost is not known."""

    usd: float | None
    above: float

    @property
    def reason(self) -> str:
        """Return why, as the end of a sentence about the campaign."""
        if self.usd is None:
            return "what it may cost is not known, for want of a price"
        return f"it may cost {show_usd(self.usd)}, which is more than {format_usd(self.above)}"


def missing_approval(toolkit: Toolkit, campaign: CampaignStore, declared: Campaign) -> MissingApproval | None:
    """Return what is still to be approved before hosts are launched; None: nothing.

    `declared`: the campaign as its definition has it, whether or not it is in the store yet.
    """
    if declared.approve is None:
        return None
    usd = usd_at_most(stage_plans(declared), toolkit.tariff(declared))
    if not declared.approve.is_needed_for(usd) or any(approval.covers(usd) for approval in campaign.approvals()):
        return None
    return MissingApproval(usd, declared.approve.above)


def require_approval(toolkit: Toolkit, campaign: CampaignStore, resolved: Campaign) -> None:
    """Raise Refused unless the campaign in the store may launch hosts. `resolved`: that campaign."""
    # As declared: with the loads that stages took since, an estimate may be another one.
    missing = missing_approval(toolkit, campaign, resolve(campaign.declared())) if resolved.approve else None
    if missing is not None:
        mend = (
            f"trigger the DAG {resolved.dag_id} with `campaign_id` {campaign.campaign_id!r} and approve it there, or "
            f"run {run_command(resolved.name, campaign.campaign_id)} and `--approve`"
        )
        raise approval_refused(campaign.campaign_id, missing, mend)


def approval_refused(campaign_id: str, missing: MissingApproval, mend: str) -> Refused:
    earlier = f"is missing: {missing.reason}, and nobody has approved that"
    return Refused([Problem("approval", earlier, mend)], where=f"campaign {campaign_id!r}")
