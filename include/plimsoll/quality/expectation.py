"""What a suite expects, as data: each expectation is declared once, in words and in Great Expectations' terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from plimsoll.domain.result import Check

if TYPE_CHECKING:
    import pandas as pd

Severity = Literal["invalid", "warning"]


@dataclass(frozen=True)
class Expected:
    """One expectation on one table. `kind` and `arguments` are Great Expectations' class and its fields.

    `meaning` says what is expected; `severity` whether a failure makes the measurement invalid or only warns; `show` is
    the format of a number that was observed.

    Great Expectations passes over missing values and empty tables, except where it expects a number of rows, a minimum
    or a maximum (`at_least`, `at_most`): those are for what must be known. Either way such a check was not tested.
    """

    name: str
    kind: str
    arguments: Mapping[str, Any]
    meaning: str
    severity: Severity = "invalid"
    show: str = "{:.6g}"


@dataclass(frozen=True, eq=False)
class Part:
    """One table and the suite it must pass. `rows_by` are the columns whose values name a row in messages."""

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
        """What makes it invalid; empty when it is sound."""
        return tuple(check.sentence for check in self.checks if not check.success and check.severity == "invalid")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know although it is sound."""
        return tuple(check.sentence for check in self.checks if not check.success and check.severity == "warning")


def rows(count: int) -> tuple[str, dict[str, Any]]:
    """Exactly so many rows: kind and arguments."""
    return "ExpectTableRowCountToEqual", {"value": count}


def at_least(column: str, bound: float) -> tuple[str, dict[str, Any]]:
    """No value below the bound, and at least one value: kind and arguments."""
    return "ExpectColumnMinToBeBetween", {"column": column, "min_value": bound}


def at_most(column: str, bound: float, *, strictly: bool = False) -> tuple[str, dict[str, Any]]:
    """No value above the bound (`strictly`: nor at it), and at least one value: kind and arguments."""
    return "ExpectColumnMaxToBeBetween", {"column": column, "max_value": bound, "strict_max": strictly}


def each_between(column: str, low: float | None, high: float | None) -> tuple[str, dict[str, Any]]:
    """Every known value between the bounds, both allowed; rows beyond are named: kind and arguments."""
    return "ExpectColumnValuesToBeBetween", {"column": column, "min_value": low, "max_value": high}


def each_one_of(column: str, *values: object) -> tuple[str, dict[str, Any]]:
    """Every known value one of those; rows with others are named: kind and arguments."""
    return "ExpectColumnValuesToBeInSet", {"column": column, "value_set": list(values)}


def in_order(low: str, high: str) -> tuple[str, dict[str, Any]]:
    """In every row the one column's value at most the other's: kind and arguments."""
    return (
        "ExpectColumnPairValuesAToBeGreaterThanB",
        {"column_A": high, "column_B": low, "or_equal": True, "ignore_row_if": "either_value_is_missing"},
    )
