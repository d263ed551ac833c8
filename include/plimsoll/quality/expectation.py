"""Expectations as data: each one is declared once, in words and in Great Expectations' terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.domain.attempt.result import Check

if TYPE_CHECKING:
    import pandas as pd

Severity = Literal["invalid", "warning"]

GROSS = 10.0
"""The multiple of its limit from which on a warning's value is listed among the reasons of an invalid measurement."""


@dataclass(frozen=True)
class Expected:
    """One expectation of one table. `kind` and `arguments` are Great Expectations' class and its fields.

    `meaning` says what is expected; `severity` whether a failure makes the measurement invalid or only warns; `show` is
    the format of an observed number.

    Great Expectations ignores missing values and empty tables, except where it expects a number of rows, a minimum or a
    maximum (`at_least`, `at_most`): use those for values that must be known. A check with nothing to look at counts as
    not tested in either case.
    """

    name: str
    kind: str
    arguments: Mapping[str, Any]
    meaning: str
    severity: Severity = "invalid"
    show: str = "{:.6g}"


@dataclass(frozen=True, eq=False)
class CheckedTable:
    """One table with its suite. `rows_by` are the columns whose values name a row in messages."""

    title: str
    table: pd.DataFrame
    suite: Sequence[Expected]
    rows_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quality:
    """All checks of an attempt or a campaign. `data_docs`: relative path → content."""

    checks: tuple[Check, ...]
    data_docs: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Explain why the measurement is invalid, the worst first; empty where it is sound.

        Of an invalid measurement warnings that are far beyond their limits are among the reasons: what makes it invalid
        is often the smallest part of what went wrong.
        """
        return tuple(check.sentence for check in self._failed if self._is_reason(check))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the other remarks, the worst first."""
        return tuple(check.sentence for check in self._failed if not self._is_reason(check))

    @property
    def _failed(self) -> Sequence[Check]:
        return sorted((check for check in self.checks if not check.success), key=lambda check: check.size, reverse=True)

    def _is_reason(self, check: Check) -> bool:
        is_invalid = any(other.severity == "invalid" for other in self._failed)
        return is_invalid and (check.severity == "invalid" or check.size >= GROSS)


def beyond(expected: Expected, table: pd.DataFrame) -> float | None:
    """Tell how many times its limit the column's worst value is; None where there is no limit, or it is within it.

    A limit near 1, such as 99 % of a rate, is one of what is missing. Infinite: beyond any multiple.
    """
    low, high = expected.arguments.get("min_value"), expected.arguments.get("max_value")
    column = expected.arguments.get("column")
    if column not in table or (values := table[column].dropna()).empty:
        return None
    # A limit of 0 has no multiples, and counts as none
    if high and (worst := float(values.max())) >= high:
        return worst / float(high)
    if not low or (worst := float(values.min())) > low:
        return None
    is_near_one = 0.5 < low < 1
    return float((1 - worst) / (1 - low)) if is_near_one else float(low / worst) if worst > 0 else inf


def multiple_of(beyond: float | None) -> dict[str, Any]:
    """Return the fields of a check that tell the multiple, since JSON has no infinity."""
    return {"beyond_any": True} if beyond == inf else {"beyond": beyond}


def rows(count: int) -> tuple[str, dict[str, Any]]:
    """Return kind and arguments of: the table has exactly that many rows."""
    return "ExpectTableRowCountToEqual", {"value": count}


def at_least(column: str, bound: float) -> tuple[str, dict[str, Any]]:
    """Return kind and arguments of: no value is below the bound, and there is at least one value."""
    return "ExpectColumnMinToBeBetween", {"column": column, "min_value": bound}


def at_most(column: str, bound: float, *, strictly: bool = False) -> tuple[str, dict[str, Any]]:
    """Return kind and arguments of: no value is above (`strictly`: nor at) the bound, and there is at least one."""
    return "ExpectColumnMaxToBeBetween", {"column": column, "max_value": bound, "strict_max": strictly}


def each_between(column: str, low: float | None, high: float | None) -> tuple[str, dict[str, Any]]:
    """Return kind and arguments of: each known value is between the bounds, both included. Messages name other rows."""
    return "ExpectColumnValuesToBeBetween", {"column": column, "min_value": low, "max_value": high}


def each_one_of(column: str, *values: object) -> tuple[str, dict[str, Any]]:
    """Return kind and arguments of: every known value is one of those. Messages name other rows."""
    return "ExpectColumnValuesToBeInSet", {"column": column, "value_set": list(values)}


def in_order(low: str, high: str) -> tuple[str, dict[str, Any]]:
    """Return kind and arguments of: in every row one column's value is at most the other's."""
    return (
        "ExpectColumnPairValuesAToBeGreaterThanB",
        {"column_A": high, "column_B": low, "or_equal": True, "ignore_row_if": "either_value_is_missing"},
    )
