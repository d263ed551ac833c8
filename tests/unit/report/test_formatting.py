from datetime import UTC, datetime, timedelta, timezone

import pytest

from plimsoll.report import formatting
from plimsoll.report.formatting import percent_at_least


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (0.04216, "0.0422"), (0.42, "0.42"), (3.1, "3.1"), (9.999, "10"), (38.24, "38.2"), (100.0, "100"),
        (291.3, "291"), (1240.4, "1,240"),
    ],
)  # fmt: skip
def test_figures_have_three_significant_digits_and_no_idle_zeros(value: float, text: str) -> None:
    assert formatting.figure(value) == text


def test_rates_carry_their_unit() -> None:
    assert formatting.ops(40_000) == "40,000 ops/s"
    assert formatting.ops(None) == formatting.NOTHING


@pytest.mark.parametrize(("load", "text"), [(200, "200"), (1500, "1.5k"), (40_000, "40k"), (120_000, "120k")])
def test_short_rates_suit_an_axis(load: int, text: str) -> None:
    assert formatting.short_ops(load) == text


def test_a_p_value_is_never_said_to_be_zero() -> None:
    assert [formatting.p_text(value) for value in (1e-9, 0.0499, None)] == ["< 0.001", "0.050", formatting.NOTHING]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.05 ** (1 / 3), "36 %"), (0.05 ** (1 / 6), "60 %"), (0.05, "5 %"), (0.29, "29 %"), (None, "–")],
)
def test_a_lower_bound_is_never_rounded_up(share: float | None, text: str) -> None:
    assert percent_at_least(share) == text


def test_long_lists_say_how_much_is_left_out() -> None:
    assert formatting.listing(["a", "b", "c"], most=2) == "a, b and 1 more"
    assert formatting.listing(["a", "b"], most=2) == "a, b"


def test_ranges_that_read_alike_become_one_figure() -> None:
    assert formatting.span(5.001, 5.002) == "5"
    assert formatting.span(5.0, 7.5) == "5 to 7.5"
    assert formatting.whole_span(19_999.8, 20_000.1) == "20,000"


@pytest.mark.parametrize(
    ("value", "text"),
    [(timedelta(seconds=90), "90 s"), (timedelta(minutes=150), "150 min"), (timedelta(seconds=200), "200 s")],
)
def test_durations_are_in_minutes_where_those_are_whole(value: timedelta, text: str) -> None:
    assert formatting.duration(value) == text


def test_moments_are_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    assert formatting.moment(datetime(2026, 3, 1, 1, 30, tzinfo=east)) == "28 February 2026, 23:30 UTC"
    assert formatting.moment(datetime(2026, 3, 1, 12, tzinfo=UTC)) == "1 March 2026, 12:00 UTC"
