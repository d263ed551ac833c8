"""Charts of points: a figure by load, with medians over repeats and bars from the lowest to the highest, and each
cell's percentile against that of its variant and load, in the order in which cells ran.
"""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

import altair as alt

from plimsoll.analysis.campaign.cell_results import Spread
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.noise import FEWEST_CELLS, cell_residuals, in_order
from plimsoll.analysis.campaign.pauses import PauseStatistics, Range
from plimsoll.domain.text.units import four_digits
from plimsoll.report.charts.theme import (
    SHADE,
    TABLE,
    Figure,
    aside,
    bound_line,
    in_panels,
    legend_room,
    load_axis,
    log_y,
    specification,
    tooltips,
    variant_marks,
)
from plimsoll.report.formatting import ops


def draws_loads(rows: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether the rows have several loads. One point for each variant shows no more than a table does."""
    return len({row["load"] for row in rows}) > 1


def spread_row(findings: Findings, panel: str, of: Spread | PauseStatistics, spread: Spread | Range) -> dict[str, Any]:
    """Make one point of one panel: variant, load and repeats; lowest, median and highest figure, ms.

    `of`: what variant, load and repeats are taken from; `spread`: what the figures are taken from.
    """
    return {
        "panel": panel,
        "variant": findings.labels[of.variant],
        "x": of.load_ops_s + aside(findings, of.variant),
        "load": ops(of.load_ops_s),
        "repeats": of.repeats,
        **{name: four_digits(getattr(spread, name)) for name in ("low", "median", "high")},
    }


def spreads(
    findings: Findings, rows: list[dict[str, Any]], panels: Sequence[str], title: str, bound_ms: float | None
) -> dict[str, Any]:
    """Draw bars, lines and points over rows of `spread_row` on one log scale, and the bound where there is one."""
    loads, marks = findings.loads, variant_marks(findings)
    scale = alt.Scale(domain=[min(loads), max(loads)], zero=False, nice=False, padding=14)
    x = alt.X("x:Q", title="Attempted load (ops/s)", axis=load_axis(findings), scale=scale)
    ends = [row[end] for row in rows for end in ("low", "high")]
    y = log_y("median:Q", ends if bound_ms is None else [*ends, bound_ms], title)
    titles = {
        "variant:N": "Variant",
        "load:N": "Load",
        "median:Q": "Median over repeats (ms)",
        "low:Q": "Lowest repeat (ms)",
        "high:Q": "Highest repeat (ms)",
        "repeats:Q": "Valid repeats",
    }
    base = alt.Chart().encode(x=x, color=marks["color"])
    layers = [
        base.mark_rule(strokeWidth=2, opacity=0.55).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y=y),
        base.mark_point(size=38, filled=True, opacity=1).encode(y=y, shape=marks["shape"], tooltip=tooltips(titles)),
    ]
    if bound_ms is not None:
        bound = bound_line("bound", bound_ms, alt.Y("bound:Q", title=""))
        layers.append(bound.encode(tooltip=tooltips({"bound:Q": "Bound (ms)"})))
    chart = in_panels(layers, "panel:N", panels, (340, 220), 2, labelFontSize=13, labelFontWeight="bold")
    return specification(chart, {"values": rows})


def order_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw one point per cell; none where fewer cells can be compared than a statement needs."""
    residuals = in_order(cell_residuals(findings.cells))
    if len(residuals) < FEWEST_CELLS:
        return ()
    rows = [
        {
            "position": position,
            # A residual is a difference of logarithms
            "ratio": round(exp(residual.value), 4),
            "variant": findings.labels[residual.result.cell.variant],
            "cell": residual.result.cell.id,
        }
        for position, residual in enumerate(residuals, 1)
    ]
    chart = alt.layer(*_layers(findings), data=TABLE).properties(width=760, height=200).add_params(legend_room(700))
    figure = Figure(
        name="order",
        title="Does the order matter? Each cell against its variant and load",
        caption=(
            "The typical interval of each cell over that of all repeats of the same variant and load, in the order in "
            "which cells ran. Noise scatters around the line; a slope is a drift of the whole campaign, a band of "
            "points away from the line a bad stretch, a single far point an odd cell."
        ),
        spec=specification(chart, {"values": rows}),
    )
    return (figure,)


def _layers(findings: Findings) -> list[alt.Chart]:
    ratio = "Cell / variant and load (ratio)"
    even = alt.Chart(alt.InlineData(values=[{"ratio": 1}])).mark_rule(strokeDash=[5, 4], strokeWidth=1.2, color=SHADE)
    x = alt.X("position:Q", title="Position in the campaign (cells)", scale=alt.Scale(nice=False, padding=8))
    y = alt.Y("ratio:Q", title=ratio, scale=alt.Scale(zero=False, padding=8))
    tooltip = tooltips({"cell:N": "Cell", "variant:N": "Variant", "position:Q": "Position", "ratio:Q": ratio})
    return [
        even.encode(y=alt.Y("ratio:Q", title="")),
        alt.Chart()
        .mark_point(filled=True, size=36, opacity=0.9)
        .encode(x=x, y=y, tooltip=tooltip, **variant_marks(findings)),
    ]
