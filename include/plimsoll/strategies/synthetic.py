"""Campaigns that never ran: a strategy played through over random outcomes, beside the full grid's answer to the same.

The chance that a cell meets its service level falls with its load along a logistic curve; loads count in steps of the
definition's ladder, whatever lies between them in ops/s.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, exp
from statistics import fmean
from typing import Literal

from plimsoll.domain.definition import Definition
from plimsoll.domain.parts import parts
from plimsoll.domain.result import ValidOutcome
from plimsoll.domain.strategy import Strategy
from plimsoll.strategies.decision import ladder_capacity, step_of
from plimsoll.strategies.ladder import CapacityKind, Ladder, Place

Capacities = Literal["uniform", "published"]
# Of the published campaign's eleven loads its five variants carried so many.
_PUBLISHED_LOADS = 11
_PUBLISHED = (8, 4, 4, 1, 0)
_Outcomes = Sequence[Sequence[ValidOutcome]]


@dataclass(frozen=True)
class World:
    """What synthetic campaigns are drawn from.

    `capacities`: of each variant, drawn from all loads alike, or in the shape of the published campaign. `width`: of
    the logistic curve, in steps of load; between the loads where 88 % and 12 % of repeats pass lie four widths.
    `invalid`: the share of attempts that are invalid.
    """

    capacities: Capacities = "uniform"
    width: float = 0.25
    invalid: float = 0.0


@dataclass(frozen=True)
class Simulation:
    """What came of it: attempts a campaign, and how often the capacity of any variant was another than the full grid's.

    `rounds_mean`: how often the strategy was asked for cells, each time waiting for the last ones.
    `grid_differs_share` is the same for a second full grid over the same variants: what chance alone does.
    """

    runs: int
    cells_mean: float
    cells_p95: int
    rounds_mean: float
    differs_share: float
    grid_differs_share: float

    def hours_mean(self, definition: Definition) -> float:
        """Cell-hours under load of a campaign, on average."""
        return self.cells_mean * definition.timing.duration.total_seconds() / 3600


def simulate(definition: Definition, world: World, runs: int, seed: int) -> Simulation:
    """Play the definition's strategy over that many synthetic campaigns. The same seed gives the same campaigns."""
    dice = random.Random(seed)  # noqa: S311 - not for secrets
    campaigns = [_campaign(definition, world, dice) for _ in range(runs)]
    taken = sorted(one.cells for one in campaigns)
    return Simulation(
        runs=runs,
        cells_mean=fmean(taken),
        cells_p95=taken[ceil(0.95 * runs) - 1],
        rounds_mean=fmean(one.rounds for one in campaigns),
        differs_share=fmean(one.differs for one in campaigns),
        grid_differs_share=fmean(one.grid_differs for one in campaigns),
    )


@dataclass(frozen=True)
class _Campaign:
    cells: int
    rounds: int
    differs: bool
    grid_differs: bool


def _campaign(definition: Definition, world: World, dice: random.Random) -> _Campaign:
    loads, repeats = len(definition.loads), definition.repeats
    cells, rounds, differs, grid_differs = 0, 0, False, False
    for passed in _loads_passed(definition, world, dice):
        outcomes, others = (_draw(passed, loads, repeats, world.width, dice) for _ in range(2))
        played = play(definition.strategy, outcomes)
        cells += sum(_attempts(world.invalid, dice) for _ in range(played.cells))
        rounds = max(rounds, played.rounds)
        grid = _grid_capacity(outcomes)
        differs |= played.capacity != grid
        grid_differs |= _grid_capacity(others) != grid
    return _Campaign(cells, rounds, differs, grid_differs)


@dataclass(frozen=True)
class Played:
    """How many cells of a ladder a strategy ran, in how many rounds, and the capacity that it found."""

    cells: int
    rounds: int
    capacity: tuple[CapacityKind, int | None]


def play(strategy: Strategy, outcomes: _Outcomes) -> Played:
    """Play a strategy on one ladder whose cells have these outcomes."""
    known: list[list[ValidOutcome | None]] = [[None] * len(level) for level in outcomes]
    ladder, cells, rounds = Ladder(known), 0, 0
    while (step := step_of(strategy, ladder)).run:
        rounds += 1
        cells += len(step.run)
        for place in step.run:
            known[place.level][place.repeat] = outcomes[place.level][place.repeat]
    return Played(cells, rounds, ladder_capacity(ladder, step.not_needed))


def _grid_capacity(outcomes: _Outcomes) -> tuple[CapacityKind, int | None]:
    nothing: Mapping[Place, Place] = {}
    return ladder_capacity(Ladder(outcomes), nothing)


def _loads_passed(definition: Definition, world: World, dice: random.Random) -> Iterator[float]:
    """Of each variant with each workload, how many loads it carries.

    Half of the repeats pass half a step above the highest of them.
    """
    loads = len(definition.loads)
    for number, _ in product(range(len(definition.variants)), parts(definition)):
        if world.capacities == "published":
            yield _PUBLISHED[number % len(_PUBLISHED)] * loads / _PUBLISHED_LOADS
        else:
            yield dice.uniform(0, loads)


def _draw(passed: float, loads: int, repeats: int, width: float, dice: random.Random) -> list[list[ValidOutcome]]:
    chances = [_chance(passed - 0.5 - level, width) for level in range(loads)]
    return [["met" if dice.random() < chance else "missed" for _ in range(repeats)] for chance in chances]


def _chance(steps_below: float, width: float) -> float:
    """The logistic function; far from the middle its value is 0 or 1 to all digits."""
    scaled = steps_below / width
    return 1 / (1 + exp(-scaled)) if abs(scaled) < 50 else float(scaled > 0)


def _attempts(invalid: float, dice: random.Random) -> int:
    """Until one is valid."""
    count = 1
    while invalid and dice.random() < invalid:
        count += 1
    return count
