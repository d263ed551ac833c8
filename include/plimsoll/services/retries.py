"""Retry a step after temporary failures, such as a network or a service that is briefly unavailable.

Also report what a call waits for, and remember that a store does not answer.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import TypeVar

from plimsoll.domain.text.errors import (
    CloudOutOfReach,
    DamagedRecord,
    PlimsollError,
    SecretError,
    StoreError,
    Unreachable,
)
from plimsoll.ports.controller import Clock, Log

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

    `pauses_s`: the pauses, s; `AWAY_S` unless others are given.
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


_log = logging.getLogger("plimsoll")
_listener: ContextVar[Callable[[str], None] | None] = ContextVar("plimsoll_waiting", default=None)


def report_waiting(sentence: str) -> None:
    """Report what the caller waits for. For adapters that wait long, in the same thread."""
    _log.info(sentence)
    listener = _listener.get()
    if listener is not None:
        listener(sentence)


@contextmanager
def waiting_reported_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Pass reports of waiting inside the block to the listener, too."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_REMEMBERED = timedelta(minutes=1)


class Outage:
    """A memory of a minute that the store could not be reached, because a try can take minutes to time out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._away: tuple[datetime, StoreError] | None = None

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Let the block access the store. Raises StoreError when the store can't be reached.

        While the store is known to be out of reach, the error is raised at once.
        """
        if self._away and self._clock.now() < self._away[0]:
            raise self._away[1]
        try:
            yield
        except DamagedRecord:  # the store does answer
            raise
        except StoreError as error:
            self._away = self._clock.now() + _REMEMBERED, error
            raise
