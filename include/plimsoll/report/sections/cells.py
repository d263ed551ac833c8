"""Every cell on a line: as text for the page, and as a data frame (CSV, Parquet)."""

from collections.abc import Callable

from markupsafe import Markup

from plimsoll.analysis.campaign.cell_results import (
    PERCENTILES,
    CellResult,
    deciding_level,
    distance,
    missed_by,
    missed_levels,
)
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.keys.service_level import LevelVerdict
from plimsoll.domain.text.units import show_usd
from plimsoll.report.formatting import NOTHING, at_least, ms, ops, percent
from plimsoll.report.sections import Section
from plimsoll.report.tables import Column, Sheet, Table, docs_link, docs_of_attempt, number
from plimsoll.report.words.misses import achieved_remark


def cells_sheet(findings: Findings) -> Sheet:
    """Return one row per cell of the definition: figures of the attempt that counts, empty where there is none.

    Columns end with their unit: `_ops_s`, `_ms`; `worst_to_bound` is the worst interval as a multiple of the bound,
    at least where `worst_is_floor`.
    """
    # Where a figure is missing, pandas by itself makes floats of whole numbers: 3 would become 3.0
    whole = ["attempt", "opening_backlog_operations", "operations", "errors"]
    whole += ["intervals_judged", "intervals_missed", "intervals_not_judged"]
    others = {"rate_achieved": "boolean", "worst_is_floor": "boolean", "decided_by": "string"}
    others |= {"usd": "float64", "opening_backlog_s": "float64"}
    rows = (_cell_record(findings, result) for result in findings.cells)
    return Sheet(rows, types=dict.fromkeys(whole, "Int64") | others)


def cells_table(findings: Findings) -> Table[CellResult]:
    """Return every cell in the definition's order; figures of the attempt that counts."""
    return Table(
        "Every cell",
        findings.cells,
        Column("Cell", lambda row: row.cell.id),
        Column("Outcome", _outcome, lambda row: row.state.replace(" ", "-")),
        Column("Attempt", _attempt),
        number("Achieved", lambda row: _achieved(findings, row)),
        number("Worst interval", lambda row: _of_level(row, _worst_ms)),
        number("Of the bound", lambda row: _of_bound(row.verdict) if row.verdict else NOTHING),
        number("Missed intervals", lambda row: _of_level(row, _missed)),
        number("Cut off", lambda row: _of_level(row, lambda level: str(level.not_judged))),
        number("Errors", lambda row: f"{sum(row.verdict.errors.values()):,}" if row.verdict else NOTHING),
        number("Cost", lambda row: _usd(findings, row), shown=findings.data.spending is not None),
    )


def cost_of_cell(findings: Findings, result: CellResult) -> float | None:
    """Return the cost of the hosts of all attempts at a cell; None where they cost nothing."""
    spending = findings.data.spending
    return spending.of_cell(result.cell.id) if spending else None


def _attempt(result: CellResult) -> str:
    verdict = result.verdict
    counted = f"{verdict.key.attempt if verdict else 'none'} of {len(result.attempts)}"
    return docs_link(counted, docs_of_attempt(verdict) if verdict else None)


def _achieved(findings: Findings, result: CellResult) -> str:
    if result.verdict is None:
        return NOTHING
    remark = achieved_remark(result.verdict, findings.level)
    return ops(result.verdict.achieved_ops_s) + (Markup("<br><small>{}</small>").format(remark) if remark else "")


def _of_level(result: CellResult, text: Callable[[LevelVerdict], str]) -> str:
    level = deciding_level(result.verdict) if result.verdict else None
    return text(level) if level else NOTHING


def _worst_ms(level: LevelVerdict) -> str:
    return at_least(ms(level.worst_ms), level.worst_is_floor)


def _of_bound(verdict: Verdict) -> str:
    return at_least(percent(distance(verdict)), verdict.worst_is_floor)


def _usd(findings: Findings, result: CellResult) -> str:
    usd, spending = cost_of_cell(findings, result), findings.data.spending
    return NOTHING if usd is None or spending is None else at_least(show_usd(usd), spending.is_least_of(result.cell.id))


def _outcome(result: CellResult) -> str:
    if result.decided_by:
        return f"{result.state}: {result.decided_by.cell_id} {result.decided_by.outcome}"
    by = missed_by(result.verdict)
    reasons: list[str] = [by] if by else [*missed_levels(result.verdict)]
    if result.verdict and result.verdict.stopped and by != "stop rule":
        reasons.append("ended by a stop rule")
    return f"{result.state} ({'; '.join(reasons)})" if reasons else result.state


def _missed(level: LevelVerdict) -> str:
    """Return the number of missed intervals. Sliding windows are named, as they are many more and overlap."""
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
        "worst_is_floor": verdict.worst_is_floor if verdict else None,
        "intervals_judged": level.judged if level else None,
        "intervals_missed": level.missed if level else None,
        "intervals_not_judged": level.not_judged if level else None,
    }


def _all_maxima(verdict: Verdict | None) -> dict[str, float | None]:
    kinds = {"": verdict.maxima, **verdict.maxima_by_operation} if verdict else {}
    return {
        f"{kind}_{percentile}".lstrip("_"): getattr(kinds.get(kind), percentile, None)
        for kind in dict.fromkeys(("", "reads", "writes", *kinds))
        for percentile in PERCENTILES
    }


CELLS = Section("cells", "Cells", tables={"cells": cells_table}, sheets={"cells": cells_sheet}, needs=frozenset())
