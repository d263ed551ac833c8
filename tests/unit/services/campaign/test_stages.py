"""A campaign in stages over a real store: loads are found once, when the stages before are complete, and stand."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.attempt_verdicts import verdict_of
from tests.support.campaigns.running import run_missing

from plimsoll.domain.campaign.grid import cell_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.loads import TakenLoad
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Search, Stage
from plimsoll.domain.keys.timing import Timing
from plimsoll.domain.text.errors import GateClosed, Refused
from plimsoll.services.campaign.open.creation import CampaignPlan, open_campaign
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.request import read_request
from plimsoll.services.campaign.state.completeness import all_rounds, completeness, next_round
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.attempts import begin
from plimsoll.services.publish.publishing import check_campaign, pass_gate
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.synthetic import only_stage

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
LONG = Timing.model_validate({"duration": "40s", "warmup": "10s"})
STAGES = (
    Stage(id="maximum", strategy=Ramp()),
    Stage(id="share", strategy=FullGrid(), repeats=2, timing=LONG,
          loads=TakenLoad.model_validate({"share": "70%", "of": "maximum"})),
    Stage(id="common", strategy=FullGrid(), loads=TakenLoad.model_validate({"slowest_of": "maximum"})),
)  # fmt: skip
STAGED = instant_definition(loads=3).model_copy(update={"stages": STAGES})
MISSES_AT = {"v1": 3000, "v2": 2000}


@pytest.fixture
def campaign(installation: Installation) -> CampaignStore:
    return CampaignStore(installation.toolkit.store, "mine")


def ask(installation: Installation, cells: str = "", definition: Definition = STAGED) -> CampaignPlan:
    tools = installation.toolkit
    at = tools.clock.now() + timedelta(days=1)
    return open_campaign(
        tools, definition, read_request(resolve(definition), {"campaign_id": "mine", "cells": cells}), at
    )


def run(installation: Installation, campaign: CampaignStore, cell_id: str, *, met: bool | None = None) -> None:
    """Add one attempt, judged by what the cell's load comes to."""
    tools, definition = installation.toolkit, campaign.declared()
    cell = cell_of(campaign.resolved(), cell_id)
    carried = cell.load_ops_s < MISSES_AT[cell.variant] if met is None else met
    key = begin(tools, "mine", cell_id, "me").key
    layout.VERDICT.write(tools.store, key, verdict_of(definition, key, cell, valid=True, met=carried))
    note_phase(tools, key, "done")


def test_stages_run_one_after_the_other_and_the_later_ones_take_their_loads_from_the_first(
    installation: Installation, campaign: CampaignStore
) -> None:
    ran: list[tuple[str, int]] = []
    for cell in all_rounds(campaign, installation.toolkit.clock, ask(installation).cells):
        run(installation, campaign, cell.id)
        ran.append((cell.id, cell.load_ops_s))
    assert sorted(ran[:5]) == [
        ("maximum-v1-001k-r1", 1000), ("maximum-v1-002k-r1", 2000), ("maximum-v1-003k-r1", 3000),
        ("maximum-v2-001k-r1", 1000), ("maximum-v2-002k-r1", 2000),
    ]  # fmt: skip
    assert sorted(ran[5:9]) == [
        ("share-v1-70pct-r1", 1400), ("share-v1-70pct-r2", 1400), ("share-v2-70pct-r1", 700),
        ("share-v2-70pct-r2", 700),
    ]  # fmt: skip
    assert sorted(ran[9:]) == [("common-v1-slowest-r1", 1000), ("common-v2-slowest-r1", 1000)]
    assert completeness(campaign).is_complete


def test_who_starts_a_campaign_is_told_what_will_follow(installation: Installation) -> None:
    assert ask(installation).summary == (
        "2 cells to run now; 6 of 6 have no valid attempt; stages share, common will follow, with loads from the "
        "results of those before"
    )


def test_a_campaign_whose_next_stage_has_no_loads_yet_is_neither_complete_nor_published(
    installation: Installation, campaign: CampaignStore
) -> None:
    ask(installation)
    for cell_id in ("maximum-v1-001k-r1", "maximum-v1-002k-r1", "maximum-v1-003k-r1", "maximum-v2-001k-r1"):
        run(installation, campaign, cell_id)
    with pytest.raises(GateClosed, match="stages share, common will follow"):
        check_campaign(installation.toolkit, "mine")
    run(installation, campaign, "maximum-v2-002k-r1")
    found = pass_gate(installation.toolkit, "mine", ["maximum-v2-002k-r1"])
    assert not found.is_complete
    assert found.missing, "the gate opens a stage whose time has come"


