"""The values in a log's columns: times and latencies, as numbers in a unit that is known or as dates of ISO 8601,
and whether an operation was answered, or how it failed.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from plimsoll.analysis.logs.hdr.record_line import finite
from plimsoll.analysis.logs.operations import Floats
from plimsoll.domain.keys.log_words import SECONDS_OF, Column, Moment
from plimsoll.domain.text.errors import LogError

ISO = "iso"
_EPOCHS = {"s": (1e9, 5e9), "ms": (1e12, 5e12), "us": (1e15, 5e15), "ns": (1e18, 5e18)}
"""Numbers from 2001 to 2128 in each unit: no two units share one, so a number among them tells its unit."""
EPOCH_FROM_S = 1e8
"""Greater times count from 1970, smaller ones from the run's start: it is of three years."""

_ANSWERED = {"true", "t", "1", "ok", "yes", "y", "success", "succeeded", "successful", "pass", "passed"}
_FAILED = {"false", "f", "0", "ko", "no", "n", "fail", "failed", "failure", "error", "timeout", "aborted", "skipped"}
# Words that name no kind of failure, as `timeout` does: there the text of the error is the kind
_NO_KINDS = {"false", "f", "0", "no", "n", "ko", "fail", "failed", "failure"}
_NO_ERROR = {"", "false", "0", "none", "null", "nil", "nan", "-"}
OTHER = "other"


def is_moment(text: str) -> bool:
    """Tell whether a text is a number or a date."""
    try:
        float(text)
    except ValueError:
        return _date_s(text) is not None
    return True


def unit_of_moments(column: Column, role: Moment, first: str, where: str) -> str:
    """Return the unit of a column of times, as said, else by its first value, or `iso`. Raises LogError."""
    if _date_s(first) is not None:
        return ISO
    number = finite(first)
    if number is None:
        what = f"{first!r} in column {column.name} is neither a number nor a date of ISO 8601"
        raise LogError(what, where=where, mend=f"name the column of times: `--columns {role}=NAME`")
    shown = next((unit for unit, (least, most) in _EPOCHS.items() if least <= number < most), "")
    if column.unit or shown:
        return column.unit or shown
    mend = f"say it: `--columns {role}={column.name}:ms` (or `s`, `us`, `ns`)"
    what = f"does not say the unit of its times, such as {first} in column {column.name}"
    raise LogError(what, where=where, mend=mend)


def seconds(texts: Sequence[str], unit: str) -> Floats:
    """Return the times in s; NaN for what is no number and no date."""
    if unit == ISO:
        return np.array(list(map(_date_s, texts)), dtype=np.float64)
    return numbers(texts) * SECONDS_OF[unit]


def numbers(texts: Sequence[str]) -> Floats:
    """Return the numbers that the texts are; NaN for anything else."""
    try:
        values = np.array(list(map(float, texts)))
    except ValueError:
        values = np.array(list(map(finite, texts)), dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _date_s(text: str) -> float | None:
    """Return the time of a date in s since the epoch; one without a zone is taken for UTC. None for another text."""
    # Python would read the number 20250102 as a date, too. A number may begin with a minus.
    if "-" not in text[1:] and ":" not in text:
        return None
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


class Outcomes(dict[tuple[str, ...], str]):
    """The kind of a failure by the texts of a row's columns; empty of an operation that was answered.

    The last text is an error's, which is empty where there was none; the first of the others that is not empty says
    whether the operation was answered. `column`: the name of theirs, empty where there is none. `has_errors`: whether
    there is a column of errors, which decides where the others say nothing.
    """

    def __init__(self, ok_values: frozenset[str], column: str, *, has_errors: bool) -> None:
        super().__init__()
        self._ok_values, self._column, self._has_errors = ok_values, column, has_errors
        self._kinds: set[str] = set()

    def __missing__(self, texts: tuple[str, ...]) -> str:
        # Where each error has a text of its own, all texts of a log would stay in memory
        if len(self) >= 10_000:
            self.clear()
        kind = self._kind(texts)
        if kind and kind not in self._kinds:
            kind = OTHER if len(self._kinds) >= 50 else kind
            self._kinds.add(kind)
        self[texts] = kind
        return kind

    def _kind(self, texts: Sequence[str]) -> str:
        *outcomes, error = (text.strip() for text in texts)
        error = "" if error.lower() in _NO_ERROR else error
        outcome = next((text for text in outcomes if text), "")
        is_by_error = not outcome and (self._has_errors or not self._column)
        if not error if is_by_error else self._is_answered(outcome):
            return ""
        is_plain = outcome.lower() in _NO_KINDS
        return ((error if is_plain or not outcome else outcome) or "failed")[:60]

    def _is_answered(self, outcome: str) -> bool:
        if self._ok_values:
            return outcome in self._ok_values
        word = outcome.lower()
        if word in _ANSWERED or word in _FAILED:
            return word in _ANSWERED
        if word.isdecimal() and 100 <= int(word) < 600:  # a status of HTTP
            return int(word) < 400
        what = f"does not say whether {outcome!r} in column {self._column} is an answer"
        raise LogError(what, mend=f"say which values are: `--columns ok={self._column}:{outcome}`, several with `|`")
