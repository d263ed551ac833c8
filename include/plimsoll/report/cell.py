"""The charts of one attempt: its own timeline, beside no other, and what of its load waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.analysis.campaign import AttemptData, CampaignData, CellResult
from plimsoll.analysis.noise import UNKNOWN
from plimsoll.analysis.statistics import power_of
from plimsoll.domain.errors import NotFound
from plimsoll.report.charts.backlog import backlog_figure
from plimsoll.report.charts.rendering import page_svg
from plimsoll.report.charts.timeline import timelines
from plimsoll.report.findings import Findings

if TYPE_CHECKING:
    from datetime import datetime

    from plimsoll.domain.definition import Definition


def cell_timeline(definition: Definition, attempt: AttemptData, at: datetime) -> str:
    """The judged percentile of every interval with bound, warm-up and pauses, as SVG in the page's inks."""
    variant = definition.variant(attempt.verdict.cell.variant)
    alone = definition.model_copy(update={"variants": (variant,), "control": None})
    findings = Findings(
        data=CampaignData(attempt.verdict.key.campaign_id, alone, (attempt,), (), at),
        cells=(CellResult(attempt.verdict.cell, (attempt,)),),
        capacities=(),
        left_out=(),
        comparisons=(),
        repeats=power_of(1),
        causes=(),
        stops=(),
        noise=UNKNOWN,
        steadiness=(),
        typical=(),
    )
    (figure,) = timelines(findings)
    return page_svg(figure, width_px=900, height_px=280)


def cell_backlog(definition: Definition, attempt: AttemptData) -> str:
    """What of the load waited over time, as SVG in the page's inks. NotFound where the load generator told nothing."""
    if attempt.backlog.empty:
        raise NotFound("the load generator did not tell what waited", where=str(attempt.verdict.key))
    return page_svg(backlog_figure(definition, attempt.backlog), width_px=900, height_px=70)
