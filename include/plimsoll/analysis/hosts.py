"""How busy each host was over the judged time, from its one-second samples."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("host", "cpu_busy", "cpu_steal", "cpu_iowait", "disk_busy", "network_bytes_s")


def hosts_frame(samples: pd.DataFrame, judged: tuple[datetime, datetime]) -> pd.DataFrame:
    """A row a sampled host: means over the judged time; shares of all processors, of the busiest disk's time."""
    import pandas as pd  # late: few need it

    if samples.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    begin, end = judged
    during = samples[samples["time_s"].between(begin.timestamp(), end.timestamp(), inclusive="right")]
    table = during.assign(
        cpu_busy=1 - during["cpu_idle"] - during["cpu_iowait"],
        network_bytes_s=during["net_received_bytes"] + during["net_sent_bytes"],
    )
    means: pd.DataFrame = table.groupby("host")[list(COLUMNS[1:])].mean().reset_index()
    return means
