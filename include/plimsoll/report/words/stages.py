"""Stages in the report: the results that their loads rest on, the answer of a whole campaign with several, and those
that contradict each other.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.analysis.campaign.definition_differences import Contradiction
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.taken_loads import changed_maxima
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.campaign.stage_notes import stage_notes
from plimsoll.domain.keys.stage import StageStart
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.report.formatting import moment, ops, plural
from plimsoll.report.tables.table import PlainTable, plain

_STANDS = {True: "the miss counts", False: "both stand: the stages have different service levels"}


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


def miss_in_words(one: Contradiction) -> str:
    """Return the miss in another stage: `1 of 2 repeats missed at 50 ops/s in stage half`."""
    return f"{one.missed} of {plural(one.repeats, 'repeat')} missed at {ops(one.load_ops_s)} in stage {one.stage}"


def fall(label: str, capacity: Capacity) -> str:
    """Explain why the capacity of a stage is not that of the campaign, as a sentence."""
    misses = " and ".join(map(miss_in_words, capacity.falls_by))
    return f"Over the whole campaign {label} does not carry {ops(capacity.capacity_ops_s)}: {misses}."


def contradictions_table(measured: Sequence[Findings]) -> PlainTable:
    """Return each stage's capacity with each miss at this load or a lower one in another stage, and what follows."""
    rows = (
        (
            ", ".join(filter(None, (found.labels[one.variant], one.workload))),
            f"{ops(one.capacity_ops_s)} in stage {one.stage}",
            miss_in_words(miss),
            _STANDS[miss.counts],
        )
        for found in measured
        for one in found.capacities
        for miss in one.contradicted_by
    )
    return plain("Stages that contradict each other", {"Variant": "", "Found": "", "But": "", "So": ""}, rows)
