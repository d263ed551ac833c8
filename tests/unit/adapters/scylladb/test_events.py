from datetime import UTC, datetime, timedelta, timezone

import pytest

from plimsoll.adapters.products.scylladb import ScyllaDbLog

COMPACTED = (
    "INFO  2024-05-27 17:23:40,770 [shard  4:comp] compaction - [Compact system.batchlog c84ec1b0] Compacted 2 "
    "sstables to [me-1-big-Data.db:level=0]. 325kB to 124kB (~38% of original) in 6585ms = 49kB/s. ~2560 total"
)
OF_4_4 = (
    "INFO  2021-07-20 10:00:00,500 [shard 0] compaction - Compacted 4 sstables to []. 15kB to 12kB (~8%) in 48ms = 1"
)
ALLOCATED = (
    "WARN  2024-05-27 17:23:41,000 [shard 0] seastar_memory - oversized allocation: 2842624 bytes. This is non-fatal, "
    "but could lead to latency and/or fragmentation issues. Please report: at 0x1"
)
STALLED = "Reactor stalled for 734 ms on shard 5. Backtrace: 0x4d4a902 0x4d49560"
LOG = ScyllaDbLog()
EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(("line", "ms"), [(COMPACTED, 6585), (OF_4_4, 48)])
def test_a_compaction_ends_at_its_line_and_began_as_long_before_as_it_took(line: str, ms: int) -> None:
    [event] = LOG.events("scylladb", line, EAST)
    assert (event.kind.id, event.amount, event.end - event.start) == ("compaction", ms, timedelta(milliseconds=ms))
    assert event.end.utcoffset() == timedelta(hours=2)


def test_a_stall_happened_between_the_lines_around_it() -> None:
    _, stall, allocation = LOG.events("scylladb", f"{COMPACTED}\n{STALLED}\n{ALLOCATED}\n", UTC)
    assert (stall.kind.label, stall.kind.unit, stall.amount) == ("reactor stall", "ms", 734)
    assert stall.start == datetime(2024, 5, 27, 17, 23, 40, 770_000, UTC)
    assert stall.end == datetime(2024, 5, 27, 17, 23, 41, tzinfo=UTC)
    assert (allocation.kind.id, allocation.kind.unit, allocation.amount) == ("large_allocation", "bytes", 2842624)


@pytest.mark.parametrize(
    "text",
    [f"{STALLED}\n{COMPACTED}", f"{COMPACTED}\n{STALLED}", f"{OF_4_4}\n{STALLED}\n{COMPACTED}"],
    ids=["no line before", "no line after", "lines years apart"],
)
def test_a_stall_whose_time_is_not_known_is_no_event(text: str) -> None:
    assert [event.kind.id for event in LOG.events("scylladb", text, UTC) if event.kind.id == "reactor_stall"] == []


def test_lines_with_a_time_are_lines_and_backtraces_are_not() -> None:
    text = f"{COMPACTED}\n{STALLED}\n   0x00000000006a8212\n"
    assert [line.text for line in LOG.lines("scylladb", text, UTC)] == [COMPACTED]
