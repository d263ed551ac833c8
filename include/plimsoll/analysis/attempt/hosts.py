"""Summarise how busy each host was over the judged time, by its samples, and how much other programs took."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import isnan
from typing import TYPE_CHECKING

from plimsoll.analysis.attempt.sampled import by_host, highest_of, mean_of, means, spans

if TYPE_CHECKING:
    import pandas as pd

    from plimsoll.analysis.attempt.sampled import Span

MEANS = ("cpu_busy", "cpu_steal", "cpu_iowait", "cpu_others", "disk_busy", "network_bytes_s")
COLUMNS = ("host", *MEANS, "cpu_others_highest")

STEAL_NOTICED = 0.01
"""Share of processor time, over the judged time, beyond which what other machines take is worth a warning."""

OTHERS_NOTICED = 0.05
"""The same of what other programs take, in any interval: half a second of all processors out of ten."""


def is_steal_noticed(share: float) -> bool:
    """Tell whether so much steal, as a share of processor time over the judged time, is worth a warning."""
    return share > STEAL_NOTICED


def are_others_noticed(share: float) -> bool:
    """Tell whether so much time of other programs, as a share of all processors in an interval, is worth a warning."""
    return share > OTHERS_NOTICED


def cpu_busy(samples: pd.DataFrame) -> pd.Series[float]:
    """Return the share of all processors' time spent on work. Waiting for a disk counts as idle."""
    return 1 - samples["cpu_idle"] - samples["cpu_iowait"]


def traffic_bytes(samples: pd.DataFrame) -> pd.Series[float]:
    """Return bytes received and sent in each second."""
    return samples["net_received_bytes"] + samples["net_sent_bytes"]


def sampled(samples: pd.DataFrame, column: str) -> pd.Series[float]:
    """Return a figure of the samples; NaN: not sampled. Samples of older attempts lack some figures."""
    import pandas as pd

    if column in samples:
        return samples[column].astype("float64")
    return pd.Series(float("nan"), index=samples.index, dtype="float64")


def others_highest(
    samples: pd.DataFrame, within: tuple[Span, ...], ahead_ms: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Return the highest share of other programs in any of these intervals, by host, at least 0; NaN: not sampled."""
    table = samples.assign(cpu_others=sampled(samples, "cpu_others")) if not samples.empty else samples
    return {
        host: _positive(highest_of(means(own, "cpu_others", within))) for host, own in by_host(table, ahead_ms or {})
    }


def hosts_frame(
    samples: pd.DataFrame,
    judged: tuple[datetime, datetime],
    interval: timedelta,
    ahead_ms: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return a table with one row per sampled host, with means over its judged intervals.

    Figures are shares of all processors' time, and of the busiest disk's time. `cpu_others_highest` is the result of
    `others_highest`. NaN: not sampled. `ahead_ms`: how far each host's clock is ahead of the load generator's.
    """
    import pandas as pd  # late: few need it

    if samples.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    within = spans(*judged, interval)
    table = samples.assign(
        cpu_busy=cpu_busy(samples),
        cpu_others=sampled(samples, "cpu_others"),
        network_bytes_s=traffic_bytes(samples),
    )
    rows = []
    for host, own in by_host(table, ahead_ms or {}):
        found = {name: mean_of(means(own, name, within)) for name in MEANS}
        highest = _positive(highest_of(means(own, "cpu_others", within)))
        # Samplers of before subtracted figures of two clocks, and what others took came out below 0.
        rows.append(
            {"host": host, **found, "cpu_others": _positive(found["cpu_others"]), "cpu_others_highest": highest}
        )
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"host": "str", **dict.fromkeys(COLUMNS[1:], "float64")})


def _positive(share: float) -> float:
    return share if isnan(share) else max(share, 0.0)
