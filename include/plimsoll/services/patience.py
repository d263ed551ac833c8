"""Do a step again that failed for a reason that passes: a network or a service that is away for a while."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from plimsoll.domain.errors import CloudOutOfReach, PlimsollError, StoreError, Unreachable
from plimsoll.ports.clock import Clock

AWAY_S = (2.0, 5.0, 10.0, 20.0, 30.0, 30.0, 30.0, 30.0)
"""Pauses before further tries, two and a half minutes in all: longer than most outages of a network."""
SOON_S = (2.0, 5.0, 10.0)
PASSING: tuple[type[PlimsollError], ...] = (StoreError, Unreachable, CloudOutOfReach)
"""Errors of links and services, which say nothing about the step itself."""

_T = TypeVar("_T")


def patiently(
    clock: Clock,
    step: Callable[[], _T],
    say: Callable[[str], None],
    *,
    again: tuple[type[PlimsollError], ...] = PASSING,
    pauses_s: Sequence[float] = AWAY_S,
) -> _T:
    """What the step returns, once it succeeds. Its last error after as many further tries as there are pauses."""
    for pause in pauses_s:
        try:
            return step()
        except again as error:
            say(f"{error}\n  Trying again in {pause:.0f} s")
            clock.sleep(pause)
    return step()
