"""The ramp: each repeat goes up until it misses, and the answer is the full grid's."""

from random import Random

import pytest
from tests.fakes.installation import instant_definition
from tests.support.resolved import only_stage

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.strategy import FullGrid, Ramp
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.strategies.decision import ramp_step
from plimsoll.strategies.matrix import Ladder, Position, running_order
from plimsoll.strategies.replay import replay
from plimsoll.strategies.stage_plans import estimate, least_and_most
from plimsoll.strategies.state import CampaignState, CellAttempts, JudgedAttempt, campaign_state
from plimsoll.strategies.synthetic import CapacityModel, play, simulate

MARKS: dict[str, ValidOutcome | None] = {"m": "met", "x": "missed", ".": None}


def ladder(*levels: str) -> Ladder:
    """Return loads from the lowest, a letter a repeat."""
    return Ladder([[MARKS[mark] for mark in level] for level in levels])


def ramped(**changes: object) -> Definition:
    return instant_definition(loads=4, repeats=2).model_copy(update={"strategy": Ramp(), **changes})


def test_it_begins_with_the_lowest_load_of_each_repeat() -> None:
    assert ramp_step(ladder("..", "..")).run == (Position(0, 0), Position(0, 1))


def test_each_repeat_goes_up_by_itself() -> None:
    assert ramp_step(ladder("mm", "m.", "..")).run == (Position(1, 1), Position(2, 0))


def test_a_miss_ends_its_own_repeat_alone() -> None:
    step = ramp_step(ladder("mm", "xm", ".."))
    assert step.run == (Position(2, 1),)
    assert step.not_needed == {Position(2, 0): Position(1, 0)}


def test_it_is_over_when_every_repeat_has_missed_or_is_at_the_top() -> None:
    step = ramp_step(ladder("mm", "xm", ".m"))
    assert step.run == ()
    assert step.not_needed == {Position(2, 0): Position(1, 0)}


def test_a_hole_below_is_filled_first_whatever_is_known_above() -> None:
    assert ramp_step(ladder(".m", "mm", "..")).run == (Position(0, 0), Position(2, 1))


def test_its_answer_is_the_full_grids_over_any_outcomes_monotone_or_not() -> None:
    dice = Random(7)
    for _ in range(2_000):
        loads, repeats = dice.randint(1, 7), dice.randint(1, 5)
        chance = dice.random()
        outcomes: list[list[ValidOutcome]] = [
            ["met" if dice.random() < chance else "missed" for _ in range(repeats)] for _ in range(loads)
        ]
        found, grid = play(Ramp(), outcomes), play(FullGrid(), outcomes)
        assert found.capacity == grid.capacity
        assert repeats <= found.cells <= grid.cells
        assert len(found.rounds) <= loads


def test_the_least_is_one_cell_a_repeat_and_the_most_the_grid() -> None:
    definition = ramped()
    assert least_and_most(only_stage(definition)) == (4, 16)
    found = estimate(only_stage(definition))
    assert (found.least, found.most, found.at_once) == (4, 16, 4)
    assert found.least < found.likely < found.most
    assert make_plan(resolve(definition)).as_json()["totals"]["cells_least"] == 4


def test_it_can_be_replayed_with_invalid_attempts() -> None:
    definition = ramped()
    outcomes = {one.id: ["met"] for one in make_plan(resolve(definition)).cells}
    outcomes |= {"v1-002k-r1": ["invalid", "missed"], "v2-001k-r2": ["missed"]}
    played = replay(resolve(definition), outcomes)  # type: ignore[arg-type]  # literals
    assert played.capacities == {"v1": ("found", 1000), "v2": ("none", None)}
    assert played.not_needed["v1-004k-r1"] == "v1-002k-r1"
    assert "v1-004k-r2" in played.ran
    assert "v2-004k-r1" in played.ran


@pytest.mark.parametrize("data", ["fresh", "same"])
def test_it_can_be_simulated_whatever_its_data_live_for(data: str) -> None:
    definition = ramped(strategy=Ramp.model_validate({"data": data}))
    found = simulate(only_stage(definition), CapacityModel(width=0.25), 50, seed=1)
    assert found.differs_share == 0
    assert found.cells_mean < resolve(definition).cells


def on_the_same_data(**changes: object) -> Definition:
    return ramped(strategy=Ramp(data="same"), **changes)


def test_on_the_same_data_the_loads_of_a_repeat_follow_one_another_from_the_lowest_up() -> None:
    order = [cell.id for cell in running_order(resolve(on_the_same_data()))]
    groups = [order[start : start + 4] for start in range(0, 16, 4)]
    assert [{cell.rpartition("-")[2] for cell in group} for group in groups] == [{"r1"}, {"r1"}, {"r2"}, {"r2"}]
    assert all(group == [f"{group[0][:2]}-00{load}k-{group[0][-2:]}" for load in (1, 2, 3, 4)] for group in groups)
    assert {group[0] for group in groups} == {f"{one}-001k-r{repeat}" for one in ("v1", "v2") for repeat in (1, 2)}


def test_on_the_same_data_and_on_hosts_of_a_variant_its_cells_come_before_the_next_ones() -> None:
    order = [cell.id for cell in running_order(resolve(on_the_same_data(cluster_scope="variant")))]
    assert [cell[:2] for cell in order] == ["v1"] * 8 + ["v2"] * 8
    assert order[:4] == [f"v1-00{load}k-r1" for load in (1, 2, 3, 4)]


def test_on_the_same_data_a_repeat_goes_to_its_end_before_the_next_one_begins() -> None:
    definition = on_the_same_data()
    outcomes = {one.id: ["met"] for one in make_plan(resolve(definition)).cells}
    outcomes |= {"v1-002k-r1": ["invalid", "missed"], "v2-001k-r2": ["missed"]}
    played = replay(resolve(definition), outcomes)  # type: ignore[arg-type]  # literals
    assert played.ran == tuple(
        cell.id for cell in running_order(resolve(definition)) if cell.id not in played.not_needed
    )
    assert played.capacities == {"v1": ("found", 1000), "v2": ("none", None)}


def state_with(definition: Definition, *attempts: JudgedAttempt) -> CampaignState[CellAttempts[JudgedAttempt]]:
    return campaign_state(resolve(definition), attempts, CellAttempts[JudgedAttempt])


def test_on_the_same_data_one_cell_is_asked_for_and_one_that_failed_does_not_keep_others_waiting() -> None:
    definition = on_the_same_data()
    first, second, *_ = (cell.id for cell in running_order(resolve(definition)) if cell.load_ops_s == 1000)
    state = state_with(definition)
    assert [one.cell.id for one in state.to_run_now] == [one.cell.id for one in state.to_go_on_with] == [first]
    failed = JudgedAttempt(AttemptKey(campaign_id="mine", cell_id=first, attempt=1), None)
    state = state_with(definition, failed)
    assert [one.cell.id for one in state.to_run_now] == [first]
    assert [one.cell.id for one in state.to_go_on_with] == [second]


def test_on_the_same_data_each_cell_is_a_round_and_none_runs_beside_another() -> None:
    definition = on_the_same_data()
    found = simulate(only_stage(definition), CapacityModel(width=0.25), 50, seed=1)
    assert found.rounds_mean == found.cells_mean
    assert estimate(only_stage(definition)).at_once == 1
