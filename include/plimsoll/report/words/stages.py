"""Stages in the report, and the results that their loads rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from plimsoll.analysis.campaign.taken_loads import changed_maxima
from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.stage import StageStart
from plimsoll.domain.stage_notes import stage_notes
from plimsoll.report.formatting import moment, ops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.analysis.campaign.findings import Findings
    from plimsoll.domain.campaign import Campaign, Part


class StageDocument(Model):
    """A stage in `report.json`."""

    id: str
    title: str
    strategy: str
    load: Annotated[
        LeftOutIfEmpty[str], Field(description="How its load is taken from an earlier stage; left out where it is not")
    ] = ""
    service_levels: tuple[str, ...]
    opening: Annotated[
        StageStart | None, Field(description="Its loads, when they were found, and the attempts that decided them")
    ] = None


def stage_documents(campaign: Campaign) -> tuple[StageDocument, ...]:
    """Return the stages in order; empty where the definition has no `stages`."""
    return tuple(
        StageDocument(
            id=stage.id,
            title=stage.first.stage_title,
            strategy=stage.first.strategy.name,
            load=str(stage.first.taken or ""),
            service_levels=tuple(map(str, stage.first.service_levels)),
            opening=stage.first.stage_start,
        )
        for stage in campaign.stages
        if stage.id
    )


def rests_on(part: Part, source: Findings | None) -> Iterator[str]:
    """Yield sentences on the results that the loads of a part rest on, and on later changes of these results.

    `source`: the findings of the part that the loads were taken from.
    """
    yield from stage_notes(part)
    if part.stage_start is None:
        return
    yield f"These loads were found on {moment(part.stage_start.at)}, and stand whatever is judged later."
    changed = changed_maxima(part.found_loads, source.capacities) if source and not part.of_closed_loop else {}
    for variant, maximum in changed.items():
        now = ops(maximum) if maximum else "none"
        yield f"By the results that count by now the maximum of {variant} is {now}."
