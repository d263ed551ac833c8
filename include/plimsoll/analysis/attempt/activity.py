"""The activity of hosts and JVMs in each interval of a timed run, to be drawn below the response times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.attempt.coincidence import Collected
from plimsoll.analysis.attempt.hosts import Span, by_host, cpu_busy, means
from plimsoll.analysis.logs.gc.pauses import Pauses, stopped_ms

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from plimsoll.domain.process import ProcessOnHost

_PLACE = ["host", "process"]
COLUMNS = ("start_s", *_PLACE, "cpu_busy", "heap_bytes", "stopped_ms")


def activity_frame(
    starts_s: Sequence[float], interval_s: float, collected: Collected, gc_logs: Mapping[ProcessOnHost, Pauses]
) -> pd.DataFrame:
    """Return a table with one row per interval and host, and per interval and JVM, which has a `process`.

    NaN: not collected. Intervals are `interval_s` long; the first one may be shorter. Rows are sorted by the interval's
    start, s from the timed run's start on the load generator's clock. `cpu_busy`: mean share of all the host's
    processors; `heap_bytes`: the most that was in use at the start or end of any collection; `stopped_ms`: how long all
    threads of the JVM were stopped.
    """
    import pandas as pd  # late: judging needs none of it

    if not len(starts_s):
        return pd.DataFrame(columns=list(COLUMNS))
    starts = np.asarray(starts_s, dtype=np.float64)
    begin = {
        place: collected.started_at.timestamp() + collected.ahead_ms.get(place.host, 0.0) / 1000 for place in gc_logs
    }
    found = [
        _busy(starts, interval_s, collected),
        _binned(starts, interval_s, _heap(gc_logs, begin), "max"),
        _binned(starts, interval_s, _stopped(collected.pauses), "sum"),
    ]
    # a JVM that never collected in the timed run has a row all the same: it was stopped for 0 ms
    places = sorted({*gc_logs, *((host, process) for table in found for _, host, process in table.index)})
    rows = pd.MultiIndex.from_tuples([(at, *place) for at in starts.tolist() for place in places], names=COLUMNS[:3])
    table = pd.concat(found, axis=1).reindex(rows)
    of_jvm = np.tile([place in gc_logs for place in places], len(starts))
    table.loc[of_jvm & table["stopped_ms"].isna(), "stopped_ms"] = 0.0
    return table.reset_index()[list(COLUMNS)].astype(
        {**dict.fromkeys(_PLACE, "str"), **dict.fromkeys(COLUMNS[3:], "float32")}
    )


def _busy(starts_s: NDArray[np.float64], interval_s: float, collected: Collected) -> pd.DataFrame:
    """Return the mean share of busy processors in each interval, by host."""
    import pandas as pd

    begin_s, samples, starts = collected.started_at.timestamp(), collected.samples, starts_s.tolist()
    ends = [*starts[1:], starts[-1] + interval_s]
    within = tuple(Span(begin_s + start, begin_s + end) for start, end in zip(starts, ends, strict=True))
    table = samples if samples.empty else samples.assign(cpu_busy=cpu_busy(samples))
    rows = [
        (start, host, "", share)
        for host, own in by_host(table, collected.ahead_ms)
        for start, share in zip(starts, means(own, "cpu_busy", within).tolist(), strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS[:4]).set_index(["start_s", *_PLACE]).dropna()


def _heap(gc_logs: Mapping[ProcessOnHost, Pauses], begin: Mapping[ProcessOnHost, float]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (*place, change.at.timestamp() - begin[place], max(change.before_bytes, change.after_bytes))
        for place, log in gc_logs.items()
        for change in log.heap
    ]
    return pd.DataFrame(rows, columns=[*_PLACE, "t", "heap_bytes"])


def _stopped(pauses: pd.DataFrame | None) -> pd.DataFrame:
    import pandas as pd

    if pauses is None or pauses.empty:
        return pd.DataFrame(columns=[*_PLACE, "t", "stopped_ms"])
    stops = pauses[pauses["stop_the_world"].astype(bool)]
    return stops[_PLACE].assign(t=stops["start_s"], stopped_ms=stopped_ms(stops))


def _binned(starts_s: NDArray[np.float64], interval_s: float, table: pd.DataFrame, how: str) -> pd.DataFrame:
    """Combine all figures of each interval and JVM into one. Figures before and after all intervals are dropped."""
    at = table["t"].to_numpy(dtype=np.float64)
    kept = (at >= starts_s[0]) & (at < starts_s[-1] + interval_s)
    place = np.searchsorted(starts_s, at[kept], "right") - 1
    own = table[kept].assign(start_s=starts_s[place]).drop(columns="t")
    binned: pd.DataFrame = own.groupby(["start_s", *_PLACE]).agg(how)
    return binned
