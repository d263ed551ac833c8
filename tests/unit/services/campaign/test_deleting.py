"""Campaigns that are deleted: what speaks against it, what is left of it, and what a crash leaves."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT
from tests.fakes.owners import FixedOwners
from tests.support.campaigns.attempt_verdicts import verdict_of

from plimsoll.domain.hosts.cluster import Cluster, HostsSilent
from plimsoll.domain.keys.strategy import StageStart
from plimsoll.domain.text.errors import NotFound, Refused, StoreError
from plimsoll.ports.provider import Places, Provider
from plimsoll.services.campaign.curating import Deletion, annotate, deletable, delete_campaign, interrupted_deletion
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.places import StoredPlaces
from plimsoll.services.hosts.reaping import living_clusters
from plimsoll.services.ownership import held
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaign_ids, campaigns_by_definition
from plimsoll.services.toolkit import Toolkit

CELL = "v1-001k-r1"
DEFINITION = instant_definition(variants=1, loads=2)


@pytest.fixture
def tools(tmp_path: Path) -> Toolkit:
    made = Installation(tmp_path)
    for name in ("mine", "other"):
        made.open_campaign(DEFINITION, name)
    key = begin(made.toolkit, "mine", CELL, "me").key
    layout.VERDICT.write(made.toolkit.store, key, verdict_of(DEFINITION, key))
    return made.toolkit


def test_nothing_of_a_deleted_campaign_is_left_but_who_deleted_it(tools: Toolkit) -> None:
    deleted = delete_campaign(tools, "mine", "ada")

    assert (deleted.by, deleted.attempts, deleted.files) == ("ada", 1, 3)
    assert campaign_ids(tools.store) == ("other",)
    assert list(tools.store.keys("mine")) == []
    [record] = tools.store.keys(".deleted")
    assert record.endswith("-mine.json")
    assert Deletion.model_validate_json(tools.store.read(record)) == deleted


def test_its_id_is_free_again(tools: Toolkit, tmp_path: Path) -> None:
    delete_campaign(tools, "mine", "ada")
    campaign = Installation(tmp_path).open_campaign(DEFINITION, "mine")
    assert campaign.attempts(CELL) == ()


def test_a_campaign_that_does_not_exist_can_not_be_deleted(tools: Toolkit) -> None:
    with pytest.raises(NotFound, match="there is no campaign 'nonesuch'"):
        delete_campaign(tools, "nonesuch", "ada")


@pytest.mark.parametrize("path", [".", "", "mine/", "./mine", "mine/cells", ".definitions", "../store/mine"])
def test_a_path_is_no_id_and_deletes_nothing(tools: Toolkit, path: str) -> None:
    before = [*tools.store.keys("")]
    with pytest.raises(NotFound, match="there is no campaign"):
        delete_campaign(tools, path, "ada")
    assert [*tools.store.keys("")] == before


def test_a_file_of_the_operating_system_beside_the_notes_keeps_no_campaign_from_being_deleted(tools: Toolkit) -> None:
    for stray in (".definitions/.DS_Store", ".definitions/instant/.DS_Store", ".definitions/instant/campaigns/.nfs/1"):
        tools.store.write(stray, b"")
    delete_campaign(tools, "mine", "ada")
    assert campaigns_by_definition(tools.store) == {"instant": ["other"]}


def test_one_of_which_a_cluster_lives_or_an_attempt_runs_is_kept(tools: Toolkit) -> None:
    work = begin(tools, "mine", "v1-002k-r1", "me")
    actions.provision(work)

    with pytest.raises(Refused) as refused:
        delete_campaign(tools, "mine", "ada")

    assert [problem.what for problem in refused.value.problems] == ["is being run by me", "its cluster is alive"]
    assert campaign_ids(tools.store) == ("mine", "other")


def test_one_that_a_process_runs_is_kept(tools: Toolkit) -> None:
    watching = replace(tools, owners=FixedOwners(me="second", alive={"first"}))
    first = replace(tools, owners=FixedOwners(me="first", alive=set()))
    with held(first, "mine"), pytest.raises(Refused, match="is being run by first, since"):
        deletable(watching, "mine", "ada")
    assert deletable(watching, "mine", "ada").attempts == 1


class SometimesSilent:
    """A provider whose hosts can't be asked in places that are silent."""

    def __init__(self, provider: Provider, places: Places) -> None:
        self._provider, self._places = provider, places

    def __getattr__(self, name: str) -> object:
        return getattr(self._provider, name)

    def at(self, places: Places) -> "SometimesSilent":
        return SometimesSilent(self._provider, places)

    def clusters(self) -> Sequence[Cluster]:
        if any("silent" in options for options in self._places.options):
            raise HostsSilent("group rack1 can't be asked", self._provider.clusters())
        return self._provider.clusters()


