"""What somebody waits for, told to whoever listens: a log always, and the progress of the cell that waits."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_log = logging.getLogger("plimsoll")
_listener: ContextVar[Callable[[str], None] | None] = ContextVar("plimsoll_waiting", default=None)


def tell_waiting(sentence: str) -> None:
    """Say what is waited for. For adapters that wait long, in the thread that was asked."""
    _log.info(sentence)
    listener = _listener.get()
    if listener is not None:
        listener(sentence)


@contextmanager
def waiting_told_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Have the listener told, too, what is waited for in the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
