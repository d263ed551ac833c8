"""A bound that decides nothing: the report says up to which load a percentile stayed below it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import Field, field_validator

from plimsoll.domain.base import Model
from plimsoll.domain.units import PositiveDuration, format_duration

COLUMNS: Mapping[float, str] = {50.0: "p50_ms", 90.0: "p90_ms", 99.0: "p99_ms", 99.9: "p99_9_ms"}
"""Percentile → its name among the figures of intervals."""


class RateBelow(Model):
    """Asks for the highest load at which a percentile of every judged interval was below a bound."""

    percentile: Annotated[float, Field(description="50, 90, 99 or 99.9")]
    below: Annotated[PositiveDuration, Field(description="Bound of the percentile")]

    @field_validator("percentile")
    @classmethod
    def _is_kept(cls, value: float) -> float:
        if value not in COLUMNS:
            raise ValueError(f"of p{value:g} no figures are kept: write 50, 90, 99 or 99.9")
        return value

    @property
    def bound_ms(self) -> float:
        """Return the bound in milliseconds."""
        return self.below / timedelta(milliseconds=1)

    def __str__(self) -> str:
        return f"p{self.percentile:g} below {format_duration(self.below)}"