@pytest.fixture
def silent(tools: Toolkit, tmp_path: Path) -> Toolkit:
    """Provide a toolkit that can't ask the hosts of the campaign `silent`."""
    choice = DEFINITION.provider.model_copy(update={"options": {"silent": True}})
    Installation(tmp_path).open_campaign(DEFINITION.model_copy(update={"provider": choice}), "silent")
    provider: Any = SometimesSilent(tools.providers[INSTANT], Places())
    places = StoredPlaces(tools.store, Outage(tools.clock))
    return replace(tools, providers={INSTANT: provider}, places=places)


def test_one_whose_hosts_can_not_be_asked_is_kept_unless_they_are_gone_for_good(silent: Toolkit) -> None:
    with pytest.raises(Refused) as refused:
        delete_campaign(silent, "silent", "ada")
    [problem] = refused.value.problems
    assert problem.what == "can't say which clusters live: group rack1 can't be asked"
    assert "`plimsoll campaigns delete silent --take-over`" in problem.mend
    delete_campaign(silent, "silent", "ada", take_over=True)
    assert campaign_ids(silent.store) == ("mine", "other")


def test_hosts_of_other_campaigns_that_can_not_be_asked_keep_none(silent: Toolkit) -> None:
    delete_campaign(silent, "mine", "ada")
    assert campaign_ids(silent.store) == ("other", "silent")


def test_an_attempt_begins_although_other_hosts_can_not_be_asked(silent: Toolkit) -> None:
    left = begin(silent, "silent", CELL, "dead")
    actions.provision(left)
    begin(silent, "silent", CELL, "me")
    assert living_clusters(silent).clusters == ()


def test_a_deletion_that_was_interrupted_opens_for_nobody_and_is_finished_by_another(
    tools: Toolkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = type(tools.store).delete

    def dies(self: object, prefix: str) -> None:
        if prefix == "mine/cells":
            raise StoreError("the store is away")
        whole(self, prefix)  # type: ignore[arg-type]

    with monkeypatch.context() as interrupted:
        interrupted.setattr(type(tools.store), "delete", dies)
        with pytest.raises(StoreError):
            delete_campaign(tools, "mine", "ada")

    begun = interrupted_deletion(tools.store, "mine")
    assert begun
    assert begun.by == "ada"
    assert interrupted_deletion(tools.store, "other") is None
    assert tools.store.exists(f"mine/cells/{CELL}/1/{layout.VERDICT.path}")
    with pytest.raises(Refused, match=r"is being deleted \(`plimsoll campaigns delete mine`, or its page, finishes it"):
        Installation(tmp_path).open_campaign(DEFINITION, "mine")
    with pytest.raises(Refused, match="is being deleted"):
        begin(tools, "mine", CELL, "me")
    with pytest.raises(Refused, match="is being deleted"):
        annotate(CampaignStore(tools.store, "mine"), "note", "me", tools.clock.now())

    # An attempt of which half is left looks as if somebody worked at it.
    tools.store.delete(f"mine/cells/{CELL}/1/{layout.VERDICT.path}")
    delete_campaign(tools, "mine", "ada")
    assert list(tools.store.keys("mine")) == []
    assert campaign_ids(tools.store) == ("other",)


def test_a_stage_that_is_opened_while_its_campaign_is_deleted_leaves_nothing_of_it(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, stage_start = CampaignStore.require_kept, StageStart(stage="b", of="a", at=tools.clock.now(), loads=())

    def then_somebody_deletes_it(campaign: CampaignStore) -> None:
        looked(campaign)
        monkeypatch.setattr(CampaignStore, "require_kept", looked)
        delete_campaign(tools, "mine", "ada")

    monkeypatch.setattr(CampaignStore, "require_kept", then_somebody_deletes_it)
    with pytest.raises(NotFound, match="was deleted meanwhile"):
        CampaignStore(tools.store, "mine").record_stage_start(stage_start)
    assert list(tools.store.keys("mine")) == []
