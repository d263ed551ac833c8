"""A service level: which percentile of which interval must stay below which bound, its outcome, and how many
operations decide it. A bound that decides nothing is only reported.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import PositiveDuration, format_duration

ALL_OPERATIONS = "all"
"""The name that stands for the operations of a run together."""

Operations = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=40, examples=[ALL_OPERATIONS, "reads", "writes"])
]
Windows = Literal["aligned", "sliding"]

PERCENTILES: Mapping[str, float] = {"p50_ms": 50.0, "p90_ms": 90.0, "p99_ms": 99.0, "p99_9_ms": 99.9}
"""The name of a figure → its percentile."""

LEAST = 10
"""The number of an interval's operations that should lie above its percentile: of 10,000, p99.9 leaves 10."""


class Percentiles(Model):
    """Response times in ms; None where nothing was counted."""

    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    p99_9_ms: float | None
    max_ms: float | None


class RateBelow(Model):
    """Asks for the highest load at which a percentile of every judged interval was below a bound."""

    percentile: Annotated[float, Field(description="50, 90, 99 or 99.9")]
    below: Annotated[PositiveDuration, Field(description="Bound of the percentile")]

    @field_validator("percentile")
    @classmethod
    def _is_kept(cls, value: float) -> float:
        if value not in PERCENTILES.values():
            raise ValueError(f"of p{value:g} no figures are kept: write 50, 90, 99 or 99.9")
        return value

    @property
    def column(self) -> str:
        """Return the percentile's name among the figures of intervals."""
        return next(name for name, percentile in PERCENTILES.items() if percentile == self.percentile)

    @property
    def bound_ms(self) -> float:
        return self.below / timedelta(milliseconds=1)

    def __str__(self) -> str:
        return f"p{self.percentile:g} below {format_duration(self.below)}"


def meant_percentile(percentile: float) -> str:
    """Guess what was meant where a percentile is below 1 and so is no figure in per cent: 99.9 for 0.999."""
    return f"{100 * percentile:.10g}" if percentile < 1 else ""


def _at_least_1(schema: dict[str, Any]) -> None:
    """Show the bound that definitions have. The model takes less, so that what was meant can be asked."""
    del schema["exclusiveMinimum"]
    schema["minimum"] = 1


class ServiceLevel(Model):
    """In every judged `interval` the `percentile` of the response times of `operations` must be lower than `below`."""

    percentile: Annotated[
        float, Field(gt=0, le=100, description="Percentile in per cent, such as 99.9", json_schema_extra=_at_least_1)
    ] = 99.9
    interval: Annotated[PositiveDuration, Field(description="Length of the intervals")] = timedelta(seconds=10)
    below: Annotated[PositiveDuration, Field(description="Bound of the percentile. A value equal to it misses")] = (
        timedelta(milliseconds=100)
    )
    operations: Annotated[Operations, Field(description="Operations that count: `all`, or one of the workload's")] = (
        ALL_OPERATIONS
    )
    windows: Annotated[Windows, Field(description="`sliding`: an interval begins at every log record")] = "aligned"
    during: Annotated[
        LeftOutIfEmpty[Literal["action"] | None], Field(description="`action`: only intervals during the action count")
    ] = None

    failures: Annotated[
        LeftOutIfEmpty[Literal["apart"] | None],
        Field(description="`apart`: operations that were not answered are shown, and not judged as slow"),
    ] = None

    @property
    def counts_failures(self) -> bool:
        """Tell whether what was not answered counts as slow."""
        return self.failures != "apart"

    @property
    def bound_ms(self) -> float:
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
        intervals = f"every {length} interval" if self.windows == "aligned" else f"every sliding {length} window"
        when = " during the action" if self.during else ""
        apart = "" if self.counts_failures else ", FAILED OPERATIONS APART"
        return f"p{self.percentile:g}{whose} of {intervals}{when} below {format_duration(self.below)}{apart}"


WorstIsFloor = Annotated[
    LeftOutIfEmpty[bool],
    Field(
        description="Whether an interval missed by failed operations, which have no time: the worst is then the least "
        "that it can be"
    ),
]


class LevelVerdict(Model):
    """The outcome of one service level over the judged intervals of one attempt."""

    service_level: ServiceLevel
    met: bool
    judged: int
    missed: int
    not_judged: Annotated[int, Field(description="Intervals cut off at the end")]
    worst_ms: float | None
    ratios: Annotated[
        LeftOutIfEmpty[tuple[float, ...]],
        Field(
            description="Percentile of each judged interval / bound, in order; of one in which nothing was answered "
            "its length / bound. Empty where not all are known, and for sliding windows"
        ),
    ] = ()
    worst_is_floor: WorstIsFloor = False

    @property
    def ranked_ms(self) -> float | None:
        """Return the worst interval to be ranked, ms: where it is only a floor, above every one that is known."""
        return math.inf if self.worst_is_floor else self.worst_ms


def operations_needed(level: ServiceLevel) -> int | None:
    """Tell how many operations an interval needs so that `LEAST` ones decide its percentile; None for the maximum."""
    # Exact: with floats p99.9 would need 10,001 operations
    above = 1 - Fraction(str(level.percentile)) / 100
    return math.ceil(LEAST / above) if above else None


def few_operations(level: ServiceLevel, rates_ops_s: Iterable[float], which: str = "") -> Iterator[str]:
    """Yield a note if a service level's percentile is decided by few operations at one of the rates.

    It says what would be enough. `which`: the intervals that it is about, where it is not all.
    """
    needed, interval_s = operations_needed(level), level.interval / timedelta(seconds=1)
    few = sorted(rate for rate in rates_ops_s if needed and 0 < rate * interval_s < needed)
    if not (needed and few):
        return
    whose = "" if level.operations == ALL_OPERATIONS else f" of {level.operations}"
    ends = [f"{rate:,.6g}" for rate in (few[0], few[-1])[: len(set(few))]]
    rates = (" to " if len(set(few)) > 2 else " and ").join(ends)
    longer = format_duration(timedelta(seconds=math.ceil(needed / few[0])))
    yield (
        f"p{level.percentile:g}{whose} of an interval of {format_duration(level.interval)} is decided by fewer than "
        f"{LEAST} operations at {rates} ops/s{which}: {math.ceil(needed / interval_s):,} ops/s would do, or "
        f"intervals of {longer} at {few[0]:,.6g} ops/s"
    )
