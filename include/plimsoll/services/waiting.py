"""Report what a call is waiting for: always in the log, and in the progress of the cell that waits."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
