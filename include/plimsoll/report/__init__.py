"""The report of a campaign, made from the analysis' results: HTML page, tables, figures, JSON and a summary."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.analysis.campaign.cell_results import CampaignData


@dataclass(frozen=True)
class Report:
    """A report's files: path relative to the report's folder → content."""

    files: Mapping[str, bytes]


def build_report(data: CampaignData) -> Report:
    """Make every file of the report: `report.html`, `report.json`, `summary.md`, `cells.csv`, `cells.parquet`, charts.

    Deterministic: equal data (dates included) give equal bytes. Raises NotFound for an attempt at a cell that the
    definition does not have.
    """
    from plimsoll.report.build import build  # Altair, pandas and vl-convert take seconds

    return Report(build(data))
