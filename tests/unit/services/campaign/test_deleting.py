"""Campaigns that are deleted: what speaks against it, what is left of it, and what a crash leaves."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.census import Census
from tests.fakes.installation import Installation, instant_definition
from tests.unit.services.verdicts import verdict_of

from plimsoll.domain.errors import NotFound, Refused, StoreError
from plimsoll.domain.stage import StageOpening
from plimsoll.services.campaign.annotating import annotate
from plimsoll.services.campaign.deleting import Deletion, deletable, delete_campaign, interrupted_deletion
from plimsoll.services.campaign.holding import held
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, campaign_ids, write_model
from plimsoll.services.toolkit import Toolkit

CELL = "v1-001k-r1"
DEFINITION = instant_definition(variants=1, loads=2)


@pytest.fixture
def tools(tmp_path: Path) -> Toolkit:
    made = Installation(tmp_path)
    for name in ("mine", "other"):
        made.open_campaign(DEFINITION, name)
    key = begin(made.toolkit, "mine", CELL, "me").key
    write_model(made.toolkit.store, key, layout.VERDICT, verdict_of(DEFINITION, key))
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


def test_one_of_which_a_cluster_lives_or_an_attempt_runs_is_kept(tools: Toolkit) -> None:
    work = begin(tools, "mine", "v1-002k-r1", "me")
    actions.provision(work)

    with pytest.raises(Refused) as refused:
        delete_campaign(tools, "mine", "ada")

    assert [problem.what for problem in refused.value.problems] == ["is being run by me", "its cluster is alive"]
    assert campaign_ids(tools.store) == ("mine", "other")


def test_one_that_a_process_runs_is_kept(tools: Toolkit) -> None:
    watching = replace(tools, owners=Census(me="second", alive={"first"}))
    first = replace(tools, owners=Census(me="first", alive=set()))
    with held(first, "mine"), pytest.raises(Refused, match="is being run by first, since"):
        deletable(watching, "mine", "ada")
    assert deletable(watching, "mine", "ada").attempts == 1


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
    assert tools.store.exists(f"mine/cells/{CELL}/1/{layout.VERDICT}")
    with pytest.raises(Refused, match=r"is being deleted \(`plimsoll campaigns delete mine`, or its page, finishes it"):
        Installation(tmp_path).open_campaign(DEFINITION, "mine")
    with pytest.raises(Refused, match="is being deleted"):
        begin(tools, "mine", CELL, "me")
    with pytest.raises(Refused, match="is being deleted"):
        annotate(CampaignStore(tools.store, "mine"), "note", "me", tools.clock.now())

    # An attempt of which half is left looks as if somebody worked at it.
    tools.store.delete(f"mine/cells/{CELL}/1/{layout.VERDICT}")
    delete_campaign(tools, "mine", "ada")
    assert list(tools.store.keys("mine")) == []
    assert campaign_ids(tools.store) == ("other",)


def test_a_stage_that_is_opened_while_its_campaign_is_deleted_leaves_nothing_of_it(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, opening = CampaignStore.require_kept, StageOpening(stage="b", of="a", at=tools.clock.now(), loads=())

    def then_somebody_deletes_it(campaign: CampaignStore) -> None:
        looked(campaign)
        monkeypatch.setattr(CampaignStore, "require_kept", looked)
        delete_campaign(tools, "mine", "ada")

    monkeypatch.setattr(CampaignStore, "require_kept", then_somebody_deletes_it)
    with pytest.raises(NotFound, match="was deleted meanwhile"):
        CampaignStore(tools.store, "mine").open_stage(opening)
    assert list(tools.store.keys("mine")) == []
