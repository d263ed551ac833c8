"""The backlog: operations that were due and had no answer, second by second of the timed run.

By Little's law (J. D. C. Little, Operations Research 9, 1961: L = λW) the number of such operations, divided by the
rate at which operations come due, is the time that each of them waits while the backlog stays as it is. The backlog at
the end of warm-up must be answered in the judged time in addition to that time's own load.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from math import nan
from typing import TYPE_CHECKING

from plimsoll.domain.result import OpeningBacklog

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.log_events import GeneratorSecond
    from plimsoll.domain.service_level import ServiceLevel

COLUMNS = ("start_s", "in_flight", "unsent", "behind_s", "lag_ms")
OLD, LATE = timedelta(seconds=1.5), timedelta(seconds=0.5)
"""How much older or later than the judged time's start a report may be: a second is reported a little after its end,
and on a machine that stalled later.
"""


def backlog_frame(
    seconds: Sequence[GeneratorSecond], started_at: datetime, attempted_ops_s: float, starts_s: Sequence[float]
) -> pd.DataFrame:
    """Return a table with one row for each interval for which the load generator reported anything.

    Rows are sorted by `starts_s`, s from the timed run's start. `in_flight`: the greatest number of operations sent and
    not answered, at the end of any second of the interval; `unsent`: the same of operations due and not sent.
    `behind_s`: `unsent` divided by the attempted rate, s. `lag_ms`: the longest delay of an operation that could have
    been sent at once; NaN where it was not reported.
    """
    import pandas as pd  # late: few need it

    reported = [
        (_middle_s(one, started_at), one.in_flight, one.backlog, one.lag_ms) for one in seconds if _reports_backlog(one)
    ]
    table = pd.DataFrame(reported, columns=["at_s", "in_flight", "unsent", "lag_ms"])
    begun = [bisect_right(starts_s, at_s) for at_s in table["at_s"].tolist()]
    table = table.assign(start_s=[starts_s[count - 1] if count else nan for count in begun])
    highest = table.groupby("start_s", as_index=False)[["in_flight", "unsent", "lag_ms"]].max()
    highest = highest.assign(behind_s=highest["unsent"].astype("float64") / attempted_ops_s)
    kinds = dict.fromkeys(("start_s", "behind_s", "lag_ms"), "float64") | dict.fromkeys(
        ("in_flight", "unsent"), "int64"
    )
    return highest[list(COLUMNS)].astype(kinds)


def opening_backlog(
    seconds: Sequence[GeneratorSecond], judged_from: datetime, attempted_ops_s: float, warmup: timedelta
) -> OpeningBacklog | None:
    """Return the backlog at the start of the judged time; None where the generator did not report it."""
    if not warmup and any(map(_reports_backlog, seconds)):
        return OpeningBacklog(in_flight=0, unsent=0, seconds=0.0)
    before = [one for one in seconds if _reports_backlog(one) and -OLD <= one.at - judged_from <= LATE]
    if not before:
        return None
    in_flight, unsent = before[-1].in_flight or 0, before[-1].backlog or 0
    return OpeningBacklog(in_flight=in_flight, unsent=unsent, seconds=(in_flight + unsent) / attempted_ops_s)


def begins_with_backlog(backlog: OpeningBacklog | None, level: ServiceLevel) -> bool:
    """Tell whether the backlog at the start of the judged time is large enough to make an interval miss by itself.

    False where the backlog is not known.
    """
    return backlog is not None and backlog.seconds * 1000 > level.stall_ms


def _reports_backlog(one: GeneratorSecond) -> bool:
    return one.in_flight is not None and one.backlog is not None


def _middle_s(one: GeneratorSecond, started_at: datetime) -> float:
    """Return the middle of the second that a report is about, s from `started_at`. A report is made at its end."""
    return (one.at - started_at).total_seconds() - 0.5
