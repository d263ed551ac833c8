"""Achieved against attempted rate, whatever the service level says."""

from collections.abc import Mapping, Sequence
from functools import partial

import altair as alt
from markupsafe import Markup

from plimsoll.analysis.attempt.unanswered import begins_with_backlog
from plimsoll.analysis.campaign.by_load import OperationP99, RepeatsAtLoad, mean_achieved
from plimsoll.analysis.campaign.cell_results import CellResult, achieved
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.attempt.result import Verdict
from plimsoll.report.charts.theme import (
    SHADE,
    Figure,
    Panels,
    aside,
    in_panels,
    load_axis,
    specification,
    tooltips,
    variant_marks,
)
from plimsoll.report.formatting import NOTHING, figure, listing, ops, percent, plural, span, whole_span
from plimsoll.report.sections import Section
from plimsoll.report.sections.maxima import draws_loads, table_of_loads
from plimsoll.report.tables import Column, PlainTable, Sheet, Table, bad, number, plain
from plimsoll.report.words.misses import achieved_remark

_RATE = "Achieved rate (ops/s)"
_SHARE = "Achieved rate (% of attempted)"
_SHARE_SHOWN = (95.0, 101.0)  # at least, or hundredths of a per cent would look like differences


def achieved_chart(findings: Findings) -> tuple[Figure, ...]:
    """Draw the rate itself and its share of the attempted one: one point per valid repeat, lines through the medians.

    There is no figure of a single load.
    """
    points = [row for result in findings.cells if result.verdict for row in _points(findings, result, result.verdict)]
    if not draws_loads(points):
        return ()
    chart = in_panels(_layers(findings, points), "panel:N", [_RATE, _SHARE], (340, 260), 2)
    chart = chart.resolve_scale(y="independent")
    drawn = Figure(
        name="achieved",
        title="Achieved against attempted rate",
        caption=(
            "One point per valid repeat; lines join the medians. On the dashed line the attempted rate was achieved in "
            f"full. Hollow points mark repeats whose rate was not achieved.{_beyond(findings)}"
        ),
        spec=specification(chart, {"values": [*points, *_references(findings)]}),
        panels=Panels(count=2, in_row=2, own_axes=True, narrowest_px=270),
    )
    return (drawn,)


def achieved_sheet(findings: Findings) -> Sheet:
    """Return one row per variant and load: lowest, median, highest and mean rate over valid repeats, ops/s.

    `highest_mean`: whether the mean is the highest one of the variant.
    """
    means = mean_achieved(findings.cells)
    highest = {(rate.variant, rate.load_ops_s) for rate in findings.highest_achieved}
    rows = [(spread, (spread.variant, spread.load_ops_s)) for spread in achieved(findings.cells)]
    return Sheet([{**rate.model_dump(), "mean": means[at], "highest_mean": at in highest} for rate, at in rows])


def operations_sheet(findings: Findings) -> Sheet:
    """Return one row per variant, load and operation."""
    return Sheet((mean.model_dump() for mean in findings.p99_by_operation), list(OperationP99.model_fields))


def rates_table(findings: Findings) -> Table[RepeatsAtLoad]:
    return table_of_loads(
        findings,
        "Achieved against attempted rate",
        number("Achieved (ops/s), lowest to highest repeat", _rates),
        number("Median share", lambda row: percent(row.achieved_share, 2)),
        Column("Rate", _was_achieved),
        load="Attempted",
    )


def highest_table(findings: Findings) -> PlainTable:
    """Return a row for each variant, in its order; dashes where no valid repeat tells the achieved rate."""
    rows = dict.fromkeys(findings.labels, (NOTHING, NOTHING, NOTHING))
    for rate in findings.highest_achieved:
        rows[rate.variant] = ops(rate.mean_ops_s), ops(rate.load_ops_s), plural(rate.repeats, "valid repeat")
    headings = {"Variant": "", "Highest mean achieved": "number", "At the attempted rate": "number", "Mean of": ""}
    return plain("Highest achieved rate", headings, ((findings.labels[name], *row) for name, row in rows.items()))


