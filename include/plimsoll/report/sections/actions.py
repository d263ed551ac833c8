"""What was done to the cells' clusters under load: how long it took, and the service level around it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.analysis.campaign.cell_results import Spread, action_times
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.action import ActionResult, PhaseFigures
from plimsoll.report.formatting import NOTHING, at_load, figure, ms, ops, place_of, plural, span
from plimsoll.report.sections.section import Section
from plimsoll.report.times_of_actions import ratio_rows

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.cell import Cell

_MIB = 1 << 20
PHASES = ("before", "during", "after")
_COLUMNS = (
    *("cell", "action", "begun_s", "duration_s", "waited_s", "undated_s", "streamed_bytes"),
    *("service_level", "phase", "judged", "missed", "met", "worst_ms", "met_again_s"),
)


@dataclass(frozen=True)
class TimeRow:
    """How long the action took of one variant at one load, as text."""

    variant: str
    load: str
    repeats: str
    median: str
    range: str


@dataclass(frozen=True)
class ActionRow:
    """The action of one cell with one service level around it, as text."""

    cell: str
    level: str
    took: str
    streamed: str
    before: str
    during: str
    after: str
    met_again: str
    failed: str


@dataclass(frozen=True)
class EvidenceRow:
    """What the database told of the end of one cell's action, and its parts, as text."""

    cell: str
    evidence: tuple[str, ...]
    parts: str


def time_rows(findings: Findings) -> tuple[TimeRow, ...]:
    """Return a row for each variant and load with a valid repeat."""
    return tuple(
        TimeRow(
            findings.labels[one.variant],
            ops(one.load_ops_s) if one.load_ops_s else "none",
            plural(one.repeats, "valid repeat"),
            f"{figure(one.median)} s",
            f"{span(one.low, one.high)} s",
        )
        for one in action_times(findings.cells)
    )


def action_rows(findings: Findings) -> tuple[ActionRow, ...]:
    """Return a row for each cell with a valid attempt and each of its service levels."""
    return tuple(
        _row(place_of(cell, findings.labels), action, place)
        for cell, action in _acted(findings)
        for place in range(len(action.levels))
    )


def evidence_rows(findings: Findings) -> tuple[EvidenceRow, ...]:
    """Return a row for each cell with a valid attempt."""
    return tuple(
        EvidenceRow(
            place_of(cell, findings.labels),
            action.evidence,
            "; ".join(f"{one.name} {figure(one.seconds)} s" for one in action.parts) or NOTHING,
        )
        for cell, action in _acted(findings)
    )


def actions_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per cell with an action, service level and phase; the worst interval in ms."""
    import pandas as pd

    rows = [
        {
            "cell": cell.id,
            "action": str(action.action),
            "begun_s": action.begun_s,
            "duration_s": action.duration_s,
            "waited_s": action.waited_s,
            "undated_s": action.undated_s,
            "streamed_bytes": action.streamed_bytes,
            "service_level": str(level.service_level),
            "phase": phase,
            **getattr(level, phase).model_dump(),
            "met_again_s": level.met_again_s,
        }
        for cell, action in _acted(findings)
        for level in action.levels
        for phase in PHASES
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def action_sentences(findings: Findings) -> tuple[str, ...]:
    """Say for each variant and load how long the action took, and in how many repeats each level was met around it."""
    return tuple(
        f"{findings.labels[one.variant]} {at_load(one.load_ops_s)}: {findings.definition.action} took "
        f"{span(one.low, one.high)} s in {plural(one.repeats, 'valid repeat')}. {' '.join(_around(findings, one))}"
        for one in action_times(findings.cells)
    )


def phase_text(figures: PhaseFigures) -> str:
    """Return a phase in words: `met, worst 38 ms`, `missed 2 of 5, worst 310 ms`."""
    if not figures.judged:
        return NOTHING
    outcome = f"missed {figures.missed} of {figures.judged}" if figures.missed else "met"
    return f"{outcome}, worst {ms(figures.worst_ms)}"


def _around(findings: Findings, of: Spread) -> Iterator[str]:
    """Yield for each service level in how many repeats of that variant and load it was met, by phase."""
    results = [
        action for cell, action in _acted(findings) if (cell.variant, cell.load_ops_s) == (of.variant, of.load_ops_s)
    ]
    for place, level in enumerate(results[0].levels):
        phases = ((name, [getattr(one.levels[place], name).met for one in results]) for name in PHASES)
        told = (f"{name} in {met.count(True)} of {len(met) - met.count(None)}" for name, met in phases)
        yield f"{level.service_level} was met {', '.join(told)}."


def _acted(findings: Findings) -> Iterator[tuple[Cell, ActionResult]]:
    """Yield each cell with a valid attempt, and its action."""
    for result in findings.cells:
        if result.verdict and result.verdict.action:
            yield result.cell, result.verdict.action


def _row(cell: str, action: ActionResult, place: int) -> ActionRow:
    level, failed, streamed = action.levels[place], action.failed, action.streamed_bytes
    return ActionRow(
        cell=cell,
        level=str(level.service_level),
        took=action.took,
        streamed=NOTHING if streamed is None else f"{streamed / _MIB:,.0f} MiB",
        before=phase_text(level.before),
        during=phase_text(level.during),
        after=phase_text(level.after),
        met_again=NOTHING if level.met_again_s is None else f"{figure(level.met_again_s)} s after",
        failed=f"{failed.before:,} / {failed.during:,} / {failed.after:,}" if failed else NOTHING,
    )


def _context(findings: Findings) -> Mapping[str, Any]:
    return {
        "times": time_rows(findings),
        "ratios": ratio_rows(findings),
        "actions": action_rows(findings),
        "proofs": evidence_rows(findings),
    }


def _has_action(findings: Findings, _charts: Collection[str]) -> bool:
    return findings.definition.action is not None


ACTIONS = Section(
    "actions", "Actions", context=_context, tables={"actions": actions_frame}, is_shown=_has_action, needs_load=False
)
