"""The mean of the intervals' p99 of each operation, by variant and load: what tlp-2020 publishes for each rate.

A repeat's figure is the arithmetic mean of the p99 of its judged intervals, ms, each interval with the same weight.
The Last Pickle (Benchmarking Apache Cassandra 4.0, 2020) publishes the average p99 of reads and of writes; its text
does not say over which windows. A service level tells a few bad intervals from many that are a little slower; a mean
does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from plimsoll.domain.base import Model
from plimsoll.domain.service_level import ALL_OPERATIONS

if TYPE_CHECKING:
    from plimsoll.analysis.campaign.cell_results import AttemptData, CellResult


class OperationP99(Model):
    """One operation of one variant at one load: means of its intervals' p99, as a spread over valid repeats, ms."""

    variant: str
    load_ops_s: int
    operation: Annotated[str, Field(description="`reads`, `writes`, or its own name where it is neither")]
    repeats: Annotated[int, Field(description="Valid repeats whose intervals tell this operation's p99")]
    intervals: Annotated[int, Field(description="Judged intervals of these repeats, over which the means are taken")]
    unanswered: Annotated[int, Field(description="Judged intervals without an answer, in no mean: they have no p99")]
    low_ms: Annotated[float, Field(description="Lowest repeat's arithmetic mean of its judged intervals' p99")]
    median_ms: Annotated[float, Field(description="Median of the repeats' means")]
    high_ms: Annotated[float, Field(description="Highest repeat's mean")]


@dataclass(frozen=True)
class _Repeat:
    """One operation in one repeat: p99 of the judged intervals with an answer, ms, and how many had none."""

    p99_ms: Sequence[float]
    unanswered: int


def p99_by_operation(cells: Iterable[CellResult]) -> tuple[OperationP99, ...]:
    """Return the mean p99 of every variant, load and operation, in the cells' order, operations by name.

    Only attempts that count are read. An attempt is left out of an operation's figures where its intervals do not tell
    the operation apart, where no judged interval has an answer, and where the p99 of one with answers is unknown.
    """
    found: dict[tuple[str, int], dict[str, list[_Repeat]]] = {}
    for result in cells:
        own = found.setdefault((result.cell.variant, result.cell.load_ops_s), {})
        for operation, repeat in _repeats(result.counted) if result.counted else ():
            own.setdefault(operation, []).append(repeat)
    return tuple(one for place, operations in found.items() for one in _at_load(*place, operations))


def _repeats(attempt: AttemptData) -> Iterator[tuple[str, _Repeat]]:
    """Yield the single operations of one attempt, with their judged intervals."""
    table = attempt.intervals
    if table.empty:
        return
    of_single = (table["phase"] == "judged") & (table["operation"] != ALL_OPERATIONS)
    judged = table.loc[of_single, ["operation", "count", "p99_ms"]]
    for operation, own in judged.groupby("operation"):
        answered = own.loc[own["count"] > 0, "p99_ms"]
        if len(answered) and answered.notna().all():
            yield str(operation), _Repeat(answered.tolist(), len(own) - len(answered))


def _at_load(variant: str, load: int, operations: Mapping[str, Sequence[_Repeat]]) -> Iterator[OperationP99]:
    for operation, repeats in sorted(operations.items()):
        means = [fmean(one.p99_ms) for one in repeats]
        yield OperationP99(
            variant=variant,
            load_ops_s=load,
            operation=operation,
            repeats=len(repeats),
            intervals=sum(len(one.p99_ms) for one in repeats),
            unanswered=sum(one.unanswered for one in repeats),
            low_ms=min(means),
            median_ms=median(means),
            high_ms=max(means),
        )
