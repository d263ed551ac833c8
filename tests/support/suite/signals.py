"""Signals that end the tests: from Ctrl-C, from `kill`, or from pytest-xdist."""

import signal
from types import FrameType


def interrupt_in_order(*, is_worker: bool) -> None:
    """Make SIGINT and SIGTERM end fixtures in order, also in tests that were started in the background.

    pytest-xdist sends SIGINT to its workers again after 5 s, which must not interrupt the end of fixtures.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt_once if is_worker else signal.default_int_handler)


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        # Not SIG_IGN: processes that are started meanwhile would inherit it.
        signal.signal(each, lambda *_: None)
    raise KeyboardInterrupt
