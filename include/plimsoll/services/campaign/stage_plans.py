"""The cells, rounds and time under load that each stage of a definition takes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from plimsoll.domain.definition import Definition
from plimsoll.domain.units import format_duration, format_rate
from plimsoll.strategies.estimate import Estimate, estimates

Bound = Literal["least", "likely", "most"]
BOUNDS: tuple[Bound, ...] = ("least", "likely", "most")
Extent = Bound | Literal["all"]
"""How many cells run: as many as the strategies need, or all of the grid."""
_HOUR_PLACES = 3


def rounded_hours(hours: float) -> float:
    """Return hours as JSON documents of plans have them: in thousandths, without the tails of sums."""
    return round(hours, _HOUR_PLACES)


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
    alone: Definition
    """The definition of the stage's cells."""

    def hours(self, extent: Extent) -> float:
        """Return the time under load of its cells, hours.

        Where loads end once they have missed: the least if all miss in their first intervals, the likely if those do
        that are likely to miss, the most, and that of all, if none does.
        """
        cells = self._count(extent)
        missed = {"least": cells, "likely": self.estimate.likely_missed}.get(extent, 0)
        return (cells * self.duration - missed * (self.duration - self.shortest)) / timedelta(hours=1)

    def paid_hours(self, extent: Extent) -> float:
        """Return the hours for which its cells need hosts: under load, and all waiting and populating that the
        definition gives time for.
        """
        return self.hours(extent) + self.alone.beyond_loads(self._count(extent)) / timedelta(hours=1)

    def _count(self, extent: Extent) -> int:
        cells: int = self.cells if extent == "all" else getattr(self.estimate, extent)
        return cells

    def host_hours(self, extent: Extent) -> float:
        """Return the hours of hosts under load of its cells."""
        return self.hours(extent) * sum(self.shape)

    def load_time(self, parallel: int) -> timedelta:
        """Return the likely time under load with that many cells at a time."""
        whole = self.estimate.likely_turns(parallel) * self.duration
        hours = self.estimate.likely * self.duration / timedelta(hours=1)
        return whole * (self.hours("likely") / hours) if self.shortest < self.duration and hours else whole

    def as_json(self) -> dict[str, Any]:
        """Return the stage's plan in its documented JSON form."""
        return {
            "id": self.id,
            "title": self.title,
            "strategy": self.strategy,
            "loads": self.loads,
            "repeats": self.repeats,
            "duration": format_duration(self.duration),
            "cells": self.cells,
            **{f"cells_{which}": getattr(self.estimate, which) for which in BOUNDS},
            "cell_hours": rounded_hours(self.hours("all")),
            "host_hours": rounded_hours(self.host_hours("all")),
        }


def stage_plans(definition: Definition) -> tuple[StagePlan, ...]:
    """Return the plans of the stages in order; one plan for a definition without stages."""
    counted = zip(
        definition.of_stages, definition.cells_of_stages, estimates(definition), definition.shapes, strict=True
    )
    return tuple(
        StagePlan(
            id=stage.id if stage else "",
            title=stage.label if stage else "",
            strategy=alone.strategy.name,
            loads=(str(stage.taken),) if stage and stage.taken else tuple(map(format_rate, alone.loads)),
            repeats=alone.repeats,
            duration=alone.timing.duration,
            shortest=alone.timing.shortest(alone.service_levels),
            cells=cells,
            estimate=found,
            shape=shape,
            alone=alone,
        )
        for (stage, alone), cells, found, shape in counted
    )


def total(stages: Sequence[StagePlan]) -> Estimate:
    """Return the estimate of all stages together, which run one after the other."""
    found = [stage.estimate for stage in stages]
    rounds = Counter[int]()
    for one in found:
        rounds.update(one.rounds)
    return Estimate(
        least=sum(one.least for one in found),
        likely=sum(one.likely for one in found),
        most=sum(one.most for one in found),
        rounds=rounds,
        at_once=max(one.at_once for one in found),
        likely_missed=sum(one.likely_missed for one in found),
    )
