"""Collect what a timeline draws, thinned to what a panel can show: no peak and no miss is ever thinned away."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from plimsoll.analysis.campaign.cell_results import AttemptData

_ALL_POINTS = 18_000
_FEWEST, _MOST = 50, 720


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
