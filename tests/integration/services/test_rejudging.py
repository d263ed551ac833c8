"""A campaign's verdicts anew from its raw files, on instant adapters, a real store and real processes."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.one_cell import run_cell
from typer.testing import CliRunner

from plimsoll.cli import cli
from plimsoll.domain.text.errors import GateClosed, NotFound, Refused
from plimsoll.services.campaign.show.progress import record_totals, recorded_totals
from plimsoll.services.campaign.state.reading import Memory, read_state
from plimsoll.services.cell.attempts import begin
from plimsoll.services.judge.rejudging import collected_attempts, rejudge
from plimsoll.services.publish.publishing import check_campaign, report_files
from plimsoll.services.publish.results import compare_stored, take_snapshot
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.judged import keep_verdict

CELLS = ("v1-001k-r1", "v1-002k-r1")
PATIENCE_S = 120.0


def longer(definition: Any) -> Any:
    """Return it with four judged seconds: two aligned intervals, three sliding windows."""
    timing = definition.timing.model_copy(update={"duration": timedelta(seconds=5), "warmup": timedelta(seconds=1)})
    level = definition.service_levels[0].model_copy(update={"interval": timedelta(seconds=2)})
    return definition.model_copy(update={"timing": timing, "service_levels": (level,)})


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Provide a campaign of two cells, both judged, and an attempt that was never collected."""
    made = Installation(tmp_path_factory.mktemp("judged"))
    made.open_campaign(made.define(longer(instant_definition(variants=1, loads=2))))
    for cell in CELLS:
        run_cell(made.toolkit, "campaign", cell, "test", print)
    begin(made.toolkit, "campaign", CELLS[0], "test")
    return made.folder


@pytest.fixture
def installation(judged: Any, tmp_path: Path) -> Any:
    """Provide a copy of the campaign, to be changed."""
    return Installation(shutil.copytree(judged, tmp_path / "own"))


@pytest.fixture
def campaign(installation: Installation) -> Any:
    return CampaignStore(installation.toolkit.store, "campaign")


def again(installation: Installation, campaign: Any) -> Any:
    seen = []
    found = rejudge(lambda: installation.toolkit, collected_attempts(campaign), 1, seen.append)
    assert sorted(str(one.key) for one in seen) == [str(one.key) for one in found]
    return found


def contents(campaign: Any) -> Any:
    return {key: campaign.store.read(key) for key in campaign.store.keys("campaign")}


def misjudge(campaign: Any, cell: Any) -> Any:
    """Return a verdict of other rules: what an older version might have found."""
    key = campaign.key(cell, 1)
    older = layout.VERDICT.read(campaign.store, key).model_copy(update={"met": False, "code_version": "0.0.1"})
    layout.VERDICT.write(campaign.store, key, older)
    return key, older


def test_by_the_same_rules_nothing_changes(installation: Installation, campaign: Any) -> None:
    before = contents(campaign)
    found = again(installation, campaign)
    assert [(one.key.cell_id, one.before, one.after, one.same) for one in found] == [
        (cell, "met", "met", True) for cell in CELLS
    ]
    assert contents(campaign) == before


def test_by_other_rules_the_new_verdict_counts_and_the_earlier_one_is_kept(
    installation: Installation, campaign: Any
) -> None:
    right = layout.VERDICT.read(campaign.store, campaign.key(CELLS[0], 1))
    key, older = misjudge(campaign, CELLS[0])
    first, second = again(installation, campaign)
    assert (first.before, first.after, first.same, second.same) == ("missed", "met", False, True)
    assert layout.VERDICT.read(campaign.store, key) == right
    kept = campaign.store.read(layout.attempt_file(key, "verdicts/1.json"))
    assert json.loads(kept) == json.loads(older.model_dump_json())
    assert list(campaign.store.keys(layout.attempt_file(campaign.key(CELLS[1], 1), "verdicts"))) == []


