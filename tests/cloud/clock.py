"""The cloud's time: the real one, or one that a test moves."""

import threading
import time
from typing import Protocol


class CloudClock(Protocol):
    """Seconds from some beginning."""

    def now(self) -> float:
        """Return the moment."""


class RealClock:
    """Time as it passes; `skip` lets it jump ahead."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def now(self) -> float:
        """Return a monotonic time."""
        return time.monotonic() + self._skipped

    def skip(self, seconds: float) -> None:
        """Move the time on."""
        self._skipped += seconds


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self._now = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        """Return the time to which the clock was moved."""
        return self._now

    def skip(self, seconds: float) -> None:
        """Move the time on."""
        with self._lock:
            self._now += seconds
