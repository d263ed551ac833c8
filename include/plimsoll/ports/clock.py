"""Time as a port, so that use-cases can be tested without waiting."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time and waiting."""

    def now(self) -> datetime:
        """Return the current time in UTC, with its time zone."""

    def sleep(self, seconds: float) -> None:
        """Wait that many seconds."""
