"""Make every file of a campaign's report from its data. Equal data give equal bytes."""

from dataclasses import replace

from altair.utils.schemapi import debug_mode

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.analysis.campaign.part_data import data_of_parts
from plimsoll.report.charts.rendering import drawing, pictures
from plimsoll.report.charts.theme import Figure
from plimsoll.report.document import ReportDocument, report_document, schema_of
from plimsoll.report.overview import overview
from plimsoll.report.page import page_html, summary_markdown
from plimsoll.report.sections.registry import SECTIONS, sections_of
from plimsoll.report.tables.table import as_csv, as_parquet, file_of_part
from plimsoll.report.words.environment_facts import environment


def build(data: CampaignData) -> dict[str, bytes]:
    """Return relative path → content of every file of the report. Each of several parts has its own."""
    found = _analysed(data)
    if len(found) == 1:
        return _files(found[0])
    own = {file_of_part(one.part.id, path): content for one in found for path, content in _files(one).items()}
    return own | overview(data, found)


def _analysed(data: CampaignData) -> tuple[Findings, ...]:
    """Return the findings of each part, which know those of the part that they take their load from."""
    found = {one.part.id: one for one in map(analyse, data_of_parts(data))}
    return tuple(replace(one, source=found.get(name)) if (name := one.part.source) else one for one in found.values())


def _files(findings: Findings) -> dict[str, bytes]:
    """Return the files of a campaign with one part, or of one part of a campaign."""
    charts, ran = figures(findings), environment(findings)
    drawings = {figure.name: drawing(figure) for figure in charts}
    tables = {name: sheet(findings).frame() for section in SECTIONS for name, sheet in section.sheets.items()}
    files = {
        "report.html": page_html(findings, charts, drawings).encode(),
        "report.json": report_document(findings, ran).model_dump_json(indent=1).encode(),
        "report.schema.json": schema_of(ReportDocument).encode(),
        "summary.md": summary_markdown(findings).encode(),
        **{f"{name}.csv": as_csv(table) for name, table in tables.items()},
        "cells.parquet": as_parquet(tables["cells"]),
    }
    return files | {path: content for name, svg in drawings.items() for path, content in pictures(name, svg).items()}


def figures(findings: Findings) -> tuple[Figure, ...]:
    """Return every chart of the report, in the page's order.

    Altair's check against Vega-Lite's schema is off: it takes a tenth of the report's time, and a test does the same.
    """
    with debug_mode(False):
        return tuple(figure for section in sections_of(findings) for figure in section.charts(findings))
