from dataclasses import replace

import pandas as pd
import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.cell_results import AttemptData, cell_results
from plimsoll.analysis.campaign.pauses import PauseStatistics, pause_statistics

JVM = {
    "process": "cassandra",
    "gc_cpu_share": 0.01,
    "allocated_bytes_s": 100.0,
    "heap_after_median_bytes": 5.0,
    "heap_after_max_bytes": 7.0,
    "unread_lines": 3.0,
}


def pauses(*rows: tuple[str, float, float, bool]) -> pd.DataFrame:
    """Make a table of host, start in s, whole stop in ms, and whether all threads stopped."""
    table = pd.DataFrame(rows, columns=["host", "start_s", "stopped_ms", "stop_the_world"])
    return table.assign(
        process="cassandra", duration_ms=table["stopped_ms"] / 2, to_safepoint_ms=table["stopped_ms"] / 10, kind="Pause"
    )


def statistics(*repeats: pd.DataFrame) -> PauseStatistics:
    data = campaign_of({"a": {1000: "m" * len(repeats)}})
    jvms = pd.DataFrame([{"host": host, "judged_s": 60.0, **JVM} for host in ("node1", "node2")])
    attempts = tuple(
        replace(attempt, pauses=table, jvms=jvms) for attempt, table in zip(data.attempts, repeats, strict=True)
    )
    (found,) = pause_statistics(cell_results(replace(data, attempts=attempts)), warmup_s=30, duration_s=90)
    return found


def test_the_longest_of_each_repeat_and_percentiles_of_all() -> None:
    found = statistics(
        pauses(("node1", 40, 10, True), ("node2", 50, 30, True)),
        pauses(("node1", 40, 20, True)),
    )
    assert (found.repeats, found.stops, found.stalls) == (2, 3, 0)
    assert found.longest_ms is not None
    assert (found.longest_ms.low, found.longest_ms.median, found.longest_ms.high) == (20, 25, 30)
    assert (found.p50_ms, found.p99_ms) == (20, 30)
    assert found.to_safepoint_longest_ms is not None
    assert found.to_safepoint_longest_ms.high == pytest.approx(3)
    assert found.stopped_share == pytest.approx(0.060 / 240)


def test_warm_up_and_what_comes_after_are_left_out() -> None:
    found = statistics(pauses(("node1", 29.9, 500, True), ("node1", 40, 10, True), ("node1", 90, 700, True)))
    assert found.longest_ms is not None
    assert found.longest_ms.high == 10


def test_stalls_are_counted_apart() -> None:
    found = statistics(pauses(("node1", 40, 10, True), ("node1", 41, 900, False)))
    assert (found.stops, found.stalls, found.p99_ms) == (1, 1, 10)


def test_collections_in_one_safepoint_are_one_stop() -> None:
    nested = pauses(("node1", 40, 34.4863, True), ("node1", 40.001, 34.4863, True), ("node2", 40, 34.4863, True))
    assert statistics(nested).stopped_share == pytest.approx(2 * 0.0344863 / 120)


def test_a_log_without_pauses_has_no_longest() -> None:
    found = statistics(pauses())
    assert (found.stops, found.longest_ms, found.p50_ms) == (0, None, None)


def test_cells_without_gc_logs_are_left_out() -> None:
    data = campaign_of({"a": {1000: "mm"}})
    assert all(isinstance(attempt, AttemptData) for attempt in data.attempts)
    assert pause_statistics(cell_results(data), 30, 90) == ()


def test_lines_of_gc_logs_that_were_not_read_are_counted_over_nodes_and_repeats() -> None:
    data = campaign_of({"a": {1000: "mm"}})
    jvms = pd.DataFrame([{"host": host, "judged_s": 60.0, **JVM} for host in ("node1", "node2")])
    attempts = tuple(replace(one, pauses=pauses(), jvms=jvms) for one in data.attempts)
    (found,) = pause_statistics(cell_results(replace(data, attempts=attempts)), 30, 90)
    assert (found.stops, found.unread_lines) == (0, 12)
