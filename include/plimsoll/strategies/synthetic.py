"""Simulate a strategy on random outcomes, and compare its results with those of a full grid on the same outcomes.

The chance that a cell meets its service level falls with its load along a logistic curve. Loads are counted in steps of
the definition's loads, whatever their distance in ops/s.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product, zip_longest
from math import ceil, exp
from statistics import fmean
from typing import Literal

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.campaign import Campaign, CampaignStage
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import Strategy, Threshold
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.strategies.decision import ladder_capacity, step_of
from plimsoll.strategies.matrix import CapacityKind, Ladder

Capacities = Literal["uniform", "published"]
# Of the published campaign's eleven loads its five variants carried so many.
_PUBLISHED_LOADS = 11
_PUBLISHED = (8, 4, 4, 1, 0)
_Outcomes = Sequence[Sequence[ValidOutcome]]


@dataclass(frozen=True)
class CapacityModel:
    """The random model of synthetic campaigns.

    `capacities`: how each variant's capacity is drawn: uniformly from all loads, or in the shape of the published
    campaign. `width`: the width of the logistic curve, in load steps; between the loads where 88 % and 12 % of repeats
    pass lie four widths. `invalid`: the share of attempts that are invalid. `noise`: for a threshold instead of both
    others, by how much the margins of cells of one load differ (a standard deviation of natural logs); the load that is
    asked for lies anywhere between its lowest and highest load, and a margin rises by three for each e-fold of load.
    """

    capacities: Capacities = "uniform"
    width: float = 0.25
    invalid: float = 0.0
    noise: float = 0.3


@dataclass(frozen=True)
class Simulation:
    """The results: cells and their attempts per campaign, and how often any capacity differed from the full grid's.

    `attempts_mean`: the mean number of attempts, the invalid ones among them; `missed_mean`: of cells that missed.
    `rounds` maps a number of cells to the mean number of rounds of a campaign with so many cells; in each round the
    strategy asks for cells after the earlier ones are done. `grid_differs_share`: the same share for a second full grid
    of the same variants, which is the effect of chance alone. Only of a threshold, which has neither: `holds_share`,
    how often its interval holds the true load, and `narrow_share`, how often it became as narrow as asked.
    """

    runs: int
    cells_mean: float
    cells_p95: int
    attempts_mean: float
    missed_mean: float
    rounds: Mapping[int, float]
    differs_share: float | None = None
    grid_differs_share: float | None = None
    holds_share: float | None = None
    narrow_share: float | None = None

    @property
    def rounds_mean(self) -> float:
        return sum(self.rounds.values())

    def hours_mean(self, part: Part) -> float:
        """Return the mean cell-hours under load of a campaign, if a cell that misses does so in its first intervals."""
        spared = part.timing.duration - part.timing.shortest(part.service_levels)
        hour = timedelta(hours=1)
        return self.attempts_mean * (part.timing.duration / hour) - self.missed_mean * (spared / hour)


def only_stage(campaign: Campaign, where: str) -> CampaignStage:
    """Return the stage. Raises Refused for several; `where` says which definition it is."""
    if len(campaign.stages) > 1:
        what = f"has {len(campaign.stages)} stages, and synthetic campaigns are drawn for one stage alone"
        mend = (
            "give the cells' outcomes by --outcomes, which plays all stages, or write a definition without `stages`, "
            "with the strategy and loads of the one to be simulated"
        )
        raise Refused([Problem("stages", what, mend)], where=where)
    return campaign.stages[0]


def simulate(stage: CampaignStage, world: CapacityModel, runs: int, seed: int) -> Simulation:
    """Simulate that many campaigns with the stage's strategy. The same seed gives the same campaigns."""
    dice = random.Random(seed)  # noqa: S311 - not for secrets
    if isinstance(stage.first.strategy, Threshold):
        from plimsoll.strategies.threshold.simulation import simulate_threshold  # late: it takes NumPy and SciPy

        return simulate_threshold(stage, stage.first.strategy, world, runs, dice)
    campaigns = [_campaign(stage, world, dice) for _ in range(runs)]
    return replace(
        summary([campaign for campaign, _, _ in campaigns]),
        differs_share=fmean(differs for _, differs, _ in campaigns),
        grid_differs_share=fmean(grid_differs for _, _, grid_differs in campaigns),
    )


@dataclass(frozen=True)
class PlayedCampaign:
    """The number of attempts, of cells that missed, and of cells in each round."""

    attempts: int
    missed: int
    rounds: Sequence[int]


