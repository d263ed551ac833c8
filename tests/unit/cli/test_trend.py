import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.campaigns.stored import store_campaign
from tests.support.campaigns.synthetic import Plan, demo_definition
from typer.testing import CliRunner, Result

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.cli import cli
from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.judged import GATE_PASS, GatePass

AT = datetime(2026, 1, 31, tzinfo=UTC)
CAPACITIES = {"g1": 200, "shenandoah": 1_500}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    """Provide a store of two campaigns that are alike, one that lacks a cell, and one of another definition."""
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "store"))
    (tmp_path / "store").mkdir()
    store = ObjectStore(str(tmp_path / "store"))
    for name, lacking, seed in (("a", (), 1), ("b", (), 2), ("c", ("g1-00200-r1",), 3)):
        plan = Plan(CAPACITIES, not_run=lacking, saturation_ops_s=4_000.0, seed=seed)
        store_campaign(store, demo_definition(), f"demo-{name}", plan, AT + timedelta(days=seed))
    store_campaign(store, demo_definition(name="other"), "other-1", Plan(CAPACITIES, saturation_ops_s=4_000.0), AT)
    return store


def trend(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["trend", *map(str, arguments)])


@pytest.mark.usefixtures("store")
def test_the_campaigns_of_a_definition_as_one_object() -> None:
    found = json.loads(trend("demo", "--json").stdout)
    assert [one["campaign_id"] for one in found["campaigns"]] == ["demo-a", "demo-b"]
    (left,) = found["left_out"]
    assert left["campaign_id"] == "demo-c"
    assert "incomplete" in left["why"]
    assert "--incomplete" in left["why"]
    assert {one["variant"] for one in found["series"]} == set(CAPACITIES)
    assert not any(one["enough"] for one in found["series"])
    assert found["changes"] == []


@pytest.mark.usefixtures("store")
def test_several_definitions_make_one_trend() -> None:
    found = json.loads(trend("demo", "other", "--json").stdout)
    assert {one["campaign_id"] for one in found["campaigns"]} == {"demo-a", "demo-b", "other-1"}


def test_an_incomplete_campaign_whose_report_is_published_takes_part_and_is_marked(store: ObjectStore) -> None:
    GATE_PASS.write(store, "demo-c", GatePass(attempts=(), checks=(), incomplete=("g1-00200-r1",)))
    found = json.loads(trend("demo", "--json").stdout)
    assert [one.get("incomplete") for one in found["campaigns"]] == [None, None, ["g1-00200-r1"]]
    assert found["left_out"] == []


def test_a_damaged_campaign_is_left_out_by_name(store: ObjectStore) -> None:
    key = CampaignStore(store, "demo-b").newest_attempt("g1-00200-r1")
    assert key is not None
    store.write(layout.VERDICT.key(key), b"{")
    found = json.loads(trend("demo", "--json").stdout)
    why = {one["campaign_id"]: one["why"] for one in found["left_out"]}
    assert "is damaged" in why["demo-b"]


def test_an_attempt_at_a_cell_that_the_definition_lacks_leaves_its_campaign_out(store: ObjectStore) -> None:
    campaign = CampaignStore(store, "demo-b")
    verdict = next(campaign.verdicts())
    stray = verdict.cell.model_copy(update={"load_ops_s": 7_000})
    key = campaign.key(stray.id, 1)
    layout.VERDICT.write(store, key, verdict.model_copy(update={"key": key, "cell": stray}))
    found = json.loads(trend("demo", "--json").stdout)
    why = {one["campaign_id"]: one["why"] for one in found["left_out"]}
    assert "the definition has no cell g1-007k-r1" in why["demo-b"]


@pytest.mark.usefixtures("store")
def test_what_is_shown_to_people() -> None:
    shown = trend("demo").stdout
    assert "g1 at 200 ops/s: worst interval" in shown
    assert "Left out" in shown
    assert "demo: too few figures to tell a change in 9 series over 2 campaigns by date." in shown
    assert trend("demo", "--markdown").stdout.startswith("**Trend**: demo: too few figures")


@pytest.mark.usefixtures("store")
def test_files_beside_the_answer(tmp_path: Path) -> None:
    csv, badge = tmp_path / "t.csv", tmp_path / "t.svg"
    assert trend("demo", "--csv", csv, "--badge", badge).exit_code == 0
    assert csv.read_text().startswith("time,campaign,")
    assert "too few campaigns" in badge.read_text()
    refusal = trend("demo", "--csv", tmp_path / "no" / "t.csv").exception
    assert isinstance(refusal, StoreError)


@pytest.mark.usefixtures("store")
def test_a_name_without_a_campaign_is_refused_with_what_was_meant() -> None:
    refusal = trend("demos").exception
    assert isinstance(refusal, NotFound)
    assert "did you mean 'demo'?" in str(refusal)


@pytest.mark.usefixtures("store")
def test_no_campaign_that_can_take_part_leaves_an_empty_trend(store: ObjectStore) -> None:
    for name in ("demo-a", "demo-b"):
        for cell in CampaignStore(store, name).cells_with_attempts():
            key = CampaignStore(store, name).newest_attempt(cell)
            assert key is not None
            store.delete(layout.VERDICT.key(key))
    found = json.loads(trend("demo", "--json").stdout)
    assert (found["campaigns"], found["series"], len(found["left_out"])) == ([], [], 3)
    assert "too few figures to tell a change in 0 series over 0 campaigns" in trend("demo").stdout
