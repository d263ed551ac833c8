"""Chart how often each cause touched missed intervals, beside how often it touched met ones: one panel per variant."""

from collections.abc import Iterator

import altair as alt

from plimsoll.analysis.campaign.causes import VariantCauses
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.theme import (
    MET,
    MISSED,
    SHADE,
    TABLE,
    Figure,
    Panels,
    legend_room,
    rows_data,
    specification,
)

_OF_MISSED, _OF_MET = "missed intervals", "met intervals (base rate)"
_KINDS = [_OF_MISSED, _OF_MET]


def causes_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw one figure; none where no missed interval was analysed."""
    shown = [one for one in findings.causes if one.explained.missed > one.explained.unknown]
    if not shown:
        return ()
    rows = [row for one in shown for row in _rows(findings, one)]
    touching = {row["cause"] for row in rows}
    seen = [share.label for share in shown[0].causes if share.label in touching]
    height = 26 * len(seen) + 10
    panels = alt.layer(*_layers(seen)).properties(width=300, height=height)
    layout = Panels(count=len(shown), in_row=min(2, len(shown)), narrowest_px=290)
    facet = alt.Facet("variant:N", sort=list(findings.labels.values()), header=alt.Header(labelFontSize=12, title=None))
    chart = panels.facet(facet=facet, columns=layout.in_row, data=TABLE).add_params(legend_room(700))
    figure = Figure(
        name="causes",
        title="What coincided with missed intervals, and with met ones",
        caption=(
            "Per cause the share of the variant's missed intervals that it touched (filled) and of its met intervals "
            "(hollow: the base rate). A line that joins them in full ink: the cause is linked to misses (permutation "
            "test, Holm's correction, 5 %); a faint one: no more than chance, or too few intervals to tell."
        ),
        spec=specification(chart, rows_data(rows)),
        panels=layout,
    )
    return (figure,)


def _rows(findings: Findings, one: VariantCauses) -> Iterator[dict[str, object]]:
    seen = {share.cause for other in findings.causes for share in other.causes if share.missed_with}
    for share in one.causes:
        if share.cause in seen and share.missed:
            parts = ((_OF_MISSED, share.missed_with, share.missed), (_OF_MET, share.met_with, share.met))
            for kind, count, whole in parts:
                yield {
                    "variant": findings.labels[one.variant],
                    "cause": share.label,
                    "kind": kind,
                    "share": round(100 * count / whole, 2) if whole else None,
                    "text": f"{count:,} of {whole:,}",
                    "link": share.link,
                }


def _layers(seen: list[str]) -> list[alt.Chart]:
    x = alt.X("share:Q", title="Share of intervals (%)", scale=alt.Scale(domain=[0, 100]))
    y = alt.Y("cause:N", sort=seen, title=None, axis=alt.Axis(labelLimit=180, ticks=False))
    legend = alt.Legend(orient="top", title=None)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=_KINDS, range=[MISSED, MET]), legend=legend)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=_KINDS, range=["circle", "square"]), legend=legend)
    strong = alt.when(alt.datum.link == "linked").then(alt.value(0.9)).otherwise(alt.value(0.3))
    tooltip = [
        alt.Tooltip("variant:N", title="Variant"),
        alt.Tooltip("cause:N", title="Cause"),
        alt.Tooltip("kind:N", title="Of"),
        alt.Tooltip("text:N", title="Intervals"),
        alt.Tooltip("link:N", title="Verdict"),
    ]
    base = alt.Chart()
    return [
        base.mark_line(color=SHADE, strokeWidth=3).encode(x=x, y=y, detail="cause:N", opacity=strong),
        base.transform_filter(alt.datum.kind == _OF_MET)
        .mark_point(filled=False, size=60, strokeWidth=2, opacity=1)
        .encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip),
        base.transform_filter(alt.datum.kind == _OF_MISSED)
        .mark_point(filled=True, size=60, opacity=1)
        .encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip),
    ]
