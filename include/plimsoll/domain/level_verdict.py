"""The outcome of a service level, for which no definition is needed, unlike for the other results."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import Model
from plimsoll.domain.service_level import ServiceLevel

PERCENTILES: Mapping[str, float] = {"p50_ms": 50.0, "p90_ms": 90.0, "p99_ms": 99.0, "p99_9_ms": 99.9}
"""The name of a figure → its percentile."""


class Percentiles(Model):
    """Response times in ms; None where nothing was counted."""

    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    p99_9_ms: float | None
    max_ms: float | None


class LevelVerdict(Model):
    """The outcome of one service level over the judged intervals of one attempt."""

    service_level: ServiceLevel
    met: bool
    judged: int
    missed: int
    not_judged: Annotated[int, Field(description="Intervals cut off at the end")]
    worst_ms: float | None
