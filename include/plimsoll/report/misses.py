"""The worst missed intervals in words. Each has an anchor that charts and lists link to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.misses import WORST, Miss, Touch
from plimsoll.report.formatting import figure, ms, percent

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.campaign.findings import Findings

_NOT_ANALYSED = "response times alone were analysed"
_NOTHING = "nothing of what was collected"


@dataclass(frozen=True)
class MissRow:
    """One missed interval and everything that touched it, as text; `lines` are the nodes' log lines of its time."""

    anchor: str
    cell: str
    start: str
    value: str
    causes: str
    lines: tuple[str, ...] = ()


def miss_rows(misses: Iterable[Miss]) -> tuple[MissRow, ...]:
    """Return a row for each missed interval, in the given order."""
    return tuple(_row(one) for one in misses)


def rows_by_cell(misses: Iterable[Miss]) -> Mapping[str, tuple[MissRow, ...]]:
    """Return the rows of each cell that has any, in order of time."""
    found: dict[str, tuple[MissRow, ...]] = {}
    for miss in sorted(misses, key=lambda one: one.start_s):
        found[miss.cell_id] = (*found.get(miss.cell_id, ()), _row(miss))
    return found


def links_by_place(misses: Iterable[Miss]) -> Mapping[tuple[str, float], str]:
    """Return the link to each listed interval, by cell and start (s)."""
    return {(one.cell_id, one.start_s): f"#{_anchor(one)}" for one in misses}


def misses_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row for each of the WORST missed intervals, with the causes that touched it as text."""
    import pandas as pd

    worst = findings.misses[:WORST]
    rows = [
        (row.cell, miss.start_s, miss.judged_ms, row.causes) for miss, row in zip(worst, miss_rows(worst), strict=True)
    ]
    return pd.DataFrame(rows, columns=["cell", "start_s", "judged_ms", "causes"])


def _row(miss: Miss) -> MissRow:
    return MissRow(
        anchor=_anchor(miss),
        cell=miss.cell_id,
        start=f"{miss.start_s:,.0f} s",
        value="nothing answered" if miss.judged_ms is None else ms(miss.judged_ms),
        causes=_NOT_ANALYSED if miss.touched is None else "; ".join(map(_touch, miss.touched)) or _NOTHING,
        lines=miss.lines,
    )


def _anchor(miss: Miss) -> str:
    return f"miss-{miss.cell_id}-{miss.start_s:.6g}"


def _touch(touch: Touch) -> str:
    size = percent(touch.amount, 0) if touch.cause.unit == "share" else f"{figure(touch.amount)} {touch.cause.unit}"
    return f"{touch.cause.label} {size} ({touch.place})"
