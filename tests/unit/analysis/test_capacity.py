from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import campaign_of
from tests.support.campaigns.synthetic import AZUL_CAPACITIES, Plan, azul_definition, demo_campaign, synthetic_campaign

from plimsoll.analysis.campaign.capacity import Capacity, capacities, nodes_for
from plimsoll.domain.keys.strategy import Search


def only(loads: dict[int, str]) -> Capacity:
    (capacity,) = capacities(campaign_of({"a": loads}))
    return capacity


def test_capacity_is_the_highest_load_that_every_repeat_carried_with_all_lower_ones() -> None:
    capacity = only({10_000: "mmm", 20_000: "mmm", 30_000: "mxm"})
    assert (capacity.kind, capacity.capacity_ops_s) == ("found", 20_000)
    assert capacity.next_load is not None
    assert (capacity.next_load.load_ops_s, capacity.next_load.missed) == (30_000, 1)


def test_a_load_met_above_a_miss_does_not_count_and_is_mentioned() -> None:
    capacity = only({10_000: "mm", 20_000: "xm", 30_000: "mm"})
    assert (capacity.kind, capacity.capacity_ops_s) == ("found", 10_000)
    assert capacity.met_again_at == (30_000,)


def test_a_miss_at_the_lowest_load_means_no_capacity() -> None:
    capacity = only({10_000: "mx", 20_000: "xx"})
    assert (capacity.kind, capacity.capacity_ops_s) == ("none", None)
    assert capacity.pass_probability_bound is None


def test_a_miss_by_errors_is_a_miss() -> None:
    capacity = only({10_000: "mm", 20_000: "me"})
    assert (capacity.kind, capacity.capacity_ops_s) == ("found", 10_000)
    assert capacity.next_load is not None
    assert capacity.next_load.missed_by_errors == 1


def test_when_all_loads_were_met_the_capacity_is_only_a_lower_bound() -> None:
    capacity = only({10_000: "mm", 20_000: "mm"})
    assert (capacity.kind, capacity.capacity_ops_s, capacity.next_load) == ("at-least", 20_000, None)


@pytest.mark.parametrize("open_load", ["mmi", "mm.", "..."])
def test_incomplete_repeats_at_the_next_load_make_the_capacity_provisional(open_load: str) -> None:
    capacity = only({10_000: "mmm", 20_000: open_load, 30_000: "xxx"})
    assert (capacity.kind, capacity.capacity_ops_s) == ("provisional", 10_000)
    assert capacity.lowest_missed_ops_s == 30_000


def test_one_miss_settles_a_load_even_if_other_repeats_are_incomplete() -> None:
    capacity = only({10_000: "mmm", 20_000: "xi."})
    assert (capacity.kind, capacity.capacity_ops_s) == ("found", 10_000)


def test_incomplete_repeats_at_the_lowest_load_leave_the_capacity_unknown() -> None:
    capacity = only({10_000: "m.", 20_000: "mm"})
    assert (capacity.kind, capacity.capacity_ops_s) == ("unknown", None)


def test_a_second_attempt_heals_an_invalid_one() -> None:
    assert only({10_000: "dd", 20_000: "xx"}).kind == "found"


def test_loads_are_climbed_in_order_whatever_the_definition_s_order() -> None:
    assert only({30_000: "x", 10_000: "m", 20_000: "m"}).capacity_ops_s == 20_000


def test_the_bound_on_the_pass_probability_rests_on_the_repeats_at_the_capacity() -> None:
    bound = only({10_000: "mmmmm", 20_000: "xxxxx"}).pass_probability_bound
    assert bound == pytest.approx(0.5493, abs=1e-4)


@pytest.mark.parametrize(
    ("control", "ratio"),
    [({10_000: "m", 20_000: "x"}, 2.0), ({10_000: "x", 20_000: "x"}, None), ({10_000: "m", 20_000: "m"}, None)],
)
def test_the_ratio_to_the_control_needs_a_found_capacity_of_the_control(
    control: dict[int, str], ratio: float | None
) -> None:
    first, second = capacities(campaign_of({"a": control, "b": {10_000: "m", 20_000: "m"}}, control="a"))
    assert (first.ratio_to_control, second.ratio_to_control) == (None, ratio)


