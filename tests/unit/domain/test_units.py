from datetime import timedelta
from typing import Any

import pytest

from plimsoll.domain.text import units


@pytest.mark.parametrize(
    ("text", "seconds"), [("150m", 9000), ("90s", 90), ("100ms", 0.1), ("2h", 7200), ("250us", 0.00025), ("1.5s", 1.5)]
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["150m", "90s", "100ms", "2h", "250us", "0s"])
def test_durations_are_written_as_they_were_read(text: str) -> None:
    written = units.format_duration(units.parse_duration(text))
    assert units.parse_duration(written) == units.parse_duration(text)


def test_the_longest_unit_that_divides_is_chosen() -> None:
    assert units.format_duration(timedelta(minutes=150)) == "150m"
    assert units.format_duration(timedelta(hours=2)) == "2h"
    assert units.format_count(100_000_000) == "100M"
    assert units.format_size(40 * 2**30) == "40G"


@pytest.mark.parametrize("text", ["150", "m", "10 parsecs", "-1s", "1e3s", "0.1us", ""])
def test_text_that_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unit|is not a duration like|is below 0"):
        units.parse_duration(text)


@pytest.mark.parametrize("value", [40, 40.5, True, None])
@pytest.mark.parametrize("parse", [units.parse_size, units.parse_rate, units.parse_duration])
def test_a_number_without_unit_is_refused(parse: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="needs a unit"):
        parse(value)


def test_values_with_a_fraction_are_exact() -> None:
    assert units.parse_rate("1.005k/s") == 1005
    assert units.parse_count(str(2**63 - 1)) == 2**63 - 1
    with pytest.raises(units.TooLarge, match="8' is too large: the largest is 9223372036854775807"):
        units.parse_count(str(2**63))


def test_sizes_are_binary_and_counts_decimal() -> None:
    assert units.parse_size("1K") == 1024
    assert units.parse_count("1k") == 1000
    assert units.parse_count(200_000) == 200_000
    assert units.parse_rate("20k/s") == units.parse_rate("20000/s") == 20_000


@pytest.mark.parametrize(("text", "usd"), [("1500 USD", 1500.0), ("0.5USD", 0.5), ("1421.75 USD", 1421.75)])
def test_money_is_read_and_written(text: str, usd: float) -> None:
    assert units.parse_usd(text) == usd
    assert units.parse_usd(units.format_usd(usd)) == usd


@pytest.mark.parametrize("value", [1500, "1500", "1500 EUR", "USD", "-1 USD", None])
def test_money_without_its_currency_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"USD|unit"):
        units.parse_usd(value)


@pytest.mark.parametrize(
    ("text", "written"), [("0.00001 USD", "0.00001 USD"), (f"1{'0' * 14} USD", f"1{'0' * 14} USD")]
)
def test_money_is_written_without_exponents(text: str, written: str) -> None:
    assert units.format_usd(units.parse_usd(text)) == written


@pytest.mark.parametrize("amount", ["9" * 400, f"1{'0' * 15}", "999999999999999.9"])
def test_money_that_can_not_be_kept_exactly_is_refused(amount: str) -> None:
    with pytest.raises(units.TooLarge, match="the largest is 999999999999999 USD"):
        units.parse_usd(f"{amount} USD")
