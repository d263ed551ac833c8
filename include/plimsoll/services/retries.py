"""Retry a step after temporary failures, such as a network or a service that is briefly unavailable."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from plimsoll.domain.text.errors import (
    CloudOutOfReach,
    DamagedRecord,
    PlimsollError,
    SecretError,
    StoreError,
    Unreachable,
)
from plimsoll.ports.clock import Clock
from plimsoll.ports.log import Log

AWAY_S = (2.0, 5.0, 10.0, 20.0, 30.0, 30.0, 30.0, 30.0)
"""Pauses before further tries, two and a half minutes in all: longer than most outages of a network."""
SOON_S = (2.0, 5.0, 10.0)
PASSING: tuple[type[PlimsollError], ...] = (StoreError, Unreachable, CloudOutOfReach)
"""Errors of links and services, which say nothing about the step itself."""
PASSING_WHILE_KEEPING = (*PASSING, SecretError)
"""The errors worth another try for steps that keep what was measured: a key that can't be read now must not cost it."""

_T = TypeVar("_T")


def with_retries(
    clock: Clock,
    step: Callable[[], _T],
    log: Log,
    *,
    again: tuple[type[PlimsollError], ...] = PASSING,
    pauses_s: Sequence[float] | None = None,
) -> _T:
    """Return the step's result when it succeeds. After one further try for each pause, its last error is raised.

    The pauses are `AWAY_S` unless others are given.
    """
    for pause in AWAY_S if pauses_s is None else pauses_s:
        try:
            return step()
        except DamagedRecord:  # which waiting does not mend
            raise
        except again as error:
            log(f"{error}\n  Trying again in {pause:.0f} s")
            clock.sleep(pause)
    return step()


def try_all(actions: Iterable[Callable[[], object]]) -> None:
    """Call every action, also after one has failed. Raises the first PlimsollError once all were called."""
    first: PlimsollError | None = None
    for action in actions:
        try:
            action()
        except PlimsollError as error:
            first = first or error
    if first:
        raise first
