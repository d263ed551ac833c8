"""The cells, as estimated, rounds and time under load that each stage takes, and what its hosts cost."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any, Literal

from plimsoll.domain.campaign.campaign import Campaign, CampaignStage
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.domain.keys.strategy import FEWEST_CELLS, FullGrid, Ramp, Search, Threshold, most_cells
from plimsoll.domain.text.units import format_duration, format_rate
from plimsoll.strategies.synthetic import CapacityModel, simulate

Bound = Literal["least", "likely", "most"]
BOUNDS: tuple[Bound, ...] = ("least", "likely", "most")
Extent = Bound | Literal["all"]
"""How many cells run: as many as the strategies need, or all of the grid."""
LIKELY = CapacityModel("uniform", 0.25)
"""The world of the likely number of cells: capacities anywhere on the ladder, and a chance to meet the service level
that falls from 88 % to 12 % within one step of load.
"""
_LIKELY_CELLS, _LIKELY_AMONG_FIVE, _THEIR_WIDTH = 12, 10, 15
"""The median number of cells of a threshold within 15 %, at a noise of 0.3, of one variant and of each of five
(`benchmarks.threshold`). Half the width takes four times the cells.
"""
_CAMPAIGNS, _FEWEST_CAMPAIGNS = 100, 10
_WORK_OF_ALL = 250_000
"""The work per campaign up to which all campaigns are simulated. A search asks for one cell after the other, and each
time looks at all loads, so the work is ladders × repeats × the square of the loads.
"""


@dataclass(frozen=True)
class Estimate:
    """Numbers of cells if no attempt is invalid: least and most over all outcomes, likely mean of synthetic campaigns.

    `likely_missed`: how many of the likely cells miss; 0 for a load from an earlier stage, of which nothing is known.
    The most of a fast search with one repeat and a guard of 1 is a bound: the whole grid.
    `rounds` maps a number of cells to the likely number of rounds with so many cells. In each round the strategy asks
    for cells after those of earlier rounds are done. `at_once`: the most cells that it asks for at a time.
    """

    least: int
    likely: int
    most: int
    rounds: Mapping[int, float]
    at_once: int
    likely_missed: float = 0.0

    def likely_turns(self, parallel: int) -> int:
        """Tell how many cells are likely to run one after the other, with that many at a time.

        A round ends with its last cell, so places stay empty where its number of cells is no multiple of `parallel`.
        """
        return round(sum(count * ceil(cells / parallel) for cells, count in self.rounds.items()))


def _of_one_load(stage: CampaignStage) -> Estimate:
    """Return the estimate of a stage with one load from an earlier stage.

    The least is 0, as a variant may carry nothing. A search ends at the first miss, and asks for as many repeats at
    once as it may. Other strategies ask for all repeats.
    """
    repeats, cells = stage.first.repeats, stage.cells
    ladders = cells // repeats
    least = ladders * _repeats_asked(stage.first) if stage.first.has_loads else 0
    groups, at_once = _rounds_of(stage, ladders)
    width = ceil(ladders / max(1, groups))
    whole, rest = divmod(repeats, at_once)
    rounds = {width * at_once: groups * whole} | ({width * rest: groups} if rest else {})
    return Estimate(least, cells, cells, rounds=rounds, at_once=width * at_once)


def estimate(stage: CampaignStage) -> Estimate:
    """Return the estimate for a stage with loads of its own."""
    least, most = least_and_most(stage)
    if isinstance(stage.first.strategy, FullGrid):
        # Where capacities lie anywhere, half of the cells of a grid miss.
        return Estimate(least, most, most, rounds={most: 1}, at_once=most, likely_missed=most / 2)
    ladders = len(stage.first.variants) * len(stage.parts)
    if isinstance(stage.first.strategy, Threshold):
        return _of_threshold(stage, stage.first.strategy, ladders)
    # Fewer of large ones, so that a plan of thousands of loads takes seconds
    work = ladders * stage.first.repeats * len(stage.first.loads) ** 2
    campaigns = max(_FEWEST_CAMPAIGNS, min(_CAMPAIGNS, _CAMPAIGNS * _WORK_OF_ALL // work))
    simulated = simulate(stage, LIKELY, campaigns, stage.first.seed)
    groups, repeats = _rounds_of(stage, ladders)
    return Estimate(
        least, round(simulated.cells_mean), most, simulated.rounds, ladders // groups * repeats, simulated.missed_mean
    )


def _of_threshold(stage: CampaignStage, strategy: Threshold, ladders: int) -> Estimate:
    """Return the estimate of a threshold, whose cells mostly lie where every other one misses."""
    least, most = least_and_most(stage)
    # Variants tell one another of the noise: each further one spares half a cell of every variant, up to five of them
    per_ladder = max(_LIKELY_AMONG_FIVE, _LIKELY_CELLS - (len(stage.first.variants) - 1) / 2)
    usual = ceil(per_ladder * (_THEIR_WIDTH / strategy.within) ** 2)
    likely = min(max(FEWEST_CELLS, usual), most // ladders) * ladders
    groups, _ = _rounds_of(stage, ladders)
    width = ladders // groups * strategy.at_once
    return Estimate(least, likely, most, {width: groups * ceil(likely / groups / width)}, width, likely / 2)


def least_and_most(stage: CampaignStage) -> tuple[int, int]:
    """Return the fewest and the most cells of a stage without invalid attempts. Ladders are independent."""
    strategy, loads, repeats = stage.first.strategy, len(stage.first.loads), stage.first.repeats
    least = most = loads * repeats
    match strategy:
        case Ramp():
            least = repeats
        case Threshold():
            most = most_cells(strategy, most)
            least = min(FEWEST_CELLS, most)
        case Search(mode="exact"):
            least = min(strategy.repeats_at_once, repeats)
        case Search():  # the least: a bisection that misses every time, down to the lowest load
            least = (loads + 1).bit_length() - 1
            most = loads.bit_length() if repeats == 1 and strategy.guard == 0 else most
    ladders = len(stage.first.variants) * len(stage.parts)
    return least * ladders, most * ladders


def _rounds_of(stage: CampaignStage, ladders: int) -> tuple[int, int]:
    """Return how many groups of ladders run one after the other, and the most repeats of a ladder at a time."""
    asked = _repeats_asked(stage.first)
    return {
        "cell": (ladders, 1),
        "variant": (ceil(ladders / len(stage.parts)), asked),
        "stage": (1, asked),
    }[stage.first.round_scope]


def _repeats_asked(part: Part) -> int:
    """Return the most repeats of a ladder that the strategy asks for at a time."""
    strategy, repeats = part.strategy, part.repeats
    match strategy:
        case Search():
            return min(strategy.repeats_at_once, repeats)
        case Threshold():
            return strategy.at_once
        case FullGrid() | Ramp():
            return repeats


def rounded_hours(hours: float) -> float:
    """Return hours as JSON documents of plans have them: in thousandths, without the tails of sums."""
    return round(hours, 3)


def shown_loads(part: Part) -> tuple[str, ...]:
    """Return rates such as `20000/s`, or how a load is computed from an earlier stage's results: `70 % of maximum`."""
    return (str(part.taken),) if part.taken else tuple(map(format_rate, part.loads))


