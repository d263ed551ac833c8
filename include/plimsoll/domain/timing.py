"""The time for which a cell is loaded, and the part of it that is judged."""

from collections.abc import Sequence
from datetime import timedelta
from math import ceil, lcm
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.faults import Fault, Faulty
from plimsoll.domain.service_level import ServiceLevel
from plimsoll.domain.units import Duration, PositiveDuration, format_duration

_USUAL = timedelta(hours=1)
_LEAST_INTERVALS = 5


class Timing(Model):
    """The time for which a cell is loaded. The service level is judged over `duration` minus `warmup`."""

    duration: Annotated[PositiveDuration, Field(description="Length of the timed run, with its warm-up")]
    warmup: Annotated[Duration, Field(description="Length of the first part of the run, which is not judged")]
    populating: Annotated[
        LeftOutIfEmpty[PositiveDuration | None],
        Field(
            description="Longest time that populating may take, with the wait for compactions after it; hosts live as "
            "much longer. Without it: an hour, within which hosts are also provisioned, deployed and collected"
        ),
    ] = None

    stop: Annotated[
        LeftOutIfEmpty[Literal["decided"] | None],
        Field(
            description="`decided`: end a load once one of its intervals has missed, as nothing after it can make it "
            "met. Without it every load lasts for its whole duration"
        ),
    ] = None
    least_intervals: Annotated[
        int,
        Field(
            ge=1,
            description="Number of intervals that are judged in any case before a load is ended by `stop: decided`",
            exclude_if=_LEAST_INTERVALS.__eq__,
        ),
    ] = _LEAST_INTERVALS

    @model_validator(mode="after")
    def _warmup_is_shorter(self) -> Self:
        if self.warmup >= self.duration:
            length, warmup = format_duration(self.duration), format_duration(self.warmup)
            what = f"warm-up {warmup} is not shorter than duration {length}"
            raise Faulty([Fault(("warmup",), what, f"write less than {length}, or a longer duration")])
        return self

    @property
    def judged(self) -> timedelta:
        """Return the judged time: duration less warm-up."""
        return self.duration - self.warmup

    def shortest(self, levels: Sequence[ServiceLevel]) -> timedelta:
        """Return the least length of a load: it is ended after its first intervals, where these missed."""
        if self.stop is None:
            return self.duration
        whole, least = _whole(levels), max(self.least_intervals * level.interval for level in levels)
        return min(self.duration, self.warmup + ceil(least / whole) * whole)

    def ended_after(self, ended: timedelta, levels: Sequence[ServiceLevel]) -> Self:
        """Return the timing of a load that ended then: whole intervals of every service level count.

        Where its warm-up leaves none, it is judged from its start; where that leaves none either, the timing stays.
        """
        whole = _whole(levels)
        if ended < whole:
            return self
        warmup = self.warmup if ended - self.warmup >= whole else timedelta(0)
        return self.model_copy(update={"duration": warmup + (ended - warmup) // whole * whole, "warmup": warmup})

    @property
    def longest_populating(self) -> timedelta:
        """Tell how long populating may take before the load is given up."""
        return self.populating or _USUAL

    @property
    def beyond_the_load(self) -> timedelta:
        """Return the time that a cell's hosts are given for populating, on top of the load and of the usual margin."""
        return self.populating or timedelta(0)

    @property
    def with_populating(self) -> timedelta:
        """Return the length of the timed run, with the time that the definition gives to populating."""
        return self.duration + self.beyond_the_load


def _whole(levels: Sequence[ServiceLevel]) -> timedelta:
    """Return the shortest time that consists of whole intervals of every service level."""
    microsecond = timedelta(microseconds=1)
    return lcm(*(level.interval // microsecond for level in levels)) * microsecond
