from datetime import UTC, datetime, timedelta
from math import isnan
from typing import Any

import pytest

from plimsoll.analysis.attempt.hosts import jvms_frame
from plimsoll.analysis.logs.gc.pauses import CpuTime, HeapChange, Pauses
from plimsoll.domain.keys.process import ProcessOnHost

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
JUDGED = START + timedelta(seconds=10), START + timedelta(seconds=110)
MIB = 1 << 20


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def figures(pauses: Pauses, ahead_ms: float = 0.0, cpus: int | None = 4) -> Any:
    frame = jvms_frame(
        {ProcessOnHost("node1", "cassandra"): pauses}, JUDGED, {"node1": ahead_ms}, {"node1": cpus} if cpus else {}
    )
    return frame.iloc[0].to_dict()


def test_allocation_is_growth_between_collections_over_the_time_between_them() -> None:
    heap = (
        HeapChange(at(20), 90 * MIB, 10 * MIB, 0),
        HeapChange(at(30), 60 * MIB, 20 * MIB, 5_000),  # 50 MiB in 5 s
        HeapChange(at(40), 70 * MIB, 20 * MIB, 5_000),  # 50 MiB in 5 s
    )
    found = figures(Pauses(heap=heap))
    assert found["allocated_bytes_s"] == 10 * MIB
    assert (found["heap_after_median_bytes"], found["heap_after_max_bytes"]) == (20 * MIB, 20 * MIB)


def test_what_a_collection_copies_is_no_allocation() -> None:
    heap = (
        HeapChange(at(20), 17 * MIB, 16 * MIB, 0, cycle=1),
        HeapChange(at(20.1), 29 * MIB, 4 * MIB, 0, cycle=1),
        HeapChange(at(30.1), 24 * MIB, 4 * MIB, 0, cycle=2),
    )
    assert figures(Pauses(heap=heap))["allocated_bytes_s"] == 2 * MIB


def test_only_the_judged_time_counts_by_the_load_hosts_clock() -> None:
    heap = (HeapChange(at(9), 9, 1, 0), HeapChange(at(50), 9, 2, 0), HeapChange(at(110.5), 9, 3, 0))
    assert figures(Pauses(heap=heap))["heap_after_max_bytes"] == 2
    assert figures(Pauses(heap=heap), ahead_ms=1000)["heap_after_max_bytes"] == 3


def test_processor_time_is_a_share_of_all_processors() -> None:
    cpu = (CpuTime(at(50), 6.0), CpuTime(at(60), 2.0), CpuTime(at(5), 100.0))
    assert figures(Pauses(cpu=cpu))["gc_cpu_share"] == pytest.approx(8 / 100 / 4)


def test_what_a_log_does_not_tell_is_unknown() -> None:
    found = figures(Pauses(), cpus=None)
    assert all(isnan(found[name]) for name in found if name not in ("host", "process", "judged_s", "unread_lines"))
    assert found["unread_lines"] == 0
