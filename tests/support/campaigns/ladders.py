"""Ladders of any shape, and strategies that are killed while they climb them."""

import random
from collections.abc import Mapping, Sequence
from math import exp

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.keys.strategy import Search
from plimsoll.strategies.decision import step_of
from plimsoll.strategies.matrix import Ladder, Position


def any_ladder(dice: random.Random) -> Sequence[Sequence[ValidOutcome]]:
    """Return outcomes of any shape, of any size up to the published campaign's.

    The chance that a cell is met falls with the load in a third of the draws, rises in a third and is the same at all
    loads in a third.
    """
    loads, repeats, shape = dice.randint(1, 11), dice.randint(1, 5), dice.choice(("falling", "rising", "level"))
    falling = _falling_chances(loads, dice)
    chances = {"falling": falling, "rising": falling[::-1], "level": [dice.random()] * loads}[shape]
    return [["met" if dice.random() < chance else "missed" for _ in range(repeats)] for chance in chances]


def _falling_chances(loads: int, dice: random.Random) -> Sequence[float]:
    """Return chances along a logistic curve with its middle at any load, from nearly a step to nearly level."""
    middle, width = dice.uniform(0, loads), dice.uniform(0.1, 2)
    return [1 / (1 + exp((load + 0.5 - middle) / width)) for load in range(loads)]


def played_with_kills(
    strategy: Search, outcomes: Sequence[Sequence[ValidOutcome]], dice: random.Random
) -> tuple[Ladder, Mapping[Position, Position]]:
    """Return rounds of which only some cells come to an end, in any order; of these some are invalid.

    Others run by hand. Nothing is remembered from round to round but the outcomes. Returns the ladder, and the cells
    that need not run.
    """
    known: list[list[ValidOutcome | None]] = [[None] * len(level) for level in outcomes]
    everywhere = [Position(level, repeat) for level, row in enumerate(outcomes) for repeat, _ in enumerate(row)]
    while (step := step_of(strategy, Ladder(known))).run:
        survivors = dice.sample(step.run, dice.randint(0, len(step.run)))
        by_hand = [dice.choice(everywhere)] if dice.random() < 0.1 else []
        for place in (*survivors, *by_hand):
            if dice.random() > 0.2:  # else its attempt was invalid
                known[place.level][place.repeat] = outcomes[place.level][place.repeat]
    return Ladder(known), step.not_needed
