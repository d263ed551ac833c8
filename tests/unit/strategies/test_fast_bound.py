"""How often the fast search differs from the full grid: no more than its stated bound, which is Boole's inequality."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from tests.support.campaigns.ladders import any_ladder

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.keys.strategy import FullGrid, Search
from plimsoll.strategies.decision import ladder_capacity, step_of
from plimsoll.strategies.matrix import Ladder, Position
from plimsoll.strategies.synthetic import play

LOADS, REPEATS, CAMPAIGNS = 11, 5, 500


@dataclass(frozen=True)
class Searched:
    """The load that a fast search found, as an index, and the lower cells that it took for met without running."""

    capacity: int | None
    taken_for_met: Sequence[Position]


def searched(strategy: Search, outcomes: Sequence[Sequence[ValidOutcome]]) -> Searched:
    known: list[list[ValidOutcome | None]] = [[None] * len(level) for level in outcomes]
    while (step := step_of(strategy, Ladder(known))).run:
        for place in step.run:
            known[place.level][place.repeat] = outcomes[place.level][place.repeat]
    _, capacity = ladder_capacity(Ladder(known), step.not_needed)
    below = range(0 if capacity is None else capacity)
    return Searched(capacity, [place for level in below for place in Ladder(known).all_with(level, None)])


def grid_capacity(outcomes: Sequence[Sequence[ValidOutcome]]) -> int | None:
    return play(FullGrid(), outcomes).capacity[1]


@pytest.mark.parametrize("guard", [0, 1, 2])
def test_it_differs_only_where_a_cell_that_it_took_for_met_would_have_missed(guard: int) -> None:
    dice = random.Random(6)
    for _ in range(CAMPAIGNS):
        outcomes = any_ladder(dice)
        found = searched(Search(mode="fast", guard=guard), outcomes)
        would_have_missed = any(outcomes[place.level][place.repeat] == "missed" for place in found.taken_for_met)
        assert (found.capacity != grid_capacity(outcomes)) == would_have_missed


@pytest.mark.parametrize("width", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("guard", [0, 1])
def test_it_differs_no_more_often_than_its_bound(guard: int, width: float) -> None:
    """Σ (1 - p) over the cells that it took for met, as a mean over campaigns; three standard deviations allowed."""
    dice, differing, bound = random.Random(7), 0, 0.0
    for _ in range(CAMPAIGNS):
        carried = dice.uniform(0, LOADS)
        chances = [1 / (1 + math.exp((level + 0.5 - carried) / width)) for level in range(LOADS)]
        outcomes: list[list[ValidOutcome]] = [
            ["met" if dice.random() < chance else "missed" for _ in range(REPEATS)] for chance in chances
        ]
        found = searched(Search(mode="fast", guard=guard), outcomes)
        differing += found.capacity != grid_capacity(outcomes)
        bound += sum(1 - chances[place.level] for place in found.taken_for_met)
    assert bound > 0
    assert differing <= bound + 3 * math.sqrt(bound)
