from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.domain.attempt.populated_data import (
    FIRST_SAMPLE,
    CountedRows,
    Sample,
    is_within_tolerance,
    least_time,
    rows_of,
    second_sample,
)

MIB, GIB = 1 << 20, 1 << 30


def test_rows_are_as_many_as_take_the_size_by_those_of_the_sample() -> None:
    assert rows_of(5 * GIB, 20_000, 5 * MIB) == 20_480_000
    assert rows_of(1, 20_000, 5 * MIB) == 1


def test_first_rows_that_take_half_of_the_size_will_do() -> None:
    assert second_sample(10 * MIB, 5 * MIB) is None
    assert second_sample(1 * MIB, 5 * MIB) is None


def test_of_more_rows_a_tenth_is_measured_from_all_over_their_range() -> None:
    assert second_sample(100 * MIB, 5 * MIB) == Sample(of_rows=400_000, parts=10)
    assert Sample(of_rows=400_000, parts=10).rows == 40_000
    assert second_sample(11 * MIB, 5 * MIB) == Sample(of_rows=44_000, parts=2)


def test_of_a_terabyte_a_gibibyte_will_do() -> None:
    sample = second_sample(1024 * GIB, 5 * MIB)
    assert sample is not None
    assert sample.parts == 1024
    assert sample.of_rows == rows_of(1024 * GIB, FIRST_SAMPLE, 5 * MIB)


@pytest.mark.parametrize(("found", "is_near"), [(95, True), (105, True), (94, False), (106, False)])
def test_five_per_cent_more_or_less_is_as_asked(found: int, is_near: bool) -> None:
    assert is_within_tolerance(100, found) is is_near


@pytest.mark.parametrize(("rate", "hosts", "takes_s"), [(500.0, 1, 200), (500.0, 2, 100), (None, 1, 0)])
def test_populating_takes_no_less_than_at_the_highest_rate_of_the_samples(
    rate: float | None, hosts: int, takes_s: int
) -> None:
    counted = CountedRows(
        rows=100_000,
        asked_bytes=GIB,
        sample_rows=FIRST_SAMPLE,
        sample_bytes=MIB,
        cell="g1-040k-r1",
        attempt=1,
        measured_at=datetime.now(UTC),
        rows_per_s=rate,
    )
    assert least_time(counted, hosts) == timedelta(seconds=takes_s)
