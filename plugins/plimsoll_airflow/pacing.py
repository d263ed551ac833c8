"""The interval of looks at a cell's run: cheap compared with a load, but short enough that nobody waits for it."""

from datetime import timedelta

RUN_POLLS = 40
RUN_POLL_S = (2, 30)


def run_poll_s(duration: timedelta) -> int:
    """The seconds between two looks at the run of a cell with a load of that duration."""
    least, most = RUN_POLL_S
    return min(most, max(least, round(duration.total_seconds() / RUN_POLLS)))
