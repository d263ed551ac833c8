"""A clock that nobody has to wait for."""

from datetime import UTC, datetime, timedelta

BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)


class SteppingClock:
    """Implements the Clock port: time passes only by sleeping, or where a test sets `at`. `slept` are the naps, s."""

    def __init__(self) -> None:
        self.at = BEGAN
        self.slept: list[float] = []

    def now(self) -> datetime:
        """Return the time that the test has reached."""
        return self.at

    def sleep(self, seconds: float) -> None:
        """Move the time on, and return at once."""
        self.slept.append(seconds)
        self.at += timedelta(seconds=seconds)

    @property
    def passed(self) -> timedelta:
        """Return the time since the test began."""
        return self.at - BEGAN

    @property
    def naps(self) -> int:
        """Tell how often somebody slept."""
        return len(self.slept)
