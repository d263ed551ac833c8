"""What a condition of the cluster costs, how long actions took, and what that is beside the control, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.by_load import WHOLE, ActionComparison, compare_actions
from plimsoll.analysis.campaign.cell_results import action_times
from plimsoll.analysis.campaign.conditions import ConditionAnswer
from plimsoll.report.formatting import at_load, ops, percent, percent_at_least, span

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


def condition_sentences(found: Sequence[ConditionAnswer], labels: Mapping[str, str]) -> Iterator[str]:
    """Yield what each condition costs beside the one before it, or that both are not told apart, with what to run."""
    of_several = len({(one.variant, one.workload) for one in found}) > 1
    for one in found:
        if one.beside:
            named = ", ".join(filter(None, (labels[one.variant], one.workload)))
            words = _sentence(one)
            yield f"{named}: {words}" if of_several else f"{words[0].upper()}{words[1:]}"


def _sentence(one: ConditionAnswer) -> str:
    both = f"{one.beside} and {one.condition}"
    if one.incomparable:
        counts = " and ".join(map(str, one.incomparable))
        return f"{both} are not compared: a cell has {counts} judged intervals, and more of them ask for more."
    over = f", both over {one.intervals} judged intervals" if one.intervals else ""
    again = f": run {ops(one.run_ops_s)} again under both" if one.run_ops_s else ""
    if one.chance is None:
        what = "contradict each other" if one.contradicts else "are known from too few cells to be compared"
        return f"{both} {what}{again}."
    if one.told_apart:
        low, cost, high = (percent(share or 0, 0) for share in (one.cost_low, one.cost, one.cost_high))
        return f"{one.condition} it carries {cost} less than {one.beside} ({low} to {high}{over})."
    why = "by themselves their capacities contradict each other; " if one.contradicts else ""
    chance = f"it carries less with a chance of {percent(one.chance, 0)}"
    return f"{both} are not told apart ({why}{chance}{over}){again}."
