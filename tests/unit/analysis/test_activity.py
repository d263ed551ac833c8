from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from plimsoll.analysis.attempt.around_action import activity_frame
from plimsoll.analysis.attempt.coincidence import Collected
from plimsoll.analysis.logs.gc.pauses import HeapChange, Pauses
from plimsoll.domain.keys.process import ProcessOnHost

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MIB = 2**20
JVM = ProcessOnHost("node1", "cassandra")


def collected(samples: pd.DataFrame, pauses: pd.DataFrame | None, ahead_ms: float = 0.0) -> Collected:
    return Collected(START, {"node1": ahead_ms}, pauses, {}, (), (), samples, None)


def seconds(host: str, *idle: float) -> pd.DataFrame:
    """Return a sample at the end of each second from the start on."""
    ends = [START.timestamp() + place + 1 for place in range(len(idle))]
    return pd.DataFrame({"host": host, "time_s": ends, "cpu_idle": idle, "cpu_iowait": 0.0})


def stops(*rows: tuple[float, float, bool]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["start_s", "stopped_ms", "stop_the_world"])
    return table.assign(host="node1", process="cassandra", duration_ms=table["stopped_ms"])


def heap(*changes: tuple[float, int, int]) -> dict[ProcessOnHost, Pauses]:
    changes_of_heap = [
        HeapChange(START + timedelta(seconds=at), before * MIB, after * MIB, 1.0) for at, before, after in changes
    ]
    return {JVM: Pauses(heap=tuple(changes_of_heap))}


def test_each_interval_has_the_mean_cpu_the_highest_heap_and_the_whole_time_stopped_of_each_host() -> None:
    samples = pd.concat([seconds("node1", 0.5, 0.3, 0.1, 0.1), seconds("load", 1.0, 1.0, 0.8, 0.8)])
    found = activity_frame(
        [0.0, 2.0],
        2.0,
        collected(samples, stops((0.5, 30.0, True), (1.9, 12.0, True), (2.5, 99.0, False))),
        heap((0.2, 100, 40), (1.5, 180, 60), (3.0, 90, 50)),
    )
    assert list(zip(found["start_s"], found["host"], found["process"], strict=True)) == [
        (0.0, "load", ""), (0.0, "node1", ""), (0.0, *JVM), (2.0, "load", ""), (2.0, "node1", ""), (2.0, *JVM),
    ]  # fmt: skip
    of_host, of_jvm = found[found["process"] == ""], found[found["process"] != ""]
    assert of_host["cpu_busy"].tolist() == pytest.approx([0.0, 0.6, 0.2, 0.9])
    assert of_jvm["heap_bytes"].tolist() == [180 * MIB, 90 * MIB]
    assert of_jvm["stopped_ms"].tolist() == [42.0, 0.0]
    assert of_host[["heap_bytes", "stopped_ms"]].isna().all(axis=None)
    assert of_jvm["cpu_busy"].isna().all()


def test_hosts_whose_clocks_are_ahead_are_put_on_the_load_generator_s() -> None:
    found = activity_frame([0.0, 2.0], 2.0, collected(seconds("node1", 0.0, 0.0), None, 1_500.0), heap((3.0, 70, 10)))
    assert found.dropna(subset=["heap_bytes"])["heap_bytes"].tolist() == [70 * MIB]


def test_nothing_collected_is_unknown_and_what_lies_outside_the_run_is_left_out() -> None:
    assert activity_frame([], 2.0, collected(pd.DataFrame(), None), {}).empty
    found = activity_frame([0.0, 2.0], 2.0, collected(pd.DataFrame(), None), heap((-5.0, 70, 10), (9.0, 80, 10)))
    assert found.empty or found["heap_bytes"].isna().all()


def test_a_jvm_that_never_collected_in_the_run_stalled_for_no_time() -> None:
    found = activity_frame([0.0], 1.0, collected(seconds("load", 0.5), None), {JVM: Pauses()})
    assert found["host"].tolist() == ["load", "node1"]
    assert found.loc[found["host"] == "node1", "stopped_ms"].tolist() == [0.0]
