"""A campaign in flight while its definition or the code changes: what goes on, and what is on record."""

from dataclasses import replace
from hashlib import sha256

import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.errors import Refused
from plimsoll.services.campaign.state import valid_verdict
from plimsoll.services.cell.attempts import begin
from plimsoll.services.steps.running import run_cell
from plimsoll.services.store.campaigns import CampaignStore

CELL = "v1-001k-r1"


@pytest.mark.parametrize(
    "change",
    [{"schedule": "0 3 * * *"}, {"timezone": "Europe/Paris"}, {"notify": ("incomplete",)}, {"budget": 100.0}],
)
def test_what_is_no_part_of_the_measurement_may_change(installation: Installation, change: dict[str, object]) -> None:
    campaign = installation.open_campaign(instant_definition())
    changed = instant_definition().model_copy(update=change)

    assert campaign.open(changed) == changed
    assert campaign.definition() == changed


def test_sliding_windows_that_were_added_stay_whatever_the_definition_goes_on_to_say(
    installation: Installation,
) -> None:
    campaign = installation.open_campaign(instant_definition())
    campaign.add_sliding_windows()
    amended = campaign.definition()

    assert [level.windows for level in amended.service_levels] == ["aligned", "sliding"]
    assert campaign.open(instant_definition()) == amended
    raised = campaign.open(instant_definition().model_copy(update={"budget": 100.0}))
    assert raised == campaign.definition() == amended.model_copy(update={"budget": 100.0})
    with pytest.raises(Refused, match=r"changed since: seed, budget \("):
        campaign.open(instant_definition().model_copy(update={"seed": 9}))


def test_an_attempt_records_the_definition_and_the_code_that_it_began_with(installation: Installation) -> None:
    campaign = installation.open_campaign(instant_definition())
    first = begin(replace(installation.toolkit, code_version="1+old"), "campaign", CELL, "owner").attempt()
    campaign.open(instant_definition().model_copy(update={"budget": 100.0}))

    second = begin(replace(installation.toolkit, code_version="1+new"), "campaign", CELL, "owner").attempt()

    stored = (installation.folder / "store" / "campaign" / "definition.yaml").read_bytes()
    assert (first.code_version, second.code_version) == ("1+old", "1+new")
    assert second.definition_sha256 == sha256(stored).hexdigest() != first.definition_sha256


def test_a_verdict_names_the_code_that_judged(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    run_cell(replace(installation.toolkit, code_version="1+old"), "campaign", CELL, "owner", print)
    campaign = CampaignStore(installation.toolkit.store, "campaign")

    valid = valid_verdict(campaign, CELL)

    assert valid is not None
    assert valid.code_version == "1+old"
