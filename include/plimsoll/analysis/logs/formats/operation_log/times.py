"""Times and latencies as texts: numbers in a unit that is known, or dates of ISO 8601."""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import isfinite

import numpy as np

from plimsoll.analysis.logs.operations import Floats
from plimsoll.domain.errors import LogError
from plimsoll.domain.log_columns import SECONDS_OF, Column, Moment

ISO = "iso"
_EPOCHS = {"s": (1e9, 5e9), "ms": (1e12, 5e12), "us": (1e15, 5e15), "ns": (1e18, 5e18)}
"""Numbers from 2001 to 2128 in each unit: no two units share one, so a number among them tells its unit."""
EPOCH_FROM_S = 1e8
"""Greater times count from 1970, smaller ones from the run's start: it is of three years."""


def is_moment(text: str) -> bool:
    """Tell whether a text is a number or a date."""
    try:
        float(text)
    except ValueError:
        return _date_s(text) is not None
    return True


def unit_of_moments(column: Column, role: Moment, first: str, where: str) -> str:
    """Return the unit of a column of times: as said, else as its first value tells, or `iso`.

    Raises LogError where neither tells it.
    """
    if _date_s(first) is not None:
        return ISO
    number = _number(first)
    if number is None:
        what = f"{first!r} in column {column.name} is neither a number nor a date of ISO 8601"
        raise LogError(what, where=where, mend=f"name the column of times: `--columns {role}=NAME`")
    shown = next((unit for unit, (least, most) in _EPOCHS.items() if least <= number < most), "")
    if column.unit or shown:
        return column.unit or shown
    mend = f"say it: `--columns {role}={column.name}:ms` (or `s`, `us`, `ns`)"
    raise LogError(
        f"does not say the unit of its times, such as {first} in column {column.name}", where=where, mend=mend
    )


def seconds(texts: Sequence[str], unit: str) -> Floats:
    """Return the times in s; NaN for what is no number and no date."""
    if unit == ISO:
        found = [_date_s(text) for text in texts]
        return np.array([np.nan if one is None else one for one in found])
    return numbers(texts) * SECONDS_OF[unit]


def numbers(texts: Sequence[str]) -> Floats:
    """Return the numbers that the texts are; NaN for anything else."""
    try:
        found = np.array(list(map(float, texts)))
    except ValueError:
        found = np.array([np.nan if (number := _number(text)) is None else number for text in texts])
    return np.where(np.isfinite(found), found, np.nan)


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if isfinite(found) else None


def _date_s(text: str) -> float | None:
    """Return the time of a date in s since the epoch; one without a zone is taken for UTC. None for another text."""
    if "-" not in text[1:] and ":" not in text:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
