"""The search: what it runs next, what it leaves out, and that it finds what the full grid finds."""

import random
from typing import Any

import pytest
from tests.support.campaigns.ladders import any_ladder, played_with_kills
from tests.support.campaigns.synthetic.definitions import azul_definition

from plimsoll.domain.keys.strategy import FullGrid, Search
from plimsoll.strategies.decision import exact_step, fast_step, ladder_capacity, step_of
from plimsoll.strategies.matrix import Ladder, Position
from plimsoll.strategies.synthetic import play


def ladder(*levels: Any) -> Ladder:
    """Return a ladder as text, lowest load first: `+` met, `-` missed, `.` not known."""
    words: dict[str, Any] = {"+": "met", "-": "missed", ".": None}
    return Ladder([[words[letter] for letter in level] for level in levels])


def test_climbing_begins_at_the_lowest_load() -> None:
    assert exact_step(ladder("..", ".."), 1).run == (Position(0, 0),)


def test_climbing_runs_all_repeats_of_a_load_before_the_next() -> None:
    assert exact_step(ladder("+.", ".."), 1).run == (Position(0, 1),)
    assert exact_step(ladder("++", ".."), 1).run == (Position(1, 0),)


def test_the_first_miss_ends_the_climb_and_decides_everything_from_its_load_up() -> None:
    step = exact_step(ladder("++", ".-", ".."), 1)
    assert step.run == ()
    assert step.not_needed == dict.fromkeys([Position(1, 0), Position(2, 0), Position(2, 1)], Position(1, 1))


def test_a_miss_further_up_leaves_the_loads_below_it_to_be_climbed() -> None:
    step = exact_step(ladder("+.", "..", "-."), 1)
    assert step.run == (Position(0, 1),)
    assert step.not_needed == {Position(2, 1): Position(2, 0)}


def test_repeats_of_one_load_run_side_by_side_if_asked_for_but_no_further_load() -> None:
    assert exact_step(ladder("+...", "...."), 5).run == (Position(0, 1), Position(0, 2), Position(0, 3))


def test_a_cell_of_a_load_that_a_miss_decided_is_run_by_nobody_but_counts_once_somebody_did() -> None:
    assert exact_step(ladder("++", "-+", "+."), 1).not_needed == {Position(2, 1): Position(1, 0)}


def test_bisection_halves_the_loads_between_the_highest_met_and_the_lowest_missed() -> None:
    assert fast_step(ladder("..", "..", ".."), 1, 1).run == (Position(1, 0),)
    assert fast_step(ladder("..", "+.", ".."), 1, 1).run == (Position(2, 0),)
    assert fast_step(ladder("..", "-.", ".."), 1, 1).run == (Position(0, 0),)


def test_the_candidate_is_run_with_all_repeats_and_then_the_guarded_loads_below() -> None:
    assert fast_step(ladder("..", "..", "+.", "-."), 1, 1).run == (Position(2, 1),)
    assert fast_step(ladder("..", "..", "++", "-."), 1, 2).run == (Position(1, 0), Position(1, 1))


def test_a_miss_at_the_candidate_sends_the_bisection_down() -> None:
    assert fast_step(ladder("+.", "..", "+-", "-."), 0, 1).run == (Position(1, 0),)


def test_what_the_bisection_took_for_met_is_decided_by_the_load_that_it_found() -> None:
    step = fast_step(ladder("+.", "..", "++", "-."), 0, 1)
    assert step.run == ()
    assert step.not_needed == {
        Position(3, 1): Position(3, 0),
        Position(0, 1): Position(2, 0),
        Position(1, 0): Position(2, 0),
        Position(1, 1): Position(2, 0),
    }
    assert ladder_capacity(ladder("+.", "..", "++", "-."), step.not_needed) == ("found", 2)


@pytest.mark.parametrize("strategy", [Search(), Search(mode="fast"), Search(mode="fast", guard=3), FullGrid()])
@pytest.mark.parametrize(("letter", "capacity"), [("+", ("at-least", 3)), ("-", ("none", None))])
def test_where_everything_is_met_or_missed_the_answer_is_the_grids(strategy: Any, letter: str, capacity: Any) -> None:
    outcomes: Any = ladder(*[letter * 3] * 4).levels
    assert play(strategy, outcomes).capacity == capacity


def test_a_search_that_is_not_over_is_no_answer() -> None:
    known = ladder("++", "+.", "..")
    assert ladder_capacity(known, exact_step(known, 1).not_needed) == ("provisional", 0)


def test_the_exact_search_finds_what_the_full_grid_finds_whatever_the_outcomes() -> None:
    dice = random.Random(1)
    for _ in range(2000):
        outcomes = any_ladder(dice)
        found = play(Search(repeats_at_once=dice.randint(1, 5)), outcomes).capacity
        assert found == play(FullGrid(), outcomes).capacity


def test_the_fast_search_never_finds_less_than_the_full_grid() -> None:
    dice = random.Random(2)
    for _ in range(2000):
        outcomes = any_ladder(dice)
        both = FullGrid(), Search(mode="fast", guard=dice.randint(0, 2))
        grid, fast = (play(one, outcomes).capacity[1] for one in both)
        assert (-1 if fast is None else fast) >= (-1 if grid is None else grid)


def test_every_cell_either_runs_or_is_not_needed() -> None:
    dice = random.Random(3)
    for _ in range(300):
        outcomes, strategy = any_ladder(dice), dice.choice([Search(), Search(mode="fast", guard=1)])
        known: list[list[Any]] = [[None] * len(level) for level in outcomes]
        while (step := step_of(strategy, Ladder(known))).run:
            assert not {place for place in step.run if known[place.level][place.repeat]}
            for place in step.run:
                known[place.level][place.repeat] = outcomes[place.level][place.repeat]
        assert {place for level in range(len(known)) for place in Ladder(known).all_with(level, None)} == set(
            step.not_needed
        )
        assert all(Ladder(known).outcome(decider) for decider in step.not_needed.values())


def test_the_published_outcomes_take_less_than_a_third_of_the_grid() -> None:
    definition = azul_definition(strategy="search")
    cells = 0
    for passed in (8, 4, 4, 1, 0):
        outcomes: Any = [["met" if level < passed else "missed"] * definition.repeats for level in range(11)]
        cells += play(definition.strategy, outcomes).cells
    assert cells == 90 < 275 / 3


def test_killed_within_rounds_with_invalid_cells_and_cells_run_by_hand_the_exact_search_finds_the_same() -> None:
    dice = random.Random(4)
    for _ in range(2000):
        outcomes = any_ladder(dice)
        strategy = Search(repeats_at_once=dice.randint(1, 5))
        found = ladder_capacity(*played_with_kills(strategy, outcomes, dice))
        assert found == play(FullGrid(), outcomes).capacity


def test_killed_so_the_fast_search_still_never_finds_less_than_the_full_grid() -> None:
    dice = random.Random(5)
    for _ in range(2000):
        outcomes = any_ladder(dice)
        strategy = Search(mode="fast", guard=dice.randint(0, 2))
        _, fast = ladder_capacity(*played_with_kills(strategy, outcomes, dice))
        _, grid = play(FullGrid(), outcomes).capacity
        assert (-1 if fast is None else fast) >= (-1 if grid is None else grid)
