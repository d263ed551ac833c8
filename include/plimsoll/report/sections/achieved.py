"""Achieved against attempted rate, whatever the service level says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from plimsoll.analysis.attempt.backlog import begins_with_backlog
from plimsoll.analysis.campaign.cell_results import CellResult, achieved
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.highest_achieved import mean_achieved
from plimsoll.domain.result import Verdict
from plimsoll.report.backlog import achieved_remark
from plimsoll.report.charts.figure import TABLE, Figure, Panels, rows_data, specification
from plimsoll.report.charts.spreads import draws_loads
from plimsoll.report.charts.theme import (
    SHADE,
    aside,
    legend_room,
    load_axis,
    variant_colour,
    variant_legend,
    variant_shape,
)
from plimsoll.report.formatting import NOTHING, listing, ops, percent, plural
from plimsoll.report.operation_means import operations_frame, operations_table
from plimsoll.report.sections.section import Section
from plimsoll.report.tables import load_rows

if TYPE_CHECKING:
    import pandas as pd

_RATE = "Achieved rate (ops/s)"
_SHARE = "Achieved rate (% of attempted)"
_SHARE_SHOWN = (95.0, 101.0)  # at least, or hundredths of a per cent would look like differences


@dataclass(frozen=True)
class HighestRow:
    """The highest mean achieved rate of one variant, and the attempted rate that it was achieved at, as text."""

    variant: str
    mean: str
    load: str
    repeats: str


def achieved_chart(findings: Findings) -> tuple[Figure, ...]:
    """Return the rate itself and its share of the attempted one; one point per valid repeat, lines through the medians.

    No figure of a single load.
    """
    points = [row for result in findings.cells if result.verdict for row in _points(findings, result, result.verdict)]
    if not draws_loads(points):
        return ()
    panels = alt.layer(*_layers(findings, points)).properties(width=340, height=260)
    chart = (
        panels.facet(
            facet=alt.Facet("panel:N", sort=[_RATE, _SHARE], header=alt.Header(labelFontSize=12, title=None)),
            columns=2,
            data=TABLE,
        )
        .resolve_scale(y="independent")
        .add_params(legend_room(700))
    )
    drawn = Figure(
        name="achieved",
        title="Achieved against attempted rate",
        caption=(
            "One point per valid repeat; lines join the medians. On the dashed line the attempted rate was achieved in "
            f"full. Hollow points mark repeats whose rate was not achieved.{_beyond(findings)}"
        ),
        spec=specification(chart, rows_data([*points, *_references(findings)])),
        panels=Panels(count=2, in_row=2, own_axes=True, narrowest_px=270),
    )
    return (drawn,)


def achieved_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per variant and load: lowest, median, highest and mean rate over valid repeats,
    ops/s.

    `highest_mean`: whether the mean is the highest one of the variant.
    """
    import pandas as pd

    means = mean_achieved(findings.cells)
    highest = {(one.variant, one.load_ops_s) for one in findings.highest_achieved}
    rows = [(spread, (spread.variant, spread.load_ops_s)) for spread in achieved(findings.cells)]
    return pd.DataFrame(
        [{**one.model_dump(), "mean": means[place], "highest_mean": place in highest} for one, place in rows]
    )


def highest_rows(findings: Findings) -> tuple[HighestRow, ...]:
    """Return a row for each variant, in the definition's order; dashes where no valid repeat tells the achieved
    rate.
    """
    found = {one.variant: one for one in findings.highest_achieved}
    rows = ((label, found.get(variant)) for variant, label in findings.labels.items())
    return tuple(
        HighestRow(label, ops(one.mean_ops_s), ops(one.load_ops_s), plural(one.repeats, "valid repeat"))
        if one
        else HighestRow(label, NOTHING, NOTHING, NOTHING)
        for label, one in rows
    )


def _context(findings: Findings) -> Mapping[str, Any]:
    return {
        "load_rows": load_rows(findings),
        "highest": highest_rows(findings),
        "by_operation": operations_table(findings),
    }


