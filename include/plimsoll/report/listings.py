"""The page's tables of words as data frames: environment, invalid attempts, warnings, checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from plimsoll.report.origins import origins
from plimsoll.report.validity import validity

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.report.environment import Environment
    from plimsoll.report.findings import Findings

_ENVIRONMENT = ("found", "fact", "value", "variant", "where")


def environment_frame(findings: Findings, ran: Environment) -> pd.DataFrame:
    """A table with one row per fact and value.

    `found`: equal everywhere, by variant, by host, deviating, or stated for imported cells.
    """
    import pandas as pd

    rows = [*_compared(ran), *_told(findings)]
    return pd.DataFrame(rows, columns=list(_ENVIRONMENT))


def _compared(ran: Environment) -> Iterator[tuple[str, str, str, str, str]]:
    for one in ran.deviations:
        for value, places in one.others.items():
            yield "deviating", one.fact, value, "", " ".join(places)
    for fact, by_variant in ran.by_variant.items():
        yield from (("by variant", fact, value, variant, "") for variant, value in by_variant.items())
    for fact, by_value in ran.by_host.items():
        yield from (("by host", fact, value, "", " ".join(hosts)) for value, hosts in by_value.items())
    yield from (("equal", fact, value, "", "") for fact, value in ran.equal.items())


def _told(findings: Findings) -> Iterator[tuple[str, str, str, str, str]]:
    for origin in origins(findings):
        for fact, by_value in origin.told.items():
            yield from (("told", fact, value, "", " ".join(cells)) for value, cells in by_value.items())


def invalid_frame(findings: Findings) -> pd.DataFrame:
    """A table with one row per invalid attempt; `replaced_by` is the number of the attempt that counts instead."""
    import pandas as pd

    rows = [
        (one.cell, one.attempt, "; ".join(one.reasons), one.replaced_by, one.data_docs)
        for one in validity(findings).invalid
    ]
    frame = pd.DataFrame(rows, columns=["cell", "attempt", "reasons", "replaced_by", "data_docs"])
    return frame.astype({"replaced_by": "Int64"})


def warnings_frame(findings: Findings) -> pd.DataFrame:
    """A table with one row per warning and cell with that warning."""
    import pandas as pd

    told = validity(findings).warnings.items()
    return pd.DataFrame([(cell, text) for text, cells in told for cell in cells], columns=["cell", "warning"])


def checks_frame(findings: Findings) -> pd.DataFrame:
    """A table with one row per check over the whole campaign; `result` is passed, failed, warning or not tested."""
    import pandas as pd

    columns = ["name", "result", "success", "severity", "expected", "observed"]
    rows = [{**check.model_dump(), "result": check.result} for check in findings.data.quality]
    return pd.DataFrame(rows, columns=columns)
