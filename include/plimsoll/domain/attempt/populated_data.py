"""The data on which a load runs: how many rows make a size on disk, counted once for all cells of a campaign, and
their origin, where the loads of a ramp's repeat share data.
"""

from datetime import timedelta
from math import ceil
from typing import Annotated, NamedTuple

from pydantic import AwareDatetime, Field

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.base import Model

TOLERANCE = 0.05
"""The size of data on a node may differ from what is asked for by this share. A larger difference gives a warning."""
FIRST_SAMPLE = 20_000
"""Rows of the first sample whose size on disk is measured."""
_SAMPLE_SHARE, _SAMPLE_BYTES = 0.1, 1 << 30
"""A sample has this share of the size that is asked for, and at most this many bytes on each node."""
_MOST_PARTS = 9_999
"""The greatest number of parts that a load generator can divide its rows into."""


class CountedRows(Model):
    """The rows that all cells of a campaign populate with one workload, and what of them was measured."""

    rows: Annotated[int, Field(description="Rows to populate in every cell", ge=1)]
    asked_bytes: Annotated[int, Field(description="Size on each node's disk that the definition asks for")]
    sample_rows: Annotated[int, Field(description="Rows of the sample that was measured", ge=1)]
    sample_bytes: Annotated[int, Field(description="What the sample took on each node's disk, the nodes' mean", ge=1)]
    cell: Annotated[str, Field(description="The cell that measured it, before its own load")]
    attempt: int
    measured_at: AwareDatetime
    rows_per_s: Annotated[
        float | None, Field(description="Highest rate at which one load host was seen to write a sample, rows/s", gt=0)
    ] = None


class DataOrigin(Model):
    """The data of one attempt: on which cluster they are, and which attempts' loads ran on them before."""

    cluster: ClusterId
    earlier: Annotated[
        tuple[AttemptKey, ...],
        Field(
            description="Attempts whose loads ran on the data, the one that populated first; empty: it does so itself"
        ),
    ] = ()
    until: Annotated[AwareDatetime, Field(description="When the database ends itself at the latest")]

    def environment(self, key: AttemptKey) -> str:
        """Return the name of what lives on the nodes as long as the data do: `g1-010k-r3-1-data`."""
        return f"{next(iter(self.earlier), key).environment}-data"

    def handed_on(self, key: AttemptKey) -> "DataOrigin":
        """Return the origin for the next attempt on the data of the attempt with that key."""
        return self.model_copy(update={"earlier": (*self.earlier, key)})


def rows_of(asked_bytes: int, sample_rows: int, sample_bytes: int) -> int:
    """Return the number of rows that have that size, in proportion to the sample; at least one."""
    return max(1, round(asked_bytes * sample_rows / sample_bytes))


def least_time(counted: CountedRows, load_hosts: int) -> timedelta:
    """Return the time that populating takes at the highest rate that was seen; 0 where no rate was seen."""
    if counted.rows_per_s is None:
        return timedelta(0)
    return timedelta(seconds=ceil(counted.rows / (counted.rows_per_s * load_hosts)))


class Sample(NamedTuple):
    """Rows to write for a measurement: every `parts`-th of the first `of_rows` rows."""

    of_rows: int
    parts: int = 1

    @property
    def rows(self) -> int:
        """Return the number of rows that are written, of all `of_rows`."""
        return ceil(self.of_rows / self.parts)


def second_sample(asked_bytes: int, sample_bytes: int) -> Sample | None:
    """Return what to measure after `FIRST_SAMPLE` rows took `sample_bytes`; None if these are at least half of the
    size.

    The first rows mislead: files have heads, and the keys of the first rows are shorter than those of the last ones. So
    rows from all over the range that will be populated are measured.
    """
    if 2 * sample_bytes >= asked_bytes:
        return None
    wanted_bytes = min(max(asked_bytes * _SAMPLE_SHARE, sample_bytes), _SAMPLE_BYTES)
    of_rows = rows_of(asked_bytes, FIRST_SAMPLE, sample_bytes)
    wanted = rows_of(round(wanted_bytes), FIRST_SAMPLE, sample_bytes)
    return Sample(of_rows, min(max(1, of_rows // wanted), _MOST_PARTS))


def is_within_tolerance(asked_bytes: int, found_bytes: int) -> bool:
    return abs(found_bytes - asked_bytes) <= TOLERANCE * asked_bytes


def can_go_on(cell: Cell, earlier: Cell, verdict: Verdict | None) -> bool:
    """Tell whether a load at `cell` may go on with the data of an attempt at `earlier`, by that attempt's verdict.

    Both belong to one repeat of a variant with a workload, the earlier load was lower, valid and met: then the data are
    what the ramp says, and no overload has left work behind.
    """
    is_next = cell.group("repeat") == earlier.group("repeat") and earlier.load_ops_s < cell.load_ops_s
    return is_next and verdict is not None and verdict.outcome == "met"
