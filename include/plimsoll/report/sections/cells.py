"""Every cell on a line: as text for the page, and as a data frame (CSV, Parquet)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.campaign.cell_results import (
    PERCENTILES,
    CellResult,
    deciding_level,
    distance,
    missed_by,
    missed_levels,
)
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.units import show_usd
from plimsoll.report import data_docs
from plimsoll.report.backlog import achieved_remark
from plimsoll.report.formatting import NOTHING, ms, ops, percent
from plimsoll.report.sections.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.level_verdict import LevelVerdict, Percentiles
    from plimsoll.domain.result import Verdict


@dataclass(frozen=True)
class CellRow:
    """One cell as text. `mark` is the style's name for its outcome, `data_docs` the link to the page of its checks.

    `remark`: a remark on the achieved rate; empty where there is none.
    """

    cell: str
    outcome: str
    mark: str
    attempt: str
    achieved: str
    remark: str
    worst: str
    ratio: str
    missed: str
    cut_off: str
    errors: str
    cost: str
    data_docs: str | None


def cells_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per cell of the definition: figures of the attempt that counts, empty where there is
    none.

    Columns end with their unit: `_ops_s`, `_ms`; `worst_to_bound` is the worst interval as a multiple of the bound.
    """
    import pandas as pd

    frame = pd.DataFrame([_cell_record(findings, result) for result in findings.cells])
    numbers = {"rate_achieved": "boolean", "usd": "float64", "opening_backlog_s": "float64", "decided_by": "string"}
    whole = [
        "attempt",
        "opening_backlog_operations",
        "operations",
        "errors",
        "intervals_judged",
        "intervals_missed",
        "intervals_not_judged",
    ]
    return frame.astype(dict.fromkeys(whole, "Int64") | numbers)


def cell_rows(findings: Findings) -> tuple[CellRow, ...]:
    """Return every cell in the definition's order; figures of the attempt that counts."""
    return tuple(_cell_row(findings, result) for result in findings.cells)


def cost_of_cell(findings: Findings, result: CellResult) -> float | None:
    """Return the cost of the hosts of all attempts at a cell; None where they cost nothing."""
    spending = findings.data.spending
    return spending.of_cell(result.cell.id) if spending else None


def _context(findings: Findings) -> Mapping[str, Any]:
    return {"cell_rows": cell_rows(findings)}


def _cell_row(findings: Findings, result: CellResult) -> CellRow:
    usd = cost_of_cell(findings, result)
    verdict = result.verdict
    level = deciding_level(verdict) if verdict else None
    counted = verdict.key.attempt if verdict else "none"
    return CellRow(
        cell=result.cell.id,
        outcome=_outcome(result),
        mark=result.state.replace(" ", "-"),
        attempt=f"{counted} of {len(result.attempts)}",
        achieved=ops(verdict.achieved_ops_s) if verdict else NOTHING,
        remark=achieved_remark(verdict, findings.level) if verdict else "",
        worst=ms(level.worst_ms) if level else NOTHING,
        ratio=percent(distance(verdict)) if verdict else NOTHING,
        missed=_missed(level) if level else NOTHING,
        cut_off=str(level.not_judged) if level else NOTHING,
        errors=f"{sum(verdict.errors.values()):,}" if verdict else NOTHING,
        cost=NOTHING if usd is None else show_usd(usd),
        data_docs=data_docs.of_attempt(verdict) if verdict else None,
    )


def _outcome(result: CellResult) -> str:
    if result.decided_by:
        return f"{result.state}: {result.decided_by.cell_id} {result.decided_by.outcome}"
    reason = missed_by(result.verdict) or "; ".join(missed_levels(result.verdict))
    return f"{result.state} ({reason})" if reason else result.state


def _missed(level: LevelVerdict) -> str:
    """Return the number of missed intervals.

    Sliding windows are named, because there are many more of them and they overlap.
    """
    sliding = " sliding windows" if level.service_level.windows == "sliding" else ""
    return f"{level.missed:,} of {level.judged:,}{sliding}"


def _cell_record(findings: Findings, result: CellResult) -> dict[str, object]:
    cell, verdict = result.cell, result.verdict
    newest = result.shown.verdict if result.shown else None
    return {
        "cell": cell.id,
        "variant": cell.variant,
        "variant_title": findings.labels[cell.variant],
        "load_ops_s": cell.load_ops_s,
        "repeat": cell.repeat,
        "outcome": result.state,
        "decided_by": result.decided_by.cell_id if result.decided_by else None,
        "attempts": len(result.attempts),
        "attempt": newest.key.attempt if newest else None,
        **_figures(verdict),
        **_all_maxima(verdict),
        "usd": cost_of_cell(findings, result),
        "started_at": newest.started_at.isoformat() if newest and newest.started_at else None,
        "reasons": "; ".join(newest.reasons) if newest else "",
    }


def _figures(verdict: Verdict | None) -> dict[str, object]:
    level = deciding_level(verdict) if verdict else None
    opening = verdict.opening_backlog if verdict else None
    return {
        "achieved_ops_s": verdict.achieved_ops_s if verdict else None,
        "rate_achieved": verdict.rate_achieved if verdict else None,
        "opening_backlog_operations": opening.operations if opening else None,
        "opening_backlog_s": opening.seconds if opening else None,
        "operations": verdict.operations if verdict else None,
        "errors": sum(verdict.errors.values()) if verdict else None,
        "service_level": str(level.service_level) if level else None,
        "bound_ms": level.service_level.bound_ms if level else None,
        "worst_ms": level.worst_ms if level else None,
        "worst_to_bound": distance(verdict) if verdict else None,
        "intervals_judged": level.judged if level else None,
        "intervals_missed": level.missed if level else None,
        "intervals_not_judged": level.not_judged if level else None,
    }


def _all_maxima(verdict: Verdict | None) -> dict[str, float | None]:
    kinds = {"": verdict.maxima, **verdict.maxima_by_operation} if verdict else {}
    columns = {kind: dict(_named(kind, found)) for kind, found in kinds.items()}
    empty = {name: None for kind in ("", "reads", "writes") for name, _ in _named(kind, None)}
    return empty | {name: value for own in columns.values() for name, value in own.items()}


def _named(kind: str, found: Percentiles | None) -> Iterator[tuple[str, float | None]]:
    for percentile in PERCENTILES:
        yield f"{kind}_{percentile}".lstrip("_"), getattr(found, percentile) if found else None


CELLS = Section("cells", "Cells", context=_context, tables={"cells": cells_frame}, needs_load=False)
