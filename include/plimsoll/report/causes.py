"""Why intervals missed, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.causes import CauseShare, Explained, Link, VariantCauses
from plimsoll.analysis.coincidence import BY_ID, CAUSES, Cause
from plimsoll.report.findings import Findings
from plimsoll.report.words import NOTHING, figure, ms, p_text, percent

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.campaign import CellResult

_SAID: Mapping[Link, str] = {
    "linked": "linked to misses",
    "no more than chance": "no more than chance",
    "too few intervals": "too few intervals to tell",
    "not collected": "not collected",
}
_SHOWN_MISSES = 20


@dataclass(frozen=True)
class ExplainedRow:
    """One variant's missed intervals, as text; shares are of all its missed intervals."""

    variant: str
    missed: str
    linked: str
    coincident: str
    nothing: str
    unknown: str
    any_missed: bool


@dataclass(frozen=True)
class CauseRow:
    """One cause of one variant, as text."""

    variant: str
    cause: str
    missed: str
    base_rate: str
    beyond_chance: str
    p_holm: str
    link: str
    linked: bool


@dataclass(frozen=True)
class MissRow:
    """One missed interval and everything that touched it, as text; `lines` are the nodes' log lines of its time."""

    cell: str
    start: str
    value: str
    causes: str
    lines: tuple[str, ...] = ()


def explained_rows(findings: Findings) -> tuple[ExplainedRow, ...]:
    """Every variant, in the definition's order."""
    return tuple(_explained_row(findings, one) for one in findings.causes)


def cause_rows(findings: Findings) -> tuple[CauseRow, ...]:
    """Every cause that touched a missed interval, or could not be seen, of variants that missed."""
    return tuple(
        _cause_row(findings, one.variant, share)
        for one in findings.causes
        if one.explained.missed > one.explained.unknown
        for share in one.causes
        if share.missed_with or share.link == "not collected"
    )


def worst_misses(findings: Findings) -> tuple[MissRow, ...]:
    """The missed intervals with the highest percentile, each with what touched it and where."""
    return tuple(_miss_row(findings, result, row) for result, row in _worst(findings))


def causes_frame(findings: Findings) -> pd.DataFrame:
    """A row a variant and cause: counts of intervals, base rate, share beyond chance, test."""
    import pandas as pd

    rows = [
        {
            "variant": one.variant,
            "cause": BY_ID[share.cause].label,
            "missed_intervals": share.missed,
            "missed_with_cause": share.missed_with,
            "met_intervals": share.met,
            "met_with_cause": share.met_with,
            "beyond_chance": share.beyond_chance,
            "p_value": share.p_value,
            "p_holm": share.p_holm,
            "link": share.link,
        }
        for one in findings.causes
        for share in one.causes
    ]
    return pd.DataFrame(rows)


def explained_frame(findings: Findings) -> pd.DataFrame:
    """A row a variant, `cell` empty, and one for each of its cells that missed: missed intervals by what is known."""
    import pandas as pd

    rows = [
        {"variant": one.variant, "cell": cell, **parts.model_dump()}
        for one in findings.causes
        for cell, parts in (("", one.explained), *one.cells.items())
    ]
    return pd.DataFrame(rows, columns=["variant", "cell", *Explained.model_fields])


def causes_by_cell_frame(findings: Findings) -> pd.DataFrame:
    """A row a cell that missed and a cause that touched such an interval; `link` is found over the variant's cells."""
    import pandas as pd

    links = {(one.variant, share.cause): share.link for one in findings.causes for share in one.causes}
    rows = [
        (result.cell.id, cause.label, len(missed), touched, links[result.cell.variant, cause.id])
        for result in findings.cells
        if (missed := _all_missed(result)) is not None
        for cause in CAUSES
        if (touched := int((missed[cause.id] >= cause.least(findings.level.bound_ms)).sum()))
    ]
    return pd.DataFrame(rows, columns=["cell", "cause", "missed_intervals", "missed_with_cause", "link"])


def misses_frame(findings: Findings) -> pd.DataFrame:
    """A row for each of the worst missed intervals, with all that touched it as text."""
    import pandas as pd

    worst = _worst(findings)
    told = [_miss_row(findings, result, row) for result, row in worst]
    rows = [(one.cell, row["start_s"], row["judged_ms"], one.causes) for one, (_, row) in zip(told, worst, strict=True)]
    return pd.DataFrame(rows, columns=["cell", "start_s", "judged_ms", "causes"])


