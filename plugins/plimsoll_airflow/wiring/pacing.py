"""The pace of looks at the runs of cells, and the number of loads that are looked at at the same time.

Looks at a run are cheap compared with a load, but near enough to each other that nobody waits for them.
"""

from datetime import timedelta

RUN_POLLS = 40
RUN_POLL_S = (2, 30)
LOOKS_AT_ONCE = 100
"""The number of loads that a triggerer may look at in the same moment, each in a thread of its own."""


def run_poll_s(duration: timedelta) -> int:
    """Return the seconds between two looks at the run of a cell with a load of that duration."""
    least, most = RUN_POLL_S
    return min(most, max(least, round(duration.total_seconds() / RUN_POLLS)))
