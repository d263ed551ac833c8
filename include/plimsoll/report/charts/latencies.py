"""Response time by percentile as HdrHistogram plots it: one panel per variant and operation, one line per load."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import log10
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from plimsoll.analysis.attempt.latencies import median_curves
from plimsoll.analysis.campaign.cell_results import AttemptData, CellResult
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.text.units import four_digits
from plimsoll.report.charts.theme import (
    HOVER,
    Figure,
    Panels,
    bound_line,
    csv_data,
    cycled,
    in_panels,
    log_y,
    specification,
    tooltips,
)
from plimsoll.report.formatting import figure, ops, percent
from plimsoll.report.words.header import counted_from

_RAMP = ["#1a9bb8", "#5a6be0", "#b03fc0", "#d9344f"]
"""The colours from the lowest load to the highest; each has a contrast of 3:1 on white and on dark."""
_DASHES = ([1, 0], [6, 3], [2, 2])
_EVERY = "all operations"


def latencies_chart(
    findings: Findings, of: Callable[[CellResult], AttemptData | None] = lambda result: result.counted
) -> tuple[Figure, ...]:
    """Draw one figure; `of` chooses the attempt shown for each cell. Empty if none has response times by percentile."""
    rows = list(_rows(findings, of))
    if not rows:
        return ()
    kinds = sorted({str(row["panel"]).rpartition(": ")[2] for row in rows})
    names = [f"{label}: {kind}" for label in findings.labels.values() for kind in kinds]
    shown = [name for name in names if any(row["panel"] == name for row in rows)]
    since = counted_from(attempt.verdict for attempt in map(of, findings.cells) if attempt)
    layout = Panels(count=len(shown), in_row=min(2, len(shown)), narrowest_px=270)
    chart = in_panels(_layers(findings, rows), "panel:N", shown, (340, 200), layout.in_row)
    drawn = Figure(
        name="latencies",
        title="Response time by percentile",
        caption=(
            f"Response times of all operations of the judged time{since}. Across: the "
            "share of operations that were answered within the time on the left, on a scale where 90 %, 99 %, 99.9 % "
            "and so on are equally far apart. One line per load, with medians over its valid repeats. Dashed: the "
            f"bound, {figure(findings.level.bound_ms)} ms. The service level asks for p{findings.level.percentile:g} "
            "below it in every interval, so a curve below it is not enough."
        ),
        spec=specification(chart, csv_data(pd.DataFrame(rows), ("x", "ms"))),
        panels=layout,
    )
    return (drawn,)


def _rows(findings: Findings, of: Callable[[CellResult], AttemptData | None]) -> Iterator[Mapping[str, object]]:
    """Yield a row for each percentile and for the maximum. A log scale has no place for 0 ms."""
    for (variant, label), load in product(findings.labels.items(), findings.loads):
        attempts = (of(result) for result in findings.of_variant(variant) if result.cell.load_ops_s == load)
        known = [attempt.latencies for attempt in attempts if attempt and not attempt.latencies.empty]
        for curve in median_curves(known) if known else ():
            points = [(1 / (1 - p / 100), ms, f"p{p:g}") for p, ms in curve.ms_at.items()]
            points.append((curve.operations, curve.maximum_ms, "maximum"))
            kind = _EVERY if curve.operation == ALL_OPERATIONS else curve.operation
            for x, ms, name in points:
                if ms > 0:
                    yield {
                        "panel": f"{label}: {kind}",
                        "load": ops(load),
                        "x": float(f"{x:.5g}"),
                        "ms": four_digits(ms),
                        "name": name,
                    }


def _layers(findings: Findings, rows: Sequence[Mapping[str, Any]]) -> list[alt.Chart]:
    bound_ms, loads = findings.level.bound_ms, [ops(load) for load in findings.loads]
    y = log_y("ms:Q", [*(row["ms"] for row in rows), bound_ms], "Response time (ms, log scale)")
    x = _percentiles(max(row["x"] for row in rows))
    columns: Any = alt.expr("max(1, floor(legendRoom / 110))")
    legend = alt.Legend(orient="top", title="Attempted load", columns=columns, symbolType="stroke")
    scale = alt.Scale(domain=loads, range=_colours(len(loads)))
    tooltip = tooltips({"load:N": "Attempted load", "name:N": "Percentile", "ms:Q": "Response time (ms)"})
    base = alt.Chart()
    return [
        bound_line("ms", bound_ms, y),
        base.mark_line(strokeWidth=1.6).encode(
            x=x,
            y=y,
            color=alt.Color("load:N", scale=scale, legend=legend),
            strokeDash=alt.StrokeDash("load:N", scale=cycled(loads, _DASHES), legend=legend),
        ),
        base.mark_point(opacity=0, size=60).encode(x=x, y=y, detail="load:N", tooltip=tooltip).properties(name=HOVER),
    ]


def _percentiles(most: float) -> alt.X:
    """Return a log scale of one over the share of operations that lie above: 1 is 0 %, 10 is 90 %, 1,000 is 99.9 %."""
    decades = [10**power for power in range(int(log10(max(most, 10))) + 1)]
    names = {str(step): percent(1 - 1 / step, max(0, len(str(step)) - 3)) for step in decades}
    labels = " : ".join(f"datum.value == {step} ? '{name}'" for step, name in names.items())
    scale = alt.Scale(type="log", domain=[1, max(most, 10)], nice=False)
    axis = alt.Axis(values=decades, labelExpr=f"{labels} : ''", labelOverlap="greedy")
    return alt.X("x:Q", title="Percentile (share of operations, log scale)", scale=scale, axis=axis)


def _colours(count: int) -> list[str]:
    ramp = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in _RAMP])
    places = np.arange(count) / max(1, count - 1) * (len(_RAMP) - 1)
    mixed = np.rint([np.interp(places, range(len(_RAMP)), channel) for channel in ramp.T]).astype(int)
    return ["#" + "".join(f"{value:02x}" for value in colour) for colour in mixed.T.tolist()]
