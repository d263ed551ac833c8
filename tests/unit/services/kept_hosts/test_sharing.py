"""Cells on kept hosts: which ones share them, in which order, and when the hosts end."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.running import run_missing
from tests.unit.services.kept_definition import CELLS, kept
from tests.unit.services.kept_hosts.hosts import cluster_of, started

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.keys.strategy import Ramp, Search, Strategy
from plimsoll.domain.text.errors import Refused
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.campaign.state.completeness import completeness
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempt_state import cancel
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.kept_records import ASSIGNMENT
from plimsoll.services.steps.running import run_cells
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.matrix import running_order


def test_cells_of_a_campaign_share_one_cluster_which_ends_with_the_run(
    installation: Installation, tools: Toolkit
) -> None:
    ran = run_cells(tools, "campaign", CELLS, "me", print)
    assert [one.verdict is not None and one.verdict.valid for one in ran] == [True] * 3
    assert [cluster_of(tools, one.work) for one in ran] == ["hosts/1"] * 3
    assert installation.provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1"]


def test_each_variant_has_a_cluster_of_its_own_one_after_the_other(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    definition = kept("variant")
    installation.open_campaign(definition)
    order = [cell.id for cell in running_order(resolve(definition))]
    assert [cell.partition("-")[0] for cell in order] == ["v1", "v1", "v2", "v2"]
    run_cells(installation.toolkit, "campaign", order, "me", print)
    hosts = ["campaign/v1-hosts/1", "campaign/v2-hosts/1"]
    assert installation.provider.journal() == [f"{sign} {one}" for one in hosts for sign in "+-"]


@pytest.mark.parametrize("strategy", [Search(), Ramp()])
def test_a_strategy_comes_to_a_variants_end_on_its_hosts_before_it_begins_the_next_one(
    tmp_path: Path, strategy: Strategy
) -> None:
    installation = Installation(tmp_path)
    campaign = installation.open_campaign(kept("variant").model_copy(update={"strategy": strategy}))
    ran = run_missing(installation.toolkit, "campaign", "me", print)
    assert [one.work.key.cell_id[:2] for one in ran] == ["v1", "v1", "v2", "v2"]
    assert completeness(campaign).is_complete
    hosts = ["campaign/v1-hosts/1", "campaign/v2-hosts/1"]
    assert installation.provider.journal() == [f"{sign} {one}" for one in hosts for sign in "+-"]


def test_the_stages_of_a_variant_each_keep_hosts_for_it(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    stages = [{"id": one, "title": one.title()} for one in ("first", "second")]
    installation.open_campaign(kept("variant", stages=stages))
    ran = run_missing(installation.toolkit, "campaign", "me", print)
    assert [(one.work.cell.stage, cluster_of(installation.toolkit, one.work)) for one in ran[::2]] == [
        ("first", "v1-hosts/1"),
        ("first", "v2-hosts/1"),
        ("second", "v1-hosts/2"),
        ("second", "v2-hosts/2"),
    ]
    assert all(one.verdict and one.verdict.valid for one in ran)


def test_expiry_and_owner_move_on_with_each_attempt(tools: Toolkit, clock: SteppingClock) -> None:
    first = started(tools, CELLS[0], "me")
    before = tools.providers["instant"].find(first.cluster_id)
    actions.destroy(first)
    clock.at += timedelta(minutes=30)
    second = started(tools, CELLS[1], "other")
    after = tools.providers["instant"].find(second.cluster_id)
    assert (before.id, before.created_at) == (after.id, after.created_at)
    assert after.expires_at - before.expires_at == timedelta(minutes=30)
    assert (before.owner, after.owner) == ("me", "other")


def test_a_cancelled_attempt_takes_its_hosts_with_it(installation: Installation, tools: Toolkit) -> None:
    work = started(tools, CELLS[0])
    cancel(work, "somebody")
    actions.destroy(work)
    assert installation.provider.clusters() == []
    assert actions.provision(begin(tools, "campaign", CELLS[1], "me")).id.name == "hosts/2"


def test_a_run_that_is_refused_half_way_keeps_no_hosts(installation: Installation, tools: Toolkit) -> None:
    def cells() -> Iterator[str]:
        yield CELLS[0]
        raise Refused([])

    with pytest.raises(Refused):
        run_cells(tools, "campaign", cells(), "me", print)
    assert installation.provider.clusters() == []


def test_a_provider_that_keeps_no_hosts_is_refused_before_anything_starts(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(tools.providers["instant"]), "keeps_hosts", False)
    [found] = problems(tools, kept("campaign"))
    assert (found.where, "not supported by provider instant" in found.what) == ("cluster_scope", True)
    assert problems(tools, instant_definition()) == ()


def test_definitions_of_before_have_a_cluster_for_each_cell() -> None:
    plain = json.loads(instant_definition().model_dump_json())
    plain.pop("cluster_scope")
    assert Definition.model_validate(plain).cluster_scope == "cell"


def test_cells_that_share_hosts_do_not_run_at_once() -> None:
    with pytest.raises(ValueError, match="cells that share hosts run one after the other"):
        kept("campaign", max_parallel=2)


def test_the_stored_campaign_says_which_attempt_had_which_hosts(installation: Installation, tools: Toolkit) -> None:
    work = started(tools, CELLS[0])
    campaign = CampaignStore(tools.store, "campaign")
    assert campaign.declared().cluster_scope == "campaign"
    assert work.cluster_id == ClusterId.kept("campaign", "", 1)
    assert ASSIGNMENT.exists(tools.store, "campaign", "hosts", 1)
