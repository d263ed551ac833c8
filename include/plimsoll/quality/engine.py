"""The only module that runs Great Expectations: suites on tables in, checks and a page of Data Docs out.

Importing Great Expectations takes seconds (mostly for SciPy, SQLAlchemy and Altair, which it always imports), so it is
imported only when a suite runs. Its telemetry is off. It runs in memory and writes no file.
"""

from __future__ import annotations

import logging
import os
import warnings
from typing import TYPE_CHECKING, Any

from plimsoll.domain.result import Check
from plimsoll.quality.expectation import Expected, Part, Quality
from plimsoll.quality.observed import observed, tested
from plimsoll.quality.pages import PAGE, Section, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_SEVERITIES = {"invalid": "critical", "warning": "warning"}


def validate(title: str, parts: Sequence[Part]) -> Quality:
    """Run every part's suite on its table. `title` is the heading of the Data Docs page."""
    results = _run(parts)
    checks = tuple(check for part, result in zip(parts, results, strict=True) for check in _checks(part, result))
    sections = [Section(part.title, result) for part, result in zip(parts, results, strict=True)]
    return Quality(checks, {PAGE: render(title, sections, checks)})


def load() -> Any:
    """Import Great Expectations, quietly and without telemetry; worth doing once before forking."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with warnings.catch_warnings():
        # Its file connector imports modules that Python 3.11 renamed; nothing that a user could mend.
        warnings.filterwarnings("ignore", "module 'sre_(constants|parse)' is deprecated", DeprecationWarning)
        import great_expectations

    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    return great_expectations


def _run(parts: Sequence[Part]) -> list[Any]:
    gx = load()
    context = gx.get_context(mode="ephemeral", project_config=_project())
    source = context.data_sources.add_pandas("plimsoll")
    results = []
    for part in parts:
        asset = source.add_dataframe_asset(part.title)
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": part.table})
        results.append(_plain(batch.validate(_suite(gx, part), result_format=_result_format(part))))
    return results


def _plain(result: Any) -> Any:
    """Values as plain Python numbers: Great Expectations' pages can't show the NumPy numbers that it finds itself."""
    for outcome in result.results:
        value = outcome.result.get("observed_value")
        if hasattr(value, "item"):
            outcome.result["observed_value"] = value.item()
    return result


def _suite(gx: Any, part: Part) -> Any:
    suite = gx.ExpectationSuite(name=part.title)
    for expected in part.suite:
        suite.add_expectation(_expectation(gx, expected))
    return suite


def _expectation(gx: Any, expected: Expected) -> Any:
    kind = getattr(gx.expectations, expected.kind)
    return kind(
        **expected.arguments,
        description=f"{expected.name}: {expected.meaning}",
        severity=_SEVERITIES[expected.severity],
        meta={"name": expected.name},
    )


def _result_format(part: Part) -> Mapping[str, Any]:
    return {"result_format": "SUMMARY", "unexpected_index_column_names": list(part.rows_by)}


def _project() -> Any:
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    return DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )


def _checks(part: Part, result: Any) -> Iterator[Check]:
    """The checks in the suite's order, which differs from the order of the results."""
    by_name = {outcome.expectation_config.meta["name"]: outcome for outcome in result.results}
    for expected in part.suite:
        outcome = by_name[expected.name]
        yield Check(
            name=expected.name,
            success=bool(outcome.success),
            severity=expected.severity,
            expected=expected.meaning,
            observed=observed(expected, outcome, part),
            tested=tested(outcome),
        )
