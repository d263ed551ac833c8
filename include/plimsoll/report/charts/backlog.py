"""What of an attempt's load waited, over time: to stand below its timeline, on the same axis."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from plimsoll.report.charts.figure import TABLE, Figure, rows_data, specification
from plimsoll.report.charts.theme import PALETTE, SHADE

if TYPE_CHECKING:
    from plimsoll.domain.definition import Definition

_SECOND = timedelta(seconds=1)
_STRIPS = {
    "behind_s": "Behind schedule: due and not yet sent, over the attempted rate (s)",
    "in_flight": "In flight: sent and not yet answered (operations)",
    "lag_ms": "The load generator's own lateness (ms)",
}


def backlog_figure(definition: Definition, backlog: pd.DataFrame) -> Figure:
    """A strip for each figure of `backlog_frame`, the most of every interval; `backlog` has rows."""
    panels = alt.layer(_warm_up(definition), _line(definition))
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelAngle=0)
    facet = alt.Row("strip:N", sort=list(_STRIPS.values()), header=header)
    chart = panels.facet(row=facet, data=TABLE, spacing=8).resolve_scale(y="independent")
    return Figure(
        name="backlog",
        title="What waited",
        caption="The most of every interval. Shaded: warm-up, not judged.",
        spec=specification(chart, rows_data(_rows(definition, backlog))),
    )


def _rows(definition: Definition, backlog: pd.DataFrame) -> list[dict[str, object]]:
    """The middles of intervals (s) with their figures; what was not told is left out."""
    half_s = definition.service_levels[0].interval / _SECOND / 2
    return [
        {"strip": strip, "t": round(start_s + half_s, 3), "v": round(float(value), 3)}
        for column, strip in _STRIPS.items()
        for start_s, value in zip(backlog["start_s"].tolist(), backlog[column].tolist(), strict=True)
        if not pd.isna(value)
    ]


def _time(definition: Definition) -> alt.X:
    scale = alt.Scale(domain=[0, definition.timing.duration / _SECOND], nice=False)
    return alt.X("t:Q", title="Time since start (s)", scale=scale, axis=alt.Axis(tickCount=8, labelFlush=True))


def _line(definition: Definition) -> alt.Chart:
    y = alt.Y("v:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=3, format=",~f"))
    line: alt.Chart = (
        alt.Chart().mark_line(color=PALETTE[0], strokeWidth=1.3, point=True, clip=True).encode(x=_time(definition), y=y)
    )
    return line


def _warm_up(definition: Definition) -> alt.Chart:
    end_s = definition.timing.warmup / _SECOND
    shade = alt.Chart(alt.InlineData(values=[{"t": 0, "end": end_s}])).mark_rect(color=SHADE, opacity=0.16)
    drawn: alt.Chart = shade.encode(x=_time(definition), x2="end:Q")
    return drawn
