"""How many cells, and rounds of them, a campaign is going to take."""

from dataclasses import dataclass
from math import ceil

from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import parts
from plimsoll.domain.strategy import FullGrid, Ramp, Search
from plimsoll.strategies.extremes import least_and_most
from plimsoll.strategies.synthetic import World, simulate

LIKELY = World("uniform", 0.25)
"""What the likely number of cells is found from: capacities anywhere on the ladder, and a chance to meet the service
level that falls from 88 % to 12 % within one step of load."""
_CAMPAIGNS = 100


@dataclass(frozen=True)
class Estimate:
    """Cells without invalid attempts: the least and the most over all outcomes, the likely mean of synthetic campaigns.

    `likely_rounds`: how often the strategy is likely to be asked for cells, each time waiting for the last ones.
    `at_once`: the most cells that it asks for at a time.
    """

    least: int
    likely: int
    most: int
    likely_rounds: int
    at_once: int


def estimates(definition: Definition) -> tuple[Estimate, ...]:
    """What each stage of the definition takes; one where it has no stages."""
    counted = zip(definition.of_stages, definition.cells_of_stages, strict=True)
    return tuple(
        _of_one_load(alone, cells, is_open=stage.id in definition.openings)
        if stage and stage.taken
        else estimate(alone)
        for (stage, alone), cells in counted
    )


def _of_one_load(alone: Definition, cells: int, *, is_open: bool) -> Estimate:
    """Of a stage whose load an earlier one gives. It has no cells where that one carries nothing.

    A search ends at the first miss, and asks for so many repeats at once as it may; the others ask for all of them.
    """
    strategy, repeats = alone.strategy, alone.repeats
    at_once = min(strategy.repeats_at_once, repeats) if isinstance(strategy, Search) else repeats
    first = cells // repeats * at_once
    return Estimate(first if is_open else 0, cells, cells, likely_rounds=ceil(repeats / at_once), at_once=first)


def estimate(definition: Definition) -> Estimate:
    """What the strategy of a definition with one stage takes."""
    least, most = least_and_most(definition)
    if isinstance(definition.strategy, FullGrid):
        return Estimate(least, most, most, likely_rounds=1, at_once=most)
    ladders = len(definition.variants) * len(parts(definition))
    found = simulate(definition, LIKELY, _CAMPAIGNS, definition.seed)
    repeats = definition.repeats
    at_once = repeats if isinstance(definition.strategy, Ramp) else min(definition.strategy.repeats_at_once, repeats)
    return Estimate(least, round(found.cells_mean), most, round(found.rounds_mean), ladders * at_once)
