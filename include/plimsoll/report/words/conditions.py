"""What a condition of the cluster costs, in sentences."""

from collections.abc import Iterator, Mapping, Sequence

from plimsoll.analysis.campaign.conditions import ConditionAnswer
from plimsoll.report.formatting import ops, percent


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
    why = "their capacities contradict each other; " if one.contradicts else ""
    chance = f"it carries less with a chance of {percent(one.chance, 0)}"
    return f"{both} are not told apart ({why}{chance}{over}){again}."
