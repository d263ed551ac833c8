from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.analysis.logs.hdr.histograms import (
    SHOWN,
    UNITS_PER_MS,
    WIDE,
    ranks,
    total_and_values_ms,
    used_slots,
    values_ms,
    wide_length,
)

PERCENTILES = ("50", "90", "95", "99", "99.9", "99.99", "99.999", "100", "33.3", "0.1")


@pytest.mark.parametrize("percentile", PERCENTILES)
@given(total=st.integers(1, 10**10))
def test_the_rank_is_the_exact_one(percentile: Any, total: Any) -> None:
    exact = ceil(Fraction(percentile) / 100 * total)
    assert ranks([float(percentile)], total)[0] == exact


@given(
    values=st.lists(st.integers(0, 3_600_000_000), min_size=1, max_size=300), percentile=st.sampled_from(PERCENTILES)
)
def test_values_are_those_of_the_sorted_list_as_an_independent_library_reports_them(
    values: Any, percentile: Any
) -> None:
    rank = ceil(Fraction(percentile) / 100 * len(values))
    expected = HdrHistogram(1, 3_600_000_000, 3).get_highest_equivalent_value(sorted(values)[rank - 1])
    assert values_ms(_counts(values), [float(percentile)], "us") == (expected / UNITS_PER_MS["us"],)


@given(values=st.lists(st.integers(0, 3_600_000_000), min_size=1, max_size=50))
def test_the_hundredth_percentile_is_the_maximum(values: Any) -> None:
    slot = WIDE.index_of(np.array([max(values)]))
    assert values_ms(_counts(values), [100.0], "us") == (WIDE.highest_values(slot)[0] / UNITS_PER_MS["us"],)


def test_one_in_a_thousand_is_just_inside_the_999_per_mille() -> None:
    slow_and_fast = [100_000] + [1] * 999
    assert values_ms(_counts(slow_and_fast), [99.9], "us") == (0.001,)
    assert values_ms(_counts([*slow_and_fast[:-1], 100_000]), [99.9], "us")[0] >= 100


def test_the_percentiles_shown_rise() -> None:
    rng = np.random.default_rng(1)
    values = values_ms(_counts(rng.lognormal(6, 1, 5_000).astype(np.int64).tolist()), SHOWN, "us")
    assert list(values) == sorted(values)


def test_values_are_milliseconds_in_either_unit() -> None:
    assert values_ms(_counts([1_000]), [50.0], "us") == (1.0,)
    assert values_ms(_counts([1_000]), [50.0], "ns") == (0.001,)


def test_nothing_counted_has_no_percentiles() -> None:
    assert values_ms(np.zeros(wide_length("us"), dtype=np.int64), SHOWN, "us") == ()


def test_the_total_is_the_number_of_values_also_where_empty_slots_at_the_end_are_left_out() -> None:
    counts = _counts([1, 1, 5_000])
    cut = counts[: used_slots(counts)]
    assert len(cut) < len(counts)
    assert total_and_values_ms(cut, SHOWN, "us") == total_and_values_ms(counts, SHOWN, "us")
    assert total_and_values_ms(counts, SHOWN, "us")[0] == 3


def test_of_counts_that_are_all_zero_all_slots_are_taken() -> None:
    assert used_slots(np.zeros(7, dtype=np.int64)) == 7


def _counts(values: list[int]) -> np.ndarray:
    return np.bincount(WIDE.index_of(np.array(values)), minlength=wide_length("ns"))
