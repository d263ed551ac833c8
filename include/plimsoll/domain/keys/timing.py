"""The time for which a cell is loaded, the part of it that is judged, and what ends it earlier: rules against a load
that does harm, and a ceiling, whatever hangs.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import ceil, lcm
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from plimsoll.domain.keys.faults import Fault, Faulty
from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import (
    Duration,
    Percent,
    PositiveDuration,
    ShortDuration,
    Usd,
    format_duration,
    parse_duration,
)

_USUAL = timedelta(hours=1)
_LEAST_INTERVALS = 5
_MOST_INTERVALS = (1 << 31) - 1
"""What the load generator keeps in 32 bits."""
_SECOND = timedelta(seconds=1)
_MEND = "write `{errors: 5%, within: 10s}`, or `{percentile: 99, above: 1s, within: 30s}`"
_KEEPING = timedelta(minutes=10)
_LONGEST_CAMPAIGN = timedelta(days=366)
_EXAMPLE = "2026-12-01T18:00:00+01:00"


def parse_finish_by(value: object) -> datetime | timedelta:
    """Parse `8h`, or `2026-12-01T18:00:00+01:00`, which becomes UTC. Raises ValueError."""
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        within = _within(value)
        if not timedelta(0) < within <= _LONGEST_CAMPAIGN:
            raise ValueError(f"{value} must be more than 0 and at most {format_duration(_LONGEST_CAMPAIGN)}") from None
        return within
    if at.tzinfo is None:
        raise ValueError(f"{value} has no zone: write e.g. {at.isoformat()}+01:00, or {at.isoformat()}Z for UTC")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{value} is in no year from 1 to 9999 of UTC: write a time like {_EXAMPLE}") from None


def _within(value: object) -> timedelta:
    try:
        return parse_duration(value if isinstance(value, timedelta) else str(value))
    except ValueError as error:
        raise ValueError(f"{error}; a time with its zone may stand here too, like {_EXAMPLE}") from None


def _format_finish_by(value: datetime | timedelta) -> str:
    return format_duration(value) if isinstance(value, timedelta) else value.isoformat()


FinishBy = Annotated[
    timedelta | datetime,
    BeforeValidator(parse_finish_by),
    PlainSerializer(_format_finish_by, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["8h", _EXAMPLE]}),
]


class AtMost(Model):
    """What a campaign may take at most. Unlike a budget, it ends what runs."""

    cost: Annotated[Usd | None, Field(gt=0, description="Cost of all hosts of the campaign")] = None
    cell: Annotated[
        PositiveDuration | None, Field(description="Time from the start of an attempt to the end of its hosts")
    ] = None

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if self.cost is None and self.cell is None:
            raise Faulty([Fault((), "bounds nothing", "give `cost`, `cell` or both")])
        return self

    @property
    def measured(self) -> timedelta | None:
        """Return the time after which an attempt is given up, so that its logs can be kept before its hosts end."""
        return None if self.cell is None else self.cell - min(_KEEPING, self.cell / 10)


class Timing(Model):
    """The time for which a cell is loaded. The service level is judged over `duration` minus `warmup`."""

    duration: Annotated[PositiveDuration, Field(description="Length of the timed run, with its warm-up")]
    warmup: Annotated[Duration, Field(description="First part of the run, which is not judged")]
    populating: Annotated[
        LeftOutIfEmpty[PositiveDuration | None],
        Field(
            description="Longest time for populating, with the wait for compactions. Without it: an hour, with "
            "provisioning, deployment and collection"
        ),
    ] = None

    stop: Annotated[
        LeftOutIfEmpty[Literal["decided"] | None],
        Field(description="`decided`: end a load once one of its intervals has missed"),
    ] = None
    least_intervals: Annotated[
        int,
        Field(
            ge=1,
            le=_MOST_INTERVALS,
            description="For `stop: decided`: intervals that are judged in any case",
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
        return self.duration - self.warmup

    def shortest(self, levels: Sequence[ServiceLevel]) -> timedelta:
        """Return the least length of a load: it is ended after its first intervals, where these missed."""
        if self.stop is None:
            return self.duration
        # No more intervals than fit: a `timedelta` does not hold the time of any number
        fitting = ((min(self.least_intervals, ceil(self.duration / level.interval)), level) for level in levels)
        whole, least = _whole(levels), max(count * level.interval for count, level in fitting)
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


def _whole(levels: Sequence[ServiceLevel]) -> timedelta:
    """Return the shortest time that consists of whole intervals of every service level."""
    microsecond = timedelta(microseconds=1)
    return lcm(*(level.interval // microsecond for level in levels)) * microsecond


class StopRule(Model):
    """A bound beyond which a load is ended: a share of failed operations, or a percentile of the response times."""

    errors: Annotated[
        LeftOutIfEmpty[Percent | None], Field(ge=1, lt=100, description="Share of operations that may fail")
    ] = None
    percentile: Annotated[
        LeftOutIfEmpty[float | None], Field(gt=0, lt=100, description="Percentile of the response times, with `above`")
    ] = None
    above: Annotated[
        LeftOutIfEmpty[PositiveDuration | None], Field(description="Time that the percentile may not exceed")
    ] = None
    within: Annotated[
        ShortDuration,
        Field(
            le=timedelta(minutes=10),
            description="Time that is looked at, in whole seconds, at most 10m. The load also ends if nothing was "
            "answered for so long",
        ),
    ]

    @model_validator(mode="after")
    def _is_one_rule(self) -> Self:
        if (self.percentile is None) != (self.above is None) or (self.errors is None) == (self.percentile is None):
            raise Faulty([Fault((), "does not say one rule", _MEND)])
        if self.within % _SECOND:
            what = f"{format_duration(self.within)} is no whole number of seconds"
            raise Faulty([Fault(("within",), what, "round it")])
        return self

    @property
    def share(self) -> float:
        """Return the share of operations that may have failed, or have taken longer than `above`, in per cent."""
        return self.errors if self.errors is not None else 100 - (self.percentile or 0)

    @property
    def stall_ms(self) -> float:
        """Return the shortest stall of everything that breaks the rule by itself, ms."""
        return ((self.above or timedelta(0)) + self.within * self.share / 100) / timedelta(milliseconds=1)

    def __str__(self) -> str:
        length = format_duration(self.within)
        if self.above is None:
            return f"more than {self.errors} % of the operations of {length} failed"
        return f"p{self.percentile:g} of {length} above {format_duration(self.above)}"
