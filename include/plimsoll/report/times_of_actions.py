"""How long actions took, and what that is beside the control, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.action_comparison import WHOLE, ActionComparison, compare_actions
from plimsoll.analysis.campaign.cell_results import action_times
from plimsoll.report.formatting import at_load, multiple, ops, percent, percent_at_least, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.analysis.campaign.findings import Findings


@dataclass(frozen=True)
class ActionRatioRow:
    """The time of an action, or of a part of it, beside the control's, as text."""

    variant: str
    part: str
    load: str
    ratio: str
    interval: str
    confidence: str
    conclusion: str


def ratio_rows(findings: Findings) -> tuple[ActionRatioRow, ...]:
    """Return a row for each variant, part and load that the control has too; empty without a control."""
    return tuple(
        ActionRatioRow(
            variant=findings.labels[one.variant],
            part=one.part or "the whole",
            load=ops(one.load_ops_s) if one.load_ops_s else "none",
            ratio=multiple(one.ratio),
            interval=f"{multiple(one.low)} to {multiple(one.high)}",
            confidence=percent_at_least(one.confidence),
            conclusion=_beside(one, findings.labels[one.control]),
        )
        for one in compare_actions(findings.cells, findings.definition.control)
    )


def took_sentences(findings: Findings) -> Iterator[str]:
    """Yield how long the action took each variant, by load, and how much faster that is than the control."""
    action, control = findings.definition.action, findings.definition.control
    if action is None or action.before_load:
        return
    compared = compare_actions(findings.cells, control)
    by_place = {(one.variant, one.load_ops_s): one for one in compared if one.part == WHOLE}
    workload = findings.data.of_part.workload if findings.data.of_part else ""
    name = ", ".join(filter(None, (str(action), workload)))
    for one in action_times(findings.cells):
        found = by_place.get((one.variant, one.load_ops_s))
        beside = f": {_beside(found, findings.labels[found.control])}" if found else ""
        took = f"{span(one.low, one.high)} s {at_load(one.load_ops_s)}"
        yield f"{findings.labels[one.variant]}: {name} took {took}{beside}."


def _beside(one: ActionComparison, control: str) -> str:
    """Return the difference in words: `12 % less time than 3.11 (5 to 18 % less, with a chance of 66 %)`."""
    change = _change(one.ratio)
    if not one.confidence:
        return f"{change} time than {control}, by one repeat each"
    between = f"{_change(one.low)} to {_change(one.high)}, with a chance of {percent_at_least(one.confidence)}"
    return f"{change} time than {control} ({between})"


def _change(ratio: float) -> str:
    return f"{percent(abs(1 - ratio), 0)} {'less' if ratio < 1 else 'more'}"
