"""A service level: which percentile of which interval must stay below which bound."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.units import PositiveDuration, format_duration

ALL_OPERATIONS = "all"
"""The name that stands for the operations of a run together."""

Operations = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=40, examples=[ALL_OPERATIONS, "reads", "writes"])
]
Windows = Literal["aligned", "sliding"]


def meant_percentile(percentile: float) -> str:
    """Guess what was meant where a percentile is below 1 and so is no figure in per cent: 99.9 for 0.999."""
    return f"{100 * percentile:.10g}" if percentile < 1 else ""


class ServiceLevel(Model):
    """In every judged `interval` the `percentile` of the response times of `operations` must be lower than `below`."""

    percentile: Annotated[float, Field(gt=0, le=100, description="Percentile in per cent, such as 99.9")] = 99.9
    interval: Annotated[PositiveDuration, Field(description="Length of the windows that are judged one by one")] = (
        timedelta(seconds=10)
    )
    below: Annotated[PositiveDuration, Field(description="Bound of the percentile. A value equal to it misses")] = (
        timedelta(milliseconds=100)
    )
    operations: Annotated[
        Operations,
        Field(description="Operations whose response times count: `all`, or one of the workload's operations"),
    ] = ALL_OPERATIONS
    windows: Annotated[
        Windows,
        Field(description="`aligned`: one interval after the other. `sliding`: an interval begins at every log record"),
    ] = "aligned"
    during: Annotated[
        LeftOutIfEmpty[Literal["action"] | None],
        Field(description="`action`: only intervals during the stage's action count. Without it: all judged intervals"),
    ] = None

    failures: Annotated[
        LeftOutIfEmpty[Literal["apart"] | None],
        Field(
            description="`apart`: operations that were not answered are shown, and not judged. By default they are "
            "slower than the bound"
        ),
    ] = None

    @property
    def counts_failures(self) -> bool:
        """Tell whether what was not answered counts as slow."""
        return self.failures != "apart"

    @property
    def bound_ms(self) -> float:
        """Return the bound in milliseconds."""
        return self.below / timedelta(milliseconds=1)

    @property
    def stall_ms(self) -> float:
        """Return the shortest stall that makes an interval miss by itself, ms.

        Operations that are due during a stall wait for its end, so all but those of its last `below` are answered
        after the bound. The interval misses when these are a greater share of its operations than the percentile
        leaves.
        """
        return self.bound_ms + (1 - self.percentile / 100) * (self.interval / timedelta(milliseconds=1))

    def __str__(self) -> str:
        whose = "" if self.operations == ALL_OPERATIONS else f" of {self.operations}"
        length = format_duration(self.interval)
        every = f"every {length} interval" if self.windows == "aligned" else f"every sliding {length} window"
        when = " during the action" if self.during else ""
        apart = "" if self.counts_failures else ", FAILED OPERATIONS APART"
        return f"p{self.percentile:g}{whose} of {every}{when} below {format_duration(self.below)}{apart}"