def _points(findings: Findings, result: CellResult, verdict: Verdict) -> list[dict[str, object]]:
    if verdict.achieved_ops_s is None:
        return []
    attempted, share = result.cell.load_ops_s, verdict.achieved_ops_s / result.cell.load_ops_s
    remark = achieved_remark(verdict, findings.level)
    row = {
        "kind": "repeat",
        "variant": findings.labels[result.cell.variant],
        "cell": result.cell.id,
        "load": attempted,
        "kept": verdict.rate_achieved is not False,
        "text": f"{ops(verdict.achieved_ops_s)} ({percent(share, 2)})" + (f"; {remark}" if remark else ""),
    }
    return [
        {**row, "panel": _RATE, "x": attempted, "y": round(verdict.achieved_ops_s, 1)},
        {**row, "panel": _SHARE, "x": attempted + aside(findings, result.cell.variant), "y": round(share * 100, 3)},
    ]


def _beyond(findings: Findings) -> str:
    """Explain why points lie above the line, where a backlog of warm-up's is known to have been answered."""
    cells = [
        result.cell.id
        for result in findings.cells
        if result.verdict and begins_with_backlog(result.verdict.opening_backlog, findings.level)
    ]
    if not cells:
        return ""
    return (
        " What warm-up left unanswered is answered in the judged time and counts as achieved, so a point may lie above "
        f"100 %. Judged time began with such a backlog in {plural(len(cells), 'cell')}: {listing(cells)}."
    )


def _references(findings: Findings) -> list[dict[str, object]]:
    top = 1.05 * max(findings.definition.loads)
    lines = [(_RATE, 0, 0), (_RATE, top, top), (_SHARE, 0, 100), (_SHARE, top, 100)]
    room = [(_RATE, 0, 0), *((_SHARE, 0, share) for share in _SHARE_SHOWN)]
    return [
        {"kind": kind, "panel": panel, "x": x, "y": y}
        for kind, ends in (("reference", lines), ("room", room))
        for panel, x, y in ends
    ]


def _layers(findings: Findings, rows: Sequence[Mapping[str, object]]) -> list[alt.Chart]:
    labels = list(findings.labels.values())
    legend = variant_legend(labels)
    x = alt.X("x:Q", title="Attempted rate (ops/s)", scale=alt.Scale(nice=False), axis=load_axis(findings))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(labelExpr="format(datum.value, '~s')"))
    coded = {"color": variant_colour(labels, legend), "shape": variant_shape(labels, legend)}
    median = alt.Y("median(y):Q", title=None)
    return [
        _only("room").mark_point(opacity=0).encode(x=x, y=y),
        _only("reference").mark_line(strokeDash=[5, 4], strokeWidth=1.2, color=SHADE).encode(x=x, y=y),
        _only("repeat").mark_line(strokeWidth=1.5, opacity=0.6).encode(x=x, y=median, color=coded["color"]),
        *(
            _only("repeat", kept)
            .mark_point(filled=kept, size=45, strokeWidth=1.8, opacity=1)
            .encode(x=x, y=y, tooltip=_tooltip(), **coded)
            for kept in (True, False)
            if any(row.get("kept") is kept for row in rows)  # Vega warns of layers without rows
        ),
    ]


def _only(kind: str, kept: bool | None = None) -> alt.Chart:
    chart = alt.Chart().transform_filter(alt.datum.kind == kind)
    return chart if kept is None else chart.transform_filter(alt.datum.kept == kept)


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("cell:N", title="Cell"),
        alt.Tooltip("variant:N", title="Variant"),
        alt.Tooltip("load:Q", title="Attempted (ops/s)", format=",.0f"),
        alt.Tooltip("text:N", title="Achieved"),
    ]


ACHIEVED = Section(
    "achieved",
    "Achieved",
    context=_context,
    charts=achieved_chart,
    tables={"achieved": achieved_frame, "operations": operations_frame},
)
