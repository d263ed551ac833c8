"""Make every file of a campaign's report from its data. Equal data give equal bytes."""

from altair.utils.schemapi import debug_mode

from plimsoll.analysis.campaign import CampaignData
from plimsoll.analysis.parts import data_of_parts
from plimsoll.report import file_of_part
from plimsoll.report.causes import causes_by_cell_frame, causes_frame, explained_frame
from plimsoll.report.charts.achieved import achieved_chart
from plimsoll.report.charts.causes import causes_chart
from plimsoll.report.charts.figure import Figure
from plimsoll.report.charts.heat_map import heat_map
from plimsoll.report.charts.latencies import latencies_chart
from plimsoll.report.charts.maxima import maxima_chart
from plimsoll.report.charts.order import order_chart
from plimsoll.report.charts.rendering import drawing, pictures
from plimsoll.report.charts.stops import stops_chart
from plimsoll.report.charts.timeline import timelines
from plimsoll.report.charts.tracks import track_charts
from plimsoll.report.document import report_document, report_schema
from plimsoll.report.environment import environment
from plimsoll.report.figures import achieved_frame, capacity_frame, comparisons_frame, maxima_frame
from plimsoll.report.findings import Findings, analyse
from plimsoll.report.listings import checks_frame, environment_frame, invalid_frame, warnings_frame
from plimsoll.report.misses import misses_frame
from plimsoll.report.noise import noise_frame, steadiness_frame, typical_frame
from plimsoll.report.operations import operations_frame
from plimsoll.report.page import page_html, summary_markdown
from plimsoll.report.parts import overview
from plimsoll.report.stops import stops_frame
from plimsoll.report.tables import as_csv, as_parquet, cells_frame


def build(data: CampaignData) -> dict[str, bytes]:
    """Relative path → content of every file of the report.

    Each part of a campaign with several has files of its own.
    """
    found = tuple(map(analyse, data_of_parts(data)))
    if len(found) == 1:
        return _files(found[0])
    own = {file_of_part(one.data.part, path): content for one in found for path, content in _files(one).items()}
    return own | overview(data, found)


def _files(findings: Findings) -> dict[str, bytes]:
    """The files of a campaign with one part, or of one part of a campaign."""
    cells, charts, ran = cells_frame(findings), figures(findings), environment(findings)
    drawings = {figure.name: drawing(figure) for figure in charts}
    files = {
        "report.html": page_html(findings, ran, charts, drawings).encode(),
        "report.json": report_document(findings, ran).model_dump_json(indent=1).encode(),
        "report.schema.json": report_schema().encode(),
        "summary.md": summary_markdown(findings).encode(),
        "cells.csv": as_csv(cells),
        "capacity.csv": as_csv(capacity_frame(findings)),
        "achieved.csv": as_csv(achieved_frame(findings)),
        "operations.csv": as_csv(operations_frame(findings)),
        "maxima.csv": as_csv(maxima_frame(findings)),
        "comparisons.csv": as_csv(comparisons_frame(findings)),
        "causes.csv": as_csv(causes_frame(findings)),
        "causes-by-cell.csv": as_csv(causes_by_cell_frame(findings)),
        "explained.csv": as_csv(explained_frame(findings)),
        "worst-misses.csv": as_csv(misses_frame(findings)),
        "pauses.csv": as_csv(stops_frame(findings)),
        "noise.csv": as_csv(noise_frame(findings)),
        "steadiness.csv": as_csv(steadiness_frame(findings)),
        "typical.csv": as_csv(typical_frame(findings)),
        "environment.csv": as_csv(environment_frame(findings, ran)),
        "invalid.csv": as_csv(invalid_frame(findings)),
        "warnings.csv": as_csv(warnings_frame(findings)),
        "checks.csv": as_csv(checks_frame(findings)),
        "cells.parquet": as_parquet(cells),
    }
    return files | {path: content for name, svg in drawings.items() for path, content in pictures(name, svg).items()}


def figures(findings: Findings) -> tuple[Figure, ...]:
    """Every chart of the report, in the page's order.

    Altair's check against Vega-Lite's schema is off: it takes a tenth of the report's time, and a test does the same.
    """
    with debug_mode(False):
        return _figures(findings)


def _figures(findings: Findings) -> tuple[Figure, ...]:
    return (
        heat_map(findings),
        achieved_chart(findings),
        maxima_chart(findings),
        *latencies_chart(findings),
        *causes_chart(findings),
        *stops_chart(findings),
        *order_chart(findings),
        *track_charts(findings),
        *timelines(findings),
    )
