"""Intervals in which nothing was answered, although operations were under way: a miss, not a hole in the measurement.

With response times from the intended start, an operation that a stall held up shows after it, with a time that spans
the stall. So the logs themselves tell a database that stood still from a load that was not put on.
"""

from collections.abc import Sequence

from plimsoll.analysis.intervals import SHOWN_NAMES, Measured

_MAX = SHOWN_NAMES.index("max_ms")


def stalls_s(measured: Sequence[Measured]) -> tuple[float, ...]:
    """Starts of those among the judged ones, s; `measured` are all intervals of one operation, in order of time."""
    return tuple(
        one.window.start_s
        for place, one in enumerate(measured)
        if one.window.phase == "judged" and not one.count and _is_spanned(one, measured[place + 1 :])
    )


def _is_spanned(empty: Measured, later: Sequence[Measured]) -> bool:
    """Whether the first interval with answers after it holds one that was under way at its start already."""
    after = next((one for one in later if one.count), None)
    return after is not None and after.values_ms[_MAX] / 1000 >= after.window.start_s - empty.window.start_s
