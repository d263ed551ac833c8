"""Each cell's percentile against that of its variant and load, in the order in which cells ran."""

from math import exp

import altair as alt

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.noise import FEWEST_CELLS
from plimsoll.analysis.campaign.residuals import cell_residuals, in_order
from plimsoll.report.charts.figure import TABLE, Figure, rows_data, specification
from plimsoll.report.charts.theme import SHADE, legend_room, variant_colour, variant_legend, variant_shape


def order_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw one point per cell; none where fewer cells can be compared than a statement needs."""
    residuals = in_order(cell_residuals(findings.cells))
    if len(residuals) < FEWEST_CELLS:
        return ()
    rows = [
        {
            "position": place,
            "ratio": round(exp(one.value), 4),
            "variant": findings.labels[one.result.cell.variant],
            "cell": one.result.cell.id,
        }
        for place, one in enumerate(residuals, 1)
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
    labels = list(findings.labels.values())
    legend = variant_legend(labels)
    even = alt.Chart(alt.InlineData(values=[{"ratio": 1}])).mark_rule(strokeDash=[5, 4], strokeWidth=1.2, color=SHADE)
    x = alt.X("position:Q", title="Position in the campaign (cells)", scale=alt.Scale(nice=False, padding=8))
    y = alt.Y("ratio:Q", title="Cell / variant and load (ratio)", scale=alt.Scale(zero=False, padding=8))
    tooltip = [
        alt.Tooltip("cell:N", title="Cell"),
        alt.Tooltip("variant:N", title="Variant"),
        alt.Tooltip("position:Q", title="Position"),
        alt.Tooltip("ratio:Q", title="Cell / variant and load (ratio)"),
    ]
    coded = {"color": variant_colour(labels, legend), "shape": variant_shape(labels, legend)}
    return [
        even.encode(y=alt.Y("ratio:Q", title="")),
        alt.Chart().mark_point(filled=True, size=36, opacity=0.9).encode(x=x, y=y, tooltip=tooltip, **coded),
    ]
