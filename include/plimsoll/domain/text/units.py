"""Values with units, as they stand in definitions: `150m`, `100ms`, `40G`, `20000/s`, `100M`, `1500 USD`. Each type
parses text, keeps a plain Python value (`timedelta`, `int`, `float`) and serialises back to the shortest exact text.
"""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from math import ceil, floor
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from plimsoll.domain.text.guesses import bytes_meant, count_meant, microseconds_meant, rate_meant, usd_meant

_DURATION_US: Mapping[str, int] = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
_SIZE_BYTES: Mapping[str, int] = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_COUNT: Mapping[str, int] = {"": 1, "k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
_NUMBER = r"\d+(?:\.\d+)?"
_LARGEST = (1 << 63) - 1
"""The greatest value in the smallest unit, which other programs keep in 64 bits."""
_MOST_USD = 999_999_999_999_999
"""The greatest amount whose every digit a float keeps."""
_LONGEST = 40
"""The number of characters of a wrong value that a message repeats."""


class TooLarge(ValueError):
    """A value is too large; `most` is the largest that can be written with its unit."""

    def __init__(self, text: str, most: str) -> None:
        shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        super().__init__(f"{shown!r} is too large: the largest is {most}")


def _parser(
    units: Mapping[str, int],
    suffix: str,
    example: str,
    meant: Callable[[str], int | None],
    written: Callable[[int], str],
) -> Callable[[object], int]:
    """Return the function that reads a quantity. It refuses other text, and says what to write for what is `meant`."""
    pattern = re.compile(rf"({_NUMBER})\s*({'|'.join(sorted(units, key=len, reverse=True))}){re.escape(suffix)}")

    def parse(value: object) -> int:
        text = _text(value, suffix)
        match = pattern.fullmatch(text.strip())
        if match is None:
            if re.match(r"\s*-\s*\d", text):
                raise ValueError(f"{text!r} is below 0")
            guess = meant(text)
            raise ValueError(f"{text!r} is not {example}{_mend(None if guess is None else written(guess))}")
        number = Decimal(match[1]) * units[match[2]]  # a float makes 1004.9999999999999 of 1.005k
        if number > _LARGEST:
            raise TooLarge(text, f"{_LARGEST // units[match[2]]}{match[2]}{suffix}")
        if number != round(number):
            raise ValueError(f"{text!r} is finer than the smallest unit allowed here")
        return round(number)

    return parse


def parse_duration(value: str | timedelta) -> timedelta:
    """Parse `150m` to 2 h 30 min. Raises ValueError on anything without a unit."""
    return value if isinstance(value, timedelta) else timedelta(microseconds=_duration_us(value))


def parse_count(value: str | int) -> int:
    """Parse `100M` to 100,000,000 (decimal multiples, as tlp-stress' `-p`)."""
    if isinstance(value, bool) or not isinstance(value, int):
        return _count(str(value) if isinstance(value, float) else value)
    if value > _LARGEST:
        raise TooLarge(str(value), str(_LARGEST))
    return value


def parse_usd(value: str | float) -> float:
    """Parse `1500 USD` to 1500.0. A bare number is refused, as is another currency."""
    match = re.fullmatch(rf"({_NUMBER}) ?USD", _text(value, " USD").strip())
    if match is None:
        guess = usd_meant(str(value))
        raise ValueError(
            f"{value!r} is not an amount like 1500 USD{_mend(None if guess is None else format_usd(guess))}"
        )
    amount = float(match[1])
    if amount > _MOST_USD:
        raise TooLarge(str(value), format_usd(_MOST_USD))
    return amount


def parse_percent(value: str | float) -> int:
    """Parse `70%` and 0.7 to 70. A bare number above 1 is refused."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        # 0.29 * 100 is 28.999999999999996
        percent = round(value * 100, 6)
        if percent >= 1 and percent == int(percent):
            return int(percent)
    match = re.fullmatch(r"(\d{1,3}) ?%", value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a whole percentage like {_whole_percentages(value)}")
    return int(match[1])


def _whole_percentages(written: object) -> str:
    """Return the percentages that may have been meant: `72.5%` and `0.725` → `72% or 73%`."""
    match = re.fullmatch(rf"({_NUMBER}) ?(%?)", str(written).strip())
    if match is None:
        return "70%"
    number = float(match[1])
    percent = number if match[2] or number > 1 else round(number * 100, 6)
    near = dict.fromkeys(whole for whole in (floor(percent), ceil(percent)) if 1 <= whole <= 100)
    return " or ".join(f"{whole}%" for whole in near) or "70%"


def four_digits(value: float) -> float:
    """Round to four significant digits, so that a computed figure is the same on every machine."""
    return float(f"{value:.4g}")


def format_percent(value: int) -> str:
    return f"{value}%"


def format_usd(value: float) -> str:
    """Format 1500.0 as `1500 USD`, and 0.5 as `0.5 USD`, never with an exponent."""
    return f"{Decimal(f'{value:.15g}'):f} USD"


def show_usd(value: float | None, *, is_least: bool = False) -> str:
    """Format it for people: 1421.75 → `1,421.75 USD`, 0.576 → `0.576 USD`, 2.0 → `2.00 USD`, None → `unknown`.

    `is_least`: `at least 2.00 USD`, where the price of a part of it is not known.
    """
    if value is None:
        return "unknown"
    places = 2 if value >= 10 or round(value, 3) == round(value, 2) else 3
    return f"{'at least ' * is_least}{value:,.{places}f} USD"


def format_duration(value: timedelta) -> str:
    """Return the shortest exact text: 2 h 30 min → `150m`, 1 h → `1h`."""
    return _shortest(round(value / timedelta(microseconds=1)), _DURATION_US)


def format_size(value: int) -> str:
    """Return the shortest exact text: 42949672960 → `40G`; bytes that no unit divides stay exact in `K`'s fractions."""
    return _shortest(value, _SIZE_BYTES) if value % 1024 == 0 else f"{value / 1024}K"


def format_rate(value: int) -> str:
    return f"{value}/s"


def format_count(value: int) -> str:
    """Format 100000000 as `100M`."""
    return _shortest(value, _COUNT)


def _mend(text: str | None) -> str:
    return f": write {text}" if text else ""


def _shortest(value: int, units: Mapping[str, int]) -> str:
    # Every unit divides 0, which gets the smallest one
    unit = max((u for u in units if value % units[u] == 0), key=lambda u: units[u] if value else -units[u])
    return f"{value // units[unit]}{unit}"


_duration_us = _parser(
    _DURATION_US, "", "a duration like 150m, 90s or 100ms", microseconds_meant, lambda us: _shortest(us, _DURATION_US)
)
parse_size: Callable[[str], int] = _parser(_SIZE_BYTES, "", "a size like 512M or 40G", bytes_meant, format_size)
"""Parses `40G` to bytes (binary multiples, as the JVM's `-Xmx`). A bare number is refused."""
_PER_S = {unit: count for unit, count in _COUNT.items() if unit != "G"}
parse_rate: Callable[[str], int] = _parser(_PER_S, "/s", "a rate like 20000/s or 20k/s", rate_meant, format_rate)
"""Parses `20000/s` to 20000 ops/s. A bare number is refused."""
_count = _parser(_COUNT, "", "a count like 200000 or 100M", count_meant, format_count)


def _text(value: object, unit: str = "") -> str:
    """Return the text that stands in a definition. Raises ValueError for others; `unit`: the only one there is."""
    if isinstance(value, str):
        return value
    is_number = isinstance(value, int | float)
    shown = str(value).lower() if is_number else "what stands here"
    suggested = f"{shown}{unit}" if unit and is_number and not isinstance(value, bool) else None
    raise ValueError(f"{shown} needs a unit{_mend(suggested)}")


def _some_time(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise ValueError("must be more than 0")
    return value


def _duration_schema(*examples: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": rf"^{_NUMBER} ?(us|ms|s|m|h)$", "examples": [*examples]})


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    _duration_schema("150m", "100ms"),
]
PositiveDuration = Annotated[Duration, AfterValidator(_some_time)]
ShortDuration = Annotated[PositiveDuration, _duration_schema("5m", "10s")]
"""A positive duration that a key limits to minutes: the examples of others would be refused."""
Size = Annotated[
    int,
    BeforeValidator(parse_size),
    PlainSerializer(format_size, return_type=str),
    WithJsonSchema({"type": "string", "pattern": rf"^{_NUMBER} ?(K|M|G|T)$", "examples": ["512M", "40G"]}),
]
Rate = Annotated[
    int,
    BeforeValidator(parse_rate),
    PlainSerializer(format_rate, return_type=str),
    WithJsonSchema({"type": "string", "pattern": rf"^{_NUMBER} ?(k|M)?/s$", "examples": ["20000/s", "20k/s"]}),
]
Count = Annotated[
    int,
    BeforeValidator(parse_count),
    PlainSerializer(format_count, return_type=str),
    WithJsonSchema({"type": ["string", "integer"], "pattern": rf"^{_NUMBER} ?(k|M|G)?$", "examples": ["100M", 200000]}),
]
Usd = Annotated[
    float,
    BeforeValidator(parse_usd),
    PlainSerializer(format_usd, return_type=str),
    WithJsonSchema({"type": "string", "pattern": rf"^{_NUMBER} ?USD$", "examples": ["1500 USD"]}),
]
Percent = Annotated[
    int,
    BeforeValidator(parse_percent),
    PlainSerializer(format_percent, return_type=str),
    WithJsonSchema(
        {
            "type": ["string", "number"],
            "pattern": r"^\d{1,3} ?%$",
            "exclusiveMinimum": 0,
            "maximum": 1,
            "examples": ["70%", 0.7],
        }
    ),
]


def share(description: str, default: int, *, ge: int | None = None, le: int | None = None) -> Any:
    """Return the field of a Percent whose default the JSON schema shows as it is written: 90 as `90%`.

    `ge`, `le`: the least and the greatest value, in per cent.
    """
    return Field(description=description, json_schema_extra={"default": format_percent(default)}, ge=ge, le=le)
