"""Lines of the logs of the nodes' processes from the time of an attempt's worst missed intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.log_events import LogLine
    from plimsoll.domain.process import ProcessOnHost

COLUMNS = ("start_s", "at_s", "host", "process", "text")
_INTERVALS, _LINES, _LENGTH = 10, 8, 300
"""The worst intervals that lines are kept of, lines of a process in an interval, and characters of a line: at most."""


def log_lines_frame(
    intervals: pd.DataFrame,
    lines: Mapping[ProcessOnHost, Sequence[LogLine]],
    started_at: datetime,
    ahead_ms: Mapping[str, float],
    bound_ms: float,
) -> pd.DataFrame:
    """Return a table of the lines that processes logged in a missed interval, or up to the bound before it, in order of
    time.

    `start_s`: the interval's start; `at_s`: the line's time; both in s from the timed run's start on the load
    generator's clock. `ahead_ms`: how far hosts' clocks are ahead of that clock. Where a process logged more lines than
    are kept, warnings and errors are kept first.
    """
    import pandas as pd  # late: judging needs none of it

    missed = intervals[intervals["met"].notna() & ~intervals["met"].fillna(value=True).astype(bool)]
    worst = missed.sort_values("judged_ms", ascending=False, na_position="first").head(_INTERVALS)
    rows = [
        (start_s, at_s, *place, text[:_LENGTH])
        for start_s, length_s in sorted(zip(worst["start_s"], worst["duration_s"], strict=True))
        for at_s, place, text in _within(lines, started_at, ahead_ms, (start_s - bound_ms / 1000, start_s + length_s))
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"start_s": "float64", "at_s": "float64", **dict.fromkeys(COLUMNS[2:], "str")})


def _within(
    lines: Mapping[ProcessOnHost, Sequence[LogLine]],
    started_at: datetime,
    ahead_ms: Mapping[str, float],
    span_s: tuple[float, float],
) -> list[tuple[float, ProcessOnHost, str]]:
    found: list[tuple[float, ProcessOnHost, str]] = []
    for place, own in lines.items():
        timed = list(_timed(own, started_at, ahead_ms.get(place.host, 0.0) / 1000, span_s))
        grave_first = sorted(timed, key=lambda one: not one[1].startswith(("WARN", "ERROR")))
        found += [(at_s, place, text) for at_s, text in grave_first[:_LINES]]
    return sorted(found)


def _timed(
    lines: Sequence[LogLine], started_at: datetime, ahead_s: float, span_s: tuple[float, float]
) -> Iterator[tuple[float, str]]:
    begin_s, end_s = span_s
    for line in lines:
        at_s = (line.at - started_at).total_seconds() - ahead_s
        if begin_s <= at_s < end_s:
            yield round(at_s, 3), line.text
