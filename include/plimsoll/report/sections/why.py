"""Why intervals missed: what else happened then, and how often that happens otherwise, in tables and as a chart."""

from collections.abc import Iterator, Mapping

import altair as alt
from markupsafe import Markup

from plimsoll.analysis.campaign.causes import SHIFTS, CauseShare, Explained, Link, VariantCauses
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.misses import causes_by_cell
from plimsoll.report.charts.theme import MET, MISSED, SHADE, Figure, Panels, in_panels, specification, tooltips
from plimsoll.report.formatting import NOTHING, p_text, percent
from plimsoll.report.sections import Section
from plimsoll.report.sections.pauses import on_jvms
from plimsoll.report.tables import Column, Sheet, Table, number
from plimsoll.report.words.misses import amount, misses_sheet, misses_table

_OF_MISSED, _OF_MET = "missed intervals", "met intervals (base rate)"
_KINDS = [_OF_MISSED, _OF_MET]


def causes_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw one figure; none where no missed interval was analysed."""
    shown = [cause for cause in findings.causes if cause.explained.missed > cause.explained.unknown]
    if not shown:
        return ()
    rows = [row for cause in shown for row in _rows(findings, cause)]
    touching = {row["cause"] for row in rows}
    causes = [share.label for share in shown[0].causes if share.label in touching]
    layout = Panels(count=len(shown), in_row=min(2, len(shown)), narrowest_px=290)
    labels, size_px = list(findings.labels.values()), (300, 26 * len(causes) + 10)
    chart = in_panels(_layers(causes), "variant:N", labels, size_px, layout.in_row)
    figure = Figure(
        name="causes",
        title="What coincided with missed intervals, and with met ones",
        caption=(
            "Per cause the share of the variant's missed intervals that it touched (filled) and of its met intervals "
            "(hollow: the base rate). A line that joins them in full ink: the cause is linked to misses (permutation "
            "test, Holm's correction, 5 %); a faint one: no more than chance, or too few intervals to tell."
        ),
        spec=specification(chart, {"values": rows}),
        panels=layout,
    )
    return (figure,)


def _rows(findings: Findings, own: VariantCauses) -> Iterator[dict[str, object]]:
    touching = {share.cause for cause in findings.causes for share in cause.causes if share.missed_with}
    for share in own.causes:
        if share.cause in touching and share.missed:
            parts = ((_OF_MISSED, share.missed_with, share.missed), (_OF_MET, share.met_with, share.met))
            for kind, count, whole in parts:
                yield {
                    "variant": findings.labels[own.variant],
                    "cause": share.label,
                    "kind": kind,
                    "share": round(100 * count / whole, 2) if whole else None,
                    "text": f"{count:,} of {whole:,}",
                    "link": share.link,
                }


def _layers(causes: list[str]) -> list[alt.Chart]:
    x = alt.X("share:Q", title="Share of intervals (%)", scale=alt.Scale(domain=[0, 100]))
    y = alt.Y("cause:N", sort=causes, title=None, axis=alt.Axis(labelLimit=180, ticks=False))
    legend = alt.Legend(orient="top", title=None)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=_KINDS, range=[MISSED, MET]), legend=legend)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=_KINDS, range=["circle", "square"]), legend=legend)
    strong = alt.when(alt.datum.link == "linked").then(alt.value(0.9)).otherwise(alt.value(0.3))
    tooltip = tooltips(
        {"variant:N": "Variant", "cause:N": "Cause", "kind:N": "Of", "text:N": "Intervals", "link:N": "Verdict"}
    )
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


_WORDS: Mapping[Link, str] = {
    "linked": Markup("<strong>linked to misses</strong>"),
    "no more than chance": "no more than chance",
    "too few intervals": "too few intervals to tell",
    "not collected": "not collected",
}


def explained_table(findings: Findings) -> Table[VariantCauses]:
    """Return every variant with missed intervals, in the definition's order; shares are of all these intervals."""
    return Table(
        "Missed intervals by what is known of them",
        [cause for cause in findings.causes if cause.explained.missed],
        Column("Variant", lambda row: findings.labels[row.variant]),
        number("Missed intervals", lambda row: f"{row.explained.missed:,}"),
        number("With a cause linked to misses", lambda row: _of(row.explained.linked, row.explained), "strong"),
        number("Only with what may be chance", lambda row: _of(row.explained.coincident, row.explained)),
        number("Nothing found", lambda row: _of(row.explained.nothing, row.explained)),
        number("Not analysed", lambda row: _of(row.explained.unknown, row.explained)),
    )


