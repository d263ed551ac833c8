"""The answer of several stages that ask the same: whose strategy and loads it has, and which cells it rests on."""

from collections.abc import Mapping, Sequence
from math import exp, log
from random import Random

import pytest
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.analysis.campaign.capacity import Capacity, capacities_over_stages
from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.analysis.campaign.conditions import ConditionAnswer, condition_answers
from plimsoll.analysis.campaign.findings import analyse, data_of_parts
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.report.words.conclusion import campaign_conclusion

LOADS = (8_000, 11_000, 15_000, 20_000, 27_000)
AT_BOUND = 15_000
"""The load (ops/s) at which a cell is at its bound, where a test says no other."""
LONG, SHORT = {"duration": "630s", "warmup": "30s"}, {"duration": "90s", "warmup": "30s"}
FIND = {"id": "find", "strategy": "threshold"}
Stage = Mapping[str, object]


def campaign(stages: Sequence[Stage], at_bound: Mapping[str, float] | None = None, noise: float = 0.1) -> CampaignData:
    """Return a campaign of four repeats, with the same cell of a stage alike whatever stages there are beside it."""
    definition = definition_of({"a": dict.fromkeys(LOADS, "mmmm")}, stages=stages)
    attempts = (
        _attempt(definition, cell, (at_bound or {}).get(cell.stage, AT_BOUND), noise)
        for cell in grid(resolve(definition))
    )
    return CampaignData("several-1", definition, tuple(attempts), (), GENERATED_AT)


def _attempt(definition: Definition, cell: Cell, at_bound: float, noise: float) -> AttemptData:
    if not cell.load_ops_s:
        return with_verdict(attempt_of(definition, cell, 1, "m"), levels=())
    worst = 100 * exp(3 * log(cell.load_ops_s / at_bound) + Random(cell.id).gauss(0, noise))
    part = resolve(definition).part(cell.part)
    judged = part.timing.judged // part.service_levels[0].interval
    found = attempt_of(definition, cell, 1, "m" if worst < 100 else "x", worst)
    return with_verdict(
        found, levels=tuple(level.model_copy(update={"judged": judged}) for level in found.verdict.levels)
    )


def with_verdict(one: AttemptData, **changes: object) -> AttemptData:
    return AttemptData(one.verdict.model_copy(update=changes), None, one.intervals, one.pauses)


def answer(data: CampaignData) -> Capacity:
    [found] = capacities_over_stages(data_of_parts(data))
    [capacity] = found.capacities
    return capacity


def conditions(data: CampaignData) -> tuple[ConditionAnswer, ...]:
    return condition_answers(capacities_over_stages(data_of_parts(data)))


@pytest.mark.parametrize("is_first", [True, False])
def test_a_stage_without_a_load_says_nothing_of_the_load_that_is_carried(is_first: bool) -> None:
    repair = {"name": "repair"}
    stages = [{"id": "alone", "loads": "none", "action": repair}, {"id": "under", "action": repair}]
    beside = answer(campaign(stages if is_first else stages[::-1]))
    assert [rung.load_ops_s for rung in beside.rungs] == [*LOADS]
    assert beside.kind == "found"
    assert beside.asked is None
    assert beside.threshold is not None
    assert beside.threshold.cells == len(LOADS) * 4


def test_a_miss_without_a_load_contradicts_no_capacity() -> None:
    repair = {"name": "repair"}
    data = campaign([{"id": "under", "action": repair}, {"id": "alone", "loads": "none", "action": repair}])
    missed = tuple(one if one.verdict.cell.load_ops_s else with_verdict(one, met=False) for one in data.attempts)
    under, _ = data_of_parts(CampaignData("several-1", data.definition, missed, (), GENERATED_AT))
    assert analyse(under).capacities[0].contradicted_by == ()


@pytest.mark.parametrize("is_first", [True, False])
def test_a_closed_loop_changes_nothing_of_what_a_condition_costs(is_first: bool) -> None:
    open_loops: list[Stage] = [{"id": "healthy"}, {"id": "down", "action": {"name": "kill-node", "before_load": True}}]
    closed: Stage = {"id": "maximum", "loop": "closed", "loads": ["200000/s"]}
    at_bound = {"healthy": 20_000.0, "down": 14_000.0, "maximum": 300_000.0}
    beside = conditions(campaign([closed, *open_loops] if is_first else [*open_loops, closed], at_bound))
    assert beside == conditions(campaign(open_loops, at_bound))


@pytest.mark.parametrize("is_first", [True, False])
def test_a_threshold_is_what_a_campaign_answers_whichever_stage_ran_first(is_first: bool) -> None:
    check = {"id": "check", "loads": ["5000/s", "40000/s"], "repeats": 2}
    found = answer(campaign([FIND, check] if is_first else [check, FIND]))
    assert found.kind == "found"
    assert found.asked is not None
    assert found.asked.cells == len(LOADS) * 4 + 4
    assert abs(log(found.asked.ops_s or 1) - log(AT_BOUND)) < 0.15


def test_the_loads_of_all_stages_bound_the_answer() -> None:
    low, high = {"id": "low", "loads": ["5000/s", "8000/s"]}, {"id": "high"}
    found = answer(campaign([low, high]))
    assert found.threshold is not None
    assert found.threshold.ops_s is not None
    assert 8_000 < found.threshold.ops_s < 27_000
    assert found.threshold == answer(campaign([high, low])).threshold


def test_each_cell_is_looked_at_by_the_timing_of_its_own_stage() -> None:
    both = [{"id": "long", "timing": LONG}, {"id": "short", "timing": SHORT}]
    first, last = answer(campaign(both, noise=0.3)), answer(campaign(both[::-1], noise=0.3))
    assert first.threshold == last.threshold


def test_a_miss_in_another_stage_takes_no_threshold_away() -> None:
    data = campaign([FIND, {"id": "hold", "loads": ["8000/s"], "repeats": 5}])
    missed = tuple(
        with_verdict(one, met=False) if one.verdict.cell.id == "hold-a-008k-r1" else one for one in data.attempts
    )
    of_parts = data_of_parts(CampaignData("several-1", data.definition, missed, (), GENERATED_AT))
    answers, findings = capacities_over_stages(of_parts), [analyse(one) for one in of_parts]
    assert findings[0].capacities[0].contradicted_by == ()
    told = campaign_conclusion(answers, condition_answers(answers), findings)
    assert told.startswith("A carries 1")
    assert "does not carry" not in told
