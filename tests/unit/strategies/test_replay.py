"""A definition's strategy over outcomes that are given."""

import random
from typing import Any

import pytest
from tests.support.campaigns.synthetic.definitions import azul_definition, demo_definition

from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import Refused
from plimsoll.strategies.decision import StrategyOfCampaign
from plimsoll.strategies.replay import replay


def _all(definition: Any, **outcomes: Any) -> dict[Any, Any]:
    """Return every cell met but those that are named, with `_` for the hyphens of their ids."""
    return {cell.id: outcomes.get(cell.id.replace("-", "_"), ["met"]) for cell in grid(resolve(definition))}


def test_variants_take_turns_in_the_running_order() -> None:
    definition = demo_definition(strategy="search", repeats=2)
    run = StrategyOfCampaign(resolve(definition)).next({}).run
    assert sorted(run) == ["g1-00200-r1", "shenandoah-00200-r1"]
    assert StrategyOfCampaign(resolve(definition)).next({"g1-00200-r1": "missed"}).run == ("shenandoah-00200-r1",)


def test_the_full_grid_runs_every_cell_in_the_running_order() -> None:
    definition = azul_definition()
    strategy = StrategyOfCampaign(resolve(definition))
    decision = strategy.next({})
    assert decision.run == strategy.order
    assert len(decision.run) == 275
    assert not decision.not_needed


def test_an_invalid_attempt_runs_again_and_never_counts() -> None:
    definition = demo_definition(strategy="search")
    played = replay(resolve(definition), _all(definition, g1_00200_r1=["invalid", "invalid", "missed"]))
    assert played.capacities == {"g1": ("none", None), "shenandoah": ("at-least", 1500)}
    assert played.not_needed == {"g1-01500-r1": "g1-00200-r1"}
    assert len(played.ran) == 3
    assert played.attempts == 5


def test_a_cell_without_a_valid_attempt_leaves_the_answer_open() -> None:
    definition = demo_definition(strategy="search")
    played = replay(resolve(definition), _all(definition, g1_01500_r1=["invalid"]))
    assert played.capacities["g1"] == ("provisional", 200)
    assert played.not_needed == {}


def test_a_cell_that_ran_without_a_valid_attempt_ran_whatever_another_one_decided_later() -> None:
    definition = demo_definition(strategy={"name": "search", "repeats_at_once": 2}, repeats=2)
    played = replay(resolve(definition), _all(definition, g1_00200_r1=["missed"], g1_00200_r2=["invalid", "met"]))
    assert "g1-00200-r2" in played.ran
    assert played.invalid == ("g1-00200-r2",)
    assert played.not_needed == dict.fromkeys(["g1-01500-r1", "g1-01500-r2"], "g1-00200-r1")
    assert (played.waiting, played.may_run) == ((), 0)


@pytest.mark.parametrize("blocked", [["invalid", "invalid"], []])
def test_a_cell_without_a_further_attempt_is_waited_for(blocked: Any) -> None:
    definition = demo_definition(strategy="search")
    played = replay(resolve(definition), _all(definition, g1_00200_r1=blocked))
    assert played.waiting == ("g1-00200-r1",)
    assert played.invalid == (("g1-00200-r1",) if blocked else ())
    assert ("g1-00200-r1" in played.ran) == bool(blocked)
    assert (played.cells, played.attempts) == (4, 2 + len(blocked))


@pytest.mark.parametrize(
    ("outcomes", "counts"),
    [
        (["missed", "met"], "met"),
        (["met", "missed"], "missed"),
        (["invalid", "missed", "met", "invalid"], "met"),
        (["missed", "met", "missed"], "missed"),
    ],
)
def test_the_newest_valid_attempt_of_a_cell_that_runs_counts_as_in_a_campaign(outcomes: Any, counts: str) -> None:
    definition = demo_definition(strategy="search")
    played = replay(resolve(definition), _all(definition, g1_00200_r1=outcomes))
    assert played.capacities["g1"] == {"met": ("at-least", 1500), "missed": ("none", None)}[counts]
    assert played.attempts == len(outcomes) + (3 if counts == "met" else 2)


def test_of_many_cells_without_outcomes_the_first_are_named_and_the_rest_are_counted() -> None:
    with pytest.raises(Refused) as refused:
        replay(resolve(azul_definition()), {}, where="o.json")
    lines = str(refused.value).splitlines()
    assert lines[0] == "o.json: refused, 11 problems:"
    assert lines[-1] == "  - 265 more cells: wrong or missing in the same way"


def test_outcomes_of_unknown_cells_and_missing_ones_are_refused_by_name() -> None:
    definition = demo_definition()
    outcomes = _all(definition) | {"g1-9-r1": ["met"]}
    del outcomes["g1-00200-r1"]
    with pytest.raises(Refused) as refused:
        replay(resolve(definition), outcomes)
    assert "g1-9-r1: is none of the definition's cells" in str(refused.value)
    assert "g1-00200-r1: has no outcomes" in str(refused.value)


def test_exact_and_full_grid_agree_with_invalid_attempts_and_an_end_between_any_two_rounds() -> None:
    dice = random.Random(4)
    for _ in range(60):
        definition = demo_definition(strategy="search", repeats=3, loads=["1/s", "2/s", "3/s"])
        chance = dice.random()
        attempts: dict[str, Any] = {
            cell.id: ["invalid"] * dice.randint(0, 2) + [dice.choices(["met", "missed"], [chance, 1 - chance])[0]]
            for cell in grid(resolve(definition))
        }
        grid_found = replay(resolve(definition.model_copy(update={"strategy": demo_definition().strategy})), attempts)
        assert replay(resolve(definition), attempts).capacities == grid_found.capacities


def test_cells_without_a_load_are_played_and_have_no_capacity() -> None:
    stages = [{"id": "maximum", "strategy": "search"}, {"id": "repair", "loads": "none", "action": {"name": "repair"}}]
    definition = demo_definition(stages=stages)
    played = replay(resolve(definition), _all(definition))
    assert set(played.capacities) == {"maximum-g1", "maximum-shenandoah"}
    assert (len(played.ran), played.waiting) == (6, ())


def test_a_definition_of_an_action_alone_is_played_too() -> None:
    definition = demo_definition(loads="none", action={"name": "repair"})
    played = replay(resolve(definition), _all(definition))
    assert (played.capacities, len(played.ran)) == ({}, 2)