@pytest.mark.parametrize("seed", [1, 2])
def test_planted_capacities_are_found(seed: int) -> None:
    definition = azul_definition(repeats=1, timing={"duration": "300s", "warmup": "60s"})
    data = synthetic_campaign(definition, Plan(AZUL_CAPACITIES, seed=seed))
    assert {one.variant: one.capacity_ops_s or 0 for one in capacities(data)} == AZUL_CAPACITIES


def test_the_demo_s_answer_is_informative() -> None:
    g1, shenandoah = capacities(demo_campaign())
    assert (g1.kind, g1.capacity_ops_s) == ("found", 200)
    assert (shenandoah.kind, shenandoah.capacity_ops_s) == ("at-least", 1500)


def searched(mode: str, loads: dict[int, str]) -> Capacity:
    """Return the capacity that a search of one variant finds."""
    data = campaign_of({"a": loads})
    strategy = Search.model_validate({"mode": mode, "guard": 0})
    (capacity,) = capacities(replace(data, definition=data.definition.model_copy(update={"strategy": strategy})))
    return capacity


def test_what_a_search_left_out_above_a_miss_is_not_needed_and_no_gap() -> None:
    capacity = searched("exact", {10_000: "mm", 20_000: "x.", 30_000: ".."})
    assert (capacity.kind, capacity.capacity_ops_s) == ("found", 10_000)
    assert [rung.outcome for rung in capacity.rungs] == ["met", "missed", "not needed"]
    assert [(rung.not_needed, rung.not_run) for rung in capacity.rungs] == [(0, 0), (1, 0), (2, 0)]


def test_a_search_that_is_not_over_has_gaps_below_its_first_miss() -> None:
    capacity = searched("exact", {10_000: "m.", 20_000: "x.", 30_000: ".."})
    assert (capacity.kind, capacity.capacity_ops_s) == ("unknown", None)
    assert [rung.not_run for rung in capacity.rungs] == [1, 0, 0]


def test_a_fast_search_takes_lower_loads_for_met_and_says_so() -> None:
    capacity = searched("fast", {10_000: "..", 20_000: "m.", 30_000: "mm", 40_000: "x."})
    assert (capacity.kind, capacity.capacity_ops_s) == ("found", 30_000)
    assert [rung.outcome for rung in capacity.rungs] == ["taken for met", "taken for met", "met", "missed"]


def test_cells_of_a_full_grid_are_never_left_out() -> None:
    assert [rung.not_needed for rung in only({10_000: "x.", 20_000: ".."}).rungs] == [0, 0]


@pytest.mark.parametrize(("load", "nodes"), [(20_000, 6), (20_001, 7), (10_000, 3), (1_000, 3)])
def test_nodes_grow_in_proportion_to_the_load_and_are_never_fewer_than_were_run(load: int, nodes: int) -> None:
    assert nodes_for(load, capacity_ops_s=10_000, nodes=3) == nodes


@pytest.mark.parametrize(("rate", "nodes"), [(7_167.952083333334, 5), (15_003.34, 12), (356_039.0333333333, 3)])
def test_twice_the_load_takes_twice_the_nodes_and_not_one_more(rate: float, nodes: int) -> None:
    assert nodes_for(2 * rate, rate, nodes) == 2 * nodes


@pytest.mark.parametrize(("control", "other", "ratio"), [("m", "s", 0.9), ("s", "m", 1 / 0.9), ("s", "s", 1.0)])
def test_the_ratio_to_the_control_is_that_of_the_rates_that_were_answered(
    control: str, other: str, ratio: float
) -> None:
    of = {10_000: control, 20_000: "x"}
    _, second = capacities(campaign_of({"a": of, "b": {10_000: other, 20_000: "x"}}, control="a"))
    assert second.ratio_to_control == pytest.approx(ratio)
