"""The machine's own clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """An implementation of the Clock port with real time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
