"""The only module that runs Great Expectations: suites on tables in, checks and a page of Data Docs out, with the
findings in words.

Importing Great Expectations takes seconds, so it is imported only when a suite runs. Its telemetry is off. It runs in
memory and writes no file.

Data Docs that work offline: the checks of each table in one page that loads nothing and needs no script.

Great Expectations' own page loads Bootstrap, jQuery, Vega, fonts and a logo from six hosts, and a site has 4 MB of
pictures and fonts beside each page.
"""

from __future__ import annotations

import importlib
import logging
import os
import warnings
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from plimsoll.domain.attempt.result import UNEVALUATED, UNKNOWN, Check
from plimsoll.domain.text.wording import excerpt
from plimsoll.quality.expectation import CheckedTable, Expected, Quality, beyond, multiple_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    from jinja2 import Template

PAGE = "index.html"


def render(title: str, tables: Sequence[tuple[str, Sequence[Check]]]) -> bytes:
    """Render one HTML page of the checks of all tables, each with its heading, complete in itself."""
    checks = [check for _, rows in tables for check in rows]
    passed = sum(check.result == "passed" for check in checks)
    untested = [check.name for check in checks if not check.tested]
    page = _template().render(title=title, tables=tables, checks=checks, passed=passed, untested=untested)
    return "\n".join(line.strip() for line in page.splitlines() if line.strip()).encode()


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader

    return Environment(autoescape=True, loader=PackageLoader("plimsoll.quality", "")).get_template("data-docs.html.j2")


_SEVERITIES = {"invalid": "critical", "warning": "warning"}
_ONE_AT_A_TIME = Lock()
"""All tables of a process pass through one place in Great Expectations, which holds one table."""

_SHOWN = 5


def validate(title: str, tables: Sequence[CheckedTable]) -> Quality:
    """Run every table's suite on its table. `title` is the heading of the Data Docs page."""
    with _ONE_AT_A_TIME:
        results = [(checked, _result(checked)) for checked in tables]
    parts = [(checked.title, list(_checks(checked, result))) for checked, result in results]
    return Quality(tuple(check for _, checks in parts for check in checks), {PAGE: render(title, parts)})


@cache
def load() -> Any:
    """Return the package Great Expectations. The first call takes seconds of CPU time: worth it once before forking."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    logging.getLogger("great_expectations").setLevel(logging.ERROR)  # it writes hundreds of lines while it is imported
    with warnings.catch_warnings():
        # Its file connector imports modules that Python 3.11 renamed; nothing that a user could mend.
        warnings.filterwarnings("ignore", "module 'sre_(constants|parse)' is deprecated", DeprecationWarning)
        return importlib.import_module("great_expectations")


def _result(checked: CheckedTable) -> Any:
    batch = _tables().get_batch({"dataframe": checked.table})
    # Made at once: when expectations are added one by one, each is compared with all before it.
    suite = load().ExpectationSuite(name=checked.title, expectations=expectations_of(checked))
    # The values that checks and pages show, and no query for unexpected rows, which would be made and then left out.
    result_format = {
        "result_format": "SUMMARY",
        "unexpected_index_column_names": list(checked.rows_by),
        "return_unexpected_index_query": False,
    }
    return batch.validate(suite, result_format=result_format)


@cache
def _tables() -> Any:
    """Return the place in Great Expectations where tables are handed over.

    Made once in a process: for a new one, Great Expectations writes all settings of a project as YAML five times.
    """
    gx: Any = load()
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    project = DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )
    context = gx.get_context(mode="ephemeral", project_config=project)
    asset = context.data_sources.add_pandas("plimsoll").add_dataframe_asset("table")
    return asset.add_batch_definition_whole_dataframe("all")


def expectations_of(checked: CheckedTable) -> list[Any]:
    """Return a table's suite as Great Expectations' own objects."""
    kinds: Any = load().expectations
    return [
        getattr(kinds, expected.kind)(
            **expected.arguments,
            severity=_SEVERITIES[expected.severity],
            meta={"name": expected.name, "number": number},
        )
        for number, expected in enumerate(checked.suite)
    ]


def _checks(checked: CheckedTable, result: Any) -> Iterator[Check]:
    """Yield the checks in the suite's order, which differs from the order of the results."""
    # By their numbers: two expectations may have one name, and each has its own outcome.
    by_number = {outcome.expectation_config.meta["number"]: outcome for outcome in result.results}
    for number, expected in enumerate(checked.suite):
        outcome = by_number[number]
        yield Check(
            name=expected.name,
            success=bool(outcome.success),
            severity=expected.severity,
            expected=expected.meaning,
            observed=observed(expected, outcome, checked),
            tested=tested(outcome),
            **multiple_of(None if outcome.success else beyond(expected, checked.table)),
        )


def tested(outcome: Any) -> bool:
    """Tell whether there was anything to look at: a known value, or a row without a missing value."""
    result: Mapping[str, Any] = outcome.result
    if "observed_value" in result:
        return result["observed_value"] is not None
    return bool(result) and int(result["element_count"]) > int(result.get("missing_count", 0))


def observed(expected: Expected, outcome: Any, checked: CheckedTable) -> str:
    """Describe one expectation's outcome as a phrase: the observed value, or the rows with unexpected values."""
    result: Mapping[str, Any] = outcome.result
    # Great Expectations leaves the result empty where an expectation raised an error
    if not result:
        return f"{UNEVALUATED}: {_trouble(outcome.exception_info)}"
    if not tested(outcome):
        return UNKNOWN
    if "observed_value" in result:
        return _shown(result["observed_value"], expected.show)
    if outcome.success:
        return _summary(checked.table, expected)
    if checked.rows_by:
        phrases = [_row(row, checked, expected) for row in result["partial_unexpected_index_list"]]
    else:
        phrases = [_shown(value, expected.show) for value in result["partial_unexpected_list"]]
    more = int(result["unexpected_count"]) - _SHOWN
    return ", ".join(phrases[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _summary(table: pd.DataFrame, expected: Expected) -> str:
    """Return a column in a phrase: its distinct values if there are few, else their range."""
    column = expected.arguments.get("column")
    if column is None:
        return "the only row" if len(table) == 1 else f"all {len(table):,} rows"
    values = sorted(table[column].dropna().unique().tolist())
    shown = values if len(values) <= _SHOWN else [values[0], "…", values[-1]]
    return ", ".join(_shown(value, expected.show) for value in shown)


def _row(row: Mapping[str, Any], checked: CheckedTable, expected: Expected) -> str:
    """Return the unexpected values of a row, with the name of the row in brackets."""
    values = [_shown(value, expected.show) for name, value in row.items() if name not in checked.rows_by]
    names = [_shown(row[name], "{:g}") for name in checked.rows_by]
    return f"{' < '.join(values)} ({' '.join(names)})" if names else " < ".join(values)


def _shown(value: Any, show: str) -> str:
    value = value.item() if hasattr(value, "item") else value  # NumPy's numbers
    # True is an int in Python, but no figure
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return show.format(value) if number else excerpt(str(value))


def _trouble(exception_info: Mapping[str, Any]) -> str:
    """Return the exception of an expectation. Great Expectations keeps one per expectation or metric."""
    infos = [exception_info] if "exception_message" in exception_info else list(exception_info.values())
    messages = [str(info["exception_message"]) for info in infos if info.get("exception_message")]
    return "; ".join(dict.fromkeys(messages)) or "no reason given"