def causes_table(findings: Findings) -> Table[tuple[str, CauseShare]]:
    """Return every cause that touched a missed interval, or that was not collected, for variants with misses."""
    return Table(
        "Causes of missed intervals",
        [
            (findings.labels[cause.variant], share)
            for cause in findings.causes
            if cause.explained.missed > cause.explained.unknown
            for share in cause.causes
            if share.missed_with or share.link == "not collected"
        ],
        Column("Variant", lambda row: row[0]),
        Column("Cause", lambda row: f"{row[1].label} (≥ {amount(row[1].least, row[1].unit)})"),
        number("In missed intervals", lambda row: _share(row[1].missed_with, row[1].missed)),
        number("In met intervals (base rate)", lambda row: _share(row[1].met_with, row[1].met)),
        number("Missed beyond chance", lambda row: percent(row[1].beyond_chance, 0)),
        number("p (Holm)", lambda row: p_text(row[1].p_holm)),
        Column("Verdict", lambda row: _WORDS[row[1].link]),
    )


def causes_sheet(findings: Findings) -> Sheet:
    """Return one row per variant and cause: counts of intervals, base rate, share beyond chance, test."""
    return Sheet(
        {
            "variant": cause.variant,
            "cause": share.label,
            "missed_intervals": share.missed,
            "missed_with_cause": share.missed_with,
            "met_intervals": share.met,
            "met_with_cause": share.met_with,
            **{name: getattr(share, name) for name in ("beyond_chance", "p_value", "p_holm", "link")},
        }
        for cause in findings.causes
        for share in cause.causes
    )


def explained_sheet(findings: Findings) -> Sheet:
    """Return missed intervals by what is known about their causes.

    One row per variant, with an empty `cell`, and one row per cell with misses.
    """
    rows = (
        {"variant": cause.variant, "cell": cell, **counts.model_dump()}
        for cause in findings.causes
        for cell, counts in (("", cause.explained), *cause.cells.items())
    )
    return Sheet(rows, ["variant", "cell", *Explained.model_fields])


def causes_by_cell_sheet(findings: Findings) -> Sheet:
    """Return one row per cell with misses and per cause that touched one of these.

    `link` is the result of the test over all cells of the variant.
    """
    rows = (
        (cause.cell, cause.label, cause.missed, cause.missed_with, cause.link)
        for cause in causes_by_cell(findings.cells, findings.causes, findings.level.bound_ms)
    )
    return Sheet(rows, ["cell", "cause", "missed_intervals", "missed_with_cause", "link"])


def _of(count: int, counts: Explained) -> str:
    return f"{percent(count / counts.missed, 0)} ({count:,})"


def _share(count: int, whole: int) -> str:
    return f"{percent(count / whole, 1)} of {whole:,}" if whole else NOTHING


WHY = Section(
    "why",
    "Why it missed",
    tables={
        "explained": explained_table,
        "causes": causes_table,
        "misses": lambda findings: misses_table(findings.misses, findings.level),
    },
    context=lambda findings: {"on_jvms": on_jvms(findings), "shifts": SHIFTS},
    charts=causes_chart,
    sheets={
        "causes": causes_sheet,
        "causes-by-cell": causes_by_cell_sheet,
        "explained": explained_sheet,
        "worst-misses": misses_sheet,
    },
)
