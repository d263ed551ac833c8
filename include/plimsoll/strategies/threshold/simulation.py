"""Synthetic campaigns of a threshold: how many cells it takes, and how often its interval holds the true load."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp, log
from random import Random
from statistics import NormalDist, fmean

from plimsoll.domain.attempt.result import ValidOutcome
from plimsoll.domain.campaign.campaign import CampaignStage
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.strategies.matrix import Ladder, Position
from plimsoll.strategies.synthetic import (
    CapacityModel,
    PlayedCampaign,
    Simulation,
    attempts_until_valid,
    rounds_of,
    summary,
)
from plimsoll.strategies.threshold.answer import ladder_answer, threshold_step
from plimsoll.strategies.threshold.question import Answer, CellObservation

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
        loads = sorted(part.loads)
        true_log = dice.uniform(log(loads[0]), log(loads[-1]))
        # At the true load cells are met with the chance that is asked for, so half of them are met further up
        half_log = true_log + NormalDist().inv_cdf(strategy.chance / 100) * world.noise / _SLOPE
        return cls(loads, true_log, half_log, [[None] * part.repeats for _ in loads])

    def run(self, positions: Sequence[Position], noise: float, dice: Random, *, ends_early: bool) -> None:
        """Run cells there. `ends_early`: whether a miss ends the load, so that only a part of its margin is seen."""
        for position in positions:
            margin = _SLOPE * (log(self.loads[position.level]) - self.half_log) + dice.gauss(0, noise)
            outcome: ValidOutcome = "met" if margin <= 0 else "missed"
            self.known[position.level][position.repeat] = outcome
            is_short = ends_early and outcome == "missed"
            seen = dice.uniform(0, margin) if is_short else margin
            self.cells.append(CellObservation(self.loads[position.level], outcome, seen, is_censored=is_short))
        self.rounds.append(len(positions))

    def ladder(self, part: Part, variants: Sequence["_Variant"]) -> Ladder:
        alike = [variant.cells for variant in part.telling(variants, self)]
        return Ladder(self.known, self.loads, self.cells, alike=alike)

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
    campaigns = [_in_order([_play(part, strategy, world, dice) for part in stage.parts]) for _ in range(runs)]
    played = [variant for campaign in campaigns for variant in campaign]
    return replace(
        summary([_summed_up(stage, variants, world.invalid, dice) for variants in campaigns]),
        holds_share=fmean(variant.holds for variant in played),
        narrow_share=fmean(variant.is_decided for variant in played),
    )


def _summed_up(stage: CampaignStage, variants: Sequence[_Variant], invalid: float, dice: Random) -> PlayedCampaign:
    cells = [cell for variant in variants for cell in variant.cells]
    attempts = sum(attempts_until_valid(invalid, dice) for _ in cells)
    missed = sum(cell.outcome == "missed" for cell in cells)
    return PlayedCampaign(attempts, missed, rounds_of(stage, [variant.rounds for variant in variants]))


def _in_order(of_parts: Sequence[Sequence[_Variant]]) -> list[_Variant]:
    """Return a stage's variants as its ladders stand: variant by variant, each with all workloads."""
    return [variant for of_variant in zip(*of_parts, strict=True) for variant in of_variant]


def _play(part: Part, strategy: Threshold, world: CapacityModel, dice: Random) -> list[_Variant]:
    """Play all variants of a part: together, or one after the other where they may not run at the same time."""
    variants = [_Variant.drawn(part, strategy, world, dice) for _ in part.variants]
    groups = [variants] if part.round_scope == "stage" else [[alone] for alone in variants]
    for group in groups:
        while any(steps := [threshold_step(strategy, variant.ladder(part, variants)).run for variant in group]):
            for variant, run in zip(group, steps, strict=True):
                variant.run(run, world.noise, dice, ends_early=part.timing.stop is not None)
    for variant in variants:
        variant.answer = ladder_answer(strategy, variant.ladder(part, variants))
    return variants
