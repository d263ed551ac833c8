"""The tolerance of a rate whose schedule is drawn at random."""

import random
from math import inf

import pytest

from plimsoll.domain.keys.loads import ENOUGH_OPERATIONS, rate_tolerance


@pytest.mark.parametrize(
    ("operations", "tolerance"),
    [(90_000, 0.01), (9_000_000, 0.01), (10_000, 0.03), (900, 0.1), (9, 1.0), (1, 3.0), (0, inf), (-1, inf)],
)
def test_it_is_three_standard_deviations_of_a_poisson_count_and_one_percent_at_least(
    operations: float, tolerance: float
) -> None:
    assert rate_tolerance(operations) == pytest.approx(tolerance)


def test_plans_name_the_number_from_which_it_is_one_percent() -> None:
    assert ENOUGH_OPERATIONS == 90_000
    assert rate_tolerance(ENOUGH_OPERATIONS) == pytest.approx(0.01)
    assert rate_tolerance(ENOUGH_OPERATIONS - 1000) > 0.01


def test_of_schedules_drawn_at_random_hardly_any_is_beyond_it() -> None:
    dice, operations = random.Random(1), 1_000

    def drawn() -> int:
        at, count = dice.expovariate(operations), 0
        while at < 1:
            at, count = at + dice.expovariate(operations), count + 1
        return count

    beyond = sum(abs(drawn() / operations - 1) > rate_tolerance(operations) for _ in range(300))
    assert beyond < 6