def _explained_row(findings: Findings, one: VariantCauses) -> ExplainedRow:
    parts = one.explained
    return ExplainedRow(
        variant=findings.labels[one.variant],
        missed=f"{parts.missed:,}",
        linked=_of(parts.linked, parts),
        coincident=_of(parts.coincident, parts),
        nothing=_of(parts.nothing, parts),
        unknown=_of(parts.unknown, parts),
        any_missed=parts.missed > 0,
    )


def _of(count: int, parts: Explained) -> str:
    return f"{percent(count / parts.missed, 0)} ({count:,})" if parts.missed else NOTHING


def _cause_row(findings: Findings, variant: str, share: CauseShare) -> CauseRow:
    cause = BY_ID[share.cause]
    return CauseRow(
        variant=findings.labels[variant],
        cause=f"{cause.label} ({_least(cause, findings.level.bound_ms)})",
        missed=_share(share.missed_with, share.missed),
        base_rate=_share(share.met_with, share.met),
        beyond_chance=percent(share.beyond_chance, 0),
        p_holm=p_text(share.p_holm),
        link=_SAID[share.link],
        linked=share.link == "linked",
    )


def _least(cause: Cause, bound_ms: float) -> str:
    least = cause.least(bound_ms)
    return f"≥ {percent(least, 0)}" if cause.unit == "share" else f"≥ {figure(least)} {cause.unit}"


def _share(part: int, whole: int) -> str:
    return f"{percent(part / whole, 1)} of {whole:,}" if whole else NOTHING


def _worst(findings: Findings) -> list[tuple[CellResult, Mapping[Any, Any]]]:
    """Cells are looked into from the worst on, and no further than any of their intervals can be among the worst."""
    worst: list[tuple[CellResult, Mapping[Any, Any]]] = []
    for result in sorted(findings.cells, key=_worst_ms, reverse=True):
        if len(worst) == _SHOWN_MISSES and _worst_ms(result) < _judged_ms(worst[-1]):
            break
        found = [*worst, *((result, row) for row in _missed(result))]
        worst = sorted(found, key=_judged_ms, reverse=True)[:_SHOWN_MISSES]
    return worst


def _worst_ms(result: CellResult) -> float:
    level = result.verdict.levels[0] if result.verdict and result.verdict.levels else None
    return (level.worst_ms if level else None) or 0.0


def _judged_ms(one: tuple[CellResult, Mapping[Any, Any]]) -> float:
    return float(one[1]["judged_ms"])


def _missed(result: CellResult) -> Iterator[Mapping[Any, Any]]:
    """The cell's worst missed intervals, with their causes' columns."""
    touched = _all_missed(result)
    if result.counted is None or touched is None:
        return
    intervals = result.counted.intervals
    judged = intervals[intervals["met"].notna()][["start_s", "judged_ms"]]
    missed = touched.merge(judged, on="start_s").dropna(subset=["judged_ms"])
    yield from missed.nlargest(_SHOWN_MISSES, "judged_ms").to_dict(orient="records")


def _all_missed(result: CellResult) -> pd.DataFrame | None:
    """The cell's missed intervals with their causes; None where nothing but response times was analysed."""
    if result.counted is None or result.counted.coincidences.empty:
        return None
    table = result.counted.coincidences
    return table[table["missed"]]


def _miss_row(findings: Findings, result: CellResult, row: Mapping[Any, Any]) -> MissRow:
    bound_ms = findings.level.bound_ms
    touched = [_touch(cause, row) for cause in CAUSES if _amount(row, cause) >= cause.least(bound_ms)]
    return MissRow(
        cell=result.cell.id,
        start=f"{row['start_s']:,.0f} s",
        value=ms(row["judged_ms"]),
        causes="; ".join(touched) or "nothing of what was collected",
        lines=_lines(result, float(row["start_s"])),
    )


def _lines(result: CellResult, start_s: float) -> tuple[str, ...]:
    """The stored log lines of the interval that begins then, each with its host."""
    table = result.counted.log_lines if result.counted else None
    if table is None or table.empty:
        return ()
    own = table[table["start_s"] == start_s]
    return tuple(f"{host}: {text}" for host, text in zip(own["host"], own["text"], strict=True))


def _amount(row: Mapping[Any, Any], cause: Cause) -> float:
    return float(row[cause.id])


def _touch(cause: Cause, row: Mapping[Any, Any]) -> str:
    amount, host = _amount(row, cause), row[f"{cause.id}_host"]
    size = percent(amount, 0) if cause.unit == "share" else f"{figure(amount)} {cause.unit}"
    return f"{cause.label} {size} ({host})"
