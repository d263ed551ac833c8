"""The client-experienced maxima: the highest interval of each percentile, by load, with the range over repeats."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from plimsoll.analysis.campaign import Spread, maxima
from plimsoll.report.charts.figure import TABLE, Figure, Panels, rows_data, specification
from plimsoll.report.charts.theme import (
    BOUND,
    aside,
    legend_room,
    load_axis,
    log_y,
    variant_colour,
    variant_legend,
    variant_shape,
)
from plimsoll.report.findings import Findings
from plimsoll.report.tables import PERCENTILE_NAMES
from plimsoll.report.words import figure, ops

DRAWN = ("p50_ms", "p90_ms", "p99_ms", "p99_9_ms")


def maxima_chart(findings: Findings) -> Figure:
    """One panel a percentile, one log scale for all of them, the bound in each."""
    rows = [row for percentile in DRAWN for row in _rows(findings, percentile)]
    names = [PERCENTILE_NAMES[percentile] for percentile in DRAWN]
    y = _response_time(findings, rows)
    panels = alt.layer(*_layers(findings, y), _bound(findings.level.bound_ms)).properties(width=340, height=220)
    header = alt.Header(labelFontSize=13, labelFontWeight="bold", title=None)
    chart = panels.facet(facet=alt.Facet("percentile:N", sort=names, header=header), columns=2, data=TABLE).add_params(
        legend_room(700)
    )
    return Figure(
        name="maxima",
        title="Highest interval of each percentile, by load",
        caption=(
            "Points are medians over the valid repeats of each repeat's highest judged interval; bars reach from the "
            f"lowest to the highest repeat. The dashed line is the bound, {figure(findings.level.bound_ms)} ms; the "
            f"service level applies it to p{findings.level.percentile:g}. Variants stand side by side at each load."
        ),
        spec=specification(chart, rows_data(rows)),
        panels=Panels(count=4, in_row=2, narrowest_px=270),
    )


def _rows(findings: Findings, percentile: str) -> Iterator[dict[str, object]]:
    for spread in maxima(findings.cells, percentile):
        if spread.low > 0:
            yield _row(findings, percentile, spread)


def _row(findings: Findings, percentile: str, spread: Spread) -> dict[str, object]:
    return {
        "percentile": PERCENTILE_NAMES[percentile],
        "variant": findings.labels[spread.variant],
        "x": spread.load_ops_s + aside(findings, spread.variant),
        "load": ops(spread.load_ops_s),
        "repeats": spread.repeats,
        **{name: float(f"{getattr(spread, name):.4g}") for name in ("low", "median", "high")},
    }


def _response_time(findings: Findings, rows: Sequence[Mapping[str, Any]]) -> alt.Y:
    ends = [row[end] for row in rows for end in ("low", "high")]
    return log_y("median:Q", [*ends, findings.level.bound_ms], "Response time (ms, log scale)")


def _layers(findings: Findings, y: alt.Y) -> list[alt.Chart]:
    labels = list(findings.labels.values())
    legend = variant_legend(labels)
    loads = findings.definition.loads
    scale = alt.Scale(domain=[min(loads), max(loads)], zero=False, nice=False, padding=14)
    x = alt.X("x:Q", title="Attempted load (ops/s)", axis=load_axis(findings), scale=scale)
    base = alt.Chart().encode(x=x, color=variant_colour(labels, legend))
    return [
        base.mark_rule(strokeWidth=2, opacity=0.55).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y=y),
        base.mark_point(size=38, filled=True, opacity=1).encode(
            y=y, shape=variant_shape(labels, legend), tooltip=_tooltip()
        ),
    ]


def _bound(bound_ms: float) -> alt.Chart:
    data = alt.InlineData(values=[{"bound": bound_ms}])
    line = alt.Chart(data).mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color=BOUND)
    drawn: alt.Chart = line.encode(y=alt.Y("bound:Q", title=""), tooltip=[alt.Tooltip("bound:Q", title="Bound (ms)")])
    return drawn


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("variant:N", title="Variant"),
        alt.Tooltip("load:N", title="Load"),
        alt.Tooltip("median:Q", title="Median over repeats (ms)"),
        alt.Tooltip("low:Q", title="Lowest repeat (ms)"),
        alt.Tooltip("high:Q", title="Highest repeat (ms)"),
        alt.Tooltip("repeats:Q", title="Valid repeats"),
    ]
