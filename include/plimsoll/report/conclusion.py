"""The report in one or two sentences: each variant's capacity, the number of repeats behind it, and what is missing."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from plimsoll.analysis.capacity import Capacity
from plimsoll.analysis.findings import Findings
from plimsoll.report.formatting import ops, percent_at_least, plural
from plimsoll.report.left_out import what_was_run
from plimsoll.report.taken_load import taken_conclusion

_OWN_WORDS = ("what ", "all ", "none of ", "neither ")


def conclusion(findings: Findings) -> str:
    """The conclusion at the top of the page: `Shenandoah carries 200 ops/s, G1 not even that; one repeat each, …`.

    Sentences on what limits it follow: cells that were left out, have no valid attempt or were imported.
    """
    if findings.data.taken:
        return " ".join([f"{taken_conclusion(findings, findings.data.taken)}.", *_reservations(findings)])
    answer = _answer(findings)
    if answer.startswith(_OWN_WORDS):
        answer = answer[0].upper() + answer[1:]  # names of variants stay as they are
    return " ".join([f"{answer}{_grounds(findings)}.", *_reservations(findings)])


def _answer(findings: Findings) -> str:
    ranked = sorted(findings.capacities, key=_rank)
    groups = [(rank, [findings.labels[one.variant] for one in own]) for rank, own in groupby(ranked, key=_rank)]
    lowest = min(findings.definition.loads)
    if len(groups) == 1:
        return _alone(findings, ranked[0], groups[0][1])
    clauses: list[str] = []
    carried = [-rank[1] for rank, _ in groups if rank[0] == 0]
    for (kind, _, _), names in groups:
        one = next(one for one in ranked if findings.labels[one.variant] == names[0])
        if kind == 0:
            verb = "" if clauses else (" carries" if len(names) == 1 else " carry")
            clauses.append(f"{_and(names)}{verb} {_figure(one)}")
        elif kind == 1:
            clauses.append(_not_even(names, lowest, carried))
        else:
            clauses.append(f"what {_and(names)} {'carries' if len(names) == 1 else 'carry'} is unknown")
    return ", ".join(clauses) if len(clauses) == 2 else "; ".join(clauses)


def _rank(one: Capacity) -> tuple[int, int, bool]:
    """The sort key: highest capacity first, and of equal ones those that were found before those that may be higher.

    Variants that carry nothing follow, then those of which nothing is known.
    """
    if one.capacity_ops_s:
        return 0, -one.capacity_ops_s, one.kind != "found"
    return (1 if one.kind == "none" else 2), 0, False


def _figure(one: Capacity) -> str:
    figure = ops(one.capacity_ops_s)
    return figure if one.kind == "found" else f"at least {figure}"


def _alone(findings: Findings, one: Capacity, names: Sequence[str]) -> str:
    """Whether all variants had the same outcome, or there is only one variant."""
    who = f"all {len(names)} variants" if len(names) > 2 else _and(names)
    verb = "carries" if len(names) == 1 else "carry"
    loads = findings.definition.loads
    if one.kind == "none":
        return f"{_none_of(names)} {ops(min(loads))}, the lowest load that was run"
    if one.kind == "unknown":
        return f"what {who} {verb} is unknown"
    if one.kind == "at-least":
        return f"{who} {verb} {ops(one.capacity_ops_s)}, the highest load that was run"
    following = f"; {ops(one.next_load.load_ops_s)} {_left(one)}" if one.next_load else ""
    return f"{who} {verb} {_figure(one)}{following}"


def _left(one: Capacity) -> str:
    return "is too much" if one.kind == "found" else "is undecided"


def _not_even(names: Sequence[str], lowest: int, carried: Sequence[int]) -> str:
    if not carried:
        return f"{_none_of(names)} {ops(lowest)}, the lowest load that was run"
    that = "that" if carried == [lowest] else f"{ops(lowest)}, the lowest load that was run"
    return f"{_and(names)} not even {that}"


def _none_of(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} does not carry even"
    return (
        f"{f'neither {names[0]} nor {names[1]}'} carries even"
        if len(names) == 2
        else f"none of {len(names)} variants carries even"
    )


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _grounds(findings: Findings) -> str:
    repeats, carried = findings.definition.repeats, [one for one in findings.capacities if one.capacity_ops_s]
    if all(one.kind == "unknown" for one in findings.capacities):
        return ""
    if repeats == 1:
        shows = (
            "which shows that it is possible, not that it is typical" if carried else "and one missed interval decides"
        )
        return f"; one repeat each, {shows}"
    if not carried:
        return f"; {plural(repeats, 'repeat')} each, of which one that misses decides"
    bound = f"a probability of {percent_at_least(findings.repeats.pass_probability_bound)} or more"
    return f"; {plural(repeats, 'repeat')} each, which show that one more would be met with {bound}"


def _reservations(findings: Findings) -> Iterator[str]:
    if run := what_was_run(findings):
        yield run
    open_cells = findings.count("invalid", "not run")
    if open_cells:
        of_all = f"{open_cells} of {plural(len(findings.cells), 'cell')} {'has' if open_cells == 1 else 'have'}"
        yield f"The campaign is incomplete: {of_all} no valid attempt."
    if any(result.shown and result.shown.provenance for result in findings.cells):
        yield "The cells were imported, not run by Plimsoll."