def summary(campaigns: Sequence[PlayedCampaign]) -> Simulation:
    """Return the results of campaigns without any share."""
    runs, taken = len(campaigns), sorted(sum(campaign.rounds) for campaign in campaigns)
    rounds = Counter(cells for campaign in campaigns for cells in campaign.rounds)
    return Simulation(
        runs=runs,
        cells_mean=fmean(taken),
        cells_p95=taken[ceil(0.95 * runs) - 1],
        attempts_mean=fmean(campaign.attempts for campaign in campaigns),
        missed_mean=fmean(campaign.missed for campaign in campaigns),
        rounds={cells: rounds[cells] / runs for cells in sorted(rounds)},
    )


def _campaign(stage: CampaignStage, world: CapacityModel, dice: random.Random) -> tuple[PlayedCampaign, bool, bool]:
    """Return a campaign, whether any capacity differs from the full grid's, and whether a second grid's does."""
    loads, repeats = len(stage.first.loads), stage.first.repeats
    of_ladders, attempts, differs, grid_differs = list[Played](), 0, False, False
    for passed in _loads_passed(stage, world, dice):
        outcomes, second = (_draw(passed, loads, repeats, world.width, dice) for _ in range(2))
        played = play(stage.first.strategy, outcomes)
        of_ladders.append(played)
        attempts += sum(attempts_until_valid(world.invalid, dice) for _ in range(played.cells))
        grid, other = (ladder_capacity(Ladder(drawn), {}) for drawn in (outcomes, second))
        differs |= played.capacity != grid
        grid_differs |= other != grid
    missed, rounds = sum(played.missed for played in of_ladders), [played.rounds for played in of_ladders]
    return PlayedCampaign(attempts, missed, rounds_of(stage, rounds)), differs, grid_differs


def rounds_of(stage: CampaignStage, of_ladders: Sequence[Sequence[int]]) -> list[int]:
    """Return the number of cells in each round of a campaign, from those in the rounds of its ladders.

    All ladders have their rounds at the same time, unless cells or variants follow one another.
    """
    if stage.first.round_scope == "cell":
        return [1] * sum(cells for rounds in of_ladders for cells in rounds)
    width = {"variant": len(stage.parts), "stage": len(of_ladders)}[stage.first.round_scope]
    groups = (of_ladders[first : first + width] for first in range(0, len(of_ladders), width))
    return [sum(of_round) for group in groups for of_round in zip_longest(*group, fillvalue=0)]


@dataclass(frozen=True)
class Played:
    """A strategy's play on one ladder: the number of cells in each round, of those that missed, and the capacity."""

    rounds: Sequence[int]
    missed: int
    capacity: tuple[CapacityKind, int | None]

    @property
    def cells(self) -> int:
        return sum(self.rounds)


def play(strategy: Strategy, outcomes: _Outcomes) -> Played:
    known: list[list[ValidOutcome | None]] = [[None] * len(level) for level in outcomes]
    ladder, rounds = Ladder(known), list[int]()
    while (step := step_of(strategy, ladder)).run:
        rounds.append(len(step.run))
        for position in step.run:
            known[position.level][position.repeat] = outcomes[position.level][position.repeat]
    missed = sum(outcome == "missed" for level in known for outcome in level)
    return Played(rounds, missed, ladder_capacity(ladder, step.not_needed))


def _loads_passed(stage: CampaignStage, world: CapacityModel, dice: random.Random) -> Iterator[float]:
    """Yield the number of loads that each variant carries with each workload.

    Half of the repeats pass at half a load step above the highest of these loads.
    """
    loads = len(stage.first.loads)
    for number, _ in product(range(len(stage.first.variants)), stage.parts):
        if world.capacities == "published":
            yield _PUBLISHED[number % len(_PUBLISHED)] * loads / _PUBLISHED_LOADS
        else:
            yield dice.uniform(0, loads)


def _draw(passed: float, loads: int, repeats: int, width: float, dice: random.Random) -> list[list[ValidOutcome]]:
    chances = [_chance(passed - 0.5 - level, width) for level in range(loads)]
    return [["met" if dice.random() < chance else "missed" for _ in range(repeats)] for chance in chances]


def _chance(steps_below: float, width: float) -> float:
    """Return the logistic function. Far from the middle its value is 0 or 1 to all digits."""
    scaled = steps_below / width
    return 1 / (1 + exp(-scaled)) if abs(scaled) < 50 else float(scaled > 0)


def attempts_until_valid(invalid: float, dice: random.Random) -> int:
    count = 1
    while invalid and dice.random() < invalid:
        count += 1
    return count
