"""A ceiling on what a campaign and each of its cells take, whatever hangs."""

from datetime import timedelta
from typing import Annotated, Self

from pydantic import Field, model_validator

from plimsoll.domain.base import Model
from plimsoll.domain.faults import Fault, Faulty
from plimsoll.domain.units import PositiveDuration, Usd

_KEEPING = timedelta(minutes=10)


class AtMost(Model):
    """What a campaign may take at most. Unlike a budget, it ends what runs."""

    cost: Annotated[
        Usd | None,
        Field(
            gt=0,
            description="Cost of all hosts of the campaign: no cell begins that would exceed it, and cells that run "
            "are ended once it is reached",
        ),
    ] = None
    cell: Annotated[
        PositiveDuration | None,
        Field(description="Time from the start of an attempt to the end of its hosts, with all waiting and populating"),
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
