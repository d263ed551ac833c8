"""How busy each host was over the judged time, by its one-second samples, and how much other programs took."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MEANS = ("cpu_busy", "cpu_steal", "cpu_iowait", "cpu_others", "disk_busy", "network_bytes_s")
COLUMNS = ("host", *MEANS, "cpu_others_highest")

STEAL_NOTICED = 0.01
"""Share of processor time, over the judged time, beyond which what other machines take is worth a warning."""

OTHERS_NOTICED = 0.05
"""The same of what other programs take, in any interval: half a second of all processors out of ten."""


def is_steal_noticed(share: float) -> bool:
    """Whether so much steal, as a share of processor time over the judged time, is worth a warning."""
    return share > STEAL_NOTICED


def are_others_noticed(share: float) -> bool:
    """Whether so much time of other programs, as a share of all processors in an interval, is worth a warning."""
    return share > OTHERS_NOTICED


def cpu_busy(samples: pd.DataFrame) -> pd.Series[float]:
    """The share of all processors' time spent on work. Waiting for a disk counts as idle."""
    return 1 - samples["cpu_idle"] - samples["cpu_iowait"]


def traffic_bytes(samples: pd.DataFrame) -> pd.Series[float]:
    """Bytes received and sent in each second."""
    return samples["net_received_bytes"] + samples["net_sent_bytes"]


def others_share(samples: pd.DataFrame) -> pd.Series[float]:
    """The share of all processors' time that programs outside the attempt took; NaN: not sampled.

    Samples of older attempts lack this figure.
    """
    import pandas as pd

    if "cpu_others" in samples:
        return samples["cpu_others"].astype("float64")
    return pd.Series(float("nan"), index=samples.index, dtype="float64")


def others_highest(samples: pd.DataFrame, judged_from: datetime, interval: timedelta) -> dict[str, float]:
    """The highest `others_share` of any judged interval, by host; NaN: not sampled.

    An interval's value is the mean of its seconds, at least 0. `samples` must cover the judged time alone; an
    incomplete last interval is left out.
    """
    if samples.empty:
        return {}
    each_s = interval.total_seconds()
    since_s = samples["time_s"] - judged_from.timestamp()
    table = samples[["host"]].assign(
        others=others_share(samples),
        place=(since_s / each_s).apply(ceil),  # a second is told at its end
    )
    means = table[table["place"] <= since_s.max() // each_s].groupby(["host", "place"])["others"].mean()
    highest = means.groupby(level="host").max().clip(lower=0)
    return {str(host): float(share) for host, share in highest.items()}


def hosts_frame(samples: pd.DataFrame, judged: tuple[datetime, datetime], interval: timedelta) -> pd.DataFrame:
    """A table with one row per sampled host, with means over the judged time.

    Figures are shares of all processors' time, and of the busiest disk's time. `cpu_others_highest` is the result of
    `others_highest`. NaN: not sampled.
    """
    import pandas as pd  # late: few need it

    if samples.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    begin, end = judged
    during = samples[samples["time_s"].between(begin.timestamp(), end.timestamp(), inclusive="right")]
    table = during.assign(
        cpu_busy=cpu_busy(during),
        cpu_others=others_share(during),
        network_bytes_s=traffic_bytes(during),
    )
    means: pd.DataFrame = table.groupby("host")[list(MEANS)].mean().reset_index()
    highest = others_highest(during, begin, interval)
    return means.assign(
        cpu_others=means["cpu_others"].clip(lower=0),  # counted in ticks, it may come out a little below
        cpu_others_highest=means["host"].map(highest).astype("float64"),
    )
