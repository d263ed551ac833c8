"""Raw files that go by age or for room, and what is still possible without them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners
from tests.support.campaigns.attempt_verdicts import verdict_of

from plimsoll.domain.text.errors import NotFound
from plimsoll.services.campaign.curating import mark_as_kept
from plimsoll.services.campaign.show.progress import recorded_totals
from plimsoll.services.cell.attempts import begin
from plimsoll.services.housekeeping import retention
from plimsoll.services.housekeeping.checking import check_campaign_files
from plimsoll.services.housekeeping.known import usage_of
from plimsoll.services.housekeeping.retention import Pruned, Rule, prune
from plimsoll.services.judge.rejudging import collected_attempts, rejudge
from plimsoll.services.ownership import held
from plimsoll.services.publish.publishing import publish_report, report_files
from plimsoll.services.publish.reproducing import bundle_with_raw, published_bundle
from plimsoll.services.publish.results import take_snapshot
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

DAY = Rule(older_than=timedelta(days=1))


def removed(tools: Toolkit, rule: Rule = DAY, *, dry_run: bool = False) -> tuple[Pruned, ...]:
    return tuple(prune(tools, rule, "ada", dry_run=dry_run))


def raw_bytes(tools: Toolkit, campaign_id: str = "mine") -> int:
    return usage_of(tools.store, campaign_id).raw


def test_the_report_made_again_is_the_one_before_byte_for_byte(tools: Toolkit) -> None:
    campaign, now = CampaignStore(tools.store, "mine"), tools.clock.now()
    before = report_files(take_snapshot(campaign), "mine", now, "code")
    size = raw_bytes(tools)

    assert removed(tools) == (Pruned("mine", size, "older than 1 day"),)

    assert raw_bytes(tools) == 0 < size
    assert report_files(take_snapshot(campaign), "mine", now, "code") == before
    publish_report(tools, "mine")
    assert recorded_totals(campaign) is not None


def test_afterwards_a_check_finds_no_fault_and_nothing_is_left_to_remove(tools: Toolkit) -> None:
    removed(tools)
    assert check_campaign_files(tools, "mine", lambda _: None).faults == ()
    assert removed(tools) == ()


def test_who_needs_raw_files_is_told_when_and_why_they_went(tools: Toolkit, tmp_path: Path) -> None:
    removed(tools)
    campaign = CampaignStore(tools.store, "mine")
    verdict = layout.VERDICT.read(tools.store, campaign.key("v1-001k-r1", 1))

    judged = rejudge(lambda: tools, collected_attempts(campaign), 1, lambda _: None)

    why = f"raw files were removed on {tools.clock.now():%Y-%m-%d}"
    assert all(why in one.failure and "by retention (older than 1 day)" in one.failure for one in judged)
    assert layout.VERDICT.read(tools.store, campaign.key("v1-001k-r1", 1)) == verdict
    with (tmp_path / "raw.zip").open("wb") as stream, pytest.raises(NotFound, match=why):
        bundle_with_raw(tools.store, "mine", stream)
    assert published_bundle(tools.store, "mine")


def test_a_dry_run_names_what_would_go_and_removes_nothing(tools: Toolkit) -> None:
    size = raw_bytes(tools)
    assert [one.why_not for one in removed(tools, dry_run=True)] == [""]
    assert raw_bytes(tools) == size


def test_younger_campaigns_stay_and_so_do_those_for_which_there_is_room(tools: Toolkit) -> None:
    size = raw_bytes(tools)
    assert removed(tools, Rule(older_than=timedelta(days=4))) == ()
    assert removed(tools, Rule(most_bytes=size)) == ()
    assert removed(tools, Rule(most_bytes=size - 1))[0].rule.endswith("GB of raw files")


def test_for_room_the_campaign_that_ended_first_goes_first(tools: Toolkit, installation: Installation) -> None:
    copy = installation.folder / "store/a-later-one"
    _copied_as(installation.folder / "store/mine", copy)
    for progress in (copy / "cells").rglob("progress.json"):
        progress.write_text(progress.read_text().replace('"at": "20', '"at": "21'))
    publish_report(replace(tools, code_version="other"), "a-later-one")

    [gone] = removed(tools, Rule(most_bytes=raw_bytes(tools)))

    assert (gone.campaign_id, gone.why_not) == ("mine", "")
    assert raw_bytes(tools, "a-later-one") > 0


def _copied_as(campaign: Path, place: Path) -> None:
    for file in (path for path in campaign.rglob("*") if path.is_file()):
        target = place / file.relative_to(campaign)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = file.read_bytes()
        is_text = file.suffix in (".json", ".yaml") and "raw" not in file.parts
        target.write_bytes(content.replace(b'"mine"', b'"a-later-one"') if is_text else content)


def _is_kept(tools: Toolkit) -> None:
    mark_as_kept(CampaignStore(tools.store, "mine"), "the reference of 2026", "bob", tools.clock.now())


def _runs(tools: Toolkit) -> None:
    begin(tools, "mine", "v1-001k-r1", "somebody")


def _is_unpublished(tools: Toolkit) -> None:
    tools.store.delete("mine/report")


def _was_judged_since(tools: Toolkit) -> None:
    key = CampaignStore(tools.store, "mine").key("v1-001k-r1", 1)
    definition = CampaignStore(tools.store, "mine").declared()
    layout.VERDICT.write(tools.store, key, verdict_of(definition, key))


def _is_damaged(tools: Toolkit) -> None:
    tools.store.write("mine/cells/v1-001k-r1/1/intervals.parquet", b"?")


def _has_a_stranger(tools: Toolkit) -> None:
    tools.store.write("mine/cells/v1-001k-r1/1/raw/load/notes.txt", b"?")


def _has_an_unreadable(name: str, tools: Toolkit) -> None:
    tools.store.write(f"mine/{name}", b"?")


@pytest.mark.parametrize("rule", [Rule(most_bytes=0), DAY], ids=["for room", "by age"])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_is_kept, "bob keeps it: the reference of 2026"),
        (_runs, "it has not ended"),
        (_is_unpublished, "its report is not published"),
        (_was_judged_since, "attempts were judged since its report was published"),
        (_is_damaged, "`plimsoll store check mine` has something to say of cells/v1-001k-r1/1/intervals.parquet"),
        (_has_a_stranger, "`plimsoll store check mine` has something to say of cells/v1-001k-r1/1/raw/load/notes.txt"),
        (partial(_has_an_unreadable, "holds/9.json"), "holds/9.json: is damaged"),
        (partial(_has_an_unreadable, "quality/pass.json"), "quality/pass.json: is damaged"),
        (partial(_has_an_unreadable, "definition.yaml"), "definition.yaml: "),
    ],
)
def test_raw_files_stay_where(tools: Toolkit, change: Callable[[Toolkit], None], why: str, rule: Rule) -> None:
    change(tools)
    size = raw_bytes(tools)

    [stays] = removed(tools, rule)

    assert why in stays.why_not
    assert raw_bytes(tools) == size


def test_one_that_is_deleted_meanwhile_is_no_failure(tools: Toolkit, monkeypatch: pytest.MonkeyPatch) -> None:
    def deleted(*_: object) -> None:
        raise NotFound("there is no campaign 'mine'")

    monkeypatch.setattr(retention, "passed_gate", deleted)
    assert [stays.why_not for stays in removed(tools)] == ["there is no campaign 'mine'"]


def test_raw_files_stay_while_a_process_holds_the_campaign(tools: Toolkit) -> None:
    mine = replace(tools, owners=FixedOwners(me="first", alive={"first", "second"}))
    with held(replace(tools, owners=FixedOwners(me="second", alive=set())), "mine"):
        [stays] = removed(mine)
    assert stays.why_not == "it has not ended"


def test_a_removal_that_was_killed_is_named_by_a_check_and_finished_by_the_next_pass(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tools.store, "delete", killed)
        with pytest.raises(KeyboardInterrupt):
            removed(tools)

    [fault] = check_campaign_files(tools, "mine", lambda _: None).faults
    assert (fault.kind, "`plimsoll store prune` removes them" in fault.mend) == ("unfinished", True)
    never = Rule(most_bytes=10**12)
    assert [one.rule for one in removed(tools, never)] == ["its removal was interrupted"]
    [again] = removed(tools)
    assert again.why_not == ""
    assert raw_bytes(tools) == 0


def test_a_record_of_a_removal_that_can_not_be_read_makes_no_damage_of_what_went(tools: Toolkit) -> None:
    removed(tools)
    record = "cells/v1-001k-r1/1/raw-removed.json"
    tools.store.write(f"mine/{record}", b"{")
    [fault] = check_campaign_files(tools, "mine", lambda _: None).faults
    assert (fault.path, fault.kind) == (record, "unreadable")


def test_a_mark_can_be_taken_away(tools: Toolkit) -> None:
    campaign = CampaignStore(tools.store, "mine")
    mark = partial(mark_as_kept, campaign, by="bob", at=tools.clock.now())
    assert mark("for the record") is not None
    assert mark("") is None
    assert [one.why_not for one in removed(tools)] == [""]