@dataclass(frozen=True)
class StagePlan:
    """The plan of one stage. `shape`: the numbers of hosts for nodes and of load hosts of a cluster."""

    stage: CampaignStage
    estimate: Estimate
    shape: tuple[int, int]

    @property
    def duration(self) -> timedelta:
        return self.stage.first.timing.duration

    @property
    def shortest(self) -> timedelta:
        """Return how long a load lasts that misses in its first intervals: as long as others, unless it ends then."""
        return self.stage.first.timing.shortest(self.stage.first.service_levels)

    def hours(self, extent: Extent) -> float:
        """Return the time under load of its cells, hours.

        Where loads end once they have missed: the least if all miss in their first intervals, the likely if those do
        that are likely to miss, the most, and that of all, if none does.
        """
        cells = self._count(extent)
        missed = {"least": cells, "likely": self.estimate.likely_missed}.get(extent, 0)
        return (cells * self.duration - missed * (self.duration - self.shortest)) / timedelta(hours=1)

    def paid_hours(self, extent: Extent) -> float:
        """Return the hours of its cells on hosts: under load, waiting, and populating if the definition times it."""
        return self.hours(extent) + self.stage.beyond_loads(self._count(extent)) / timedelta(hours=1)

    @property
    def uncounted_hours(self) -> float:
        """Return the most hours of populating that are in no other figure, since the definition gives it no time."""
        timing = self.stage.first.timing
        if timing.populating is not None:
            return 0.0
        return self.stage.populated_of(self.estimate.most) * (timing.longest_populating / timedelta(hours=1))

    def _count(self, extent: Extent) -> int:
        cells: int = self.stage.cells if extent == "all" else getattr(self.estimate, extent)
        return cells

    def host_hours(self, extent: Extent) -> float:
        return self.hours(extent) * sum(self.shape)

    def load_time(self, parallel: int) -> timedelta:
        """Return the likely time under load with that many cells at a time."""
        whole = self.estimate.likely_turns(parallel) * self.duration
        hours = self.estimate.likely * self.duration / timedelta(hours=1)
        return whole * (self.hours("likely") / hours) if self.shortest < self.duration and hours else whole

    def as_json(self) -> dict[str, Any]:
        part = self.stage.first
        return {
            "id": self.stage.id,
            "title": part.stage_title,
            "strategy": part.strategy.name,
            "loads": shown_loads(part),
            "repeats": part.repeats,
            "duration": format_duration(self.duration),
            "cells": self.stage.cells,
            **{f"cells_{bound}": getattr(self.estimate, bound) for bound in BOUNDS},
            "cell_hours": rounded_hours(self.hours("all")),
            "host_hours": rounded_hours(self.host_hours("all")),
        }