def operations_table(findings: Findings) -> Table[RepeatsAtLoad] | None:
    """Return the mean p99 of every operation of a variant; None where no valid attempt's intervals distinguish them."""
    means: dict[str, dict[tuple[str, int], OperationP99]] = {}
    for mean in findings.p99_by_operation:
        means.setdefault(mean.operation, {})[mean.variant, mean.load_ops_s] = mean
    columns = [
        number(f"{name[:1].upper()}{name[1:]}: mean p99 (ms)", partial(_mean, own))
        for name, own in sorted(means.items())
    ]
    return table_of_loads(findings, "Mean p99 of each operation", *columns, load="Attempted") if columns else None


def _rates(row: RepeatsAtLoad) -> str:
    spread = row.achieved_ops_s
    return whole_span(spread.low, spread.high) if spread else NOTHING


def _was_achieved(row: RepeatsAtLoad) -> str:
    words = "achieved" if row.achieved_ops_s else NOTHING
    if row.not_achieved:
        words = bad(f"not achieved in {plural(row.not_achieved, 'repeat')}")
    began, backlog = row.begin_with_backlog, Markup("; {} with a backlog of warm-up's to answer")
    return words + backlog.format(plural(began, "repeat")) if began else words


def _mean(means: Mapping[tuple[str, int], OperationP99], at: RepeatsAtLoad) -> str:
    """Format a mean as `3.2 (2.9 to 4.1)`: the median and the range over repeats, and what the mean leaves out."""
    mean = means.get((at.variant, at.load_ops_s))
    if mean is None:
        return NOTHING
    shown = figure(mean.median_ms) + (f" ({span(mean.low_ms, mean.high_ms)})" if mean.repeats > 1 else "")
    fewer = f"; of {plural(mean.repeats, 'repeat')}" if mean.repeats < at.valid else ""
    unanswered = f"; {plural(mean.unanswered, 'interval')} without an answer" if mean.unanswered else ""
    return shown + fewer + unanswered


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
    top = 1.05 * findings.loads[-1]
    lines = [(_RATE, 0, 0), (_RATE, top, top), (_SHARE, 0, 100), (_SHARE, top, 100)]
    room = [(_RATE, 0, 0), *((_SHARE, 0, share) for share in _SHARE_SHOWN)]
    return [
        {"kind": kind, "panel": panel, "x": x, "y": y}
        for kind, ends in (("reference", lines), ("room", room))
        for panel, x, y in ends
    ]


def _layers(findings: Findings, rows: Sequence[Mapping[str, object]]) -> list[alt.Chart]:
    x = alt.X("x:Q", title="Attempted rate (ops/s)", scale=alt.Scale(nice=False), axis=load_axis(findings))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(labelExpr="format(datum.value, '~s')"))
    tooltip = tooltips({"cell:N": "Cell", "variant:N": "Variant", "text:N": "Achieved"})
    tooltip.insert(2, alt.Tooltip("load:Q", title="Attempted (ops/s)", format=",.0f"))
    coded, median = variant_marks(findings), alt.Y("median(y):Q", title=None)
    return [
        _only("room").mark_point(opacity=0).encode(x=x, y=y),
        _only("reference").mark_line(strokeDash=[5, 4], strokeWidth=1.2, color=SHADE).encode(x=x, y=y),
        _only("repeat").mark_line(strokeWidth=1.5, opacity=0.6).encode(x=x, y=median, color=coded["color"]),
        *(
            _only("repeat", kept)
            .mark_point(filled=kept, size=45, strokeWidth=1.8, opacity=1)
            .encode(x=x, y=y, tooltip=tooltip, **coded)
            for kept in (True, False)
            if any(row.get("kept") is kept for row in rows)  # Vega warns of layers without rows
        ),
    ]


def _only(kind: str, kept: bool | None = None) -> alt.Chart:
    chart = alt.Chart().transform_filter(alt.datum.kind == kind)
    return chart if kept is None else chart.transform_filter(alt.datum.kept == kept)


ACHIEVED = Section(
    "achieved",
    "Achieved",
    tables={"rates": rates_table, "highest": highest_table, "by_operation": operations_table},
    charts=achieved_chart,
    sheets={"achieved": achieved_sheet, "operations": operations_sheet},
)
