from datetime import timedelta

import pytest

from plimsoll.domain.keys.service_level import ServiceLevel, few_operations, operations_needed

P999 = ServiceLevel(percentile=99.9, interval=timedelta(seconds=10))


@pytest.mark.parametrize(
    ("percentile", "needed"), [(99.9, 10_000), (99.99, 100_000), (99, 1_000), (50, 20), (99.95, 20_000), (100, None)]
)
def test_ten_operations_lie_above_a_percentile_of_so_many(percentile: float, needed: int | None) -> None:
    assert operations_needed(ServiceLevel(percentile=percentile)) == needed


def test_a_rate_that_leaves_ten_operations_needs_no_note() -> None:
    assert list(few_operations(P999, [1000, 2000])) == []


def test_the_note_says_which_rate_and_which_interval_would_do() -> None:
    assert list(few_operations(P999, [50, 2000])) == [
        "p99.9 of an interval of 10s is decided by fewer than 10 operations at 50 ops/s: 1,000 ops/s would do, or "
        "intervals of 200s at 50 ops/s"
    ]


def test_several_rates_are_told_by_the_lowest_and_the_highest_of_them() -> None:
    (two,) = few_operations(P999, [999, 50])
    (three,) = few_operations(P999, [999, 50, 100, 5000])
    assert "at 50 and 999 ops/s: 1,000" in two
    assert "at 50 to 999 ops/s: 1,000" in three


def test_the_maximum_is_one_operations_in_any_case() -> None:
    assert list(few_operations(ServiceLevel(percentile=100), [1])) == []
