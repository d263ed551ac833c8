"""Loads that would narrow where a boundary lies."""

from itertools import pairwise
from typing import Any

import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.capacity import Capacity, capacities
from plimsoll.analysis.campaign.taken_loads import FAR, above, below, between


def capacity(loads: dict[int, str]) -> Capacity:
    (found,) = capacities(campaign_of({"a": loads}))
    return found


@pytest.mark.parametrize(
    ("met", "missed", "loads"),
    [
        (200, 2_000, (600, 350, 1_000)),
        (20_000, 40_000, (30_000, 25_000, 35_000)),
        (100, 126, (110,)),
        (40_000, 50_000, ()),
        (2, 5, (3, 4)),
        (1, 2, ()),
    ],
)
def test_loads_between_two_halve_the_gap_in_round_figures(met: int, missed: int, loads: Any) -> None:
    assert between(met, missed) == loads


@pytest.mark.parametrize("met", [1, 3, 20, 199, 4_321, 90_000])
@pytest.mark.parametrize("ratio", [1.3, 2.0, 7.0, 1_000.0])
def test_they_lie_between_and_leave_gaps_of_nearly_one_size(met: int, ratio: float) -> None:
    missed = round(met * ratio)
    first = between(met, missed)[:1]
    assert all(met < load < missed for load in between(met, missed))
    if first and met >= 20:
        assert max(first[0] / met, missed / first[0]) <= (missed / met) ** 0.63
    assert bool(first) or missed <= FAR * met or missed - met < 2


def test_beyond_the_campaigns_loads_they_double_and_halve() -> None:
    assert above(2_000) == 4_000
    assert below(200) == (100, 50)
    assert (below(2), below(1)) == ((1,), ())


@pytest.mark.parametrize(
    ("loads", "narrowing", "bracketed"),
    [
        ({200: "m", 2_000: "x"}, (600, 350, 1_000), (200, 350, 600, 1_000, 2_000)),
        ({200: "m", 2_000: "x", 3_000: "m"}, (600, 350, 1_000), (200, 350, 600, 1_000, 2_000)),
        ({200: "x", 2_000: "x"}, (100, 50), (50, 100, 200)),
        ({200: "m", 2_000: "m"}, (4_000,), (2_000, 4_000)),
        ({40_000: "m", 50_000: "x"}, (), ()),
        ({200: "mm", 2_000: "m."}, (), ()),
        ({200: "mi", 2_000: "xx"}, (), ()),
    ],
)
def test_a_capacity_names_the_loads_to_run_next_once_the_repeats_are_complete(
    loads: dict[Any, Any], narrowing: Any, bracketed: Any
) -> None:
    found = capacity(loads)
    assert found.narrowing_ops_s == narrowing
    assert found.bracketed_ops_s == bracketed
    assert all(low < high for low, high in pairwise(bracketed))
