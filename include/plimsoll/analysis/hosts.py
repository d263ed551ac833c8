"""How busy each host was over the judged time, from its one-second samples."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("host", "cpu_busy", "cpu_steal", "cpu_iowait", "disk_busy", "network_bytes_s")


def cpu_busy(samples: pd.DataFrame) -> pd.Series[float]:
    """Share of all processors' time that was worked in: waiting for a disk is idle too."""
    return 1 - samples["cpu_idle"] - samples["cpu_iowait"]


def traffic_bytes(samples: pd.DataFrame) -> pd.Series[float]:
    """Bytes received and sent in each second."""
    return samples["net_received_bytes"] + samples["net_sent_bytes"]


def hosts_frame(samples: pd.DataFrame, judged: tuple[datetime, datetime]) -> pd.DataFrame:
    """A row a sampled host: means over the judged time; shares of all processors, of the busiest disk's time."""
    import pandas as pd  # late: few need it

    if samples.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    begin, end = judged
    during = samples[samples["time_s"].between(begin.timestamp(), end.timestamp(), inclusive="right")]
    table = during.assign(
        cpu_busy=cpu_busy(during),
        network_bytes_s=traffic_bytes(during),
    )
    means: pd.DataFrame = table.groupby("host")[list(COLUMNS[1:])].mean().reset_index()
    return means
