"""The highest rate that each variant achieved, whatever the service level says: what tlp-2020 calls its maximum."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Annotated

from pydantic import Field

from plimsoll.analysis.campaign.cell_results import CellResult, values_by_load
from plimsoll.domain.base import Model


class HighestAchieved(Model):
    """The load of one variant at which it achieved most: the mean achieved rate over that load's valid repeats."""

    variant: str
    load_ops_s: Annotated[int, Field(description="The attempted rate at which it was achieved")]
    repeats: Annotated[int, Field(description="Valid repeats at this load whose achieved rate is known")]
    mean_ops_s: Annotated[float, Field(description="Arithmetic mean of their achieved rates")]


def mean_achieved(cells: Sequence[CellResult]) -> Mapping[tuple[str, int], float]:
    """Return the arithmetic mean of the valid repeats' achieved rates, ops/s, by (variant, load), in the cells'
    order.
    """
    return {place: fmean(rates) for place, rates in _rates(cells).items()}


def highest_achieved(cells: Sequence[CellResult]) -> tuple[HighestAchieved, ...]:
    """Return the highest mean achieved rate of each variant over its loads, ops/s.

    Of equal ones the one at the lowest load. A variant is left out where no valid repeat tells its achieved rate.
    """
    found: dict[str, HighestAchieved] = {}
    for (variant, load), rates in sorted(_rates(cells).items(), key=lambda one: one[0][1]):
        mean = fmean(rates)
        if variant not in found or mean > found[variant].mean_ops_s:
            found[variant] = HighestAchieved(variant=variant, load_ops_s=load, repeats=len(rates), mean_ops_s=mean)
    return tuple(found[variant] for variant in dict.fromkeys(one.cell.variant for one in cells) if variant in found)


def _rates(cells: Sequence[CellResult]) -> Mapping[tuple[str, int], tuple[float, ...]]:
    return values_by_load(cells, lambda verdict: verdict.achieved_ops_s)
