"""Intervals without any answer although operations were under way: these are misses, not gaps in the measurement.

Response times count from the intended start. So an operation that a stall delayed appears after the stall, with a
response time that spans it, and the logs alone distinguish a database that stalled from a load that was not
applied. Of a load that ran here it is known besides how long operations were due.
"""

from collections.abc import Sequence
from typing import NamedTuple

from plimsoll.analysis.attempt.alignment import Window


class Answers(NamedTuple):
    """How many operations were answered in an interval, the longest of their times, ms, and how many failed."""

    window: Window
    answered: int
    max_ms: float | None
    failed: int


def stalls_s(answers: Sequence[Answers], due_s: float | None = None) -> tuple[float, ...]:
    """Return the starts of the judged intervals that are misses for this reason, s from the timed run's start.

    `answers`: of all intervals, of one operation or all, in order of time. `due_s`: how long operations were due
    without a pause, from the timed run's start; None where that is not known. Where operations failed, these are the
    miss, and no stall is needed.
    """
    empty_or_answered = [one for one in answers if one.answered or not one.failed]
    return tuple(
        one.window.start_s
        for place, one in enumerate(empty_or_answered)
        if one.window.phase == "judged"
        and not one.answered
        and ((due_s is not None and one.window.start_s < due_s) or _is_spanned(one, empty_or_answered[place + 1 :]))
    )


def _is_spanned(empty: Answers, later: Sequence[Answers]) -> bool:
    """Tell whether the next interval with answers holds an operation that was already under way at the stall's
    start.
    """
    after = next((one for one in later if one.answered), None)
    if after is None or after.max_ms is None:
        return False
    return after.max_ms / 1000 >= after.window.start_s - empty.window.start_s
