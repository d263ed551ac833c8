"""Ladders of any shape, and strategies that are killed while they climb them."""

import random
from collections.abc import Mapping, Sequence

from plimsoll.domain.result import ValidOutcome
from plimsoll.domain.strategy import Search
from plimsoll.strategies.decision import step_of
from plimsoll.strategies.ladder import Ladder, Place


def any_ladder(dice: random.Random) -> Sequence[Sequence[ValidOutcome]]:
    """Outcomes of any shape, rising and falling, of any size up to the published campaign's."""
    loads, repeats, chance = dice.randint(1, 11), dice.randint(1, 5), dice.random()
    return [["met" if dice.random() < chance else "missed" for _ in range(repeats)] for _ in range(loads)]


def played_with_kills(
    strategy: Search, outcomes: Sequence[Sequence[ValidOutcome]], dice: random.Random
) -> tuple[Ladder, Mapping[Place, Place]]:
    """Rounds of which only some cells come to an end, in any order; of these some are invalid; others run by hand.

    Nothing is remembered from round to round but the outcomes. Returns the ladder, and the cells that need not run.
    """
    known: list[list[ValidOutcome | None]] = [[None] * len(level) for level in outcomes]
    everywhere = [Place(level, repeat) for level, row in enumerate(outcomes) for repeat, _ in enumerate(row)]
    while (step := step_of(strategy, Ladder(known))).run:
        survivors = dice.sample(step.run, dice.randint(0, len(step.run)))
        by_hand = [dice.choice(everywhere)] if dice.random() < 0.1 else []
        for place in (*survivors, *by_hand):
            if dice.random() > 0.2:  # else its attempt was invalid
                known[place.level][place.repeat] = outcomes[place.level][place.repeat]
    return Ladder(known), step.not_needed
