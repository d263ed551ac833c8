"""What a check finds in a campaign of the store."""

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest
from tests.fakes.installation import Installation

from plimsoll.adapters.artefacts.archives import unpack_tar
from plimsoll.domain.text.errors import NotFound
from plimsoll.services.campaign.curating import annotate
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.housekeeping.checking import check_campaign_files
from plimsoll.services.housekeeping.faults import Checked, Fault
from plimsoll.services.housekeeping.whole_store import check_store
from plimsoll.services.judge.attempt_judging import judge_again
from plimsoll.services.publish.publishing import PUBLICATION, publish_report
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

CELL = "v1-001k-r1"
ATTEMPT = f"cells/{CELL}/1"
RAW = f"{ATTEMPT}/raw/load/summary.json"


@pytest.fixture
def mine(installation: Installation) -> Path:
    return installation.folder / "store/mine"


def check(tools: Toolkit) -> Checked:
    return check_campaign_files(tools, "mine", lambda _: None)


def faults(tools: Toolkit) -> dict[str, Fault]:
    return {fault.path: fault for fault in check(tools).faults}


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_a_sound_store_has_no_faults_and_every_byte_was_read(tools: Toolkit, mine: Path) -> None:
    read: list[int] = []
    checked = [*check_store(tools, (), read.append, lambda _: None)]

    assert [one.faults + one.in_progress for one in checked] == [(), ()]
    raw = [path for path in (mine / "cells").rglob("raw/**/*") if path.is_file()]
    assert sum(read) > sum(path.stat().st_size for path in raw) > 0


@pytest.mark.parametrize(
    "path",
    [
        RAW,
        *(f"{ATTEMPT}/{name}" for name in ("attempt.json", "intervals.parquet", "manifest.json", "verdict.json")),
        "definition.yaml",
        "report/report.json",
        "quality/pass.json",
    ],
)
def test_a_flipped_byte_is_named_with_what_was_recorded_and_what_is_there(
    tools: Toolkit, mine: Path, path: str
) -> None:
    recorded = sha256((mine / path).read_bytes()).hexdigest()
    flip(mine / path)

    [fault] = faults(tools).values()

    assert (fault.kind, fault.path, fault.expected) == ("differs", path, recorded)
    assert fault.actual == sha256((mine / path).read_bytes()).hexdigest()
    assert "put" in fault.mend or "`--mend`" in fault.mend


def test_a_bundle_that_was_damaged_is_found_and_the_report_can_be_published_again(tools: Toolkit, mine: Path) -> None:
    flip(mine / "report/bundle.zip")
    [fault] = faults(tools).values()
    assert (fault.path, fault.kind, fault.remedy) == ("report/bundle.zip", "differs", "publish")


@pytest.mark.parametrize("path", [RAW, f"{ATTEMPT}/fingerprint.json", f"{ATTEMPT}/attempt.json", "report/report.html"])
def test_a_file_that_is_missing_is_named(tools: Toolkit, mine: Path, path: str) -> None:
    (mine / path).unlink()
    [fault] = faults(tools).values()
    assert (fault.kind, fault.path, fault.actual) == ("missing", path, "")


def test_a_record_that_was_cut_off_is_named_with_its_error(tools: Toolkit, mine: Path) -> None:
    for path in ("asked.json", f"{ATTEMPT}/progress.json"):
        (mine / path).write_bytes(b'{"phase": "lo')
    found = faults(tools)
    assert {(path, fault.kind) for path, fault in found.items()} == {
        ("asked.json", "unreadable"),
        (f"{ATTEMPT}/progress.json", "unreadable"),
    }
    assert all("is damaged: is no JSON" in fault.what for fault in found.values())


def test_without_a_report_records_and_tables_that_can_not_be_read_are_found(tools: Toolkit, mine: Path) -> None:
    tools.store.delete("mine/report")
    for name in ("verdict.json", "manifest.json", "pauses.parquet"):
        (mine / ATTEMPT / name).write_bytes((mine / ATTEMPT / name).read_bytes()[:-9])
    found = faults(tools)
    assert {path.rpartition("/")[2]: (fault.kind, fault.remedy) for path, fault in found.items()} == {
        "verdict.json": ("unreadable", "rejudge"),
        "manifest.json": ("unreadable", "nothing"),
        "pauses.parquet": ("unreadable", "rejudge"),
    }


