"""Longest stops and longest waits for safepoints, by load."""

from collections.abc import Iterator

import altair as alt

from plimsoll.analysis.stops import Stops
from plimsoll.report.charts.figure import TABLE, Figure, Panels, rows_data, specification
from plimsoll.report.charts.spreads import spread_layers, spread_row
from plimsoll.report.charts.theme import legend_room, log_y
from plimsoll.report.findings import Findings

_STOP, _WAIT = "Longest stop", "Longest time to safepoint"


def stops_chart(findings: Findings) -> tuple[Figure, ...]:
    """One panel each, on one log scale; none where no GC log tells a stop."""
    rows = [row for one in findings.stops for row in _rows(findings, one)]
    if not rows:
        return ()
    names = [name for name in (_STOP, _WAIT) if any(row["panel"] == name for row in rows)]
    y = log_y("median:Q", [float(str(row[end])) for row in rows for end in ("low", "high")], "Time (ms, log scale)")
    panels = alt.layer(*spread_layers(findings, y, "ms")).properties(width=340, height=220)
    header = alt.Header(labelFontSize=13, labelFontWeight="bold", title=None)
    chart = panels.facet(facet=alt.Facet("panel:N", sort=names, header=header), columns=2, data=TABLE).add_params(
        legend_room(700)
    )
    figure = Figure(
        name="stops",
        title="Longest stop-the-world times, by load",
        caption=(
            "Stop: the time from the request that all threads of a node's JVM stop until they go on. Time to "
            "safepoint: the time from that request until the last thread has stopped. Each is the longest of all nodes "
            "over the judged time. Points are medians over the valid repeats, bars reach from the lowest to the "
            "highest repeat."
        ),
        spec=specification(chart, rows_data(rows)),
        panels=Panels(count=len(names), in_row=len(names), narrowest_px=270),
    )
    return (figure,)


def _rows(findings: Findings, one: Stops) -> Iterator[dict[str, object]]:
    for panel, found in ((_STOP, one.longest_ms), (_WAIT, one.to_safepoint_longest_ms)):
        if found and found.low > 0:
            place = one.variant, one.load_ops_s, one.repeats
            yield spread_row(findings, panel, place, (found.low, found.median, found.high))
