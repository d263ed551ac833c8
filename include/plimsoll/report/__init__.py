"""The report of a campaign, made from the analysis' results: HTML page, tables, figures, JSON and a summary."""

from plimsoll.analysis.campaign.cell_results import CampaignData


def build_report(data: CampaignData) -> dict[str, bytes]:
    """Make every file of the report: `report.html`, `report.json`, `summary.md`, `cells.csv`, `cells.parquet`, charts.

    Return path relative to the report's folder → content. Deterministic: equal data (dates included) give equal bytes.
    Raises NotFound for an attempt at a cell that the definition does not have.
    """
    from plimsoll.report.build import build  # Altair, pandas and vl-convert take seconds

    return build(data)
