"""A bound that decides nothing: the report says up to which load a percentile stayed below it."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, field_validator

from plimsoll.domain.base import Model
from plimsoll.domain.level_verdict import PERCENTILES
from plimsoll.domain.units import PositiveDuration, format_duration


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
        """Return the bound in milliseconds."""
        return self.below / timedelta(milliseconds=1)

    def __str__(self) -> str:
        return f"p{self.percentile:g} below {format_duration(self.below)}"
