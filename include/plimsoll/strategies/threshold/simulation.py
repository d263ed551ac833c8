"""Synthetic campaigns of a threshold: how many cells it takes, and how often its interval holds the true load."""

from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import ceil, exp, log
from random import Random
from statistics import NormalDist, fmean

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.campaign import CampaignStage
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.strategies.matrix import Ladder
from plimsoll.strategies.synthetic import CapacityModel, Simulation, attempts_until_valid, rounds_of
from plimsoll.strategies.threshold.observation import CellObservation
from plimsoll.strategies.threshold.question import Answer
from plimsoll.strategies.threshold.step import ladder_answer, threshold_step

_SLOPE = 3.0
"""By how much a margin rises for each e-fold of load."""


@dataclass(frozen=True)
class _Played:
    rounds: tuple[int, ...]
    missed: int
    answer: Answer
    true_load: float

    @property
    def holds(self) -> bool:
        """Tell whether the interval holds the true load. An end that the range of loads does not bound holds all."""
        return (self.answer.low_ops_s or 0.0) <= self.true_load <= (self.answer.high_ops_s or float("inf"))


def simulate_threshold(
    stage: CampaignStage, strategy: Threshold, world: CapacityModel, runs: int, dice: Random
) -> Simulation:
    """Simulate that many campaigns of a stage whose strategy is a threshold."""
    ladders = list(product(stage.first.variants, stage.parts))
    campaigns = [[_play(part, strategy, world, dice) for _, part in ladders] for _ in range(runs)]
    played = [one for campaign in campaigns for one in campaign]
    taken = sorted(sum(sum(one.rounds) for one in campaign) for campaign in campaigns)
    rounds = Counter(
        cells
        for campaign in campaigns
        for cells in rounds_of(stage, sum(sum(one.rounds) for one in campaign), [one.rounds for one in campaign])
    )
    return Simulation(
        runs=runs,
        cells_mean=fmean(taken),
        cells_p95=taken[ceil(0.95 * runs) - 1],
        attempts_mean=fmean(sum(attempts_until_valid(world.invalid, dice) for _ in range(cells)) for cells in taken),
        missed_mean=sum(one.missed for one in played) / runs,
        rounds={cells: rounds[cells] / runs for cells in sorted(rounds)},
        holds_share=fmean(one.holds for one in played),
        narrow_share=fmean(one.answer.stopped in ("narrow", "all met", "all missed") for one in played),
    )


def _play(part: Part, strategy: Threshold, world: CapacityModel, dice: Random) -> _Played:
    """Play one variant, whose true load lies anywhere between the lowest and the highest load, evenly in logs."""
    loads = sorted(part.loads)
    true_log = dice.uniform(log(loads[0]), log(loads[-1]))
    half_log = true_log + NormalDist().inv_cdf(strategy.chance / 100) * world.noise / _SLOPE
    known: list[list[ValidOutcome | None]] = [[None] * part.repeats for _ in loads]
    cells: list[CellObservation] = []
    ladder, rounds = Ladder(known, loads, cells), list[int]()
    while run := threshold_step(strategy, ladder).run:
        rounds.append(len(run))
        for place in run:
            margin = _SLOPE * (log(loads[place.level]) - half_log) + dice.gauss(0, world.noise)
            outcome: ValidOutcome = "met" if margin <= 0 else "missed"
            known[place.level][place.repeat] = outcome
            cells.append(CellObservation(loads[place.level], outcome, margin))
    missed = sum(cell.outcome == "missed" for cell in cells)
    return _Played(tuple(rounds), missed, ladder_answer(strategy, ladder), exp(true_log))
