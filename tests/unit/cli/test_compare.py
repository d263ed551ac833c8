import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.campaigns.stored import store_campaign
from tests.support.campaigns.synthetic import Plan, demo_definition
from typer.testing import CliRunner, Result

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.cli import cli
from plimsoll.domain.text.errors import NotFound, Refused


@pytest.fixture(autouse=True)
def campaigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide campaigns A and B, which are alike, and one of another workload."""
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path))
    store, at = ObjectStore(str(tmp_path)), datetime(2026, 1, 31, tzinfo=UTC)
    plan = Plan({"g1": 200, "shenandoah": 1_500}, saturation_ops_s=4_000.0)
    for name, changes in (("a", {}), ("b", {}), ("c", {"workload": {"read_share": 0.5}})):
        store_campaign(store, demo_definition(**changes), f"demo-{name}", plan, at)


def compare(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["compare", *arguments])


def test_two_campaigns_as_one_object() -> None:
    found = json.loads(compare("demo-a", "demo-b", "--json").stdout)
    assert (found["a"]["campaign_id"], found["b"]["campaign_id"]) == ("demo-a", "demo-b")
    assert [one["ratio"] for one in found["capacity"]] == [1.0, None]
    assert ["nothing can be said of a difference" in one for one in found["answers"]] == [False, False, True]


def test_two_campaigns_as_tables() -> None:
    shown = compare("demo-a", "demo-b").stdout
    assert shown.startswith("A: demo-a, G1 and Shenandoah on one machine\nB: demo-b, ")
    assert "Capacity" in shown


def test_what_is_not_comparable_is_refused_by_name_and_shown_by_force() -> None:
    refusal = compare("demo-a", "demo-c").exception
    assert isinstance(refusal, Refused)
    assert "workload.read_share: 0.2 in A, 0.5 in B" in str(refusal)
    assert "NOT COMPARABLE" in compare("demo-a", "demo-c", "--force").stdout


def test_a_campaign_that_is_not_there_is_named() -> None:
    assert isinstance(compare("demo-a", "demo-z").exception, NotFound)


@pytest.mark.parametrize("pair", ["g1", "g1=", "=g1"])
def test_a_pair_needs_both_sides(pair: str) -> None:
    result = compare("demo-a", "demo-b", "--pair", pair)
    assert result.exit_code == 2
    assert "is not ID_IN_A=ID_IN_B" in result.stderr
