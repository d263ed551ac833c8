"""Notes on intervals with too few operations for their percentile: of a definition, and of what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.domain.keys.service_level import ServiceLevel, few_operations, operations_needed
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.analysis.attempt.intervals import IntervalTable
    from plimsoll.domain.campaign.part import Part
    from plimsoll.domain.keys.workload import Workload


def decided_by_few(parts: Iterable[Part]) -> Iterator[str]:
    """Yield a note for each service level and stage whose loads leave too few operations to an interval."""
    for part in parts:
        for level in part.service_levels if "load" in part.knows else ():
            share = _share(part.workload, level)
            yield from few_operations(level, [share * load for load in part.loads])


def few_in_intervals(table: IntervalTable, levels: Sequence[ServiceLevel]) -> Iterator[str]:
    """Yield a note for each service level of which judged intervals had too few operations.

    An interval in which nothing was answered has a note of its own. The rate is given with two digits, so that repeats
    of a cell have the same note.
    """
    for level in levels:
        rows = [row for row in table.select("judged", level.operations) if row.count and row.duration_s]
        needed = operations_needed(level) or 0
        few = [row for row in rows if row.rate_ops_s * level.interval.total_seconds() < needed]
        if few:
            where = "" if len(few) == len(rows) else f" in {len(few)} of {plural(len(rows), 'interval')}"
            mean = sum(row.rate_ops_s for row in few) / len(few)
            yield from few_operations(level, [float(f"{mean:.2g}")], where)


def _share(workload: Workload, level: ServiceLevel) -> float:
    """Return the share of a level's operations in a load, at most. 1 where the workload is silent in `read_share`."""
    if not workload.states_read_share and "read_share" not in workload.model_fields_set:
        return 1.0
    return {"reads": workload.read_share, "writes": 1 - workload.read_share}.get(level.operations, 1.0)
