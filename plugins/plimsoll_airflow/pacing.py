"""How often to look at a cell's run: rarely enough that looking costs nothing beside a load, often enough that nobody
waits for it.
"""

from datetime import timedelta

RUN_POLLS = 40
RUN_POLL_S = (2, 30)


def run_poll_s(duration: timedelta) -> int:
    """Seconds between two looks at a cell's run whose load takes that long."""
    least, most = RUN_POLL_S
    return min(most, max(least, round(duration.total_seconds() / RUN_POLLS)))
