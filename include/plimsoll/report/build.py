"""Make every file of a campaign's report from its data; of one attempt its timeline, and a page of its data over time.

Equal data give equal bytes.
"""

from dataclasses import replace
from datetime import datetime

from altair.utils.schemapi import debug_mode

from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData, CellResult
from plimsoll.analysis.campaign.findings import Findings, analyse, data_of_parts
from plimsoll.analysis.campaign.misses import misses_of
from plimsoll.analysis.campaign.statistics import power_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import NotFound
from plimsoll.report.charts.latencies import latencies_chart
from plimsoll.report.charts.rendering import drawing, page_svg, pictures
from plimsoll.report.charts.strips import strip_chart
from plimsoll.report.charts.theme import Figure
from plimsoll.report.charts.timeline import timelines
from plimsoll.report.document import ReportDocument, report_document, schema_of
from plimsoll.report.formatting import place_of
from plimsoll.report.overview import overview
from plimsoll.report.page import attempt_html, page_html, summary_markdown
from plimsoll.report.sections.registry import SECTIONS, sections_of
from plimsoll.report.tables import as_csv, as_parquet, file_of_part
from plimsoll.report.words.environment_facts import environment
from plimsoll.report.words.misses import links_by_place


def build(data: CampaignData) -> dict[str, bytes]:
    """Return relative path → content of every file of the report. Each of several parts has its own."""
    by_id = {findings.part.id: findings for findings in map(analyse, data_of_parts(data))}
    # Those of a part know those of the part that it takes its load from.
    of_parts = [
        replace(findings, source=by_id.get(name)) if (name := findings.part.source) else findings
        for findings in by_id.values()
    ]
    if len(of_parts) == 1:
        return _files(of_parts[0])
    own: dict[str, bytes] = {}
    for findings in of_parts:
        own |= {file_of_part(findings.part.id, path): content for path, content in _files(findings).items()}
    return own | overview(data, of_parts)


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


def cell_timeline(definition: Definition, attempt: AttemptData, at: datetime) -> str:
    """Return the judged percentile of every interval with bound, warm-up and pauses, as SVG in the page's inks.

    Raises NotFound where the attempt has no intervals.
    """
    (figure,) = timelines(_alone(definition, attempt, at))
    return page_svg(figure, width_px=900, height_px=280)


def attempt_page(definition: Definition, attempt: AttemptData, at: datetime) -> str:
    """Return the report's detailed charts of this attempt, valid or not, as an HTML page that loads nothing else.

    The page has the strips over time, with zoom; response time by percentile; and the worst missed intervals with the
    causes that touched them. Raises NotFound where the attempt has no intervals.
    """
    findings = _alone(definition, attempt, at)
    cell, misses = attempt.verdict.cell, misses_of(attempt, findings.level.bound_ms)
    title = f"{place_of(cell, findings.labels)}: attempt {attempt.key.attempt}"
    strips = strip_chart(findings, attempt, name="tracks", title=title, links=links_by_place(misses))
    charts = (strips, *latencies_chart(findings, of=lambda result: result.shown))
    drawings = {figure.name: drawing(figure) for figure in charts}
    return attempt_html(title, charts, drawings, misses, findings)


def _alone(definition: Definition, attempt: AttemptData, at: datetime) -> Findings:
    """Return the attempt as if it were the only one of its campaign. Raises NotFound where it has no intervals."""
    if attempt.intervals.empty:
        raise NotFound("there are no judged intervals", where=str(attempt.key))
    cell = attempt.verdict.cell
    part = resolve(definition).part(cell.part)
    alone = replace(part, variants=(part.variant(cell.variant),), control=None, loads=(cell.load_ops_s,))
    return Findings(
        data=CampaignData(attempt.verdict.key.campaign_id, definition, (attempt,), (), at, of_part=alone),
        cells=(CellResult(cell, (attempt,)),),
        repeats=power_of(1),
    )
