"""Hosts' clocks, compared with the controller's, and the start that several load hosts have in common."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.aftermath import Aftermath
from plimsoll.domain.base import Model


class ClockReading(Model):
    """One comparison of a host's clock with the controller's."""

    offset_ms: Annotated[float, Field(description="Host's clock less the controller's, ms")]
    error_ms: Annotated[float, Field(ge=0, description="The offset is wrong by at most so much, ms")] = 0.0


class LoadStart(Model):
    """When the load hosts of an attempt start, where they are told it, and how their clocks stood then."""

    start: Annotated[AwareDatetime, Field(description="Of the timed run, by the first load host's clock")]
    clocks: Annotated[Mapping[str, ClockReading], Field(description="By load host, the first one first")]
    aftermath: Annotated[
        Aftermath | None, Field(description="What populating left to do, where the nodes themselves were asked for it")
    ] = None
    clocks_after: Annotated[Mapping[str, ClockReading], Field(description="The same once the load was over")] = {}

    @property
    def ahead_ms(self) -> dict[str, float]:
        """By how much each load host's clock is ahead of the first one's, ms."""
        return ahead_of_first(self.clocks)

    @property
    def error_ms(self) -> float:
        """The start of one host may lie at most so far from another's, ms, as far as the clocks tell."""
        first, *others = self.clocks.values()
        return max((first.error_ms + other.error_ms for other in others), default=0.0)

    @property
    def drift_ms(self) -> float | None:
        """By how much a clock has moved against the first one's while the load ran, ms; None: not compared again."""
        if set(self.clocks_after) != set(self.clocks):
            return None
        before, after = ahead_of_first(self.clocks), ahead_of_first(self.clocks_after)
        return max(abs(after[host] - before[host]) for host in before)


CLOCK_SHARE = 0.01
"""How exactly several load hosts must start together, as a share of the shortest interval that is judged."""


def most_apart_ms(intervals: Iterable[timedelta]) -> float:
    """By how much the starts of two load hosts may differ, ms: of intervals of 10 s it is 100 ms."""
    return CLOCK_SHARE * min(intervals).total_seconds() * 1000


def ahead_of_first(clocks: Mapping[str, ClockReading]) -> dict[str, float]:
    """By how much each clock is ahead of the first of them, ms."""
    first = next(iter(clocks.values()))
    return {host: reading.offset_ms - first.offset_ms for host, reading in clocks.items()}
