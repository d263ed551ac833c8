from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from plimsoll.analysis.hosts import COLUMNS, hosts_frame

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_means_are_of_the_judged_time_alone():
    samples = pd.DataFrame(
        {
            "time_s": [START.timestamp() + second for second in (0, 1, 2, 3)],
            "host": "node1",
            "cpu_idle": [0.0, 0.5, 0.7, 0.0],
            "cpu_iowait": [0.0, 0.1, 0.1, 0.0],
            "cpu_steal": [0.9, 0.0, 0.2, 0.9],
            "disk_busy": [1.0, 0.1, 0.3, 1.0],
            "net_received_bytes": [9, 10, 30, 9],
            "net_sent_bytes": [9, 10, 30, 9],
        }
    )
    (row,) = hosts_frame(samples, (START, START + timedelta(seconds=2))).to_dict(orient="records")
    assert row["host"] == "node1"
    assert [row[name] for name in COLUMNS[1:]] == pytest.approx([0.3, 0.1, 0.1, 0.2, 40])


def test_no_samples_give_the_same_columns():
    assert list(hosts_frame(pd.DataFrame(), (START, START)).columns) == list(COLUMNS)
