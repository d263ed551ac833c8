"""How long actions took, and what that is beside the control, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.action_comparison import WHOLE, ActionComparison, compare_actions
from plimsoll.analysis.campaign.cell_results import action_times
from plimsoll.report.formatting import at_load, percent, percent_at_least, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.analysis.campaign.findings import Findings


def took_sentences(findings: Findings) -> Iterator[str]:
    """Yield how long the action took each variant, by load, and how much faster that is than the control."""
    action, control = findings.part.action, findings.part.control
    if action is None or action.before_load:
        return
    compared = compare_actions(findings.cells, control)
    by_place = {(one.variant, one.load_ops_s): one for one in compared if one.part == WHOLE}
    workload = findings.part.workload_id
    name = ", ".join(filter(None, (str(action), workload)))
    for one in action_times(findings.cells):
        found = by_place.get((one.variant, one.load_ops_s))
        beside = f": {beside_control(found, findings.labels[found.control])}" if found else ""
        took = f"{span(one.low, one.high)} s {at_load(one.load_ops_s)}"
        yield f"{findings.labels[one.variant]}: {name} took {took}{beside}."


def beside_control(one: ActionComparison, control: str) -> str:
    """Return the difference in words: `12 % less time than 3.11 (5 to 18 % less, with a chance of 66 %)`."""
    change = _change(one.ratio)
    if not one.confidence:
        return f"{change} time than {control}, by one repeat each"
    between = f"{_change(one.low)} to {_change(one.high)}, with a chance of {percent_at_least(one.confidence)}"
    return f"{change} time than {control} ({between})"


def _change(ratio: float) -> str:
    return f"{percent(abs(1 - ratio), 0)} {'less' if ratio < 1 else 'more'}"
