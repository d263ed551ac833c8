"""How often to look: rarely enough that looking costs nothing beside a load, often enough that nobody waits for it."""

from datetime import timedelta

LOAD_POLLS = 40
LOAD_POLL_S = (1.0, 10.0)
RUN_POLLS = 40
RUN_POLL_S = (2, 30)


def load_poll_s(duration: timedelta) -> float:
    """Seconds between two looks at a load of that length."""
    least, most = LOAD_POLL_S
    return min(most, max(least, duration.total_seconds() / LOAD_POLLS))


def run_poll_s(duration: timedelta) -> int:
    """Seconds between two looks at a cell's run whose load takes that long."""
    least, most = RUN_POLL_S
    return min(most, max(least, round(duration.total_seconds() / RUN_POLLS)))
