"""The load at which half of the repeats would pass: against theory, other software and simulation."""

from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2
from tests.support.campaigns.half_load_coverage import LOADS, coverage

from plimsoll.analysis.campaign.half_load import HalfLoad, LevelTrials, half_load
from plimsoll.domain.strategy import FullGrid, Search, Strategy

OVERLAPPING = (5, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0)


def found(*met: int, repeats: int = 5, loads: list[int] = LOADS) -> HalfLoad:
    """Find it where so many repeats met at each load."""
    return half_load([LevelTrials(load, one, repeats - one) for load, one in zip(loads, met, strict=False)])


def known(ops_s: float | None, low: float | None, high: float | None) -> HalfLoad:
    return HalfLoad(ops_s=ops_s, low_ops_s=low, high_ops_s=high)


def test_where_repeats_do_not_overlap_it_lies_in_the_gap_and_its_middle_is_the_estimate() -> None:
    assert found(5, 5, 0, 0) == known(24_490.0, 20_000.0, 30_000.0)


def test_where_all_were_met_nothing_bounds_it_from_above_and_where_all_missed_nothing_from_below() -> None:
    assert found(5, 5, 5) == known(None, 30_000.0, None)
    assert found(0, 0, 0) == known(None, None, 10_000.0)


@pytest.mark.parametrize(
    "tried", [[], [LevelTrials(10_000, 0, 0)], [LevelTrials(10_000, 0, 1)], [LevelTrials(10_000, 3, 2)]]
)
def test_one_load_with_few_or_mixed_repeats_bounds_nothing(tried: list[LevelTrials]) -> None:
    assert half_load(tried) == known(None, None, None)


def test_one_repeat_at_each_of_two_loads_gives_an_estimate_and_no_bound() -> None:
    assert found(1, 0, repeats=1) == known(14_140.0, None, None)


def test_a_single_miss_at_the_end_of_a_search_says_little_of_what_lies_above() -> None:
    one = half_load([*(LevelTrials(load, 5, 0) for load in LOADS[:4]), LevelTrials(50_000, 0, 1)])
    assert (one.ops_s, one.low_ops_s) == (44_720.0, 40_000.0)
    assert one.high_ops_s is not None
    assert one.high_ops_s > 55_000


def test_where_more_is_met_at_higher_loads_nothing_is_claimed_beyond_the_loads_that_were_run() -> None:
    one = found(0, 1, 2, 3, 4, 5)
    assert one.ops_s is None
    assert (one.low_ops_s or 0) <= 60_000
    assert one.high_ops_s is None


def test_it_does_not_depend_on_the_unit_of_loads() -> None:
    thousandth = [load // 1000 for load in LOADS]
    one, other = found(*OVERLAPPING), found(*OVERLAPPING, loads=thousandth)
    assert [getattr(other, name) * 1000 for name in HalfLoad.model_fields] == pytest.approx(
        [getattr(one, name) for name in HalfLoad.model_fields], rel=1e-3
    )


def test_estimate_and_interval_are_those_of_a_general_optimiser() -> None:
    xs, met = np.log(LOADS), np.array(OVERLAPPING)

    def loss(parameters: tuple[float, float]) -> float:
        place, slope = parameters
        scaled = slope * (place - xs)
        return float((met * np.logaddexp(0, -scaled) + (5 - met) * np.logaddexp(0, scaled)).sum())

    best = minimize(loss, (log(40_000), 5.0), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    one = found(*OVERLAPPING)
    assert one.ops_s == pytest.approx(exp(best.x[0]), rel=1e-3)
    for end in (one.low_ops_s, one.high_ops_s):
        assert end is not None
        at_end = minimize(lambda slope, place: loss((place, slope[0])), (5.0,), (log(end),), method="Nelder-Mead")
        assert 2 * (at_end.fun - best.fun) == pytest.approx(chi2.ppf(0.95, 1), abs=0.05)


@pytest.mark.parametrize("strategy", [FullGrid(), Search(), Search(mode="fast")], ids=str)
@pytest.mark.parametrize("width", [0.25, 0.5])
def test_in_simulations_the_interval_holds_the_true_load_nine_times_of_ten_or_more(
    strategy: Strategy, width: float
) -> None:
    assert coverage(strategy, width, repeats=5, runs=30) >= 0.9
