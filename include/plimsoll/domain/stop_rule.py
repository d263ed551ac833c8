"""Rules by which a load is ended so that it does no harm, whatever it was to measure."""

from datetime import timedelta
from typing import Annotated, Self

from pydantic import Field, model_validator

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.faults import Fault, Faulty
from plimsoll.domain.units import Percent, PositiveDuration, format_duration

_SECOND = timedelta(seconds=1)
_MEND = "write `{errors: 5%, within: 10s}`, or `{percentile: 99, above: 1s, within: 30s}`"


class StopRule(Model):
    """A bound beyond which a load is ended: a share of failed operations, or a percentile of the response times.

    Every second it is looked at for the operations of the last `within`, also while the load populates.
    """

    errors: Annotated[
        LeftOutIfEmpty[Percent | None], Field(ge=1, lt=100, description="Share of operations that may fail")
    ] = None
    percentile: Annotated[
        LeftOutIfEmpty[float | None],
        Field(gt=0, lt=100, description="Percentile of the response times of all answered operations, with `above`"),
    ] = None
    above: Annotated[
        LeftOutIfEmpty[PositiveDuration | None], Field(description="Time that the percentile may not exceed")
    ] = None
    within: Annotated[
        PositiveDuration,
        Field(
            le=timedelta(minutes=10),
            description="Length of the time that is looked at, in whole seconds. The load also ends where nothing was "
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
