"""The work of the nodes' JVMs over the judged time: processor time of collections, allocation rate, heap after them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from math import nan
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.analysis.logs.gc.pauses import HeapChange, Pauses

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.domain.keys.process import ProcessOnHost

COLUMNS = (
    "host",
    "process",
    "judged_s",
    "gc_cpu_share",
    "allocated_bytes_s",
    "heap_after_median_bytes",
    "heap_after_max_bytes",
    "unread_lines",
)


def jvms_frame(
    by_process: Mapping[ProcessOnHost, Pauses],
    judged: tuple[datetime, datetime],
    ahead_ms: Mapping[str, float],
    cpus: Mapping[str, int],
) -> pd.DataFrame:
    """Return a table with one row per JVM, over the judged time by the load host's clock.

    NaN: the GC log does not tell.

    `gc_cpu_share`: the share of all the host's processors that pauses took; no JDK up to 25 logs the share of
    concurrent phases. `allocated_bytes_s`: bytes allocated per second between the end of one collection and the
    beginning of the next. `unread_lines`: lines of the whole GC log whose form is not known.
    """
    import pandas as pd  # late: parsing needs none of it

    rows = [
        _row(place, pauses, judged, ahead_ms.get(place.host, 0.0), cpus.get(place.host))
        for place, pauses in by_process.items()
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"host": "str", "process": "str", **dict.fromkeys(COLUMNS[2:], "float64")})


def _row(
    place: ProcessOnHost, pauses: Pauses, judged: tuple[datetime, datetime], ahead_ms: float, cpus: int | None
) -> dict[str, object]:
    begin, end = (moment + timedelta(milliseconds=ahead_ms) for moment in judged)
    judged_s = (end - begin).total_seconds()
    heap = [change for change in pauses.heap if begin <= change.at < end]
    cpu_s = [one.cpu_s for one in pauses.cpu if begin <= one.at < end]
    after = [change.after_bytes for change in heap]
    known = bool(pauses.cpu) and cpus
    return {
        "host": place.host,
        "process": place.process,
        "judged_s": judged_s,
        "gc_cpu_share": sum(cpu_s) / judged_s / cpus if known and cpus else nan,
        "allocated_bytes_s": _allocation_rate(heap),
        "heap_after_median_bytes": median(after) if after else nan,
        "heap_after_max_bytes": max(after, default=nan),
        "unread_lines": pauses.unread.lines if pauses.unread else 0,
    }


def _allocation_rate(heap: list[HeapChange]) -> float:
    """Return bytes by which the heap grew between collections, divided by the time between them.

    The rate during a collection can't be known: between the two clean-ups of Shenandoah's cycle, copies make the heap
    grow too.
    """
    grown, seconds = 0, 0.0
    for one, following in pairwise(heap):
        between_s = (following.at - one.at).total_seconds() - following.took_ms / 1000
        if between_s > 0 and (one.cycle is None or one.cycle != following.cycle):
            grown += max(0, following.before_bytes - one.after_bytes)
            seconds += between_s
    return grown / seconds if seconds else nan
