"""The one place that runs Great Expectations: a suite on a table, to checks and a page of Data Docs.

Importing it takes seconds, so it is imported when a suite runs, not before; its telemetry is off.
"""

from __future__ import annotations

import logging
import os
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.domain.result import Check
from plimsoll.quality.expectation import Expected, Validated
from plimsoll.quality.pages import self_contained

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

_SITE = "site"
_SHOWN = 5


def validate(suite: str, expectations: Sequence[Expected], table: pd.DataFrame) -> Validated:
    """Run the expectations on the table; `suite` names them in the Data Docs."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-quality-") as folder:
        result = _run(suite, expectations, table, folder)
        page = next(Path(folder, "validations").rglob("*.html")).read_text(encoding="utf-8")
    by_name = {one.expectation_config.meta["name"]: one for one in result.results}
    checks = tuple(_check(expected, by_name[expected.name]) for expected in expectations)
    return Validated(checks, self_contained(page).encode())


def load() -> None:
    """Import Great Expectations, quietly and without telemetry; worth doing once before forking."""
    _import()


def _import() -> Any:
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with warnings.catch_warnings():
        # Its imports use modules of Python that are on their way out; nothing that a user could mend.
        warnings.simplefilter("ignore", DeprecationWarning)
        import great_expectations

    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    return great_expectations


def _run(name: str, expectations: Sequence[Expected], table: pd.DataFrame, folder: str) -> Any:
    gx = _import()
    context = gx.get_context(mode="ephemeral", project_config=_project(folder))
    batch = (
        context.data_sources.add_pandas("results").add_dataframe_asset(name).add_batch_definition_whole_dataframe("all")
    )
    suite = context.suites.add(gx.ExpectationSuite(name))
    for expected in expectations:
        kind = getattr(gx.expectations, expected.kind)
        suite.add_expectation(kind(**expected.arguments, notes=expected.meaning, meta={"name": expected.name}))
    definition = context.validation_definitions.add(gx.ValidationDefinition(name=name, data=batch, suite=suite))
    publish = gx.checkpoint.UpdateDataDocsAction(name="publish", site_names=[_SITE])
    checkpoint = context.checkpoints.add(
        gx.Checkpoint(name=name, validation_definitions=[definition], actions=[publish], result_format="SUMMARY")
    )
    outcome = checkpoint.run(batch_parameters={"dataframe": table})
    return next(iter(outcome.run_results.values()))


def _project(folder: str) -> Any:
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    site = {
        "class_name": "SiteBuilder",
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": folder},
    }
    return DataContextConfig(
        # Its own default would leave a folder behind in the machine's temporary folder with every run.
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        data_docs_sites={_SITE: site},
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )


def _check(expected: Expected, outcome: Any) -> Check:
    return Check(
        name=expected.name,
        success=bool(outcome.success),
        severity=expected.severity,
        expected=expected.meaning,
        observed=_observed(outcome),
    )


def _observed(outcome: Any) -> str:
    trouble = (outcome.exception_info or {}).get("exception_message")
    if trouble:
        return f"could not be checked: {trouble}"
    if "observed_value" in outcome.result:
        return str(outcome.result["observed_value"])
    if outcome.success:
        return "as expected"
    shown = ", ".join(_plain(value) for value in outcome.result.get("partial_unexpected_list", [])[:_SHOWN])
    missing = outcome.result.get("missing_count", 0)
    return shown or f"{missing} values are missing"


def _plain(value: Any) -> str:
    """Without numpy's dressing: `(3, 5)`, not `(np.int64(3), np.int64(5))`."""
    if isinstance(value, tuple):
        return f"({', '.join(_plain(part) for part in value)})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
