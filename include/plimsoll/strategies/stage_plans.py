"""The cells, rounds and time under load that each stage of a definition takes, and what its hosts cost."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from plimsoll.domain.campaign.campaign import Campaign, CampaignStage
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.domain.text.units import format_duration, format_rate
from plimsoll.strategies.estimate import Estimate, estimates

Bound = Literal["least", "likely", "most"]
BOUNDS: tuple[Bound, ...] = ("least", "likely", "most")
Extent = Bound | Literal["all"]
"""How many cells run: as many as the strategies need, or all of the grid."""


def rounded_hours(hours: float) -> float:
    """Return hours as JSON documents of plans have them: in thousandths, without the tails of sums."""
    return round(hours, 3)


@dataclass(frozen=True)
class StagePlan:
    """The plan of one stage. `id` is empty where the definition has no stages. `cells` is the size of the grid.

    `shape`: the numbers of hosts for nodes and of load hosts of a cluster.
    """

    id: str
    title: str
    strategy: str
    loads: tuple[str, ...]
    """Rates such as `20000/s`, or how a load is computed from an earlier stage's results: `70 % of maximum`."""
    repeats: int
    duration: timedelta
    shortest: timedelta
    """How long a load lasts that misses in its first intervals: as long as others, unless it ends then."""
    cells: int
    estimate: Estimate
    shape: tuple[int, int]
    stage: CampaignStage

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
        cells: int = self.cells if extent == "all" else getattr(self.estimate, extent)
        return cells

    def host_hours(self, extent: Extent) -> float:
        return self.hours(extent) * sum(self.shape)

    def load_time(self, parallel: int) -> timedelta:
        """Return the likely time under load with that many cells at a time."""
        whole = self.estimate.likely_turns(parallel) * self.duration
        hours = self.estimate.likely * self.duration / timedelta(hours=1)
        return whole * (self.hours("likely") / hours) if self.shortest < self.duration and hours else whole

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "strategy": self.strategy,
            "loads": self.loads,
            "repeats": self.repeats,
            "duration": format_duration(self.duration),
            "cells": self.cells,
            **{f"cells_{bound}": getattr(self.estimate, bound) for bound in BOUNDS},
            "cell_hours": rounded_hours(self.hours("all")),
            "host_hours": rounded_hours(self.host_hours("all")),
        }


def stage_plans(campaign: Campaign) -> tuple[StagePlan, ...]:
    """Return the plans of the stages in order; one plan for a definition without stages."""
    return tuple(
        StagePlan(
            id=stage.id,
            title=part.stage_title,
            strategy=part.strategy.name,
            loads=(str(part.taken),) if part.taken else tuple(map(format_rate, part.loads)),
            repeats=part.repeats,
            duration=part.timing.duration,
            shortest=part.timing.shortest(part.service_levels),
            cells=stage.cells,
            estimate=estimate,
            shape=campaign.shape_of(stage),
            stage=stage,
        )
        for stage, estimate in zip(campaign.stages, estimates(campaign), strict=True)
        for part in [stage.first]
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
