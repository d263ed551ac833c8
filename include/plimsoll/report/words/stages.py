"""What the loads and the cells of a part rest on, and stages that contradict each other, in words."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from plimsoll.analysis.campaign.capacity import Capacity
from plimsoll.analysis.campaign.definition_differences import Contradiction
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.left_out import shared_data
from plimsoll.analysis.campaign.taken_loads import changed_maxima
from plimsoll.domain.campaign.campaign import Campaign, stage_notes
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Search, StageStart, Threshold
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.report.formatting import moment, ops, plural
from plimsoll.report.tables import PlainTable, plain

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


def miss_in_words(miss: Contradiction) -> str:
    """Return the miss in another stage: `1 of 2 repeats missed at 50 ops/s in stage half`."""
    return f"{miss.missed} of {plural(miss.repeats, 'repeat')} missed at {ops(miss.load_ops_s)} in stage {miss.stage}"


def why_it_falls(label: str, capacity: Capacity) -> str:
    """Explain in a sentence why the capacity of a stage is not that of the campaign."""
    misses = " and ".join(map(miss_in_words, capacity.falls_by))
    return f"Over the whole campaign {label} does not carry {ops(capacity.capacity_ops_s)}: {misses}."


def contradictions_table(measured: Sequence[Findings]) -> PlainTable:
    """Return each stage's capacity with each miss at this load or a lower one in another stage, and what follows."""
    rows = (
        (
            ", ".join(filter(None, (findings.labels[capacity.variant], capacity.workload))),
            f"{ops(capacity.capacity_ops_s)} in stage {capacity.stage}",
            miss_in_words(miss),
            _STANDS[miss.counts],
        )
        for findings in measured
        for capacity in findings.capacities
        for miss in capacity.contradicted_by
    )
    return plain("Stages that contradict each other", {"Variant": "", "Found": "", "But": "", "So": ""}, rows)


_EXACT = (
    "It climbed from the lowest load to the first repeat that missed. Given the same outcomes a full grid finds the "
    "same capacities. How far the loads above would have missed, and whether a higher one would have been met again, "
    "is not known."
)
_FAST = (
    "It bisected the loads with one repeat each, then ran all repeats at the capacity and at {below} below it. Loads "
    "further down are taken for met. Given the same outcomes a full grid never finds a higher capacity; it finds a "
    "lower one where a repeat that was not run would have missed."
)
_RAMP = (
    "Each repeat went up from the lowest load until its rate was not achieved or a service level was missed; either "
    "counts as missed here. A capacity is the highest load that all repeats sustained. What lies above the first miss "
    "of a repeat is not known."
)
_THRESHOLD = (
    "Each cell ran where it told most about the load that is met with the chance that is asked for. How far its worst "
    "interval lay from the bound counts, and not only whether it was met. Loads far from the answer ran once or never."
)
_SHARED = (
    "The loads of a repeat share their data: the lowest load populates, and {went_on} of {cells} went on with the "
    "database and the data that lower loads had left."
)


def what_was_run(findings: Findings) -> str:
    """Return the share of the grid that was run: `A search ran 84 of 275 cells; …`. Empty for a full grid."""
    if not findings.left_out:
        return ""
    run, spared, missing = (
        sum(getattr(left_out, name) for left_out in findings.left_out) for name in ("run", "not_needed", "missing")
    )
    still = f"; {missing} may still run" if missing else ""
    ran = f"A {findings.part.strategy.name} ran {run} of {plural(len(findings.cells), 'cell')}"
    return f"{ran}; {spared} need not run{still}."


def how_cells_were_chosen(findings: Findings) -> str:
    """Tell how the strategy chose the cells to run, and which questions their results can and can't answer.

    Empty for a full grid.
    """
    strategy = findings.part.strategy
    match strategy:
        case FullGrid():
            return ""
        case Search(mode="exact"):
            return _EXACT
        case Search():
            return _FAST.format(below=plural(strategy.guard, "load"))
        case Ramp(data="same"):
            shared = shared_data(findings.cells)
            went_on = _SHARED.format(went_on=shared.went_on, cells=plural(shared.cells, "cell"))
            fresh = f" Fresh data above the lowest load: {', '.join(shared.fresh_above)}." if shared.fresh_above else ""
            return f"{_RAMP} {went_on}{fresh}"
        case Ramp():
            return _RAMP
        case Threshold():
            return _THRESHOLD
