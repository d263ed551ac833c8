"""How far repeats may lie apart."""

import pytest

from plimsoll.quality.campaign_checks import farthest_from_median


@pytest.mark.parametrize(
    ("rates", "share"), [((980, 1000, 1020), 0.02), ((990, 1010), 0.01), ((970, 1000, 1001), 0.03)]
)
def test_rates_of_repeats_are_compared_with_their_median_and_not_with_each_other(
    rates: tuple[float, ...], share: float
) -> None:
    assert farthest_from_median(rates) == pytest.approx(share)
