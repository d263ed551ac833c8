"""Chart all data of one cell over time, a strip for each kind, on one axis that can be zoomed.

Names of figures and a column of their tables say `track`, as in the links and files of all reports so far.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import altair as alt
import pandas as pd

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.report.charts.theme import (
    HOVER,
    LINK,
    MISSED,
    PALETTE,
    TABLE,
    Figure,
    bound_line,
    csv_data,
    cycled,
    linked,
    log_y,
    tooltips,
    warm_up_shade,
)
from plimsoll.report.formatting import place_of
from plimsoll.report.words.misses import links_by_place

_POINTS = 240
_MIB = 2**20
_DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2])
_AXIS_PX = 52
_OF_WHOLE_CHARTS = ("$schema", "config", "data", "datasets")
_CAPTION = (
    "All strips share one axis of time. Drag to move, turn the wheel with Ctrl held to zoom, double-click to see the "
    "whole again. Shaded: warm-up, not judged. Orange points: intervals that missed; each leads to what coincided "
    "with it, as the links below do. Backlog: operations due and not yet sent, divided by the attempted rate. In "
    "flight: operations sent and not yet answered. Late: the longest delay of an operation that the load generator "
    "could have sent at once. CPU: all processors of a host. Heap: the most in use when a collection began or ended. "
    "Stopped: for how long all threads of a node were stopped in an interval. Long runs are thinned: each point is the "
    "highest of its neighbours."
)


@dataclass(frozen=True)
class _Strip:
    """One strip: `rows` are t (s), v and series."""

    name: str
    title: str
    rows: pd.DataFrame
    height: int = 78

    @property
    def is_of_hosts(self) -> bool:
        return set(self.rows["series"]) != {""}


def strip_charts(findings: Findings) -> tuple[Figure, ...]:
    """Draw one figure for each variant whose capacity a valid attempt decided."""
    links = links_by_place(findings.misses)
    return tuple(
        strip_chart(
            findings,
            result.counted,
            name=f"tracks-{variant}",
            title=f"{place_of(result.cell, findings.labels)}: {result.state}",
            links=links,
        )
        for variant, result in findings.decisive.items()
        if result.counted
    )


def strip_chart(
    findings: Findings, attempt: AttemptData, *, name: str, title: str, links: Mapping[tuple[str, float], str]
) -> Figure:
    """Chart all data of an attempt, a strip for each kind. `links` of missed intervals by cell and start (s)."""
    first, *others = _strips(findings, attempt, links)
    # A line needs two points: a strip with a single one would look empty
    strips = [first, *(strip for strip in others if strip.rows["t"].nunique() > 1)]
    rows = pd.concat([strip.rows.assign(track=strip.name) for strip in strips], ignore_index=True)
    hosts = sorted({*rows["series"]} - {""})
    end_s = max(findings.part.timing.duration / timedelta(seconds=1), float(rows["t"].max()))
    # The first strip of hosts has their legend, the last strip the labels of the axis of time
    named = next((strip.name for strip in strips if strip.is_of_hosts), "")
    charts = [
        _chart(
            findings,
            strip,
            attempt.verdict.cell.load_ops_s,
            _time(end_s, labels=strip is strips[-1]),
            _series(hosts, legend=strip.name == named) if strip.is_of_hosts else {"color": alt.value(PALETTE[0])},
        )
        for strip in strips
    ]
    return Figure(name=name, title=title, caption=_CAPTION, spec=_stacked(charts, _csv(rows)))


def _stacked(charts: Sequence[alt.LayerChart | alt.FacetChart], data: Mapping[str, Any]) -> dict[str, Any]:
    """Stack strips on one x axis that zooms. Altair's own concatenation copies every part of them many times over."""
    strips = [chart.properties(data=TABLE).to_dict(validate=False) for chart in charts]
    own = [{key: value for key, value in strip.items() if key not in _OF_WHOLE_CHARTS} for strip in strips]
    views = [f"strip{index}" for index in range(len(own))]
    for name, strip in zip(views, own, strict=True):
        strip["layer"][0]["name"] = name
    select = {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.ctrlKey]"}
    return {
        "$schema": strips[0]["$schema"],
        "data": dict(data),
        "spacing": 8,
        "resolve": {"scale": {"x": "shared", "color": "independent", "strokeDash": "independent"}},
        "datasets": {name: dataset for strip in strips for name, dataset in strip["datasets"].items()},
        "vconcat": own,
        "params": [{"name": "zoom", "select": select, "bind": "scales", "views": views}],
    }


