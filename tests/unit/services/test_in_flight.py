"""A campaign in flight while its definition or the code changes: what goes on, and what is on record."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.one_cell import run_cell

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.text.errors import Refused
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.cell.attempts import begin
from plimsoll.services.definitions.continuing import changed_keys, continued_as
from plimsoll.services.store import layout
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
    assert campaign.declared() == changed


EC2 = {
    "region": "us-east-1",
    "zones": ["us-east-1a"],
    "image": "ami-1",
    "instance_types": {"node": "r5d.2xlarge", "load": "c5.2xlarge"},
    "patience": "30m",
}


def on(provider: str, options: dict[str, Any]) -> Definition:
    return instant_definition().model_copy(update={"provider": ProviderChoice(name=provider, options=options)})


@pytest.mark.parametrize(
    "change",
    [
        {"zones": ["us-east-1a", "us-east-1b"]},
        {"zones": None, "subnets": ["subnet-1"]},
        {"patience": "60m"},
        {"startup": "20m"},
        {"connection": "another"},
        {"prices": {"r5d.2xlarge": 0.5}},
    ],
)
def test_how_hosts_are_found_room_for_and_reached_may_change_and_what_it_was_is_on_record(
    installation: Installation, change: dict[str, object]
) -> None:
    options = {key: one for key, one in {**EC2, **change}.items() if one is not None}
    campaign = installation.open_campaign(on("ec2", EC2))
    before, digest = campaign.definition_text(), campaign.definition_sha256()
    assert campaign.open(on("ec2", options)).provider.options == options
    assert campaign.declared().provider.options == options
    assert installation.toolkit.store.read(layout.EARLIER_DEFINITION.key("campaign", digest)) == before


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"region": "eu-west-1"}, "region"),
        ({"image": "ami-2"}, "image"),
        ({"instance_types": {"node": "r5d.4xlarge", "load": "c5.2xlarge"}}, "instance_types"),
        ({"placement_group": "none"}, "placement_group"),
        ({"zones": ["us-east-1b"], "huge_pages": "66G"}, "huge_pages"),
    ],
)
def test_what_hosts_are_may_not_change(installation: Installation, change: dict[str, object], named: str) -> None:
    campaign = installation.open_campaign(on("ec2", EC2))
    with pytest.raises(Refused, match=rf"changed since: provider\.options\.{named} \("):
        campaign.open(on("ec2", {**EC2, **change}))
    assert campaign.declared().provider.options == EC2


def test_the_same_holds_for_load_hosts_of_a_database_that_somebody_else_runs() -> None:
    def theirs(**options: object) -> Definition:
        return on("external", {"contact_points": ["db1"], "load_hosts": {"provider": "ec2", "options": EC2 | options}})

    assert continued_as(theirs(), theirs(patience="60m")) == theirs(patience="60m")
    moved = theirs(patience="60m", region="eu-west-1")
    assert continued_as(theirs(), moved) is None
    assert [*changed_keys(theirs(), moved)] == ["provider.options.load_hosts"]


def test_sliding_windows_that_were_added_stay_whatever_the_definition_goes_on_to_say(
    installation: Installation,
) -> None:
    campaign = installation.open_campaign(instant_definition())
    campaign.add_sliding_windows()
    amended = campaign.declared()

    assert [level.windows for level in amended.service_levels] == ["aligned", "sliding"]
    assert campaign.open(instant_definition()) == amended
    raised = campaign.open(instant_definition().model_copy(update={"budget": 100.0}))
    assert raised == campaign.declared() == amended.model_copy(update={"budget": 100.0})
    with pytest.raises(Refused, match=r"changed since: seed, budget \("):
        campaign.open(instant_definition().model_copy(update={"seed": 9}))


def test_an_attempt_records_the_definition_and_the_code_that_it_began_with(installation: Installation) -> None:
    campaign = installation.open_campaign(instant_definition())
    first = begin(replace(installation.toolkit, code_version="1+old"), "campaign", CELL, "owner").attempt()
    campaign.open(instant_definition().model_copy(update={"budget": 100.0}))

    second = begin(replace(installation.toolkit, code_version="1+new"), "campaign", CELL, "another").attempt()

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
