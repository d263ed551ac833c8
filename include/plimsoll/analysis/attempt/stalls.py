"""Intervals without any answer although operations were under way: these are misses, not gaps in the measurement.

Response times count from the intended start. So an operation that a stall delayed appears after the stall, with a
response time that spans it, and the logs alone distinguish a database that stalled from a load that was not
applied.
"""

from collections.abc import Sequence

from plimsoll.analysis.attempt.intervals import SHOWN_NAMES, Measured

_MAX = SHOWN_NAMES.index("max_ms")


def stalls_s(measured: Sequence[Measured]) -> tuple[float, ...]:
    """Return the starts of the judged intervals that are misses for this reason, s from the timed run's start.

    `measured` are all intervals of one operation, in order of time.
    """
    return tuple(
        one.window.start_s
        for place, one in enumerate(measured)
        if one.window.phase == "judged" and not one.count and _is_spanned(one, measured[place + 1 :])
    )


def _is_spanned(empty: Measured, later: Sequence[Measured]) -> bool:
    """Tell whether the next interval with answers holds an operation that was already under way at the stall's
    start.
    """
    after = next((one for one in later if one.count), None)
    return after is not None and after.values_ms[_MAX] / 1000 >= after.window.start_s - empty.window.start_s
