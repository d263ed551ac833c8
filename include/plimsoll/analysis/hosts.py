"""How busy each host was over the judged time, from its one-second samples, and how busy others' programs kept it."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MEANS = ("cpu_busy", "cpu_steal", "cpu_iowait", "cpu_others", "disk_busy", "network_bytes_s")
COLUMNS = ("host", *MEANS, "cpu_others_highest")

STEAL_NOTICED = 0.01
"""Share of processor time, over the judged time, from which on what other machines take is worth a warning."""

OTHERS_NOTICED = 0.05
"""The same of what other programs take, in any interval: half a second of all processors out of ten."""


def cpu_busy(samples: pd.DataFrame) -> pd.Series[float]:
    """Share of all processors' time that was worked in: waiting for a disk is idle too."""
    return 1 - samples["cpu_idle"] - samples["cpu_iowait"]


def traffic_bytes(samples: pd.DataFrame) -> pd.Series[float]:
    """Bytes received and sent in each second."""
    return samples["net_received_bytes"] + samples["net_sent_bytes"]


def others_share(samples: pd.DataFrame) -> pd.Series[float]:
    """Share of all processors' time that programs of others took, none of them the cluster's; NaN: not sampled.

    Samples of older attempts lack the figure.
    """
    import pandas as pd

    if "cpu_others" in samples:
        return samples["cpu_others"].astype("float64")
    return pd.Series(float("nan"), index=samples.index, dtype="float64")


def others_highest(samples: pd.DataFrame, judged_from: datetime, interval: timedelta) -> dict[str, float]:
    """By host the highest `others_share` of a judged interval: mean of its seconds, at least 0; NaN: not sampled.

    `samples` are of the judged time alone; of an interval that is cut short at its end nothing is taken.
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
    """A row a sampled host: means over the judged time; shares of all processors, of the busiest disk's time.

    `cpu_others_highest`: as `others_highest` finds it. NaN is what was not sampled.
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
