"""Quantities that people write otherwise than definitions do are refused with what to write."""

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.domain.text import units

RATES = {
    "1000/s": ["1K/s", "1000 ops/s", "1000", "1,000/s", "1k ops/sec", "1000 per second", "60000/min", "1000 rps"],
    "10000/s": ["10kops", "10k tps", "36M/h", "10_000 operations/second"],
}
DURATIONS = {
    "90m": ["1h30m", "1h 30m", "1 hour and 30 minutes", "PT1H30M", "01:30:00", "90 min", "1,5h"],
    "100ms": ["100 msec", "100 milliseconds", "0.1 seconds"],
    "48h": ["2d", "2 days"],
    "500us": ["500µs", "500 microseconds"],
}
SIZES = {
    "512M": ["512MB", "512 MiB", "512m", "512Mi", "-Xmx512m", "512 megabytes", "536870912B"],
    "1536M": ["1.5GB", "1,5 GiB"],
}
COUNTS = {"100k": ["100K", "100,000", "1e5", "100 thousand rows"], "1M": ["1 million", "1m"], "2G": ["2B", "2 billion"]}
MONEY = {"1500 USD": ["$1500", "1,500 USD", "USD 1500", "1.5k dollars", "1500", "1500 usd"]}


@pytest.mark.parametrize(
    ("parse", "text", "written"),
    [
        (parse, text, written)
        for parse, table in (
            (units.parse_rate, RATES),
            (units.parse_duration, DURATIONS),
            (units.parse_size, SIZES),
            (units.parse_count, COUNTS),
            (units.parse_usd, MONEY),
        )
        for written, texts in table.items()
        for text in texts
    ],
)
def test_what_is_meant_is_told_in_a_form_that_is_read(parse: Callable[[str], Any], text: str, written: str) -> None:
    with pytest.raises(ValueError, match=f": write {written}$"):
        parse(text)
    parse(written)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.parse_duration, "1:30"),  # of minutes, or of hours?
        (units.parse_duration, "5 parsecs"),
        (units.parse_duration, "90"),
        (units.parse_rate, "50/min"),  # no whole number in a second
        (units.parse_rate, "10%"),
        (units.parse_size, "512"),
        (units.parse_usd, "1500 EUR"),
        (units.parse_usd, "€1500"),
    ],
)
def test_nothing_is_guessed_of_what_may_mean_several_things(parse: Callable[[str], Any], text: str) -> None:
    with pytest.raises(ValueError, match="is not a") as error:
        parse(text)
    assert "write" not in str(error.value)


def test_a_bare_number_gets_the_only_unit_there_is() -> None:
    with pytest.raises(ValueError, match="1000 needs a unit: write 1000/s"):
        units.parse_rate(1000)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1500 needs a unit: write 1500 USD"):
        units.parse_usd(1500)


def test_a_quantity_below_0_is_told_as_that() -> None:
    with pytest.raises(ValueError, match="'-1k/s' is below 0"):
        units.parse_rate("-1k/s")
