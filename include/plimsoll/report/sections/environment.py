"""The environment of the cells: facts that hosts and JVMs reported, and that people stated about imported cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from plimsoll.report.environment_facts import environment
from plimsoll.report.origins import origins
from plimsoll.report.sections.section import Section

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.campaign.findings import Findings
    from plimsoll.report.environment_facts import Environment

_COLUMNS = ("found", "fact", "value", "variant", "where")


def environment_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per fact and value.

    `found`: equal everywhere, by variant, by host, deviating, or stated for imported cells.
    """
    import pandas as pd

    rows = [*_compared(environment(findings)), *_stated(findings)]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _context(findings: Findings) -> Mapping[str, Any]:
    return {"origins": origins(findings)}


def _compared(ran: Environment) -> Iterator[tuple[str, str, str, str, str]]:
    for one in ran.deviations:
        for value, places in one.others.items():
            yield "deviating", one.fact, value, "", " ".join(places)
    for fact, by_variant in ran.by_variant.items():
        yield from (("by variant", fact, value, variant, "") for variant, value in by_variant.items())
    for fact, by_value in ran.by_host.items():
        yield from (("by host", fact, value, "", " ".join(hosts)) for value, hosts in by_value.items())
    yield from (("equal", fact, value, "", "") for fact, value in ran.equal.items())


def _stated(findings: Findings) -> Iterator[tuple[str, str, str, str, str]]:
    for origin in origins(findings):
        for fact, by_value in origin.told.items():
            yield from (("told", fact, value, "", " ".join(cells)) for value, cells in by_value.items())


ENVIRONMENT = Section(
    "environment", "Environment", context=_context, tables={"environment": environment_frame}, needs_load=False
)
