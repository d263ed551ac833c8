"""Small multiples, one panel per cell: the judged percentile of every interval over time, with bound and pauses."""

import json
from collections.abc import Sequence
from datetime import timedelta

import altair as alt
import pandas as pd

from plimsoll.analysis.campaign.cell_results import CellResult, deciding_level, missed_by
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.theme import (
    HOVER,
    LINK,
    MISSED,
    PALETTE,
    PAUSE,
    SHADE,
    TABLE,
    Figure,
    Panels,
    bound_line,
    csv_data,
    linked,
    log_y,
    specification,
    tooltips,
    warm_up_shade,
)
from plimsoll.report.charts.timeline_data import interval_points, pause_points, points_per_panel
from plimsoll.report.formatting import figure, ops, plural, short_ops
from plimsoll.report.words.misses import links_by_place

_SHORTEST_PAUSE = 0.01  # of the bound
_FEW = 4
_COLUMNS = ["panel", "mark", "start_s", "duration_s", "ms", "missed", "intervals", "place", "kind", "pauses", LINK]


def timelines(findings: Findings) -> tuple[Figure, ...]:
    """Draw one figure for each variant with intervals, all on the same scales.

    A cell without intervals has no panel: the caption counts such cells.
    """
    drawn_cells = {variant: _with_intervals(findings, variant) for variant in findings.labels}
    tables = {variant: _table(findings, cells) for variant, cells in drawn_cells.items() if cells}
    if not tables:
        return ()
    drawn = [value for table in tables.values() for value in table["ms"].dropna() if value > 0]
    ticks = 9 if len(findings.cells) <= _FEW * len(tables) else 5
    y = log_y(
        "ms:Q",
        [*(drawn or [findings.level.bound_ms / 100]), findings.level.bound_ms],
        f"p{findings.level.percentile:g} (ms)",
        ticks,
    )
    per_unit, unit = _time_unit(findings)
    scale = alt.Scale(domain=[0, max(_ends_s(findings, table) for table in tables.values()) / per_unit], nice=False)
    axis = alt.Axis(tickCount=4, labelOverlap=True, labelFlush=True)
    x = alt.X("t:Q", title=f"Time since start ({unit})", scale=scale, axis=axis)
    return tuple(_figure(findings, variant, table, x, y) for variant, table in tables.items())


def _with_intervals(findings: Findings, variant: str) -> tuple[CellResult, ...]:
    own = findings.of_variant(variant)
    return tuple(result for result in own if result.shown is not None and not result.shown.intervals.empty)


def _ends_s(findings: Findings, table: pd.DataFrame) -> float:
    """Return the end of the last interval, s: a run may last a little longer than requested."""
    ends = (table["start_s"] + table["duration_s"]).dropna().astype(float)
    return max([findings.part.timing.duration / timedelta(seconds=1), *map(float, ends)])