def _strips(findings: Findings, attempt: AttemptData, links: Mapping[tuple[str, float], str]) -> Iterator[_Strip]:
    """Yield a strip for each kind of data that was collected. Response times come first."""
    level, table = findings.level, attempt.intervals
    judged = table[(table["operation"] == level.operations) & (table["phase"] != "partial")]
    middle = judged["start_s"] + judged["duration_s"] / 2
    cell_id = attempt.key.cell_id
    to = [links.get((cell_id, float(start_s)), "") for start_s in judged["start_s"].tolist()]
    missed = judged["met"].eq(False)  # NA is no miss
    times = pd.DataFrame({"t": middle, "v": judged["judged_ms"], "series": "", "missed": missed, LINK: to})
    yield _Strip("ms", f"p{level.percentile:g} (ms)", _thinned(times), height=120)
    every = table[(table["operation"] == ALL_OPERATIONS) & (table["phase"] != "partial")]
    rates = pd.DataFrame({"t": every["start_s"] + every["duration_s"] / 2, "v": every["rate_ops_s"], "series": ""})
    yield _Strip("rate", "Answered (ops/s)", _thinned(rates))
    to_middle = _to_middle(every)
    if not attempt.backlog.empty:
        # Answers that come after the run's end are reported in intervals beyond it
        reported = attempt.backlog[attempt.backlog["start_s"].isin(every["start_s"])]
        waiting = pd.DataFrame({"t": to_middle(reported["start_s"]), "v": reported["behind_s"], "series": ""})
        if waiting["v"].max() > 0:
            yield _Strip("backlog", "Backlog (s)", _thinned(waiting))
        yield _Strip("in_flight", "In flight", _thinned(waiting.assign(v=reported["in_flight"])))
        if reported.get("lag_ms", pd.Series(dtype=float)).max() > 0:
            yield _Strip("late", "Late (ms)", _thinned(waiting.assign(v=reported["lag_ms"])))
    if attempt.activity.empty:
        return
    for name, title, column, factor in (
        ("cpu", "CPU (%)", "cpu_busy", 100.0),
        ("heap", "Heap (MiB)", "heap_bytes", 1 / _MIB),
        ("stopped", "Stopped (ms)", "stopped_ms", 1.0),
    ):
        own = attempt.activity[attempt.activity["start_s"].isin(every["start_s"])].dropna(subset=[column])
        if not own.empty:
            places = [attempt.place(*pair) for pair in own[["host", "process"]].to_numpy().tolist()]
            values = own[column].astype(float) * factor
            rows = pd.DataFrame({"t": to_middle(own["start_s"]), "v": values, "series": places})
            yield _Strip(name, title, _thinned(rows))


def _to_middle(intervals: pd.DataFrame) -> Callable[[pd.Series], pd.Series]:
    """Return a function from an interval's start, s, to its middle.

    It needs each interval's own length, because the first one may be short. An unknown start counts half the median
    length.
    """
    lengths = intervals.drop_duplicates("start_s").set_index("start_s")["duration_s"].astype(float)
    return lambda starts: starts + starts.map(lengths).fillna(lengths.median()) / 2


def _thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the highest of every few neighbours of a series, so that no series has more than `_POINTS`."""
    kept = []
    for _, own in rows.dropna(subset=["v"]).sort_values("t").groupby("series", sort=True):
        each = -(-len(own) // _POINTS)
        group = pd.Series(range(len(own)), index=own.index) // each
        kept.append(own.loc[own.groupby(group)["v"].idxmax()])
    return pd.concat(kept, ignore_index=True) if kept else rows.iloc[:0]


def _csv(rows: pd.DataFrame) -> dict[str, Any]:
    shaped = rows.assign(
        t=rows["t"].astype(float).map("{:.6g}".format),
        v=rows["v"].astype(float).map("{:.4g}".format),
        missed=rows["missed"].astype("boolean").fillna(value=False).astype(int),
    )
    return csv_data(shaped[["track", "t", "v", "series", "missed", LINK]], ("t", "v", "missed"))


def _chart(
    findings: Findings, strip: _Strip, load: int, x: alt.X, series: Mapping[str, Any]
) -> alt.LayerChart | alt.FacetChart:
    y, own = _axis(findings, strip), alt.Chart().transform_filter(alt.datum.track == strip.name)
    layers = [warm_up_shade(findings.part.timing.warmup / timedelta(seconds=1), x, clip=True)]
    if (reference := {"ms": findings.level.bound_ms, "rate": float(load)}.get(strip.name)) is not None:
        layers.append(bound_line("v", reference, y))
    layers.append(own.mark_line(strokeWidth=1.3).encode(x=x, y=y, **series))
    if strip.name == "ms":
        missed = own.transform_filter(alt.datum.missed > 0)
        layers.append(missed.mark_point(filled=True, opacity=1, size=18, color=MISSED).encode(x=x, y=y))
    of_hosts = {"series:N": "Host"} if strip.is_of_hosts else {}
    tooltip = tooltips({**of_hosts, "t:Q": "Time (s)", "v:Q": strip.title})
    hover = own.mark_point(opacity=0, size=40).encode(x=x, y=y, tooltip=tooltip)
    layers.append(hover.properties(name=f"{HOVER}-{strip.name}"))
    if strip.name == "ms":
        layers.append(linked(own.mark_point(opacity=0, size=80).encode(x=x, y=y, tooltip=tooltip)))
    return alt.layer(*layers).properties(width=690, height=strip.height)


def _series(hosts: Sequence[str], *, legend: bool) -> dict[str, Any]:
    shown = alt.Legend(orient="top", title=None, symbolType="stroke", symbolSize=300, columns=6) if legend else None
    return {
        "color": alt.Color("series:N", scale=cycled(hosts, PALETTE), legend=shown),
        "strokeDash": alt.StrokeDash("series:N", scale=cycled(hosts, _DASHES), legend=shown),
    }


def _time(end_s: float, *, labels: bool) -> alt.X:
    axis = alt.Axis(labels=labels, ticks=labels, tickCount=8, labelOverlap=True, labelFlush=True)
    title = "Time since start (s)" if labels else None
    return alt.X("t:Q", title=title, scale=alt.Scale(domain=[0, end_s], nice=False), axis=axis)


def _axis(findings: Findings, strip: _Strip) -> alt.Y:
    values = [float(value) for value in strip.rows["v"] if value > 0]
    if strip.name == "ms":
        return log_y("v:Q", [*values, findings.level.bound_ms], strip.title, 7, _AXIS_PX)
    axis = alt.Axis(tickCount=3, format=",~f", minExtent=_AXIS_PX)
    scale = alt.Scale(domain=[0, 100]) if strip.name == "cpu" else alt.Scale(zero=True, nice=True)
    return alt.Y("v:Q", title=strip.title, axis=axis, scale=scale)
