from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from plimsoll.adapters.products.cassandra.node_files import CassandraLog

# Lines of a real node of 4.0.1.
READER = CassandraLog()
LOG = (Path(__file__).parent / "fixtures" / "system-4.0.1.log").read_text()


def test_flushes_compactions_and_drops_are_those_of_the_log() -> None:
    flush, compaction, dropped = READER.events("cassandra", LOG, UTC)
    assert (flush.kind.id, flush.amount) == ("flush", pytest.approx(1.0))
    assert (compaction.kind.id, compaction.amount) == ("compaction", 275.0)
    assert compaction.end == datetime(2026, 11, 21, 17, 22, 15, 62_000, UTC)
    assert compaction.end - compaction.start == timedelta(milliseconds=275)
    assert (dropped.kind.id, dropped.amount, dropped.end - dropped.start) == ("dropped", 19, timedelta(seconds=5))


def test_times_are_in_the_zone_that_is_told() -> None:
    zone = timezone(timedelta(hours=-5))
    west, utc = (READER.events("cassandra", LOG, one)[0].end for one in (zone, UTC))
    assert west - utc == timedelta(hours=5)


@pytest.mark.parametrize("written", ["1,234,567", "1.234.567", "1\u202f234\u202f567", "1\xa0234\xa0567", "1’234’567"])
def test_a_long_compactions_figure_has_thousands_in_the_language_of_the_node(written: str) -> None:
    line = LOG.splitlines()[3].replace("in 275ms.", f"in {written}ms.")
    assert [one.amount for one in READER.events("cassandra", line, UTC)] == [1_234_567.0]


def test_a_flush_whose_beginning_is_not_in_the_log_is_none() -> None:
    assert READER.events("cassandra", LOG.splitlines()[1], UTC) == ()


def test_every_line_with_a_time_is_told_and_stack_traces_are_not() -> None:
    text = (
        "WARN  [GossipTasks:1] 2026-03-01 12:00:01,250 FailureDetector.java:319 - Not marking nodes down\n"
        "java.lang.RuntimeException: no\n\tat a.B.c(B.java:1)\n"
        "INFO  [main] 2026-03-01 12:00:02,000 StorageService.java:1 - up\n"
    )
    found = READER.lines("cassandra", text, UTC)
    assert [one.at for one in found] == [
        datetime(2026, 3, 1, 12, 0, 1, 250_000, tzinfo=UTC),
        datetime(2026, 3, 1, 12, 0, 2, tzinfo=UTC),
    ]
    assert found[0].text.endswith("Not marking nodes down")
