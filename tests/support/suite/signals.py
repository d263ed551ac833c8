"""An end of the tests from outside: by Ctrl-C, by `kill`, or by pytest-xdist."""

import signal
from types import FrameType


def interrupt_in_order(*, is_worker: bool) -> None:
    """Let SIGINT and SIGTERM undo what fixtures did; who starts tests in the background may have Ctrl-C ignored.

    A worker of pytest-xdist is sent SIGINT again after 5 s, which must not break off what it undoes by then.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt_once if is_worker else signal.default_int_handler)


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        # Not SIG_IGN: processes that are started meanwhile would inherit it.
        signal.signal(each, lambda *_: None)
    raise KeyboardInterrupt
