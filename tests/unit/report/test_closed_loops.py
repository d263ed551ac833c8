"""The report of a closed loop, which claims no capacity, and of an open one at the rates that came out of it."""

import json

import pytest
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.strategy import StageLoad, StageStart
from plimsoll.report import build_report

STAGES = [
    {"id": "closed", "loop": "closed"},
    {"id": "found", "loads": {"share": "100%", "of": "closed"}},
    {"id": "open", "loads": ["5000/s"]},
]


RATES = {"a": 7_000, "b": 9_000}


def campaign(**outcome_of: str) -> CampaignData:
    """Return a campaign whose cells have the outcome of their stage."""
    outcomes = {name: {20_000: "m"} for name in RATES}
    loads = [
        StageLoad(variant=name, load_ops_s=rate, maximum_ops_s=rate, kind="achieved", decided_by=(f"{name}/1",))
        for name, rate in RATES.items()
    ]
    start = StageStart(stage="found", of="closed", at=GENERATED_AT, loads=tuple(loads))
    definition = definition_of(outcomes, control="a", stages=STAGES)
    cells = grid(resolve(definition).with_stage_starts({"found": start}))
    attempts = [attempt_of(definition, cell, 1, outcome_of[cell.stage]) for cell in cells]
    return CampaignData("loops-1", definition, tuple(attempts), (), GENERATED_AT, stage_starts={"found": start})


@pytest.fixture(scope="module")
def data() -> CampaignData:
    """Provide a campaign whose closed loop was met at its highest rate, and whose open loops missed."""
    return campaign(closed="m", found="x", open="x")


@pytest.mark.usefixtures("without_drawings")
def test_a_closed_loop_has_rates_and_no_capacity_and_decides_nothing(data: CampaignData) -> None:
    files = build_report(data)
    whole, own = json.loads(files["report.json"]), json.loads(files["closed-report.json"])
    assert own["capacity"] == []
    assert own["conclusion"].startswith("In a closed loop, which hides waits, A achieved ")
    assert " of at most 20,000 ops/s" in own["conclusion"]
    assert [one["variant"] for one in own["at_loads"]] == ["a", "b"]
    assert {(one["stage"], one["kind"], one["capacity_ops_s"]) for one in whole["capacity"]} == {("open", "none", None)}
    assert {(one["kind"], one["capacity_ops_s"]) for one in whole["answer"]} == {("none", None)}
    assert "carr" not in files["closed-summary.md"].decode()


@pytest.mark.usefixtures("without_drawings")
def test_an_open_loop_at_the_rate_of_a_closed_one_stands_beside_it(data: CampaignData) -> None:
    files = build_report(data)
    for name in ("summary.md", "found-summary.md", "report.html", "found-report.html"):
        text = files[name].decode()
        assert "A, in the closed loop" in text, name
        assert "at most 20,000 ops/s" in text, name
    assert "At 100 % of its rate in the closed loop A (7,000 ops/s)" in files["found-summary.md"].decode()
    assert "a: rate in the closed loop 7,000 ops/s in stage closed" in files["report.html"].decode()


@pytest.mark.usefixtures("without_drawings")
def test_of_variants_that_carry_the_same_no_next_load_is_told_that_only_one_of_them_had() -> None:
    document = json.loads(build_report(campaign(closed="m", found="x", open="m"))["report.json"])
    assert document["conclusion"].startswith("A and B carry 5,000 ops/s. One repeat each: one more cell that misses ")


@pytest.mark.usefixtures("without_drawings")
def test_a_load_at_the_whole_rate_of_a_closed_loop_is_told_to_be_critical() -> None:
    files = build_report(campaign(closed="m", found="x", open="m"))
    found = json.loads(files["found-report.json"])["conclusion"]
    assert "100 % of a closed loop's rate is critical by queueing alone" in found
    assert "take a share of 50 to 90 %" in files["report.html"].decode()
