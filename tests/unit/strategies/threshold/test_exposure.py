"""Margins brought to the same number of intervals."""

from itertools import combinations
from statistics import fmean

import numpy as np
import pytest

from plimsoll.strategies.threshold.posterior import at_exposure, expected_worst, tail_scale
from plimsoll.strategies.threshold.question import CellObservation

FIVE = (-0.5, -0.1, -0.4, 0.2, -0.3)


def observed(intervals: tuple[float, ...], load: float = 1_000) -> CellObservation:
    worst = max(intervals)
    return CellObservation(load, "missed" if worst > 0 else "met", worst, intervals=intervals)


def test_the_expected_worst_is_the_mean_over_all_choices() -> None:
    assert expected_worst(FIVE, 3) == pytest.approx(fmean(max(chosen) for chosen in combinations(FIVE, 3)))
    assert expected_worst(FIVE, 5) == pytest.approx(0.2)


def test_more_intervals_than_asked_make_a_smaller_margin() -> None:
    (brought,) = at_exposure([observed(FIVE)], 2)
    assert (brought.outcome, brought.margin) == ("met", pytest.approx(expected_worst(FIVE, 2)))


def test_fewer_intervals_than_asked_make_a_larger_margin() -> None:
    dice = np.random.default_rng(1)
    short, long = (tuple(dice.exponential(0.1, count) - 1.0) for count in (15, 720))
    scale = tail_scale([short, long])
    assert scale == pytest.approx(0.1, rel=0.2)
    (brought, same) = at_exposure([observed(short), observed(long)], 720)
    assert brought.margin == pytest.approx(max(short) + scale * np.log(720 / 15))
    assert same == observed(long)


def test_unknown_intervals_and_cut_short_cells_stay_as_they_are() -> None:
    cells = [
        CellObservation(1_000, "met", -0.2),
        CellObservation(1_000, "missed", 0.3, is_censored=True, intervals=(0.1, 0.3)),
    ]
    assert at_exposure(cells, 360) == tuple(cells)
    assert at_exposure([observed(FIVE)], None) == (observed(FIVE),)


def test_equal_intervals_have_no_tail() -> None:
    assert tail_scale([(0.1, 0.1, 0.1)]) == 0.0
    assert tail_scale([]) == 0.0