def test_without_a_report_a_definition_by_which_no_attempt_ran_is_found(tools: Toolkit, mine: Path) -> None:
    tools.store.delete("mine/report")
    definition = mine / "definition.yaml"
    definition.write_text(definition.read_text().replace("An instant campaign", "An instant campaigm"))
    [fault] = faults(tools).values()
    assert (fault.kind, fault.path) == ("differs", "definition.yaml")


@pytest.mark.parametrize("of_report", [True, False])
def test_a_definition_that_is_no_text_any_more_is_named(tools: Toolkit, mine: Path, of_report: bool) -> None:
    if not of_report:
        tools.store.delete("mine/report")
    definition = mine / "definition.yaml"
    definition.write_bytes(definition.read_bytes().replace(b"instant", b"in\xc3tant"))
    [fault] = faults(tools).values()
    assert (fault.path, fault.kind) == ("definition.yaml", "differs" if of_report else "unreadable")
    assert "is not UTF-8 text" in fault.what


def test_an_earlier_definition_has_its_checksum_as_its_name(tools: Toolkit, mine: Path) -> None:
    definition = CampaignStore(tools.store, "mine").declared()
    CampaignStore(tools.store, "mine").open(definition.model_copy(update={"budget": 5.0}))
    assert faults(tools) == {}
    [earlier] = (mine / "earlier-definitions").iterdir()
    flip(earlier)
    assert f"earlier-definitions/{earlier.name}" in faults(tools)


def test_what_people_and_runs_may_change_later_is_no_fault(tools: Toolkit, mine: Path) -> None:
    campaign = CampaignStore(tools.store, "mine")
    annotate(campaign, "two racks", "ada", tools.clock.now())
    key = campaign.key(CELL, 1)
    verdict = mine / ATTEMPT / "verdict.json"
    other = json.loads(verdict.read_text()) | {"code_version": "other"}
    verdict.write_text(json.dumps(other))
    publish_report(tools, "mine")

    judge_again(AttemptContext(tools, key))

    assert (mine / ATTEMPT / "verdicts/1.json").exists()
    assert faults(tools) == {}


def test_a_report_published_anew_leaves_none_of_the_former_ones_files_and_every_strangers_one(
    tools: Toolkit, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine / "report/notes.md").write_text("ours")
    for chart in ("why.svg", "other.svg"):
        files = {"report.html": b"<p>", "report.json": b"{}", chart: b"<svg/>"}
        monkeypatch.setattr("plimsoll.report.build_report", lambda _, made=files: made)
        publish_report(tools, "mine")

    left = {key.removeprefix("mine/report/") for key in tools.store.keys("mine/report")}
    assert left == {*files, "bundle.zip", "notes.md"}