def test_killed_while_it_replaces_a_verdict_it_loses_none_and_goes_on_when_it_is_repeated(
    installation: Installation, campaign: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, older = misjudge(campaign, CELLS[0])
    kept, verdict = layout.attempt_file(key, "verdicts/1.json"), layout.VERDICT.key(key)
    for name, place in (("create", kept), ("write", verdict)):
        with monkeypatch.context() as patched:
            patched.setattr(campaign.store, name, killed_at(getattr(campaign.store, name), place))
            with pytest.raises(KeyboardInterrupt):
                again(installation, campaign)
        found = [layout.VERDICT.read(campaign.store, key).model_dump_json(indent=1).encode()]
        found += map(campaign.store.read, campaign.store.keys(layout.EARLIER_VERDICT.folder(key)))
        assert older.model_dump_json(indent=1).encode() in found
    again(installation, campaign)
    assert layout.VERDICT.read(campaign.store, key).outcome == "met"
    assert list(campaign.store.keys(layout.EARLIER_VERDICT.folder(key))) == [kept]
    assert json.loads(campaign.store.read(kept)) == json.loads(older.model_dump_json())


def test_a_verdict_that_was_kept_and_then_found_again_is_kept_no_longer(
    installation: Installation, campaign: Any
) -> None:
    key = collected_attempts(campaign)[0]
    folder, verdict = layout.EARLIER_VERDICT.folder(key), layout.VERDICT.read(campaign.store, key)
    assert verdict is not None
    keep_verdict(campaign.store, key, verdict)
    campaign.store.write(f"{folder}/1.json.bak", b"a person put it there")
    again(installation, campaign)
    assert list(campaign.store.keys(folder)) == [f"{folder}/1.json.bak"]


def killed_at(change: Callable[[str, bytes], Any], place: str) -> Callable[[str, bytes], Any]:
    """Return the same change of the store by a process that is killed before it changes that file."""

    def changed(key: str, data: bytes) -> Any:
        if key == place:
            raise KeyboardInterrupt
        return change(key, data)

    return changed


def test_whoever_remembers_verdicts_sees_the_new_ones(installation: Installation, campaign: Any) -> None:
    misjudge(campaign, CELLS[0])
    memory = Memory()

    def states() -> Any:
        resolved, now = campaign.resolved(), installation.toolkit.clock.now()
        return {one.cell.id: one.state for one in read_state(campaign.store, "campaign", resolved, now, memory).cells}

    assert states()[CELLS[0]] == "missed"
    again(installation, campaign)
    assert states()[CELLS[0]] == "met"


def test_what_was_on_record_of_the_whole_campaign_is_not_once_a_verdict_is_another(
    installation: Installation, campaign: Any
) -> None:
    campaign.store.delete(f"campaign/cells/{CELLS[0]}/2")
    misjudge(campaign, CELLS[0])
    record_totals(campaign, installation.toolkit.clock.now())
    assert recorded_totals(campaign).counts == {"met": 1, "missed": 1}
    again(installation, campaign)
    assert recorded_totals(campaign) is None


def test_a_report_of_other_verdicts_needs_the_gate_again(installation: Installation, campaign: Any) -> None:
    misjudge(campaign, CELLS[0])
    check_campaign(installation.toolkit, "campaign")
    again(installation, campaign)
    with pytest.raises(Exception, match="attempts were judged since the gate was passed"):
        report_files(take_snapshot(campaign), "campaign", installation.toolkit.clock.now(), "1")


def test_sliding_windows_are_judged_beside_aligned_ones_and_never_mixed_with_attempts_that_lack_them(
    installation: Installation, campaign: Any
) -> None:
    before = [layout.VERDICT.read(campaign.store, campaign.key(cell, 1)) for cell in CELLS]
    check_campaign(installation.toolkit, "campaign")

    campaign.add_sliding_windows()
    campaign.add_sliding_windows()
    with pytest.raises(GateClosed, match=f"other service levels.*{CELLS[0]} attempt 1") as closed:
        check_campaign(installation.toolkit, "campaign")
    with pytest.raises(GateClosed, match="other service levels"):
        report_files(take_snapshot(campaign), "campaign", installation.toolkit.clock.now(), "1")
    assert "plimsoll rejudge campaign" in closed.value.mend
    now = installation.toolkit.clock.now()
    with pytest.raises(Refused, match="other service levels"):
        compare_stored(campaign.store, "campaign", "campaign", pairing={}, force=True, now=now)

    assert [one.after for one in again(installation, campaign)] == ["met", "met"]
    for cell, aligned in zip(CELLS, before, strict=True):
        verdict = layout.VERDICT.read(campaign.store, campaign.key(cell, 1))
        first, sliding = verdict.levels
        assert (first, verdict.maxima) == (aligned.levels[0], aligned.maxima)
        assert (sliding.service_level.windows, first.judged, sliding.judged) == ("sliding", 2, 3)
    assert check_campaign(installation.toolkit, "campaign")


def test_an_attempt_that_can_not_be_judged_keeps_its_verdict_and_stops_no_other(
    installation: Installation, campaign: Any
) -> None:
    key, older = misjudge(campaign, CELLS[0])
    misjudge(campaign, CELLS[1])
    for entry in layout.MANIFEST.read(campaign.store, key).files:
        campaign.store.delete(layout.attempt_file(key, entry.path))
    lost, judged = again(installation, campaign)
    assert "the store holds no such file" in lost.failure
    assert (lost.before, lost.after) == ("missed", None)
    assert (judged.before, judged.after) == ("missed", "met")
    assert layout.VERDICT.read(campaign.store, key) == older


def test_the_command_shows_the_verdict_that_an_attempt_keeps(
    installation: Installation, campaign: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**installation.environment, "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    key = campaign.key(CELLS[0], 1)
    for entry in layout.MANIFEST.read(campaign.store, key).files:
        campaign.store.delete(layout.attempt_file(key, entry.path))
    shown = CliRunner().invoke(cli, ["rejudge", "campaign", "--jobs", "1"])
    assert shown.exit_code == 1
    row = next(line for line in shown.stdout.splitlines() if CELLS[0] in line)
    assert "met" in row
    assert "unchanged" in row
    assert "outcomes that changed: 0, other figures alone: 0" in shown.stdout


def test_the_command_judges_in_processes(
    installation: Installation, campaign: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in installation.environment.items():
        monkeypatch.setenv(name, value)
    before = contents(campaign)
    key, _ = misjudge(campaign, CELLS[1])
    result = CliRunner().invoke(cli, ["rejudge", "campaign", "--jobs", "2", "--json"])
    assert result.exit_code == 0
    attempts = json.loads(result.stdout)["attempts"]
    assert [(one["attempt"], one["after"], one["same"]) for one in attempts] == [
        (f"campaign/{CELLS[0]}/1", "met", True),
        (f"campaign/{CELLS[1]}/1", "met", False),
    ]
    campaign.store.delete(layout.EARLIER_VERDICT.folder(key))
    assert contents(campaign) == before

    shown = CliRunner().invoke(cli, ["rejudge", "campaign", "--jobs", "1"])
    assert "judged again: 2 attempts; outcomes that changed: 0, other figures alone: 0" in shown.stdout
    assert isinstance(CliRunner().invoke(cli, ["rejudge", "gone"]).exception, NotFound)


WAITING = """
import os, sys
from plimsoll.services.judge.rejudging import workers
with workers(dict, 2) as pool:
    started = [pool.submit(os.getpid) for _ in range(8)]
    print(*{one.result() for one in started}, flush=True)
    sys.stdin.read()
"""


def test_no_process_outlives_a_parent_who_was_killed() -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", WAITING], **pipes) as parent:
        children = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert children
    _, alive = psutil.wait_procs(children, PATIENCE_S)
    assert alive == []
