"""The report of a campaign with several parts: a whole report of each, and above them a page that leads to them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.analysis.capacity import Capacity
from plimsoll.domain.base import Model
from plimsoll.domain.definition import Definition
from plimsoll.domain.note import Note
from plimsoll.domain.result import Check
from plimsoll.report import file_of_part
from plimsoll.report.answers import CapacityRow, capacity_rows
from plimsoll.report.conclusion import conclusion
from plimsoll.report.document import CellCounts, CellEntry, CostSummary, cost_summary, counts_of, entries_of
from plimsoll.report.figures import capacity_frame
from plimsoll.report.page import rendered
from plimsoll.report.tables import as_csv, as_parquet, cells_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from plimsoll.analysis.campaign import CampaignData
    from plimsoll.report.findings import Findings


class PartSummary(Model):
    """One part of a campaign, and where its own report lies."""

    name: Annotated[str, Field(description="Id of the workload")]
    conclusion: Annotated[str, Field(description="The whole answer in one or two sentences")]
    counts: CellCounts
    capacity: tuple[Capacity, ...]
    report: Annotated[str, Field(description="Its page, beside this file")]
    document: Annotated[str, Field(description="Its `report.json`, beside this file")]


class PartsDocument(Model):
    """`report.json` of a campaign with several workloads. Nothing but `cost` is computed over more than one."""

    format: Annotated[Literal[1], Field(description="Raised when a key changes its meaning or goes")] = 1
    campaign_id: str
    title: str
    generated_at: AwareDatetime
    note: Annotated[Note | None, Field(description="What somebody wrote about the campaign")] = None
    service_levels: tuple[str, ...]
    capacity: Annotated[tuple[Capacity, ...], Field(description="Of each variant with each workload")]
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
    """A part as the page shows it."""

    name: str
    conclusion: str
    rows: tuple[CapacityRow, ...]
    page: str


def overview(data: CampaignData, findings: Sequence[Findings]) -> dict[str, bytes]:
    """The files of the whole campaign; `findings` of each part, whose own files have its name before theirs."""
    document, sections = _document(data, findings), tuple(map(_section, findings))
    context = {"data": data, "definition": data.definition, "parts": sections}
    return {
        "report.html": rendered("parts.html.j2", **context).encode(),
        "report.json": document.model_dump_json(indent=1).encode(),
        "report.schema.json": _schema().encode(),
        "summary.md": rendered("parts.md.j2", **context).encode(),
        "capacity.csv": as_csv(_together(findings, capacity_frame)),
        "cells.csv": as_csv(cells := _together(findings, cells_frame)),
        "cells.parquet": as_parquet(cells),
    }


def _document(data: CampaignData, findings: Sequence[Findings]) -> PartsDocument:
    return PartsDocument(
        campaign_id=data.campaign_id,
        title=data.definition.title,
        generated_at=data.generated_at,
        note=data.note,
        service_levels=tuple(map(str, data.definition.service_levels)),
        capacity=tuple(one for part in findings for one in part.capacities),
        parts=tuple(map(_summary, findings)),
        cells=tuple(one for part in findings for one in entries_of(part)),
        quality=data.quality,
        cost=cost_summary(data.spending),
        definition=data.definition,
    )


def _summary(findings: Findings) -> PartSummary:
    name = findings.data.part
    return PartSummary(
        name=name,
        conclusion=conclusion(findings),
        counts=counts_of(findings),
        capacity=findings.capacities,
        report=file_of_part(name, "report.html"),
        document=file_of_part(name, "report.json"),
    )


def _section(findings: Findings) -> _Section:
    name = findings.data.part
    page = file_of_part(name, "report.html")
    return _Section(name, conclusion(findings), capacity_rows(findings), page)


def _schema() -> str:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(schema | PartsDocument.model_json_schema(mode="serialization"), indent=1)


def _together(findings: Sequence[Findings], frame: Callable[[Findings], pd.DataFrame]) -> pd.DataFrame:
    """The tables of all parts, one below the other, with the part's name as the first column."""
    import pandas as pd

    tables = [frame(one) for one in findings]
    for one, table in zip(findings, tables, strict=True):
        table.insert(0, "workload", one.data.part)
    return pd.concat(tables, ignore_index=True)
