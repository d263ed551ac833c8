"""A figure by load, a line a variant: medians over repeats, with bars from the lowest to the highest repeat."""

from collections.abc import Mapping, Sequence

import altair as alt

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.figure import TABLE
from plimsoll.report.charts.theme import aside, legend_room, load_axis, variant_colour, variant_legend, variant_shape
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
        **{name: float(f"{value:.4g}") for name, value in zip(("low", "median", "high"), spread, strict=True)},
    }


def spread_layers(findings: Findings, y: alt.Y, unit: str) -> list[alt.Chart]:
    """Draw bars, lines and points over rows of `spread_row`; `y` is the channel of `median`."""
    labels = list(findings.labels.values())
    legend = variant_legend(labels)
    loads = findings.part.loads
    scale = alt.Scale(domain=[min(loads), max(loads)], zero=False, nice=False, padding=14)
    x = alt.X("x:Q", title="Attempted load (ops/s)", axis=load_axis(findings), scale=scale)
    base = alt.Chart().encode(x=x, color=variant_colour(labels, legend))
    return [
        base.mark_rule(strokeWidth=2, opacity=0.55).encode(y=alt.Y("low:Q", title=""), y2="high:Q"),
        base.mark_line(strokeWidth=1.5, opacity=0.6).encode(y=y),
        base.mark_point(size=38, filled=True, opacity=1).encode(
            y=y, shape=variant_shape(labels, legend), tooltip=_tooltip(unit)
        ),
    ]


def spread_panels(layers: Sequence[alt.Chart], names: Sequence[str]) -> alt.FacetChart:
    """Draw the layers in a panel for each of these names."""
    header = alt.Header(labelFontSize=13, labelFontWeight="bold", title=None)
    panels: alt.FacetChart = (
        alt.layer(*layers)
        .properties(width=340, height=220)
        .facet(facet=alt.Facet("panel:N", sort=list(names), header=header), columns=2, data=TABLE)
        .add_params(legend_room(700))
    )
    return panels


def _tooltip(unit: str) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("variant:N", title="Variant"),
        alt.Tooltip("load:N", title="Load"),
        alt.Tooltip("median:Q", title=f"Median over repeats ({unit})"),
        alt.Tooltip("low:Q", title=f"Lowest repeat ({unit})"),
        alt.Tooltip("high:Q", title=f"Highest repeat ({unit})"),
        alt.Tooltip("repeats:Q", title="Valid repeats"),
    ]
