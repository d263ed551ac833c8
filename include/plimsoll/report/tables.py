"""Data frames as files, and the table of loads that several sections show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from plimsoll.analysis.campaign.by_load import RepeatsAtLoad
from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.formatting import NOTHING, ops, percent, plural, span, whole_span

if TYPE_CHECKING:
    import pandas as pd

PERCENTILE_NAMES: Mapping[str, str] = {
    "p50_ms": "p50",
    "p90_ms": "p90",
    "p99_ms": "p99",
    "p99_9_ms": "p99.9",
    "max_ms": "maximum",
}

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class LoadRow:
    """One variant at one load, as text: achieved rate and the maxima's range over valid repeats, ms.

    `begin_with_backlog`: the number of valid repeats that began their judged time with a backlog from warm-up.
    """

    variant: str
    load: str
    repeats: str
    achieved: str
    share: str
    not_achieved: int
    begin_with_backlog: int
    maxima: tuple[str, ...]


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


def load_rows(findings: Findings) -> tuple[LoadRow, ...]:
    """Return a row for each variant and load, in the definition's order."""
    return tuple(_load_row(findings, one) for one in findings.repeats_by_load)


def valid_repeats(one: RepeatsAtLoad) -> str:
    """Format the number of valid repeats as `2 of 3 repeats`."""
    return f"{one.valid} of {plural(one.repeats, 'repeat')}"


def _no_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_BEGINS_FORMULA) else cell


def _load_row(findings: Findings, one: RepeatsAtLoad) -> LoadRow:
    rate = one.achieved_ops_s
    return LoadRow(
        variant=findings.labels[one.variant],
        load=ops(one.load_ops_s),
        repeats=valid_repeats(one),
        achieved=whole_span(rate.low, rate.high) if rate else NOTHING,
        share=percent(one.achieved_share, 2),
        not_achieved=one.not_achieved,
        begin_with_backlog=one.begin_with_backlog,
        maxima=tuple(span(spread.low, spread.high) if spread else NOTHING for spread in one.maxima_ms.values()),
    )
