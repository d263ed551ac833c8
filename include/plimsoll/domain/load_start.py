"""The start of a load: how clocks of hosts and controller differ, the common start of several load hosts, and the
background work of the database, left by populating, whose end it waits for.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model


class LeftoverWork(Model):
    """The outcome of waiting for that background work."""

    settled: Annotated[bool, Field(description="Nothing was left to do when the timed run began")]
    left: Annotated[dict[str, int], Field(description="Compactions that still ran or waited, by node")] = {}
    waited_s: float = 0.0
    problem: Annotated[str, Field(description="Why the nodes could not tell; empty where they did")] = ""


class ClockReading(Model):
    """One comparison of a host's clock with the controller's."""

    offset_ms: Annotated[float, Field(description="Host's clock less the controller's, ms")]
    error_ms: Annotated[float, Field(ge=0, description="The offset is wrong by at most so much, ms")] = 0.0


class LoadStart(Model):
    """The common start of an attempt's load hosts, and how their clocks stood at that time."""

    start: Annotated[AwareDatetime, Field(description="Of the timed run, by the first load host's clock")]
    clocks: Annotated[Mapping[str, ClockReading], Field(description="By load host, the first one first")]
    leftover_work: Annotated[
        LeftoverWork | None,
        Field(description="What populating left to do, where the nodes themselves were asked for it"),
    ] = None
    data_bytes: Annotated[
        Mapping[str, int], Field(description="Where a size was asked for: what the rows took on disk, by node")
    ] = {}
    clocks_after: Annotated[Mapping[str, ClockReading], Field(description="The same once the load was over")] = {}

    @property
    def ahead_ms(self) -> dict[str, float]:
        """Tell how far each load host's clock is ahead of the first load host's, ms."""
        return ahead_of_first(self.clocks)

    @property
    def error_ms(self) -> float:
        """Return the greatest difference between two load hosts' starts, ms, given errors of clock readings."""
        first, *others = self.clocks.values()
        return max((first.error_ms + other.error_ms for other in others), default=0.0)

    @property
    def drift_ms(self) -> float | None:
        """Tell how far any clock moved against the first load host's while the load ran, ms.

        None where the clocks were not compared again after the load.
        """
        if set(self.clocks_after) != set(self.clocks):
            return None
        before, after = ahead_of_first(self.clocks), ahead_of_first(self.clocks_after)
        return max(abs(after[host] - before[host]) for host in before)


CLOCK_SHARE = 0.01
"""The share of the shortest judged interval within which several load hosts must start together."""


def most_apart_ms(intervals: Iterable[timedelta]) -> float:
    """Tell how far apart the starts of two load hosts may be, ms. With intervals of 10 s it is 100 ms."""
    return CLOCK_SHARE * min(intervals).total_seconds() * 1000


def ahead_of_first(clocks: Mapping[str, ClockReading]) -> dict[str, float]:
    """Tell how far each clock is ahead of the first one in the mapping, ms."""
    first = next(iter(clocks.values()))
    return {host: reading.offset_ms - first.offset_ms for host, reading in clocks.items()}
