import pytest

from plimsoll.domain.data_size import FIRST_SAMPLE, is_within_tolerance, larger_sample, rows_of

MIB, GIB = 1 << 20, 1 << 30


def test_rows_are_as_many_as_take_the_size_by_those_of_the_sample() -> None:
    assert rows_of(5 * GIB, 20_000, 5 * MIB) == 20_480_000
    assert rows_of(1, 20_000, 5 * MIB) == 1


def test_a_sample_of_a_tenth_of_the_size_will_do() -> None:
    assert larger_sample(50 * MIB, FIRST_SAMPLE, 5 * MIB) is None
    larger = larger_sample(100 * MIB, FIRST_SAMPLE, 5 * MIB)
    assert larger is not None
    assert larger_sample(100 * MIB, larger, larger * 5 * MIB // FIRST_SAMPLE) is None


def test_of_a_terabyte_a_gibibyte_will_do() -> None:
    larger = larger_sample(1024 * GIB, FIRST_SAMPLE, 5 * MIB)
    assert larger == pytest.approx(1.1 * FIRST_SAMPLE * 1024 / 5, rel=0.001)
    assert larger_sample(1024 * GIB, 5_000_000, GIB) is None


@pytest.mark.parametrize(("found", "is_near"), [(95, True), (105, True), (94, False), (106, False)])
def test_five_per_cent_more_or_less_is_as_asked(found: int, is_near: bool) -> None:
    assert is_within_tolerance(100, found) is is_near
