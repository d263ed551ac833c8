"""Turn Ctrl-C, a closed terminal and SIGTERM into one exception, but never while a process is being started."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked the launcher to end. It is not an `Exception`, so that no handler of failures swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


class Interrupts:
    """The handler that turns the first signal into `Interrupted`. Later signals are counted: they ask for haste while
    stopping.
    """

    def __init__(self) -> None:
        self.count = 0
        self._pending: int | None = None
        self._shields = 0

    @contextmanager
    def caught(self) -> Iterator["Interrupts"]:
        """Handle the signals inside the block. The earlier handlers are restored afterwards."""
        before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Delay the exception of a signal to the end of the block; it is dropped if the block itself raises."""
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
        self._raise_pending()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self._pending is None and self.count == 1:
            self._pending = number
        self._raise_pending()

    def _raise_pending(self) -> None:
        if self._pending is not None and not self._shields:
            number, self._pending = self._pending, None
            raise Interrupted(number)
