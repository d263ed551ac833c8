"""Charts of points: a figure by load, with medians over repeats and bars from the lowest to the highest, and each
cell's percentile against that of its variant and load, in the order in which cells ran.
"""

from collections.abc import Mapping, Sequence
from math import exp

import altair as alt

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.noise import FEWEST_CELLS, cell_residuals, in_order
from plimsoll.domain.text.units import four_digits
from plimsoll.report.charts.theme import (
    SHADE,
    TABLE,
    Figure,
    aside,
    in_panels,
    legend_room,
    load_axis,
    rows_data,
    specification,
    tooltips,
    variant_marks,
)
from plimsoll.report.formatting import ops


def draws_loads(rows: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether the rows have several loads. One point for each variant shows no more than a table does."""
    return len({row["load"] for row in rows}) > 1


def spread_row(
    findings: Findings, panel: str, place: tuple[str, int, int], spread: tuple[float, float, float]
) -> dict[str, object]:
    """Make one point of one panel: variant, load and repeats; lowest, median and highest figure."""
    variant, load, repeats = place
    return {
        "panel": panel,
        "variant": findings.labels[variant],
        "x": load + aside(findings, variant),
        "load": ops(load),
        "repeats": repeats,
        **{name: four_digits(value) for name, value in zip(("low", "median", "high"), spread, strict=True)},
    }


def spread_layers(findings: Findings, y: alt.Y, unit: str) -> list[alt.Chart]:
    """Draw bars, lines and points over rows of `spread_row`; `y` is the channel of `median`."""
    loads, marks = findings.loads, variant_marks(findings)
    scale = alt.Scale(domain=[min(loads), max(loads)], zero=False, nice=False, padding=14)
    x = alt.X("x:Q", title="Attempted load (ops/s)", axis=load_axis(findings), scale=scale)
    titles = {
        "variant:N": "Variant",
        "load:N": "Load",
        "median:Q": f"Median over repeats ({unit})",
        "low:Q": f"Lowest repeat ({unit})",
        "high:Q": f"Highest repeat ({unit})",
        "repeats:Q": "Valid repeats",
    }
    base = alt.Chart().encode(x=x, color=marks["color"])
    return [
        base.mark_rule(strokeWidth=2, opacity=0.55).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y=y),
        base.mark_point(size=38, filled=True, opacity=1).encode(y=y, shape=marks["shape"], tooltip=tooltips(titles)),
    ]


def spread_panels(layers: Sequence[alt.Chart], names: Sequence[str]) -> alt.FacetChart:
    """Draw the layers in a panel for each of these names."""
    return in_panels(layers, "panel:N", names, (340, 220), 2, labelFontSize=13, labelFontWeight="bold")


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
        spec=specification(chart, rows_data(rows)),
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
