"""Tables as numbers, in files, with those of each variant and load, and how a part's are named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.by_load import RepeatsAtLoad
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.formatting import NOTHING, ops, plural, span
from plimsoll.report.tables.table import Column, Table, number

if TYPE_CHECKING:
    import pandas as pd

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")

PERCENTILE_NAMES: Mapping[str, str] = {
    "p50_ms": "p50",
    "p90_ms": "p90",
    "p99_ms": "p99",
    "p99_9_ms": "p99.9",
    "max_ms": "maximum",
}


@dataclass(frozen=True)
class Sheet:
    """A table as numbers: each row by the names of its columns, or as values in the order of `columns`.

    A sheet without rows has the columns that are named here. `types`: those that no value may tell, by column.
    """

    rows: Iterable[Mapping[str, object] | Sequence[object]]
    columns: Sequence[str] | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    def frame(self) -> pd.DataFrame:
        """Return the sheet as a data frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.columns) if self.columns else None).astype(self.types)


def as_csv(frame: pd.DataFrame) -> bytes:
    """Write the frame as CSV with a header line, LF line ends, UTF-8.

    A text that a spreadsheet would take for a formula gets an apostrophe before it, as OWASP's page on CSV injection
    says: titles and facts of hosts are other people's words.
    """
    texts = frame.select_dtypes(exclude=["number", "bool", "datetime", "datetimetz"])
    text: str = frame.assign(**texts.map(_no_formula)).to_csv(index=False, lineterminator="\n")
    return text.encode()


def as_parquet(frame: pd.DataFrame) -> bytes:
    """Return the frame as Parquet."""
    buffer = BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def file_of_part(part: str, path: str) -> str:
    """Return the name of a part's file in the report's folder: `kv-report.html`."""
    return f"{part}-{path}"


def _no_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_BEGINS_FORMULA) else cell


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
