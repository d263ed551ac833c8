"""Synthetic campaigns of a threshold: how many cells it takes, and how often its interval holds the true load."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, exp, log
from random import Random
from statistics import NormalDist, fmean

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.campaign import CampaignStage
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.strategies.matrix import Ladder, Position
from plimsoll.strategies.synthetic import CapacityModel, Simulation, attempts_until_valid, rounds_of
from plimsoll.strategies.threshold.observation import CellObservation
from plimsoll.strategies.threshold.question import Answer
from plimsoll.strategies.threshold.step import ladder_answer, threshold_step

_SLOPE = 3.0
"""By how much a margin rises for each e-fold of load."""


@dataclass(eq=False)
class _Variant:
    """A variant of a synthetic campaign, whose true load lies anywhere between its loads, evenly in logs."""

    loads: Sequence[int]
    true_log: float
    half_log: float
    known: list[list[ValidOutcome | None]]
    cells: list[CellObservation] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    answer: Answer | None = None

    @classmethod
    def drawn(cls, part: Part, strategy: Threshold, world: CapacityModel, dice: Random) -> "_Variant":
        """Draw one for a part."""
        loads = sorted(part.loads)
        true_log = dice.uniform(log(loads[0]), log(loads[-1]))
        half_log = true_log + NormalDist().inv_cdf(strategy.chance / 100) * world.noise / _SLOPE
        return cls(loads, true_log, half_log, [[None] * part.repeats for _ in loads])

    def run(self, places: Sequence[Position], noise: float, dice: Random) -> None:
        """Run cells of one round."""
        for place in places:
            margin = _SLOPE * (log(self.loads[place.level]) - self.half_log) + dice.gauss(0, noise)
            outcome: ValidOutcome = "met" if margin <= 0 else "missed"
            self.known[place.level][place.repeat] = outcome
            self.cells.append(CellObservation(self.loads[place.level], outcome, margin))
        self.rounds.append(len(places))

    def ladder(self, part: Part, variants: Sequence["_Variant"]) -> Ladder:
        """Return its ladder beside the other variants of the part."""
        return Ladder(self.known, self.loads, self.cells, alike=[one.cells for one in part.telling(variants, self)])

    @property
    def is_decided(self) -> bool:
        """Tell whether the search ended before its most cells."""
        return self.answer is not None and self.answer.stopped in ("narrow", "all met", "all missed")

    @property
    def holds(self) -> bool:
        """Tell whether the interval holds the true load. An end that the range of loads does not bound holds all."""
        low, high = (self.answer.low_ops_s, self.answer.high_ops_s) if self.answer else (None, None)
        return (low or 0.0) <= exp(self.true_log) <= (high or float("inf"))


def simulate_threshold(
    stage: CampaignStage, strategy: Threshold, world: CapacityModel, runs: int, dice: Random
) -> Simulation:
    """Simulate that many campaigns of a stage whose strategy is a threshold."""
    campaigns = [_in_order([_play(part, strategy, world, dice) for part in stage.parts]) for _ in range(runs)]
    played = [one for campaign in campaigns for one in campaign]
    taken = sorted(sum(len(one.cells) for one in campaign) for campaign in campaigns)
    rounds = Counter(
        cells
        for campaign in campaigns
        for cells in rounds_of(stage, sum(len(one.cells) for one in campaign), [one.rounds for one in campaign])
    )
    return Simulation(
        runs=runs,
        cells_mean=fmean(taken),
        cells_p95=taken[ceil(0.95 * runs) - 1],
        attempts_mean=fmean(sum(attempts_until_valid(world.invalid, dice) for _ in range(cells)) for cells in taken),
        missed_mean=sum(cell.outcome == "missed" for one in played for cell in one.cells) / runs,
        rounds={cells: rounds[cells] / runs for cells in sorted(rounds)},
        holds_share=fmean(one.holds for one in played),
        narrow_share=fmean(one.is_decided for one in played),
    )


def _in_order(of_parts: Sequence[Sequence[_Variant]]) -> list[_Variant]:
    """Return a stage's variants as its ladders stand: variant by variant, each with all workloads."""
    return [one for of_variant in zip(*of_parts, strict=True) for one in of_variant]


def _play(part: Part, strategy: Threshold, world: CapacityModel, dice: Random) -> list[_Variant]:
    """Play all variants of a part: together, or one after the other where they may not run at the same time."""
    variants = [_Variant.drawn(part, strategy, world, dice) for _ in part.variants]
    groups = [variants] if part.round_scope == "stage" else [[variant] for variant in variants]
    for group in groups:
        while any(steps := [threshold_step(strategy, one.ladder(part, variants)).run for one in group]):
            for one, run in zip(group, steps, strict=True):
                one.run(run, world.noise, dice)
    for one in variants:
        one.answer = ladder_answer(strategy, one.ladder(part, variants))
    return variants