def _table(findings: Findings, cells: Sequence[CellResult]) -> pd.DataFrame:
    """Return the rows that all panels draw, by `mark`, and one row (n) to open each panel.

    i: intervals, warm-up's too; u: cut off, so not judged; s: missed, with nothing answered; p: pauses.
    """
    attempts = {panel: result.shown for panel, result in enumerate(cells) if result.shown}
    points = points_per_panel(len(findings.cells))
    duration_s = findings.part.timing.duration / timedelta(seconds=1)
    shortest_ms = _SHORTEST_PAUSE * findings.level.bound_ms
    intervals = interval_points(attempts, findings.level.operations, points)
    stalled = intervals["ms"].isna() & (intervals["missed"] > 0)
    cut_off = intervals["phase"] == "partial"
    marks = {
        "n": pd.DataFrame({"panel": range(len(cells))}),
        "i": intervals[~stalled & ~cut_off],
        "u": intervals[cut_off],
        "s": intervals[stalled],
        "p": pause_points(attempts, duration_s, shortest_ms, points // 2),
    }
    table = pd.concat(
        [own.assign(mark=mark) for mark, own in marks.items() if not own.empty], ignore_index=True
    ).reindex(columns=_COLUMNS)
    links = links_by_place(findings.misses)
    places = zip(table["panel"].tolist(), table["start_s"].astype(float).tolist(), strict=True)
    to = [links.get((cells[panel].cell.id, start_s), "") for panel, start_s in places]
    table[LINK] = [link if mark in "is" else "" for link, mark in zip(to, table["mark"].tolist(), strict=True)]
    return table


def _figure(findings: Findings, variant: str, table: pd.DataFrame, x: alt.X, y: alt.Y) -> Figure:
    cells, repeats = _with_intervals(findings, variant), findings.part.repeats
    few = len(cells) <= _FEW
    width_px, height_px = (340, 150) if few else (150, 84)
    panels = alt.layer(*_layers(findings, variant, x, y, few=few)).properties(width=width_px, height=height_px)
    headers = json.dumps([_header(result, few=few) for result in cells])
    header = alt.Header(labelExpr=f"{headers}[datum.value]", labelAnchor="start")
    in_row = min(len(cells), repeats if repeats > 1 else _FEW)
    facet = alt.Facet("panel:O", title=None, header=header)
    chart = panels.facet(facet=facet, columns=in_row, spacing=14, data=TABLE)
    return Figure(
        name=f"timeline-{variant}",
        title=f"{findings.labels[variant]}: p{findings.level.percentile:g} of every interval",
        caption=_caption(findings),
        spec=specification(chart, _csv_data(findings, table)),
        panels=Panels(count=len(cells), in_row=in_row, narrowest_px=240 if few else 120),
    )


def _header(result: CellResult, *, few: bool) -> str:
    load = ops(result.cell.load_ops_s) if few else short_ops(result.cell.load_ops_s)
    state = result.state if result.state in ("met", "missed") else result.state.upper()
    outcome = missed_by(result.verdict) or state
    if result.verdict and (level := deciding_level(result.verdict)) and level.missed:
        wanted, several = level.service_level, len(result.verdict.levels) > 1
        of_level = f" of p{wanted.percentile:g} < {figure(wanted.bound_ms)} ms" if several else ""
        outcome = f"missed {level.missed}/{level.judged}{of_level}"
    return f"{load} r{result.cell.repeat}: {outcome}"


def _csv_data(findings: Findings, table: pd.DataFrame) -> dict[str, object]:
    per_unit, _ = _time_unit(findings)
    middle = (table["start_s"] + table["duration_s"].fillna(0) / 2).astype(float) / per_unit
    shaped = table.assign(
        t=middle.map("{:.5g}".format, na_action="ignore"),
        ms=table["ms"].astype(float).map("{:.4g}".format, na_action="ignore"),
        what=(table["place"].astype(object).fillna("") + " " + table["kind"].astype(object).fillna("")).str.strip(),
        of=table["intervals"].fillna(table["pauses"]).fillna(0).astype(int),
        missed=table["missed"].fillna(0).astype(int),
    )
    columns = ["panel", "mark", "t", "ms", "missed", "of", "what", LINK]
    return csv_data(shaped[columns], ("panel", "t", "ms", "missed", "of"))


def _layers(findings: Findings, variant: str, x: alt.X, y: alt.Y, *, few: bool) -> list[alt.Chart]:
    """Draw from back to front: warm-up, pauses, bound, line, points (all where there are few), hover targets."""
    line = PALETTE[list(findings.labels).index(variant) % len(PALETTE)]
    per_unit, unit = _time_unit(findings)
    of_interval = tooltips(
        {
            "t:Q": f"Middle of the interval ({unit})",
            "ms:Q": f"p{findings.level.percentile:g} (ms)",
            "missed:Q": "Missed",
            "of:Q": "of intervals at this point",
        }
    )
    of_pause = tooltips(
        {
            "t:Q": f"Start of the pause ({unit})",
            "ms:Q": "Stop-the-world (ms)",
            "what:N": "Where and what",
            "of:Q": "Pauses in this slice of time",
        }
    )
    stalled = alt.Chart().transform_filter(alt.datum.mark == "s")
    pauses = alt.Chart().transform_filter(alt.datum.mark == "p")
    intervals = alt.Chart().transform_filter(alt.datum.mark == "i")
    points = intervals if few else intervals.transform_filter(alt.datum.missed > 0)
    colour = alt.when(alt.datum.missed > 0).then(alt.value(MISSED)).otherwise(alt.value(line))
    measured = alt.Chart().transform_filter("datum.mark != 'p' && datum.mark != 'n'")
    hover = measured.mark_point(opacity=0, size=40).properties(name=HOVER)
    return [
        warm_up_shade(findings.part.timing.warmup / timedelta(seconds=1) / per_unit, x),
        pauses.mark_rule(color=PAUSE, strokeWidth=1.2, opacity=0.75).encode(
            x=x, y=y, y2=alt.value("height"), tooltip=of_pause
        ),
        bound_line("ms", findings.level.bound_ms, y),
        intervals.mark_line(color=line, strokeWidth=1.3).encode(x=x, y=y),
        points.mark_point(filled=True, opacity=1, size=28 if few else 14).encode(x=x, y=y, color=colour),
        alt.Chart()
        .transform_filter(alt.datum.mark == "u")
        .mark_point(filled=False, opacity=0.9, size=22 if few else 14, strokeWidth=1.2, color=SHADE)
        .encode(x=x, y=y),
        stalled.mark_point(filled=True, opacity=1, size=40 if few else 22, shape="triangle-down", color=MISSED).encode(
            x=x, y=alt.value(5)
        ),
        hover.encode(x=x, y=y, tooltip=of_interval),
        linked(intervals.mark_point(opacity=0, size=60).encode(x=x, y=y, tooltip=of_interval)),
        linked(
            stalled.mark_point(opacity=0, size=60).encode(x=x, y=alt.value(5), tooltip=of_interval),
            name="links-at-the-top",
        ),
    ]


def _time_unit(findings: Findings) -> tuple[float, str]:
    return (60.0, "min") if findings.part.timing.duration >= timedelta(minutes=10) else (1.0, "s")


def _caption(findings: Findings) -> str:
    timing, level = findings.part.timing, findings.level
    neighbours = -(-int(timing.duration / level.interval) // points_per_panel(len(findings.cells)))
    thinned = f" Each point is the highest of {plural(neighbours, 'neighbouring interval')}." if neighbours > 1 else ""
    drawn = " Of the service levels the first is drawn." if len(findings.part.service_levels) > 1 else ""
    return (
        f"Over each panel: load (ops/s), repeat, outcome. Line: p{level.percentile:g} of each interval on a log "
        f"scale.{thinned} Orange points: intervals that missed; triangles at the top: nothing was answered in "
        f"them; the worst lead to what coincided with them, as the links below do. Hollow grey points: the last "
        f"interval, cut off and not judged. Dashed: the bound, "
        f"{figure(level.bound_ms)} ms. Shaded: warm-up, not judged. Vertical bars: stop-the-world pauses of any "
        f"node, as high as they are long, on the same scale; the longest of each slice of time, none below "
        f"{figure(_SHORTEST_PAUSE * level.bound_ms)} ms.{drawn}{_without_panel(findings)}"
    )


def _without_panel(findings: Findings) -> str:
    cells = sum(result.shown is None or result.shown.intervals.empty for result in findings.cells)
    return f" {plural(cells, 'cell')} without intervals {'has' if cells == 1 else 'have'} no panel." if cells else ""
