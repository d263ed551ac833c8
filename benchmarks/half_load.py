"""How often the confidence interval of the load at which half of the repeats pass contains the true load.

    .venv/bin/python -m benchmarks.half_load [CAMPAIGNS]

The true load is anywhere on a ladder of eleven loads, 10,000 to 110,000 ops/s. The probability that a repeat is met
falls with the logarithm of the load along a logistic curve, whose width is given in load steps at the true load. The
command fails if the interval does not contain the true load in more than 20 % of the campaigns.
"""

import random
import sys
from dataclasses import dataclass
from math import exp, inf, log
from statistics import median

from plimsoll.analysis.campaign.half_load import Tried, half_load
from plimsoll.domain.result import ValidOutcome
from plimsoll.domain.strategy import FullGrid, Search, Strategy
from plimsoll.strategies.decision import step_of
from plimsoll.strategies.ladder import Ladder

LOADS = [10_000 * number for number in range(1, 12)]
LEAST = 0.8
_TOLERANCE = 1.0005  # intervals are rounded to four digits


@dataclass(frozen=True)
class Coverage:
    """The share of campaigns whose interval contained the true load, and the width, in steps, if it had two ends."""

    share: float
    too_high: float
    too_low: float
    two_ends: float
    steps: float


def coverage(strategy: Strategy, width: float, repeats: int, runs: int) -> Coverage:
    """The coverage over that many simulated variants, measured by that strategy. Equal arguments give equal results."""
    dice = random.Random(f"{strategy.name}/{width}/{repeats}")
    found = [_measured(strategy, width, repeats, dice) for _ in range(runs)]
    too_high = sum(low > true * _TOLERANCE for true, low, _ in found) / runs
    too_low = sum(high * _TOLERANCE < true for true, _, high in found) / runs
    widths = [(high - low) / 10_000 for _, low, high in found if low > 0 and high < inf]
    return Coverage(1 - too_high - too_low, too_high, too_low, len(widths) / runs, median(widths or [inf]))


def _measured(strategy: Strategy, width: float, repeats: int, dice: random.Random) -> tuple[float, float, float]:
    """The true load, and the ends of its interval, ops/s."""
    true = dice.uniform(LOADS[0], LOADS[-1])
    slope = true / (10_000 * width)
    outcomes = [[_outcome(slope * log(true / load), dice) for _ in range(repeats)] for load in LOADS]
    known: list[list[ValidOutcome | None]] = [[None] * repeats for _ in LOADS]
    while run := step_of(strategy, Ladder(known)).run:
        for place in run:
            known[place.level][place.repeat] = outcomes[place.level][place.repeat]
    tried = [Tried(load, at.count("met"), at.count("missed")) for load, at in zip(LOADS, known, strict=True)]
    one = half_load(tried)
    return true, one.low_ops_s or 0.0, one.high_ops_s or inf


def _outcome(scaled: float, dice: random.Random) -> ValidOutcome:
    return "met" if dice.random() * (1 + exp(-max(-50.0, scaled))) < 1 else "missed"


def main() -> None:
    """Print a table; exit with 1 if intervals contain the true load too rarely."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| strategy | repeats | width | holds | too high | too low | two ends | their width, steps |")
    print("|---|---|---|---|---|---|---|---|")
    worst = 1.0
    for strategy in (FullGrid(), Search(), Search(mode="fast")):
        name = f"{strategy.mode} search" if isinstance(strategy, Search) else "full grid"
        for repeats in (3, 5):
            for width in (0.1, 0.25, 0.5, 1.0):
                one = coverage(strategy, width, repeats, runs)
                worst = min(worst, one.share)
                print(
                    f"| {name} | {repeats} | {width:g} | {one.share:.1%} | {one.too_high:.1%} | {one.too_low:.1%} | "
                    f"{one.two_ends:.0%} | {one.steps:.2f} |",
                    flush=True,
                )
    sys.exit(1 if worst < LEAST else 0)


if __name__ == "__main__":
    main()
