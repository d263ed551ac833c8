"""What a node that is down or replaced costs: the order of conditions, equal exposure, and what is not told apart."""

from collections.abc import Mapping
from math import exp, log
from random import Random

import pytest
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.analysis.campaign.capacity import capacities_over_stages
from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.analysis.campaign.conditions import ConditionAnswer, condition_answers
from plimsoll.analysis.campaign.findings import analyse, data_of_parts
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.report.words.actions import condition_sentences
from plimsoll.report.words.conclusion import campaign_conclusion

LOADS = (8_000, 11_000, 15_000, 20_000, 27_000)
STAGES = [
    {"id": "replacing", "action": {"name": "replace-node"}},
    {"id": "healthy"},
    {"id": "down", "action": {"name": "kill-node", "before_load": True}},
]


def campaign(
    half_loads: Mapping[str, float], judged: Mapping[str, int] | None = None, strategy: object = "full-grid"
) -> CampaignData:
    """Return a campaign of three repeats. `half_loads`: stage → the load (ops/s) at which a cell is at its bound."""
    definition = definition_of({"a": dict.fromkeys(LOADS, "mmm")}, stages=STAGES, strategy=strategy)
    dice = Random(4)
    attempts = tuple(
        attempt(definition, cell.id, 100 * exp(3 * log(cell.load_ops_s / half_loads[cell.stage]) + dice.gauss(0, 0.1)))
        for cell in grid(resolve(definition))
    )
    seen = tuple(with_intervals(one, (judged or {}).get(one.verdict.cell.stage, 6)) for one in attempts)
    return CampaignData("lost-1", definition, seen, (), GENERATED_AT)


def attempt(definition: Definition, cell_id: str, worst_ms: float) -> AttemptData:
    [cell] = [one for one in grid(resolve(definition)) if one.id == cell_id]
    return attempt_of(definition, cell, 1, "m" if worst_ms < 100 else "x", worst_ms)


def with_intervals(one: AttemptData, judged: int) -> AttemptData:
    levels = tuple(level.model_copy(update={"judged": judged}) for level in one.verdict.levels)
    return AttemptData(one.verdict.model_copy(update={"levels": levels}), None, one.intervals, one.pauses)


def answers(data: CampaignData) -> tuple[ConditionAnswer, ...]:
    return condition_answers(capacities_over_stages(data_of_parts(data)))


def sentences(data: CampaignData) -> list[str]:
    return list(condition_sentences(answers(data), {"a": "A"}))


def test_conditions_stand_in_their_order_whatever_order_the_stages_have() -> None:
    found = answers(campaign({"healthy": 20_000, "down": 15_000, "replacing": 12_000}))
    assert [(one.condition, one.beside) for one in found] == [
        ("healthy", ""),
        ("with one node down", "healthy"),
        ("while a node is replaced", "with one node down"),
    ]


def test_each_step_down_has_a_size_with_an_interval() -> None:
    data = campaign({"healthy": 20_000, "down": 15_000, "replacing": 10_000})
    healthy, down, replacing = answers(data)
    assert healthy.low_ops_s < 20_000 * exp(-0.13 / 3) < healthy.high_ops_s
    assert down.told_apart
    assert down.cost_low < 0.25 < down.cost_high
    assert replacing.cost_low < 1 / 3 < replacing.cost_high
    assert sentences(data)[0].startswith("With one node down it carries 2")
    assert " less than healthy (" in sentences(data)[0]


def test_what_is_alike_is_not_told_apart_and_a_load_to_run_again_is_named() -> None:
    data = campaign({"healthy": 15_000, "down": 15_000, "replacing": 15_000})
    _, down, _ = answers(data)
    assert not down.told_apart
    assert 0.1 < down.chance < 0.9
    assert "Healthy and with one node down are not told apart" in sentences(data)[0]
    assert f"run {down.run_ops_s:,} ops/s again under both" in sentences(data)[0]


def test_an_answer_against_the_order_is_a_contradiction_and_the_order_holds_in_what_is_told() -> None:
    data = campaign({"healthy": 12_000, "down": 16_000, "replacing": 16_000})
    healthy, down, _ = answers(data)
    assert down.contradicts
    assert not down.told_apart
    assert healthy.ops_s >= down.ops_s
    assert "their capacities contradict each other" in sentences(data)[0]


def test_a_headline_of_thresholds_has_the_loads_in_their_order() -> None:
    data = campaign({"healthy": 12_000, "down": 16_000, "replacing": 7_000}, strategy="threshold")
    of_parts = data_of_parts(data)
    told = campaign_conclusion(capacities_over_stages(of_parts), answers(data), [analyse(one) for one in of_parts])
    assert told.startswith("While a node is replaced: A carries at most ")
    assert "Healthy: A carries 11,400 ops/s (9,770 to 13,000)" in told
    assert "With one node down: A carries 10,400 ops/s (at most 12,100)" in told
    assert "under none of these conditions is it more than under the one before" in told


def test_cells_with_other_numbers_of_intervals_are_not_compared_where_these_are_not_stored() -> None:
    data = campaign({"healthy": 20_000, "down": 15_000, "replacing": 10_000}, judged={"replacing": 2})
    _, down, replacing = answers(data)
    assert down.told_apart
    assert (replacing.incomparable, replacing.cost) == ((6, 2), None)
    assert sentences(data)[-1].startswith("With one node down and while a node is replaced are not compared: ")


@pytest.mark.parametrize(("count", "expected"), [(6, None), (7, None), (12, 6)])
def test_cells_are_brought_to_the_fewest_intervals(count: int, expected: int | None) -> None:
    data = campaign({"healthy": 20_000, "down": 15_000, "replacing": 10_000}, judged={"healthy": count})
    spread = tuple(with_ratios(one) for one in data.attempts)
    found = answers(CampaignData("lost-1", data.definition, spread, (), GENERATED_AT))
    assert {one.intervals for one in found} == {expected}


def test_stages_that_ask_for_a_time_are_compared_over_that_time() -> None:
    strategy = {"name": "threshold", "over": "30s"}
    data = campaign({"healthy": 20_000, "down": 15_000, "replacing": 10_000}, strategy=strategy)
    spread = tuple(with_ratios(one) for one in data.attempts)
    found = answers(CampaignData("lost-1", data.definition, spread, (), GENERATED_AT))
    assert {one.intervals for one in found} == {3}
    assert [one.told_apart for one in found] == [False, True, True]


def with_ratios(one: AttemptData) -> AttemptData:
    """Return the attempt with every interval's ratio: the worst, and others below it."""
    levels = tuple(
        level.model_copy(update={"ratios": tuple(level.worst_ms / 100 * (1 - 0.05 * n) for n in range(level.judged))})
        for level in one.verdict.levels
    )
    return AttemptData(one.verdict.model_copy(update={"levels": levels}), None, one.intervals, one.pauses)
