"""The activity of each host in each interval of a timed run, warm-up included, to be drawn below the response times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.analysis.attempt.coincidence import Collected
from plimsoll.analysis.attempt.hosts import cpu_busy
from plimsoll.analysis.attempt.sampled import Span, by_host, means
from plimsoll.analysis.logs.gc.pauses import Pauses, stopped_ms

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

COLUMNS = ("start_s", "host", "cpu_busy", "heap_bytes", "stopped_ms")


def activity_frame(
    starts_s: Sequence[float], interval_s: float, collected: Collected, gc_logs: Mapping[str, Pauses]
) -> pd.DataFrame:
    """A table with one row per interval and host. NaN: not collected.

    Intervals are `interval_s` long; the first one may be shorter. Rows are sorted by the interval's start, s from the
    timed run's start on the load generator's clock. `cpu_busy`: mean share of all its processors; `heap_bytes`: the
    most that was in use at the start or end of any collection; `stopped_ms`: how long all threads of the JVM stood
    still.
    """
    import pandas as pd  # late: judging needs none of it

    if not len(starts_s):
        return pd.DataFrame(columns=list(COLUMNS))
    starts, samples, pauses = np.asarray(starts_s, dtype=np.float64), collected.samples, collected.pauses
    begin = {
        host: collected.started_at.timestamp() + collected.ahead_ms.get(host, 0.0) / 1000
        for host in {*gc_logs, *(samples["host"] if not samples.empty else ())}
    }
    found = [
        _busy(starts, interval_s, collected),
        _binned(starts, interval_s, _heap(gc_logs, begin), "max"),
        _binned(starts, interval_s, _stopped(pauses), "sum"),
    ]
    # a JVM that never collected in the timed run has a row all the same: it stood still for 0 ms
    hosts = sorted({*gc_logs, *(str(host) for table in found for host in table.index.get_level_values("host"))})
    rows = pd.MultiIndex.from_product([starts, hosts], names=["start_s", "host"])
    table = pd.concat(found, axis=1).reindex(rows)
    table.loc[rows.get_level_values("host").isin(list(gc_logs)) & table["stopped_ms"].isna(), "stopped_ms"] = 0.0
    return table.reset_index()[list(COLUMNS)].astype({"host": "str", **dict.fromkeys(COLUMNS[2:], "float32")})


def _busy(starts_s: NDArray[np.float64], interval_s: float, collected: Collected) -> pd.DataFrame:
    """The mean share of busy processors in each interval, by host."""
    import pandas as pd

    begin_s, samples, starts = collected.started_at.timestamp(), collected.samples, starts_s.tolist()
    ends = [*starts[1:], starts[-1] + interval_s]
    within = tuple(Span(begin_s + start, begin_s + end) for start, end in zip(starts, ends, strict=True))
    table = samples if samples.empty else samples.assign(cpu_busy=cpu_busy(samples))
    rows = [
        (start, host, share)
        for host, own in by_host(table, collected.ahead_ms)
        for start, share in zip(starts, means(own, "cpu_busy", within).tolist(), strict=True)
    ]
    return pd.DataFrame(rows, columns=["start_s", "host", "cpu_busy"]).set_index(["start_s", "host"]).dropna()


def _heap(gc_logs: Mapping[str, Pauses], begin: Mapping[str, float]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (host, change.at.timestamp() - begin[host], max(change.before_bytes, change.after_bytes))
        for host, log in gc_logs.items()
        for change in log.heap
    ]
    return pd.DataFrame(rows, columns=["host", "t", "heap_bytes"])


def _stopped(pauses: pd.DataFrame | None) -> pd.DataFrame:
    import pandas as pd

    if pauses is None or pauses.empty:
        return pd.DataFrame({"host": [], "t": [], "stopped_ms": []})
    stops = pauses[pauses["stop_the_world"].astype(bool)]
    return pd.DataFrame({"host": stops["host"], "t": stops["start_s"], "stopped_ms": stopped_ms(stops)})


def _binned(starts_s: NDArray[np.float64], interval_s: float, table: pd.DataFrame, how: str) -> pd.DataFrame:
    """One figure for each interval and host, made of all its figures.

    Figures before and after all intervals are dropped.
    """
    at = table["t"].to_numpy(dtype=np.float64)
    kept = (at >= starts_s[0]) & (at < starts_s[-1] + interval_s)
    place = np.searchsorted(starts_s, at[kept], "right") - 1
    own = table[kept].assign(start_s=starts_s[place]).drop(columns="t")
    binned: pd.DataFrame = own.groupby(["start_s", "host"]).agg(how)
    return binned
