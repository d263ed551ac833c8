"""What a condition of the cluster costs, how long actions took, and what that is beside the control, in sentences."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.campaign.by_load import WHOLE, ActionComparison, compare_actions
from plimsoll.analysis.campaign.cell_results import action_times
from plimsoll.analysis.campaign.conditions import ConditionAnswer
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.keys.action import PhaseFigures
from plimsoll.report.formatting import NOTHING, at_load, ms, ops, percent, percent_at_least, span


def took_sentences(findings: Findings) -> Iterator[str]:
    """Yield how long the action took each variant, by load, and how much faster that is than the control."""
    action, control = findings.part.action, findings.part.control
    if action is None or action.before_load:
        return
    wholes = [comparison for comparison in compare_actions(findings.cells, control) if comparison.part == WHOLE]
    by_place = {(whole.variant, whole.load_ops_s): whole for whole in wholes}
    workload = findings.part.workload_id
    name = ", ".join(filter(None, (str(action), workload)))
    for times in action_times(findings.cells):
        comparison = by_place.get((times.variant, times.load_ops_s))
        beside = f": {beside_control(comparison, findings.labels[comparison.control])}" if comparison else ""
        took = f"{span(times.low, times.high)} s {at_load(times.load_ops_s)}"
        yield f"{findings.labels[times.variant]}: {name} took {took}{beside}."


def beside_control(comparison: ActionComparison, control: str) -> str:
    """Return the difference in words: `12 % less time than 3.11 (5 to 18 % less, with a chance of 66 %)`."""
    change = _change(comparison.ratio)
    if not comparison.confidence:
        return f"{change} time than {control}, by one repeat each"
    between = f"{_change(comparison.low)} to {_change(comparison.high)}"
    return f"{change} time than {control} ({between}, with a chance of {percent_at_least(comparison.confidence)})"


def _change(ratio: float) -> str:
    return f"{percent(abs(1 - ratio), 0)} {'less' if ratio < 1 else 'more'}"


def phase_text(figures: PhaseFigures) -> str:
    """Return a phase in words: `met, worst 38 ms`, `missed 2 of 5, worst 310 ms`, `left open, worst –`."""
    if not figures.judged:
        return NOTHING
    otherwise = "left open" if figures.met is None else "met"
    outcome = f"missed {figures.missed} of {figures.judged}" if figures.missed else otherwise
    return f"{outcome}, worst {ms(figures.worst_ms)}"


def condition_sentences(answers: Sequence[ConditionAnswer], labels: Mapping[str, str]) -> Iterator[str]:
    """Yield what each condition costs beside the one before it, or that both are not told apart, with what to run."""
    of_several = len({(answer.variant, answer.workload) for answer in answers}) > 1
    for answer in answers:
        if answer.beside:
            named = ", ".join(filter(None, (labels[answer.variant], answer.workload)))
            words = _sentence(answer)
            yield f"{named}: {words}" if of_several else f"{words[0].upper()}{words[1:]}"


def _sentence(answer: ConditionAnswer) -> str:
    both = f"{answer.beside} and {answer.condition}"
    if answer.incomparable:
        counts = " and ".join(map(str, answer.incomparable))
        return f"{both} are not compared: a cell has {counts} judged intervals, and more of them ask for more."
    over = f", both over {answer.intervals} judged intervals" if answer.intervals else ""
    again = f": run {ops(answer.run_ops_s)} again under both" if answer.run_ops_s else ""
    if answer.chance is None:
        what = "contradict each other" if answer.contradicts else "are known from too few cells to be compared"
        return f"{both} {what}{again}."
    if answer.told_apart:
        low, cost, high = (percent(share or 0, 0) for share in (answer.cost_low, answer.cost, answer.cost_high))
        return f"{answer.condition} it carries {cost} less than {answer.beside} ({low} to {high}{over})."
    why = "by themselves their capacities contradict each other; " if answer.contradicts else ""
    chance = f"it carries less with a chance of {percent(answer.chance, 0)}"
    return f"{both} are not told apart ({why}{chance}{over}){again}."