def test_loads_stand_whatever_is_judged_later(installation: Installation, campaign: CampaignStore) -> None:
    for cell in ask(installation).cells:
        run(installation, campaign, cell.id)
    while "share" not in campaign.stage_starts(["share"]):
        for cell in next_round(campaign, AT):
            if cell.stage == "maximum":
                run(installation, campaign, cell.id)
    opened = campaign.stage_starts(["share"])["share"]
    run(installation, campaign, "maximum-v1-002k-r1", met=False)
    assert next_round(campaign, AT)
    assert campaign.stage_starts(["share"])["share"] == opened
    first = opened.loads[0]
    assert (first.variant, first.maximum_ops_s, first.load_ops_s, first.kind) == ("v1", 2000, 1400, "found")
    assert first.decided_by == ("maximum-v1-002k-r1/1", "maximum-v1-003k-r1/1")


def test_a_variant_that_carries_nothing_leaves_its_share_out_and_all_of_the_common_rate(
    installation: Installation, campaign: CampaignStore
) -> None:
    ran = []
    for cell in all_rounds(campaign, installation.toolkit.clock, ask(installation).cells):
        run(installation, campaign, cell.id, met=cell.variant == "v1")
        ran.append(cell.id)
    assert sorted(one for one in ran if not one.startswith("maximum")) == ["share-v1-70pct-r1", "share-v1-70pct-r2"]
    assert completeness(campaign).is_complete
    assert {one.kind for one in campaign.stage_starts(["common"])["common"].loads} == {"at-least", "none"}


def test_planning_again_goes_on_where_a_killed_run_was(installation: Installation, campaign: CampaignStore) -> None:
    while cells := ask(installation).cells:
        for cell in cells:
            run(installation, campaign, cell.id)
    assert completeness(campaign).is_complete


def test_a_campaign_of_instant_cells_runs_through_all_stages(installation: Installation) -> None:
    installation.open_campaign(STAGED)
    ran = run_missing(installation.toolkit, "campaign", "me", lambda _: None)
    assert [one.verdict.outcome for one in ran if one.verdict] == ["met"] * (6 + 4 + 2)
    assert {one.work.part.timing.duration for one in ran if one.work.cell.stage == "share"} == {LONG.duration}


def test_cells_are_asked_for_by_stage_before_their_loads_are_known() -> None:
    assert read_request(resolve(STAGED), {"cells": "share-v1-70pct-r1"}).patterns == ["share-v1-70pct-r1"]
    assert read_request(resolve(STAGED), {"cells": "share-*", "stages": ("share",), "loads": ("70pct",)}).stages == (
        "share",
    )
    with pytest.raises(Refused, match="'shore' is none of the definition's"):
        read_request(resolve(STAGED), {"stages": ("shore",)})
    with pytest.raises(Refused, match="fits no cell"):
        read_request(resolve(STAGED), {"cells": "v1-*"})


def test_the_plan_counts_cells_whose_loads_are_not_known_yet() -> None:
    plan = make_plan(resolve(STAGED)).as_json()
    assert [(one["id"], one["loads"], one["cells"]) for one in plan["stages"]] == [
        ("maximum", ("1000/s", "2000/s", "3000/s"), 6), ("share", ("70 % of maximum",), 4),
        ("common", ("slowest of maximum",), 2),
    ]  # fmt: skip
    assert (plan["totals"]["cells"], len(plan["cells"])) == (12, 12)
    assert plan["totals"]["cell_hours"] == pytest.approx((6 * 20 + 4 * 40 + 2 * 20) / 3600, abs=0.0005)
    assert {"id": "share-v1-70pct-r1", "load_ops_s": None}.items() <= plan["cells"][6].items()
    assert all("workload" not in cell for cell in plan["cells"])
    assert (plan["totals"]["cells_least"], plan["totals"]["cells_most"]) == (2, 12)


def test_synthetic_campaigns_are_not_drawn_for_several_stages() -> None:
    with pytest.raises(Refused, match="has 3 stages, and synthetic campaigns are drawn for one stage alone"):
        only_stage(resolve(STAGED), "staged.yaml")


def test_a_search_at_a_load_that_was_taken_runs_repeat_by_repeat() -> None:
    searched = STAGES[1].model_copy(update={"strategy": Search(), "repeats": 3})
    definition = STAGED.model_copy(update={"stages": (STAGES[0], searched)})
    found = make_plan(resolve(definition)).stages[1].estimate
    assert (found.least, found.likely, found.most) == (0, 6, 6)
    assert (found.likely_turns(found.at_once), found.at_once) == (3, 2)
    by_variant = make_plan(resolve(definition.model_copy(update={"cluster_scope": "variant"}))).stages[1].estimate
    assert (by_variant.likely_turns(1), by_variant.at_once) == (6, 1)
