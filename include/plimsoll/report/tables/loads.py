"""The tables with a row for each variant and load."""

from collections.abc import Mapping, Sequence
from functools import partial

from plimsoll.analysis.campaign.by_load import RepeatsAtLoad
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.formatting import NOTHING, ops, plural, span
from plimsoll.report.tables.table import Column, Table, number

PERCENTILE_NAMES: Mapping[str, str] = {
    "p50_ms": "p50",
    "p90_ms": "p90",
    "p99_ms": "p99",
    "p99_9_ms": "p99.9",
    "max_ms": "maximum",
}


def table_of_loads(
    findings: Findings, label: str, columns: Sequence[Column[RepeatsAtLoad]], load: str = "Load"
) -> Table[RepeatsAtLoad]:
    """Return a row for each variant and load, in the definition's order; after these columns of its own the table's."""
    own: list[Column[RepeatsAtLoad]] = [
        Column("Variant", lambda one: findings.labels[one.variant]),
        number(load, lambda one: ops(one.load_ops_s)),
        Column("Valid", lambda one: f"{one.valid} of {plural(one.repeats, 'repeat')}"),
    ]
    return Table(label, findings.repeats_by_load, [*own, *columns])


def maxima_table(findings: Findings) -> Table[RepeatsAtLoad]:
    """Return the range over valid repeats of each repeat's highest interval, ms."""
    return table_of_loads(
        findings,
        "Highest interval of each percentile, in ms",
        [number(name, partial(_maximum, key)) for key, name in PERCENTILE_NAMES.items()],
    )


def _maximum(percentile: str, one: RepeatsAtLoad) -> str:
    spread = one.maxima_ms[percentile]
    return span(spread.low, spread.high) if spread else NOTHING
