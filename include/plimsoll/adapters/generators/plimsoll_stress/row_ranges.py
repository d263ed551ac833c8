"""`max: rows` in the binds of own statements: the number of the last populated row, as rows are numbered from 0. Pure.

So keys are drawn from all populated rows, however many they are, and also where their number is still to be counted
from a size on disk.
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from plimsoll.domain.units import parse_count

ROWS = "rows"
"""The option with the number of rows, and the word for the last of them."""
_MOST = "max"
Options = Mapping[str, JsonValue]


def with_last_row(given: Options) -> dict[str, JsonValue]:
    """Return the options with a number for each `max: rows`; unchanged where no number of rows is given."""
    try:
        last = parse_count(str(given.get(ROWS, ""))) - 1
    except ValueError:  # the check of `rows` itself says so
        return dict(given)
    return {name: _filled(value, last) for name, value in given.items()} if last >= 0 else dict(given)


def names_last_row(given: Options) -> bool:
    """Tell whether a bind of these options has `max: rows`."""
    return any(bind.get(_MOST) == ROWS for bind in _binds(dict(given)))


def numbers_all_rows(population: JsonValue) -> bool:
    """Tell whether each populated row differs from all others: by a sequence with `max: rows`, or by the time."""
    return any(
        bind.get("distribution") == "now" or (bind.get("distribution") == "sequence" and bind.get(_MOST) == ROWS)
        for bind in _binds(population)
    )


def _binds(value: JsonValue) -> Iterator[Options]:
    """Yield every mapping with a distribution, at any depth."""
    if isinstance(value, dict):
        if "distribution" in value:
            yield value
        for inner in value.values():
            yield from _binds(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _binds(inner)


def _filled(value: JsonValue, last: int) -> JsonValue:
    if isinstance(value, list):
        return [_filled(inner, last) for inner in value]
    if not isinstance(value, dict):
        return value
    is_bind = "distribution" in value
    return {
        key: last if is_bind and key == _MOST and inner == ROWS else _filled(inner, last)
        for key, inner in value.items()
    }
