"""Small multiples, one panel per cell: the judged percentile of every interval over time, with bound and pauses.

All is thinned to what a panel can show. No peak and no miss is ever thinned away.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta

import altair as alt
import numpy as np
import pandas as pd

from plimsoll.analysis.campaign.cell_results import AttemptData, CellResult, deciding_level, missed_by
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
from plimsoll.report.formatting import figure, ops, plural, short_ops
from plimsoll.report.words.misses import links_by_place

_ALL_POINTS = 18_000
_FEWEST, _MOST = 50, 720
_SHORTEST_PAUSE = 0.01  # of the bound
_FEW = 4
_COLUMNS = ["panel", "mark", "start_s", "duration_s", "ms", "missed", "intervals", "place", "kind", "pauses", LINK]


def timelines(findings: Findings) -> tuple[Figure, ...]:
    """Draw one figure for each variant with intervals, all on the same scales.

    A cell without intervals has no panel: the caption counts such cells.
    """
    drawn_cells = {variant: list(filter(_has_intervals, findings.of_variant(variant))) for variant in findings.labels}
    tables = {variant: _table(findings, cells) for variant, cells in drawn_cells.items() if cells}
    if not tables:
        return ()
    level, (per_unit, unit) = findings.level, _time_unit(findings)
    drawn = [value for table in tables.values() for value in table["ms"].dropna() if value > 0]
    ticks = 9 if len(findings.cells) <= _FEW * len(tables) else 5
    y = log_y("ms:Q", [*(drawn or [level.bound_ms / 100]), level.bound_ms], f"p{level.percentile:g} (ms)", ticks)
    # A run may last a little longer than requested
    ends_s = [float(end) for table in tables.values() for end in (table["start_s"] + table["duration_s"]).dropna()]
    end_s = max([findings.part.timing.duration / timedelta(seconds=1), *ends_s])
    scale = alt.Scale(domain=[0, end_s / per_unit], nice=False)
    axis = alt.Axis(tickCount=4, labelOverlap=True, labelFlush=True)
    x = alt.X("t:Q", title=f"Time since start ({unit})", scale=scale, axis=axis)
    return tuple(_figure(findings, drawn_cells[variant], table, x, y) for variant, table in tables.items())


def _has_intervals(result: CellResult) -> bool:
    return result.shown is not None and not result.shown.intervals.empty


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


def _figure(findings: Findings, cells: Sequence[CellResult], table: pd.DataFrame, x: alt.X, y: alt.Y) -> Figure:
    variant, repeats, few = cells[0].cell.variant, findings.part.repeats, len(cells) <= _FEW
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
    judged = {"t:Q": f"Middle of the interval ({unit})", "ms:Q": f"p{findings.level.percentile:g} (ms)"}
    of_interval = tooltips({**judged, "missed:Q": "Missed", "of:Q": "of intervals at this point"})
    stopped = {"t:Q": f"Start of the pause ({unit})", "ms:Q": "Stop-the-world (ms)"}
    of_pause = tooltips({**stopped, "what:N": "Where and what", "of:Q": "Pauses in this slice of time"})
    intervals, pauses, stalled, cut_off = (alt.Chart().transform_filter(alt.datum.mark == mark) for mark in "ipsu")
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
        cut_off.mark_point(filled=False, opacity=0.9, size=22 if few else 14, strokeWidth=1.2, color=SHADE).encode(
            x=x, y=y
        ),
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
    cells = len(findings.cells) - sum(map(_has_intervals, findings.cells))
    return f" {plural(cells, 'cell')} without intervals {'has' if cells == 1 else 'have'} no panel." if cells else ""


def points_per_panel(panels: int) -> int:
    """Tell how many points a panel may have, so that a page of so many panels stays light."""
    return min(_MOST, max(_FEWEST, _ALL_POINTS // max(1, panels)))


def interval_points(attempts: Mapping[int, AttemptData], operations: str, points: int) -> pd.DataFrame:
    """Return the highest of every few neighbouring intervals of each attempt, of those operations that are judged.

    Columns: panel (key in `attempts`); phase (`warm-up`, `judged`, `partial`), which neighbours share; start_s,
    duration_s and ms (the judged percentile) of the highest interval; intervals and missed (how many of the neighbours
    there are, and how many of them missed). Neighbours without any percentile give a row without `ms`.
    """
    columns = ["operation", "phase", "start_s", "duration_s", "met", "judged_ms"]
    stacked = _stacked({panel: attempt.intervals for panel, attempt in attempts.items()}, columns)
    table = stacked[stacked["operation"] == operations].rename(columns={"judged_ms": "ms"})
    table = table.sort_values(["panel", "start_s"])
    table["ms"] = table["ms"].astype(float)
    table["missed"] = (table["met"].astype("boolean") == False).fillna(False).astype(bool)  # noqa: E712 - unknown is no miss
    length = table.groupby("panel")["start_s"].transform("size")
    position = table.groupby(["panel", "phase"]).cumcount()
    table["group"] = table["phase"] + (position // np.ceil(length / points).clip(lower=1)).astype(int).astype(str)
    return _highest(table, missed=("missed", "sum"), intervals=("missed", "size")).drop(columns=["operation", "met"])


def pause_points(
    attempts: Mapping[int, AttemptData], duration_s: float, shortest_ms: float, points: int
) -> pd.DataFrame:
    """Return the longest stop-the-world pause of each slice of each attempt's timed run.

    Only those of `shortest_ms` or longer. Columns: panel, start_s, ms, place, kind, pauses (number of pauses of that
    slice that are long enough).
    """
    drawn = {
        panel: _drawn(attempt.pauses, duration_s, shortest_ms)
        for panel, attempt in attempts.items()
        if not attempt.pauses.empty
    }
    table = _stacked(drawn, ["start_s", "duration_ms", "host", "process", "kind"]).rename(columns={"duration_ms": "ms"})
    table["group"] = np.floor(table["start_s"].astype(float) / duration_s * points)
    highest = _highest(table, pauses=("ms", "size"))
    rows = zip(*(highest[name].tolist() for name in ("panel", "host", "process")), strict=True)
    return highest.drop(columns=["host", "process"]).assign(
        place=[attempts[panel].place(host, process) for panel, host, process in rows]
    )


def _drawn(pauses: pd.DataFrame, duration_s: float, shortest_ms: float) -> pd.DataFrame:
    during = pauses["start_s"].between(0, duration_s, inclusive="left")
    return pauses[during & pauses["stop_the_world"].astype(bool) & (pauses["duration_ms"] >= shortest_ms)]


def _stacked(tables: Mapping[int, pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    filled = {panel: table[list(columns)] for panel, table in tables.items() if not table.empty}
    if not filled:
        return pd.DataFrame(columns=["panel", *columns])
    return pd.concat(filled, names=["panel", None]).reset_index("panel").reset_index(drop=True)


def _highest(table: pd.DataFrame, **counted: tuple[str, str]) -> pd.DataFrame:
    """Keep the row with the highest `ms` of each group of each panel, with the counts over its group, by time."""
    groups = ["panel", "group"]
    ranked = table.sort_values("ms", ascending=False, na_position="last", kind="stable")
    highest = ranked.drop_duplicates(groups).drop(columns=["missed"], errors="ignore")
    counts = table.groupby(groups).agg(**counted).reset_index()
    joined = highest.merge(counts, on=groups)
    return joined.sort_values(["panel", "start_s"], kind="stable", ignore_index=True).drop(columns="group")
