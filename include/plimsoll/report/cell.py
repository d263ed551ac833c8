"""One attempt by itself: its timeline as a picture, and a page with all its data over time."""

from dataclasses import replace
from datetime import datetime

from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData, CellResult
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.misses import misses_of
from plimsoll.analysis.campaign.statistics import power_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import NotFound
from plimsoll.report.charts.latencies import latencies_chart
from plimsoll.report.charts.rendering import drawing, page_svg
from plimsoll.report.charts.strips import strip_chart
from plimsoll.report.charts.timeline import timelines
from plimsoll.report.formatting import place_of
from plimsoll.report.page import attempt_html
from plimsoll.report.words.misses import links_by_place


def cell_timeline(definition: Definition, attempt: AttemptData, at: datetime) -> str:
    """Return the judged percentile of every interval with bound, warm-up and pauses, as SVG in the page's inks.

    Raises NotFound where the attempt has no intervals.
    """
    _require_intervals(attempt)
    (figure,) = timelines(_alone(definition, attempt, at))
    return page_svg(figure, width_px=900, height_px=280)


def attempt_page(definition: Definition, attempt: AttemptData, at: datetime) -> str:
    """Return the report's detailed charts of this attempt, valid or not, as an HTML page that loads nothing else.

    The page has the strips over time, with zoom; response time by percentile; and the worst missed intervals with the
    causes that touched them. Raises NotFound where the attempt has no intervals.
    """
    _require_intervals(attempt)
    findings = _alone(definition, attempt, at)
    cell, misses = attempt.verdict.cell, misses_of(attempt, findings.level.bound_ms)
    title = f"{place_of(cell, findings.labels)}: attempt {attempt.key.attempt}"
    strips = strip_chart(findings, attempt, name="tracks", title=title, links=links_by_place(misses))
    charts = (strips, *latencies_chart(findings, of=lambda result: result.shown))
    drawings = {figure.name: drawing(figure) for figure in charts}
    return attempt_html(title, charts, drawings, misses, findings)


def _require_intervals(attempt: AttemptData) -> None:
    if attempt.intervals.empty:
        raise NotFound("there are no judged intervals", where=str(attempt.key))


def _alone(definition: Definition, attempt: AttemptData, at: datetime) -> Findings:
    """Return the attempt as if it were the only one of its campaign."""
    cell = attempt.verdict.cell
    part = resolve(definition).part(cell.part)
    alone = replace(part, variants=(part.variant(cell.variant),), control=None, loads=(cell.load_ops_s,))
    return Findings(
        data=CampaignData(attempt.verdict.key.campaign_id, definition, (attempt,), (), at, of_part=alone),
        cells=(CellResult(cell, (attempt,)),),
        repeats=power_of(1),
    )
