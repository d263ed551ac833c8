"""How often the confidence interval of the load at which half of the repeats pass contains the true load.

The true load is anywhere on a ladder of eleven loads, 10,000 to 110,000 ops/s. The probability that a repeat is met
falls with the logarithm of the load along a logistic curve, whose width is given in load steps at the true load.
"""

import random
from math import exp, inf, log

from plimsoll.analysis.campaign.half_load import LevelTrials, half_load
from plimsoll.domain.result import ValidOutcome
from plimsoll.domain.strategy import Strategy
from plimsoll.strategies.decision import step_of
from plimsoll.strategies.matrix import Ladder

LOADS = [10_000 * number for number in range(1, 12)]
_TOLERANCE = 1.0005  # intervals are rounded to four digits


def coverage(strategy: Strategy, width: float, repeats: int, runs: int) -> float:
    """Return the share of simulated variants whose interval contained the true load.

    Equal arguments give equal results.
    """
    dice = random.Random(f"{strategy.name}/{width}/{repeats}")
    found = (_measured(strategy, width, repeats, dice) for _ in range(runs))
    return sum(low <= true * _TOLERANCE and true <= high * _TOLERANCE for true, low, high in found) / runs


def _measured(strategy: Strategy, width: float, repeats: int, dice: random.Random) -> tuple[float, float, float]:
    """Return the true load, and the ends of its interval, ops/s."""
    true = dice.uniform(LOADS[0], LOADS[-1])
    slope = true / (10_000 * width)
    outcomes = [[_outcome(slope * log(true / load), dice) for _ in range(repeats)] for load in LOADS]
    known: list[list[ValidOutcome | None]] = [[None] * repeats for _ in LOADS]
    while run := step_of(strategy, Ladder(known)).run:
        for place in run:
            known[place.level][place.repeat] = outcomes[place.level][place.repeat]
    tried = [LevelTrials(load, at.count("met"), at.count("missed")) for load, at in zip(LOADS, known, strict=True)]
    one = half_load(tried)
    return true, one.low_ops_s or 0.0, one.high_ops_s or inf


def _outcome(scaled: float, dice: random.Random) -> ValidOutcome:
    return "met" if dice.random() * (1 + exp(-max(-50.0, scaled))) < 1 else "missed"
