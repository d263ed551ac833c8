"""Whether a campaign needs a person's approval, and what that covers."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.fakes.installation import Installation
from tests.fakes.paid import Prices
from tests.unit.services.spending.paid_campaign import opened

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.trigger import Approval, Approve
from plimsoll.domain.text.errors import NotFound, Refused
from plimsoll.services.campaign.curating import delete_campaign
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.limits import missing_approval, require_approval
from plimsoll.services.publish.results import campaign_data, take_snapshot
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.toolkit import Toolkit

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
MOST = 48.0
"""Four cells of four hosts at 1 USD: 2 h of load each, and the usual hour for populating."""


def asking(installation: Installation, above: str) -> CampaignStore:
    campaign = opened(installation, budget=None)
    definition = campaign.declared()
    campaign.open(definition.model_copy(update={"approve": Approve.model_validate({"above": above})}))
    return campaign


def approved(usd: float | None, by: str = "ada") -> Approval:
    return Approval(by=by, at=AT, usd=usd)


def test_no_cell_begins_that_nobody_approved(installation: Installation, tools: Toolkit) -> None:
    campaign = asking(installation, "47.99 USD")
    with pytest.raises(Refused, match=r"it may cost 48\.00 USD, which is more than 47\.99 USD.*`--approve`") as caught:
        begin(tools, "campaign", "v1-001k-r1", "me")
    assert "trigger the DAG instant with `campaign_id` 'campaign'" in str(caught.value)
    assert campaign.attempts("v1-001k-r1") == ()
    assert tools.providers["instant"].clusters() == []

    campaign.record_approval(approved(MOST))
    begin(tools, "campaign", "v1-001k-r1", "me")


@pytest.mark.parametrize("above", ["48 USD", "1000 USD"])
def test_a_campaign_that_costs_no_more_needs_none(installation: Installation, tools: Toolkit, above: str) -> None:
    campaign = asking(installation, above)
    require_approval(tools, campaign, campaign.resolved())


def test_hosts_that_cost_nothing_need_none(installation: Installation, tools: Toolkit) -> None:
    campaign = asking(installation, "0 USD")
    require_approval(replace(tools, tariffs={}), campaign, campaign.resolved())


def test_an_unknown_price_is_never_below_the_amount(installation: Installation, tools: Toolkit) -> None:
    campaign, unpriced = asking(installation, "1000000 USD"), replace(tools, tariffs={"instant": Prices(None)})
    with pytest.raises(Refused, match="is not known, for want of a price"):
        require_approval(unpriced, campaign, campaign.resolved())
    campaign.record_approval(approved(None))
    require_approval(unpriced, campaign, campaign.resolved())


@pytest.mark.parametrize(
    ("of", "usd", "is_covered"),
    [(50.0, 50.0, True), (50.0, 49.0, True), (50.0, 50.01, False), (50.0, None, False), (None, 1.0, False)],
)
def test_an_approval_covers_no_more_than_was_shown(of: float | None, usd: float | None, is_covered: bool) -> None:
    assert approved(of).covers(usd) is is_covered


def test_a_campaign_that_grew_needs_another_approval(installation: Installation, tools: Toolkit) -> None:
    campaign, dearer = asking(installation, "10 USD"), replace(tools, tariffs={"instant": Prices(1.5)})
    campaign.record_approval(approved(MOST))
    require_approval(tools, campaign, campaign.resolved())
    with pytest.raises(Refused, match=r"it may cost 72\.00 USD"):
        require_approval(dearer, campaign, campaign.resolved())
    campaign.record_approval(approved(72.0))
    require_approval(dearer, campaign, campaign.resolved())


def test_of_two_who_approve_the_same_the_first_is_on_record(installation: Installation) -> None:
    campaign = asking(installation, "10 USD")
    for by in ("ada", "bob"):
        campaign.record_approval(approved(MOST, by))
    assert campaign.approvals() == (approved(MOST),)


def test_a_report_and_its_bundle_hold_who_approved(installation: Installation) -> None:
    campaign = asking(installation, "10 USD")
    assert campaign_data(campaign, (), AT).approvals == ()
    campaign.record_approval(approved(MOST))
    for read in (campaign, StoredCampaign(take_snapshot(campaign), "campaign")):
        assert campaign_data(read, (), AT).approvals == (approved(MOST),)


def test_an_approval_goes_with_its_campaign(installation: Installation, tools: Toolkit) -> None:
    campaign = asking(installation, "10 USD")
    campaign.record_approval(approved(MOST))
    delete_campaign(tools, "campaign", "ada")
    with pytest.raises(NotFound, match="was deleted meanwhile"):
        campaign.record_approval(approved(MOST))
    assert list(tools.store.keys("campaign")) == []


def test_the_amount_may_change_while_the_campaign_runs(installation: Installation, tools: Toolkit) -> None:
    campaign = asking(installation, "10 USD")
    changed: Definition = campaign.declared().model_copy(update={"approve": None})
    campaign.open(changed)
    assert missing_approval(tools, campaign, campaign.resolved()) is None


@pytest.mark.parametrize(
    ("approve", "what"),
    [
        ({}, r"approve\.above"),
        ({"above": "500"}, "is not an amount like 1500 USD: write 500 USD"),
        ({"above": "500 USD", "within": "0s"}, "must be more than 0"),
        ({"above": "500 USD", "within": "3000h"}, r"approve\.within"),
    ],
)
def test_a_rule_that_can_not_be_meant_is_refused(
    installation: Installation, approve: dict[str, str], what: str
) -> None:
    plain = opened(installation, budget=None).declared().model_dump(mode="json")
    with pytest.raises(ValueError, match=what):
        Definition.model_validate({**plain, "approve": approve})