def test_what_an_interrupted_publication_wrote_goes_with_the_next_one(
    tools: Toolkit, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = tools.store.write

    def killed(key: str, content: bytes) -> None:
        if key.endswith("bundle.zip"):
            raise KeyboardInterrupt
        write(key, content)

    for chart, how in (("a.svg", write), ("b.svg", killed), ("c.svg", killed), ("d.svg", write)):
        files = {"report.html": b"<p>", "report.json": b"{}", chart: b"<svg/>"}
        monkeypatch.setattr("plimsoll.report.build_report", lambda _, made=files: made)
        monkeypatch.setattr(tools.store, "write", how)
        with suppress(KeyboardInterrupt):
            publish_report(tools, "mine")

    assert {key.removeprefix("mine/report/") for key in tools.store.keys("mine/report")} == {*files, "bundle.zip"}
    assert not PUBLICATION.exists(tools.store, "mine")


def test_a_file_that_nobody_refers_to_is_named_once_it_is_old(tools: Toolkit, installation: Installation) -> None:
    store, now = installation.toolkit, installation.toolkit.clock.now().timestamp()
    strangers = {"odd.txt", f"{ATTEMPT}/raw/load/extra.log", f"{ATTEMPT}/verdict.json~", "report/old-chart.svg"}
    for path in strangers:
        store.store.write(f"mine/{path}", b"?")

    young = check(store)
    assert (set(young.in_progress), young.faults) == (strangers, ())
    for path in strangers:
        os.utime(installation.folder / "store/mine" / path, (now - 200_000, now - 200_000))
    assert {(one.path, one.kind) for one in check(store).faults} == {(path, "unreferenced") for path in strangers}


def test_files_of_an_attempt_without_an_end_are_in_progress_however_old(tools: Toolkit) -> None:
    work = begin(tools, "mine", "v1-002k-r1", "somebody")
    raw = f"cells/v1-002k-r1/{work.key.attempt}/raw/load/load.hdr"
    tools.store.write(f"mine/{raw}", b"half")

    assert (check(tools).faults, check(tools).in_progress) == ((), (raw,))

    layout.CANCELLED.write(tools.store, work.key, layout.CANCELLED.model(by="ada", at=tools.clock.now()))
    assert [(one.path, one.kind) for one in check(tools).faults] == [(raw, "unreferenced")]


def test_a_campaign_whose_definition_is_gone_is_named(tools: Toolkit, mine: Path) -> None:
    tools.store.delete("mine/report")
    (mine / "definition.yaml").unlink()
    assert [(one.path, one.kind) for one in check(tools).faults] == [("definition.yaml", "missing")]


def test_an_interrupted_deletion_is_its_only_fault(tools: Toolkit, mine: Path) -> None:
    (mine / "deleting.json").write_text("{}")
    tools.store.delete("mine/cells")
    [fault] = check(tools).faults
    assert (fault.kind, "`plimsoll campaigns delete mine` finishes it") == ("unfinished", fault.mend)


def test_a_folder_of_somebody_else_is_one_fault(tools: Toolkit, installation: Installation) -> None:
    for name in ("a/b.tar", "c.tar"):
        tools.store.write(f"backup/{name}", b"?")
    assert [(one.path, one.kind) for one in check_campaign_files(tools, "backup", lambda _: None).faults] == [
        ("", "unreferenced")
    ]
    young = check_campaign_files(installation.toolkit, "backup", lambda _: None)
    assert (young.faults, young.in_progress) == ((), ("a/b.tar", "c.tar"))


def test_a_campaign_that_is_not_there_is_not_found(tools: Toolkit) -> None:
    with pytest.raises(NotFound, match="there is no campaign 'nonesuch'"):
        [*check_store(tools, ("nonesuch",), lambda _: None, lambda _: None)]


def test_what_belongs_to_no_campaign_is_looked_at_too(tools: Toolkit, installation: Installation) -> None:
    root = installation.folder / "store"
    (root / ".places").mkdir(exist_ok=True)
    (root / ".places/0.json").write_text("{")
    (root / "loose.txt").write_text("?")
    (root / f"mine/note.json.{'0' * 32}.part").write_text("half")
    (root / ".plimsoll-check-0").write_text("check")

    (root / "mine/odd.part").write_text("of somebody")

    *_, rest = check_store(tools, (), lambda _: None, lambda _: None)

    assert {(one.path, one.kind, one.remedy) for one in rest.faults} == {
        (".places/0.json", "unreadable", "nothing"),
        ("loose.txt", "unreferenced", "nothing"),
        (f"mine/note.json.{'0' * 32}.part", "unfinished", "drop"),
        (".plimsoll-check-0", "unreferenced", "drop"),
    }


def test_a_store_of_an_earlier_version_is_sound(tools: Toolkit, installation: Installation) -> None:
    from tests.support.stores.stored_campaign import CAMPAIGN, STORED

    unpack_tar(STORED, installation.folder / "store")
    checked = check_campaign_files(tools, CAMPAIGN, lambda _: None)
    assert (checked.faults, checked.in_progress, checked.files > 80) == ((), (), True)
