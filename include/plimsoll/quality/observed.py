"""Great Expectations' findings in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.domain.excerpts import excerpt
from plimsoll.domain.result import UNEVALUATED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from plimsoll.quality.expectation import CheckedTable, Expected

_SHOWN = 5
_VALUES = "partial_unexpected_list"
_ROWS = "partial_unexpected_index_list"


def tested(outcome: Any) -> bool:
    """Tell whether there was anything to look at: a known value, or a row without a missing value."""
    result: Mapping[str, Any] = outcome.result
    if "observed_value" in result:
        return result["observed_value"] is not None
    return bool(result) and int(result["element_count"]) > int(result.get("missing_count", 0))


def observed(expected: Expected, outcome: Any, checked: CheckedTable) -> str:
    """Describe one expectation's outcome as a phrase: the observed value, or the rows with unexpected values."""
    result: Mapping[str, Any] = outcome.result
    if not result:
        return f"{UNEVALUATED}: {_trouble(outcome.exception_info)}"
    if not tested(outcome):
        return UNKNOWN
    if "observed_value" in result:
        return _shown(result["observed_value"], expected.show)
    if outcome.success:
        return _summary(checked.table, expected)
    if checked.rows_by:
        found = [_row(one, checked, expected) for one in result[_ROWS]]
    else:
        found = [_shown(value, expected.show) for value in result[_VALUES]]
    more = int(result["unexpected_count"]) - _SHOWN
    return ", ".join(found[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _summary(table: pd.DataFrame, expected: Expected) -> str:
    """Return a column in a phrase: its distinct values if there are few, else their range."""
    column = expected.arguments.get("column")
    if column is None:
        return "the only row" if len(table) == 1 else f"all {len(table):,} rows"
    values = sorted(table[column].dropna().unique().tolist())
    shown = values if len(values) <= _SHOWN else [values[0], "…", values[-1]]
    return ", ".join(_shown(value, expected.show) for value in shown)


def _row(found: Mapping[str, Any], checked: CheckedTable, expected: Expected) -> str:
    """Return the unexpected values of a row, with the name of the row in brackets."""
    values = [_shown(value, expected.show) for name, value in found.items() if name not in checked.rows_by]
    names = [_shown(found[name], "{:g}") for name in checked.rows_by]
    return f"{' < '.join(values)} ({' '.join(names)})" if names else " < ".join(values)


def _shown(value: Any, show: str) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return show.format(value) if number else excerpt(str(value))


def _trouble(exception_info: Mapping[str, Any]) -> str:
    """Return the exception of an expectation.

    Great Expectations keeps one for each expectation, or one for each metric.
    """
    infos = [exception_info] if "exception_message" in exception_info else list(exception_info.values())
    messages = [str(info["exception_message"]) for info in infos if info.get("exception_message")]
    return "; ".join(dict.fromkeys(messages)) or "no reason given"
