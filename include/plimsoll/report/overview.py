"""The report of a campaign with several parts: a complete report of each, and a page above with links to them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from plimsoll.analysis.campaign.capacity import AnswerOverStages, Capacity, capacities_over_stages
from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.conditions import ConditionAnswer, condition_answers
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.taken_loads import AtTakenLoad
from plimsoll.domain.attempt.result import Check
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.report.document import (
    CampaignDocument,
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
from plimsoll.report.sections.answer import capacity_sheet
from plimsoll.report.sections.cells import cells_sheet
from plimsoll.report.tables import Sheet, as_csv, as_parquet, file_of_part
from plimsoll.report.words.actions import action_sentences
from plimsoll.report.words.capacities import capacities_table, capacity_rows, conditions_table
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


class PartsDocument(CampaignDocument):
    """`report.json` of a campaign with several workloads or stages.

    Only `cost`, `answer`, and the loads that later stages take from earlier ones are computed over more than one part.
    """

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


def overview(data: CampaignData, findings: Sequence[Findings]) -> dict[str, bytes]:
    """Return the files of the whole campaign, from the `findings` of each part. Those of a part begin with its name."""
    by_name = {own.part.id: own for own in findings}
    labels = {name: label for own in findings for name, label in own.labels.items()}
    answers = capacities_over_stages([own.data for own in findings])
    document = _document(data, findings, answers)
    context = {
        "data": data,
        "definition": data.definition,
        "parts": tuple(_section(part, by_name) for part in data.campaign.parts),
        "document": document,
        "contradictions": contradictions_table(findings),
        "conditions": conditions_table(answers, labels),
    }
    taken = [(own.part, result) for own in findings for result in at_loads(own)]
    return {
        "report.html": rendered("parts.html.j2", **context).encode(),
        "report.json": document.model_dump_json(indent=1).encode(),
        "report.schema.json": schema_of(PartsDocument).encode(),
        "summary.md": rendered("parts.md.j2", **context).encode(),
        "capacity.csv": as_csv(_together([own for own in findings if not own.part.taken], capacity_sheet)),
        "cells.csv": as_csv(cells := _together(findings, cells_sheet)),
        "cells.parquet": as_parquet(cells),
    } | ({"at-taken-loads.csv": as_csv(taken_sheet(taken).frame())} if taken else {})


def _document(data: CampaignData, findings: Sequence[Findings], answers: Sequence[AnswerOverStages]) -> PartsDocument:
    levels = (str(level) for part in data.campaign.parts for level in part.service_levels)
    conditions = condition_answers(answers)
    return PartsDocument(
        campaign_id=data.campaign_id,
        title=data.definition.title,
        generated_at=data.generated_at,
        note=data.note,
        approvals=data.approvals,
        service_levels=tuple(dict.fromkeys(levels)),
        incomplete=data.incomplete,
        conclusion=campaign_conclusion(answers, conditions, findings),
        conditions=conditions,
        answer=tuple(capacity for group in answers for capacity in group.capacities),
        capacity=tuple(capacity for own in findings for capacity in own.capacities),
        stages=stage_documents(data.campaign),
        parts=tuple(
            PartSummary(
                name=own.part.id,
                stage=own.part.stage,
                workload=own.part.workload_id if own.part.stage else "",
                conclusion=conclusion(own),
                counts=counts_of(own),
                capacity=own.capacities,
                at_loads=at_loads(own),
                report=file_of_part(own.part.id, "report.html"),
                document=file_of_part(own.part.id, "report.json"),
            )
            for own in findings
        ),
        cells=tuple(entry for own in findings for entry in entries_of(own)),
        quality=data.quality,
        cost=cost_summary(data.spending),
        definition=data.definition,
    )


def _section(part: Part, by_name: Mapping[str, Findings]) -> dict[str, Any]:
    """Return what the page shows of a part. Without a `page` it has no cells, and `notes` say why."""
    findings, notes = by_name.get(part.id), [*rests_on(part, by_name.get(part.source))]
    shown = {"name": part.id, "heading": part.heading, "notes": notes}
    if findings is None:
        return {**shown, "conclusion": "", "capacities": None, "taken": (), "page": ""}
    return {
        **shown,
        "notes": [*notes, *action_sentences(findings)],
        "conclusion": conclusion(findings),
        "capacities": capacities_table(capacity_rows(findings), f": {part.heading}"),
        "taken": taken_tables(findings, f": {part.heading}"),
        "page": file_of_part(part.id, "report.html"),
    }


def _together(findings: Sequence[Findings], sheet: Callable[[Findings], Sheet]) -> pd.DataFrame:
    """Return the tables of all parts as one table, with stage and workload as first columns."""
    tables = [sheet(own).frame() for own in findings]
    for own, table in zip(findings, tables, strict=True):
        for name, key in (("workload", "workload_id"), ("stage", "stage")):
            if any(getattr(other.part, key) for other in findings) and name not in table:
                table.insert(0, name, getattr(own.part, key))
    return pd.concat(tables, ignore_index=True)
