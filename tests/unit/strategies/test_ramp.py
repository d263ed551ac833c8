"""The ramp: each repeat goes up until it misses, and the answer is the full grid's."""

from random import Random

import pytest
from tests.fakes.installation import instant_definition

from plimsoll.domain.definition import Definition
from plimsoll.domain.result import ValidOutcome
from plimsoll.domain.strategy import FullGrid, Ramp
from plimsoll.services.campaign.planning import make_plan
from plimsoll.strategies.estimate import estimate
from plimsoll.strategies.extremes import least_and_most
from plimsoll.strategies.ladder import Ladder, Place
from plimsoll.strategies.ramp import ramp_step
from plimsoll.strategies.replay import replay
from plimsoll.strategies.synthetic import World, play, simulate

MARKS: dict[str, ValidOutcome | None] = {"m": "met", "x": "missed", ".": None}


def ladder(*levels: str) -> Ladder:
    """Loads from the lowest, a letter a repeat."""
    return Ladder([[MARKS[mark] for mark in level] for level in levels])


def ramped(**changes: object) -> Definition:
    return instant_definition(loads=4, repeats=2).model_copy(update={"strategy": Ramp(), **changes})


def test_it_begins_with_the_lowest_load_of_each_repeat() -> None:
    assert ramp_step(ladder("..", "..")).run == (Place(0, 0), Place(0, 1))


def test_each_repeat_goes_up_by_itself() -> None:
    assert ramp_step(ladder("mm", "m.", "..")).run == (Place(1, 1), Place(2, 0))


def test_a_miss_ends_its_own_repeat_alone() -> None:
    step = ramp_step(ladder("mm", "xm", ".."))
    assert step.run == (Place(2, 1),)
    assert step.not_needed == {Place(2, 0): Place(1, 0)}


def test_it_is_over_when_every_repeat_has_missed_or_is_at_the_top() -> None:
    step = ramp_step(ladder("mm", "xm", ".m"))
    assert step.run == ()
    assert step.not_needed == {Place(2, 0): Place(1, 0)}


def test_a_hole_below_is_filled_first_whatever_is_known_above() -> None:
    assert ramp_step(ladder(".m", "mm", "..")).run == (Place(0, 0), Place(2, 1))


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
        assert found.rounds <= loads


def test_the_least_is_one_cell_a_repeat_and_the_most_the_grid() -> None:
    definition = ramped()
    assert least_and_most(definition) == (4, 16)
    found = estimate(definition)
    assert (found.least, found.most, found.at_once) == (4, 16, 4)
    assert found.least < found.likely < found.most
    assert make_plan(definition).as_json()["totals"]["cells_least"] == 4


def test_it_can_be_replayed_with_invalid_attempts() -> None:
    definition = ramped()
    outcomes = {one.id: ["met"] for one in make_plan(definition).cells}
    outcomes |= {"v1-002k-r1": ["invalid", "missed"], "v2-001k-r2": ["missed"]}
    played = replay(definition, outcomes)  # type: ignore[arg-type]  # literals
    assert played.capacities == {"v1": ("found", 1000), "v2": ("none", None)}
    assert played.not_needed["v1-004k-r1"] == "v1-002k-r1"
    assert "v1-004k-r2" in played.ran
    assert "v2-004k-r1" in played.ran


@pytest.mark.parametrize("data", ["fresh", "same"])
def test_it_can_be_simulated_whatever_its_data_live_for(data: str) -> None:
    definition = ramped(strategy=Ramp.model_validate({"data": data}))
    found = simulate(definition, World(width=0.25), 50, seed=1)
    assert found.differs_share == 0
    assert found.cells_mean < definition.cells
