from datetime import UTC, datetime, timedelta
from math import isnan

import pandas as pd
import pytest

from plimsoll.analysis.attempt.hosts import COLUMNS, hosts_frame, others_highest, spans

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_means_are_of_the_judged_time_alone() -> None:
    samples = pd.DataFrame(
        {
            "time_s": [START.timestamp() + second for second in (0, 1, 2, 3)],
            "host": "node1",
            "cpu_idle": [0.0, 0.5, 0.7, 0.0],
            "cpu_iowait": [0.0, 0.1, 0.1, 0.0],
            "cpu_steal": [0.9, 0.0, 0.2, 0.9],
            "cpu_others": [0.9, 0.05, 0.15, 0.9],
            "disk_busy": [1.0, 0.1, 0.3, 1.0],
            "net_received_bytes": [9, 10, 30, 9],
            "net_sent_bytes": [9, 10, 30, 9],
        }
    )
    (row,) = hosts_frame(samples, (START, START + timedelta(seconds=2)), SECOND).to_dict(orient="records")
    assert row["host"] == "node1"
    assert [row[name] for name in COLUMNS[1:]] == pytest.approx([0.3, 0.1, 0.1, 0.1, 0.2, 40, 0.15])


def test_no_samples_give_the_same_columns() -> None:
    assert list(hosts_frame(pd.DataFrame(), (START, START), SECOND).columns) == list(COLUMNS)


def taken(*shares: float, each_s: int = 2) -> dict[str, float]:
    """Return the highest of intervals, of a host's shares in the seconds after START."""
    times = [START.timestamp() + second for second in range(1, len(shares) + 1)]
    samples = pd.DataFrame({"time_s": times, "host": "node1", "cpu_others": shares})
    return others_highest(samples, spans(START, START + timedelta(seconds=each_s * 3), timedelta(seconds=each_s)))


def test_other_programs_are_told_by_the_interval_in_which_they_took_most() -> None:
    assert taken(0.0, 0.1, 0.4, 0.2, 0.1, 0.0) == {"node1": pytest.approx(0.3)}


def test_an_interval_that_is_cut_short_does_not_count() -> None:
    assert taken(0.0, 0.1, 0.9) == {"node1": pytest.approx(0.05)}


def test_what_comes_out_below_nothing_is_nothing() -> None:
    assert taken(-0.01, 0.0) == {"node1": 0.0}


def test_samples_of_before_there_was_such_a_figure_tell_nothing() -> None:
    samples = pd.DataFrame({"time_s": [START.timestamp() + 1], "host": "node1"})
    assert isnan(others_highest(samples, spans(START, START + SECOND, SECOND))["node1"])
    assert others_highest(pd.DataFrame(), ()) == {}
