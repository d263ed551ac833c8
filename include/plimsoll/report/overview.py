"""The report of a campaign with several parts: a complete report of each, and a page above with links to them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import AwareDatetime, Field

from plimsoll.analysis.campaign.capacity import Capacity, capacities_over_stages
from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.conditions import ConditionAnswer, condition_answers
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.taken_loads import AtTakenLoad
from plimsoll.domain.attempt.result import Check, Note
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.approve import Approvals
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.report.document import (
    Capacities,
    CellCounts,
    CellEntry,
    CostSummary,
    Incomplete,
    cost_summary,
    counts_of,
    entries_of,
    schema_of,
)
from plimsoll.report.page import rendered
from plimsoll.report.sections.actions import action_sentences
from plimsoll.report.sections.answer import capacity_sheet
from plimsoll.report.sections.cells import cells_sheet
from plimsoll.report.tables import Sheet, Table, as_csv, as_parquet, file_of_part
from plimsoll.report.words.capacities import CapacityRow, capacities_table, capacity_rows, conditions_table
from plimsoll.report.words.conclusion import campaign_conclusion, conclusion
from plimsoll.report.words.stages import StageDocument, contradictions_table, rests_on, stage_documents
from plimsoll.report.words.taken_load import at_loads, taken_sheet, taken_tables


class PartSummary(Model):
    """One part of a campaign, with the path of its own report."""

    name: Annotated[str, Field(description="Ids of stage and workload, as far as the campaign has several")]
    stage: LeftOutIfEmpty[str] = ""
    workload: LeftOutIfEmpty[str] = ""
    conclusion: Annotated[str, Field(description="The whole answer in one or two sentences")]
    counts: CellCounts
    capacity: Capacities
    at_loads: Annotated[
        LeftOutIfEmpty[tuple[AtTakenLoad, ...]],
        Field(description="Each variant at its load, in a closed loop or where an earlier stage gave the load"),
    ] = ()
    report: Annotated[str, Field(description="Its page, beside this file")]
    document: Annotated[str, Field(description="Its `report.json`, beside this file")]


class PartsDocument(Model):
    """`report.json` of a campaign with several workloads or stages.

    Only `cost`, `answer`, and the loads that later stages take from earlier ones are computed over more than one part.
    """

    format: Annotated[Literal[2], Field(description="Raised when a key changes its meaning or goes")] = 2
    campaign_id: str
    title: str
    generated_at: AwareDatetime
    note: Annotated[Note | None, Field(description="What somebody wrote about the campaign")] = None
    approvals: Approvals = ()
    service_levels: tuple[str, ...]
    incomplete: Incomplete = ()
    conclusion: Annotated[str, Field(description="The whole answer, of all stages and workloads")]
    answer: Annotated[
        tuple[Capacity, ...],
        Field(
            description="Of each variant with each workload by its repeats in all stages with the same service levels"
        ),
    ]
    capacity: Annotated[
        tuple[Capacity, ...],
        Field(description="Of each variant with each workload in each stage that has loads of its own"),
    ]
    conditions: Annotated[
        LeftOutIfEmpty[tuple[ConditionAnswer, ...]],
        Field(description="What a node that is down or changed costs, where a campaign has several such conditions"),
    ] = ()
    stages: Annotated[LeftOutIfEmpty[tuple[StageDocument, ...]], Field(description="In order; left out of one")] = ()
    parts: tuple[PartSummary, ...]
    cells: tuple[CellEntry, ...]
    quality: Annotated[tuple[Check, ...], Field(description="Checks over the whole campaign")]
    cost: Annotated[
        CostSummary | None,
        Field(description="Of the whole campaign, with idle time that is no workload's; null where hosts cost nothing"),
    ] = None
    definition: Definition


@dataclass(frozen=True)
class _Section:
    """A part as the page shows it. Without a `page` it has no cells, and `notes` say why."""

    name: str
    heading: str
    notes: tuple[str, ...] = ()
    conclusion: str = ""
    capacities: Table[CapacityRow] | None = None
    taken: Sequence[Table[Any]] = ()
    page: str = ""


def overview(data: CampaignData, findings: Sequence[Findings]) -> dict[str, bytes]:
    """Return the files of the whole campaign, from the `findings` of each part. Those of a part begin with its name."""
    by_name = {finding.part.id: finding for finding in findings}
    measured = [(part, by_name[part.id]) for part in data.campaign.parts if part.id in by_name]
    of_parts = [part_findings for _, part_findings in measured]
    labels = {name: label for part_findings in of_parts for name, label in part_findings.labels.items()}
    at = {part.id: at_loads(part_findings) for part, part_findings in measured}
    sections = tuple(_section(part, by_name) for part in data.campaign.parts)
    document = _document(data, measured, at)
    context = {
        "data": data,
        "definition": data.definition,
        "parts": sections,
        "document": document,
        "contradictions": contradictions_table(of_parts),
        "conditions": conditions_table(
            capacities_over_stages([part_findings.data for part_findings in of_parts]), labels
        ),
    }
    taken = [(part, result) for part, _ in measured for result in at[part.id]]
    return {
        "report.html": rendered("parts.html.j2", **context).encode(),
        "report.json": document.model_dump_json(indent=1).encode(),
        "report.schema.json": schema_of(PartsDocument).encode(),
        "summary.md": rendered("parts.md.j2", **context).encode(),
        "capacity.csv": as_csv(
            _together([(part, part_findings) for part, part_findings in measured if not part.taken], capacity_sheet)
        ),
        "cells.csv": as_csv(cells := _together(measured, cells_sheet)),
        "cells.parquet": as_parquet(cells),
    } | ({"at-taken-loads.csv": as_csv(taken_sheet(taken).frame())} if taken else {})


def _document(
    data: CampaignData, measured: Sequence[tuple[Part, Findings]], at: Mapping[str, tuple[AtTakenLoad, ...]]
) -> PartsDocument:
    levels = (str(level) for part in data.campaign.parts for level in part.service_levels)
    answer = capacities_over_stages([findings.data for _, findings in measured])
    conditions = condition_answers(answer)
    return PartsDocument(
        campaign_id=data.campaign_id,
        title=data.definition.title,
        generated_at=data.generated_at,
        note=data.note,
        approvals=data.approvals,
        service_levels=tuple(dict.fromkeys(levels)),
        incomplete=data.incomplete,
        conclusion=campaign_conclusion(answer, conditions, [findings for _, findings in measured]),
        conditions=conditions,
        answer=tuple(capacity for group in answer for capacity in group.capacities),
        capacity=tuple(capacity for _, findings in measured for capacity in findings.capacities),
        stages=stage_documents(data.campaign),
        parts=tuple(
            PartSummary(
                name=part.id,
                stage=part.stage,
                workload=part.workload_id if part.stage else "",
                conclusion=conclusion(findings),
                counts=counts_of(findings),
                capacity=findings.capacities,
                at_loads=at[part.id],
                report=file_of_part(part.id, "report.html"),
                document=file_of_part(part.id, "report.json"),
            )
            for part, findings in measured
        ),
        cells=tuple(entry for _, findings in measured for entry in entries_of(findings)),
        quality=data.quality,
        cost=cost_summary(data.spending),
        definition=data.definition,
    )


def _section(part: Part, by_name: Mapping[str, Findings]) -> _Section:
    findings = by_name.get(part.id)
    notes = tuple(rests_on(part, by_name.get(part.source)))
    if findings is None:
        return _Section(part.id, part.heading, notes)
    return _Section(
        name=part.id,
        heading=part.heading,
        notes=(*notes, *action_sentences(findings)),
        conclusion=conclusion(findings),
        capacities=capacities_table(capacity_rows(findings), f": {part.heading}"),
        taken=taken_tables(findings, f": {part.heading}"),
        page=file_of_part(part.id, "report.html"),
    )


def _together(measured: Sequence[tuple[Part, Findings]], sheet: Callable[[Findings], Sheet]) -> pd.DataFrame:
    """Return the tables of all parts as one table, with stage and workload as first columns."""
    import pandas as pd

    tables = [sheet(findings).frame() for _, findings in measured]
    for (part, _), table in zip(measured, tables, strict=True):
        for name, key in (("workload", "workload_id"), ("stage", "stage")):
            if any(getattr(other, key) for other, _ in measured) and name not in table:
                table.insert(0, name, getattr(part, key))
    return pd.concat(tables, ignore_index=True)
