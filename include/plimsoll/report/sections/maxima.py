"""The client-experienced maxima: the highest interval of each percentile, by load, with the range over repeats."""

from collections.abc import Iterator
from typing import Any

import altair as alt

from plimsoll.analysis.campaign.cell_results import PERCENTILES, maxima
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.points import draws_loads, spread_layers, spread_panels, spread_row
from plimsoll.report.charts.theme import Figure, Panels, bound_line, log_y, rows_data, specification, tooltips
from plimsoll.report.formatting import figure, ops
from plimsoll.report.sections.section import Section
from plimsoll.report.tables import PERCENTILE_NAMES, PlainTable, Sheet, maxima_table, plain


def maxima_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw one panel for each percentile, with the bound, all on one log scale; none for a single load."""
    rows: list[dict[str, Any]] = [row for percentile in PERCENTILES for row in _rows(findings, percentile)]
    if not draws_loads(rows):
        return ()
    names = [name for name in PERCENTILE_NAMES.values() if any(row["panel"] == name for row in rows)]
    ends = [row[end] for row in rows for end in ("low", "high")]
    y = log_y("median:Q", [*ends, findings.level.bound_ms], "Response time (ms, log scale)")
    bound = bound_line("bound", findings.level.bound_ms, alt.Y("bound:Q", title=""))
    layers = [*spread_layers(findings, y, "ms"), bound.encode(tooltip=tooltips({"bound:Q": "Bound (ms)"}))]
    chart = spread_panels(layers, names)
    drawn = Figure(
        name="maxima",
        title="Highest interval of each percentile, by load",
        caption=(
            "Points are medians over the valid repeats of each repeat's highest judged interval; bars reach from the "
            f"lowest to the highest repeat. The dashed line is the bound, {figure(findings.level.bound_ms)} ms; the "
            f"service level applies it to p{findings.level.percentile:g}. Variants stand side by side at each load."
        ),
        spec=specification(chart, rows_data(rows)),
        panels=Panels(count=len(names), in_row=2, narrowest_px=270),
    )
    return (drawn,)


def maxima_sheet(findings: Findings) -> Sheet:
    """Return one row per variant, load and percentile.

    Its figures are the lowest, median and highest value over repeats of each valid repeat's highest interval, ms.
    """
    return Sheet(
        {"percentile": name, **spread.model_dump()}
        for percentile, name in PERCENTILE_NAMES.items()
        for spread in maxima(findings.cells, percentile)
    )


def rates_below_table(findings: Findings) -> PlainTable:
    """Return the highest load of each variant below each of the definition's further bounds."""
    rows = (
        (rate.bound, findings.labels[rate.variant], ops(rate.load_ops_s) if rate.load_ops_s else "none")
        for rate in findings.rates_below
    )
    return plain("Highest loads below other bounds", {"Bound": "", "Variant": "", "Highest load": ""}, rows, naming=1)


def _rows(findings: Findings, percentile: str) -> Iterator[dict[str, Any]]:
    for spread in maxima(findings.cells, percentile):
        if spread.low > 0:
            yield spread_row(
                findings,
                PERCENTILE_NAMES[percentile],
                (spread.variant, spread.load_ops_s, spread.repeats),
                (spread.low, spread.median, spread.high),
            )


MAXIMA = Section(
    "maxima",
    "Maxima",
    tables={"maxima": maxima_table, "rates_below": rates_below_table},
    charts=maxima_chart,
    sheets={"maxima": maxima_sheet},
)
