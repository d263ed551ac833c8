"""Misses in other stages of a campaign that contradict the capacity which one stage found.

Capacity is the highest load at which every repeat is met, with all lower loads too. So a repeat of the same variant and
workload that missed at this load or a lower one, in any other stage, counts against it, whichever stage ran first and
whatever its timing. A stage with other service levels, or with another action, asks another question: the misses of the
former are named and don't count, those of the latter say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from plimsoll.domain.base import Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.analysis.campaign.cell_results import CampaignData


class Contradiction(Model):
    """The lowest load at which a variant missed in another stage, though one stage found that it carries more."""

    stage: Annotated[str, Field(description="Id of the other stage")]
    load_ops_s: Annotated[int, Field(description="No higher than the capacity that it contradicts, ops/s")]
    missed: Annotated[int, Field(description="Repeats that missed there")]
    repeats: Annotated[int, Field(description="Repeats that the other stage asks for")]
    counts: Annotated[
        bool, Field(description="Whether the capacity falls by it: false where the stage has other service levels")
    ]


def contradictions(
    variant: str, capacity_ops_s: int | None, data: CampaignData, others: Iterable[CampaignData]
) -> tuple[Contradiction, ...]:
    """Return the misses of a variant that contradict the capacity which a part found, at most one for each other stage.

    `data` is the part's, `others` are the parts of other stages with the same workload.
    """
    if not capacity_ops_s:
        return ()
    asked = (other for other in others if "rate" in other.part.knows)
    alike = (other for other in asked if other.part.action == data.part.action)
    return tuple(one for other in alike for one in _lowest_miss(variant, capacity_ops_s, data, other))


def _lowest_miss(variant: str, capacity: int, data: CampaignData, other: CampaignData) -> Iterator[Contradiction]:
    cells = [one for one in other.state.cells if one.cell.variant == variant]
    missed = [one.cell.load_ops_s for one in cells if one.outcome == "missed" and one.cell.load_ops_s <= capacity]
    if missed:
        lowest = min(missed)
        yield Contradiction(
            stage=other.part.stage,
            load_ops_s=lowest,
            missed=missed.count(lowest),
            repeats=sum(one.cell.load_ops_s == lowest for one in cells),
            counts=other.part.service_levels == data.part.service_levels,
        )
