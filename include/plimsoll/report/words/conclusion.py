"""The report in one or two sentences: what each variant carries, what that rests on, and what is missing."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby

from plimsoll.analysis.campaign.capacity import AnswerOverStages, Capacity
from plimsoll.analysis.campaign.cell_results import ratio
from plimsoll.analysis.campaign.conditions import ConditionAnswer
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.campaign import critical_load
from plimsoll.domain.hosts.cluster import PROCESSORS
from plimsoll.domain.keys.action import condition_of
from plimsoll.domain.keys.service_level import LevelVerdict
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.text.units import format_duration
from plimsoll.report.formatting import ms, ops, percent, percent_at_least, plural
from plimsoll.report.words.actions import condition_sentences, took_sentences
from plimsoll.report.words.answers import carried_rate, headline, is_highest_load, short_of_rate, threshold_words
from plimsoll.report.words.stages import what_was_run, why_it_falls
from plimsoll.report.words.taken_load import taken_conclusion

_CLOSE = 1.28
"""A worst interval this far above its bound is within the noise of cells: they differ by a quarter and more."""
_CONTRADICTED = "one more cell that misses there would contradict it"
_SHARED_MACHINE = (
    "All nodes share this machine's processors, and one that is gone leaves its share to the others: what losing a "
    "node costs on hosts of their own can't be told from these figures."
)
_OWN_PROCESSORS = (
    "Each node has {processors} processors of this machine for itself, which no other one gets when it is gone; "
    "memory, caches and disk are shared."
)
_TOGETHER = "These loads are estimated together: under none of these conditions is it more than under the one before."
_OWN_WORDS = ("what ", "all ", "none of ", "neither ")


def conclusion(findings: Findings) -> str:
    """Return the conclusion at the top of the page: `Shenandoah carries 200 ops/s, G1 not even that; one repeat …`.

    Sentences on what limits it follow: cells that were left out, have no valid attempt or were imported.
    """
    if findings.part.asks == "at a load":
        critical = critical_load(findings.part)
        sentences = [f"{taken_conclusion(findings)}.", *([critical] if critical else []), *_reservations(findings)]
        return " ".join(sentences)
    if findings.part.asks == "an action":
        return " ".join([*took_sentences(findings), *_reservations(findings)])
    fallen = [capacity for capacity in findings.capacities if capacity.falls_by]
    falls = [why_it_falls(findings.labels[capacity.variant], capacity) for capacity in fallen]
    in_words = _answer if falls else _sentence_of
    answer = ("In this stage alone " if falls else "") + in_words(findings.capacities, findings.labels)
    grounds = f"{answer}{_grounds(findings)}."
    return " ".join([grounds, *falls, *close_calls(findings), *_reservations(findings)])


def campaign_conclusion(
    answers: Sequence[AnswerOverStages], conditions: Sequence[ConditionAnswer], of_parts: Sequence[Findings]
) -> str:
    """Return the conclusion of a campaign with several parts: what each variant carries over all its stages, what
    conditions of the cluster cost, and how long actions took; then stages that found more, and incomplete cells.
    """
    labels = {name: label for findings in of_parts for name, label in findings.labels.items()}
    carried_by = [(answer, _in_order(answer, conditions)) for answer in answers]
    sentences = [
        f"{_subject(answer, answers)}{_sentence_of(carried, labels)}{_chance(carried)}."
        for answer, carried in carried_by
    ]
    if any(carried != answer.capacities for answer, carried in carried_by):
        sentences.append(_TOGETHER)
    sentences += condition_sentences(conditions, labels)
    parts = [findings.part for findings in of_parts]
    if any(part.provider.shares_machine and part.action and part.action.loses_nodes for part in parts):
        processors = _own_processors(of_parts)
        sentences.append(_OWN_PROCESSORS.format(processors=processors) if processors else _SHARED_MACHINE)
    sentences += [sentence for findings in of_parts for sentence in close_calls(findings)]
    single = (findings for findings in of_parts if findings.part.repeats == 1)
    if any(findings.capacities and not isinstance(findings.part.strategy, Threshold) for findings in single):
        sentences.append(f"One repeat each: {_CONTRADICTED}.")
    sentences += [sentence for findings in of_parts for sentence in took_sentences(findings)]
    # The answer of a threshold has these misses in it, as a cell may miss below that load
    estimated = [
        of.part for answer in answers if isinstance(answer.part.strategy, Threshold) for of in answer.of_stages
    ]
    others = [findings for findings in of_parts if findings.part not in estimated]
    fallen = [capacity for findings in others for capacity in findings.capacities if capacity.falls_by]
    sentences += [why_it_falls(labels[capacity.variant], capacity) for capacity in fallen]
    open_cells = sum(findings.count("invalid", "not run") for findings in of_parts)
    return " ".join([*sentences, *_incomplete(open_cells, sum(len(findings.cells) for findings in of_parts))])


def _own_processors(of_parts: Sequence[Findings]) -> str:
    """Return how many processors each node had for itself, the same in all cells that count; else an empty text."""
    prints = [cell.counted.fingerprint for findings in of_parts for cell in findings.cells if cell.counted]
    nodes = [node for fingerprint in prints if fingerprint for node in fingerprint.nodes]
    processors = {node.facts.provider.get(PROCESSORS, "") for node in nodes}
    return processors.pop() if len(processors) == 1 else ""


def close_calls(findings: Findings) -> Iterator[str]:
    """Yield a sentence for each capacity that ends at a miss by one interval hardly above its bound."""
    for capacity in findings.capacities:
        decisive = findings.decisive.get(capacity.variant)
        level = _only_miss(decisive.verdict) if decisive and decisive.verdict else None
        if decisive is None or level is None or level.missed != 1 or not 1 <= ratio(level) < _CLOSE:
            continue
        stage = f" in stage {findings.part.stage}" if findings.part.stage else ""
        worst = f"{ms(level.worst_ms)} against {ms(level.service_level.bound_ms)}"
        yield (
            f"{findings.labels[capacity.variant]} missed at {ops(decisive.cell.load_ops_s)}{stage} by {worst}, in one "
            f"interval of {level.judged}: the next cell there would decide."
        )


def _only_miss(verdict: Verdict) -> LevelVerdict | None:
    """Return the service level that was missed; None where several were, or nobody knows by how much."""
    missed = [level for level in verdict.levels if not level.met]
    return missed[0] if len(missed) == 1 and not verdict.worst_is_floor else None


def _subject(answer: AnswerOverStages, answers: Sequence[AnswerOverStages]) -> str:
    """Return the workload, service level and condition of an answer, as far as the campaign has several: `kv: `."""
    levels = {other.question for other in answers if other.workload == answer.workload}
    level = f"by {' and '.join(map(str, answer.service_levels))}" if len(levels) > 1 else ""
    state = condition_of(answer.action) if any(other.action != answer.action for other in answers) else ""
    named = ", ".join(filter(None, (answer.workload, level, state)))
    return f"{named[0].upper() if not answer.workload else named[0]}{named[1:]}: " if named else ""


def _in_order(answer: AnswerOverStages, conditions: Sequence[ConditionAnswer]) -> tuple[Capacity, ...]:
    """Return its capacities, of thresholds as all conditions of the cluster together give them."""
    name, loads = condition_of(answer.action), answer.part.loads
    together = {
        (condition.variant, condition.workload): condition for condition in conditions if condition.condition == name
    }

    def joint(own: Capacity) -> Capacity:
        fit = together.get((own.variant, own.workload))
        if own.asked is None or fit is None or fit.ops_s is None or fit.low_ops_s is None or fit.high_ops_s is None:
            return own
        lowest, highest = min(loads), max(loads)
        # Beyond the range of its loads a campaign claims only a bound, and no figure
        carried = fit.ops_s if lowest <= fit.ops_s <= highest else None
        low = fit.low_ops_s if fit.low_ops_s >= lowest else None
        high = fit.high_ops_s if fit.high_ops_s <= highest else None
        joined = own.asked.model_copy(update={"ops_s": carried, "low_ops_s": low, "high_ops_s": high})
        kind, figure = ("found", round(carried)) if carried else ("unknown", None)
        return own.model_copy(update={"kind": kind, "capacity_ops_s": figure, "threshold": joined})

    return tuple(map(joint, answer.capacities))


def _sentence_of(capacities: Sequence[Capacity], labels: Mapping[str, str]) -> str:
    """Say what each variant carries, with a capital letter. Names of variants stay as they are."""
    answer = _answer(capacities, labels)
    return answer[0].upper() + answer[1:] if answer.startswith(_OWN_WORDS) else answer


def _answer(capacities: Sequence[Capacity], labels: Mapping[str, str]) -> str:
    ranked = sorted(capacities, key=_rank)
    groups = [(rank, list(own)) for rank, own in groupby(ranked, key=_rank)]
    if len(groups) == 1:
        return _alone(ranked, [labels[capacity.variant] for capacity in ranked])
    clauses: list[str] = []
    carried = [-rank[1] for rank, _ in groups if rank[0] == 0]
    for (kind, *_), own in groups:
        first, names = own[0], [labels[capacity.variant] for capacity in own]
        if kind == 0:
            verb = "" if clauses else (" carries" if len(names) == 1 else " carry")
            clauses.append(f"{_and(names)}{verb} {_figure(first)}")
        elif kind == 1:
            clauses.append(_not_even(names, first, carried))
        else:
            clauses.append(_unknown(_and(names), "carries" if len(names) == 1 else "carry", first))
    return ", ".join(clauses) if len(clauses) == 2 else "; ".join(clauses)


def _rank(capacity: Capacity) -> tuple[int, int, str]:
    """Return the sort key: highest rate first, and of equal ones those that were found before those that may be higher.

    Variants that carry nothing follow, then those of which nothing is known, or only a bound.
    """
    if capacity.carried_ops_s:
        certainty = "found" if capacity.kind == "found" else "may be higher"
        return 0, -round(capacity.carried_ops_s), f"{certainty}: {carried_rate(capacity)}"
    return (1, capacity.rungs[0].load_ops_s, "") if capacity.kind == "none" else (2, 0, _bound(capacity))


def _bound(capacity: Capacity) -> str:
    """Return what is known of a threshold beyond the range of loads: `at least 300 ops/s`; empty where nothing is."""
    bounds = capacity.asked and (capacity.asked.low_ops_s or capacity.asked.high_ops_s)
    return threshold_words(capacity.asked) if bounds else ""


def _figure(capacity: Capacity) -> str:
    return f"{headline(capacity)}{short_of_rate(capacity)}"


def _alone(alike: Sequence[Capacity], names: Sequence[str]) -> str:
    """Return the answer where all variants have the same outcome, or there is only one variant."""
    first = alike[0]
    who = f"all {len(names)} variants" if len(names) > 2 else _and(names)
    verb = "carries" if len(names) == 1 else "carry"
    if first.kind == "none":
        return _not_even(names, first, [])
    if first.kind == "unknown":
        return _unknown(who, verb, first)
    if is_highest_load(first):
        highest = "of the range" if first.asked else "that was run"
        return f"{who} {verb} {carried_rate(first)}{short_of_rate(first)}, the highest load {highest}"
    is_shared = len({capacity.next_load and capacity.next_load.load_ops_s for capacity in alike}) == 1
    if first.asked:
        return f"{who} {verb} {_figure(first)}"
    beyond = "is too much" if first.kind == "found" else "is undecided"
    following = f"; {ops(first.next_load.load_ops_s)} {beyond}" if first.next_load and is_shared else ""
    return f"{who} {verb} {_figure(first)}{following}"


def _unknown(who: str, verb: str, capacity: Capacity) -> str:
    return f"{who} {verb} {bound}" if (bound := _bound(capacity)) else f"what {who} {verb} is unknown"


def _not_even(names: Sequence[str], capacity: Capacity, carried: Sequence[int]) -> str:
    lowest = capacity.rungs[0].load_ops_s
    load = "the lowest load of the range" if capacity.asked else f"{ops(lowest)}, the lowest load that was run"
    if not carried:
        return f"{_none_of(names)} {load}"
    return f"{_and(names)} not even {'that' if carried == [lowest] and not capacity.asked else load}"


def _none_of(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} does not carry even"
    if len(names) == 2:
        return f"neither {names[0]} nor {names[1]} carries even"
    return f"none of {len(names)} variants carries even"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _grounds(findings: Findings) -> str:
    if isinstance(findings.part.strategy, Threshold):
        return _chance(findings.capacities)
    repeats, carried = findings.part.repeats, [capacity for capacity in findings.capacities if capacity.capacity_ops_s]
    if all(capacity.kind == "unknown" for capacity in findings.capacities):
        return ""
    if repeats == 1:
        return f"; one repeat each: {_CONTRADICTED if carried else 'one missed interval decides'}"
    if not carried:
        return f"; {plural(repeats, 'repeat')} each, of which one that misses decides"
    bound = f"a probability of {percent_at_least(findings.repeats.pass_probability_bound)} or more"
    return f"; {plural(repeats, 'repeat')} each, which show that one more would be met with {bound}"


def _chance(capacities: Sequence[Capacity]) -> str:
    """Return with which chance, and for how long, thresholds are met; empty for capacities."""
    asked = next((capacity.asked for capacity in capacities if capacity.asked), None)
    if asked is None:
        return ""
    over = f" over {format_duration(timedelta(seconds=asked.over_s))}" if asked.over_s else ""
    return f", with a chance of {percent(asked.chance, 0)}{over}"


def _reservations(findings: Findings) -> Iterator[str]:
    if run := what_was_run(findings):
        yield run
    yield from _incomplete(findings.count("invalid", "not run"), len(findings.cells))
    if any(result.shown and result.shown.provenance for result in findings.cells):
        yield "The cells were imported, not run by Plimsoll."


def _incomplete(open_cells: int, cells: int) -> Iterator[str]:
    if open_cells:
        of_all = f"{open_cells} of {plural(cells, 'cell')} {'has' if open_cells == 1 else 'have'}"
        yield f"The campaign is incomplete: {of_all} no valid attempt."
