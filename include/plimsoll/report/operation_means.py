"""The mean p99 of each operation, as text and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.by_load import RepeatsAtLoad
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.analysis.campaign.operation_means import OperationP99
from plimsoll.report.formatting import NOTHING, figure, ops, plural, span
from plimsoll.report.tables import valid_repeats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OperationsRow:
    """One variant at one load, as text. `means`: a text for each operation of the table, ms."""

    variant: str
    load: str
    repeats: str
    means: tuple[str, ...]


@dataclass(frozen=True)
class OperationsTable:
    """The page's table: the names of its operations, and a row for each variant and load.

    Both are empty where the intervals of no valid attempt distinguish operations.
    """

    operations: tuple[str, ...]
    rows: tuple[OperationsRow, ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the title of each operation's column: `Reads: mean p99 (ms)`."""
        return tuple(f"{name[:1].upper()}{name[1:]}: mean p99 (ms)" for name in self.operations)


def operations_table(findings: Findings) -> OperationsTable:
    """Return the mean p99 of every operation that a variant has, for variants and loads in the definition's order."""
    names = tuple(sorted({one.operation for one in findings.p99_by_operation}))
    found = {(one.variant, one.load_ops_s, one.operation): one for one in findings.p99_by_operation}
    rows = (
        _row(findings, one, [found.get((one.variant, one.load_ops_s, name)) for name in names])
        for one in findings.repeats_by_load
    )
    return OperationsTable(names, tuple(rows) if names else ())


def operations_frame(findings: Findings) -> pd.DataFrame:
    """Return a table with one row per variant, load and operation, and the fields of `OperationP99` as columns."""
    import pandas as pd

    rows = [one.model_dump() for one in findings.p99_by_operation]
    return pd.DataFrame(rows, columns=list(OperationP99.model_fields))


def _row(findings: Findings, one: RepeatsAtLoad, means: Sequence[OperationP99 | None]) -> OperationsRow:
    return OperationsRow(
        variant=findings.labels[one.variant],
        load=ops(one.load_ops_s),
        repeats=valid_repeats(one),
        means=tuple(_mean(mean, one.valid) for mean in means),
    )


def _mean(one: OperationP99 | None, valid: int) -> str:
    """Format a mean as `3.2 (2.9 to 4.1)`: the median and the range over repeats, and what the mean leaves out."""
    if one is None:
        return NOTHING
    shown = figure(one.median_ms) + (f" ({span(one.low_ms, one.high_ms)})" if one.repeats > 1 else "")
    fewer = f"; of {plural(one.repeats, 'repeat')}" if one.repeats < valid else ""
    unanswered = f"; {plural(one.unanswered, 'interval')} without an answer" if one.unanswered else ""
    return shown + fewer + unanswered
