"""How much noise of the hosts a missed interval may have and still count as the database's miss.

`docs/reference/quality.md` gives the measurements from which the defaults are derived.
"""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.units import Percent, PositiveDuration, format_percent

LONGEST_WAIT = timedelta(minutes=30)
"""The longest `wait_for_calm`: it is a part of the hour of the step in which the database starts."""


def _share(description: str, default: int) -> Any:
    return Field(description=description, json_schema_extra={"default": format_percent(default)})


class Disturbance(Model):
    """The bounds of noise.

    Noise makes response times longer and never shorter. So an attempt that met its service levels stays met, and a
    missed one counts if the noise was within these bounds in at least one of its missed intervals, on every host.
    """

    foreign_cpu: Annotated[
        Percent, _share("Share of a host's processors that programs outside the cell may take", 10)
    ] = 10
    steal: Annotated[Percent, _share("Share of a host's processors that other machines may take", 5)] = 5
    throttled: Annotated[
        Percent,
        _share("Share of periods in which a control group of the cell's processes may have used up its CPU quota", 5),
    ] = 5
    generator_lag: Annotated[
        LeftOutIfEmpty[PositiveDuration | None],
        Field(
            description="How long the load generator may have stalled or been late. Without it: the shortest "
            "stall that makes an interval miss by itself, such as 110 ms for p99.9 of 10 s below 100 ms"
        ),
    ] = None
    tries: Annotated[
        int,
        Field(
            ge=1,
            le=20,
            description="Greatest number of times that a disturbed cell runs by itself, the first time included",
        ),
    ] = 2


def is_default(bounds: Disturbance) -> bool:
    """Tell whether these are the default bounds, which are not written."""
    return bounds == Disturbance()