def stage_plans(campaign: Campaign) -> tuple[StagePlan, ...]:
    """Return the plans of the stages in order; one plan for a definition without stages."""
    return tuple(
        StagePlan(stage, _of_one_load(stage) if stage.first.taken else estimate(stage), campaign.shape_of(stage))
        for stage in campaign.stages
    )


def total(stages: Sequence[StagePlan]) -> Estimate:
    """Return the estimate of all stages together, which run one after the other."""
    of_stages = [stage.estimate for stage in stages]
    rounds = Counter[int]()
    for estimate in of_stages:
        rounds.update(estimate.rounds)
    return Estimate(
        least=sum(estimate.least for estimate in of_stages),
        likely=sum(estimate.likely for estimate in of_stages),
        most=sum(estimate.most for estimate in of_stages),
        rounds=rounds,
        at_once=max(estimate.at_once for estimate in of_stages),
        likely_missed=sum(estimate.likely_missed for estimate in of_stages),
    )


def usd_of(stages: Sequence[StagePlan], tariff: Tariff | None, hours: Callable[[StagePlan], float]) -> float | None:
    """Return what the stages' clusters cost for so many hours, USD; None: a price is unknown. No tariff: no cost."""
    if tariff is None:
        return 0.0
    priced = [(tariff.usd_per_cluster_hour(*stage.shape), hours(stage)) for stage in stages]
    known = [usd * time for usd, time in priced if usd is not None]
    return sum(known) if len(known) == len(priced) else None


def usd_at_most(stages: Sequence[StagePlan], tariff: Tariff | None) -> float | None:
    """Return the greatest cost that is known beforehand, US dollars: of the most cells, and of all their populating.

    None where a price is not known. Provisioning, deployment and cells that run again come on top.
    """
    usd = usd_of(stages, tariff, lambda stage: stage.paid_hours("most") + stage.uncounted_hours)
    return None if usd is None else round(usd, 6)
