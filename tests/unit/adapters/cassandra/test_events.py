from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from plimsoll.adapters.cassandra.events import events

# Lines of a real node of 4.0.1.
LOG = (Path(__file__).parent / "fixtures" / "system-4.0.1.log").read_text()


def test_flushes_compactions_and_drops_are_those_of_the_log():
    flush, compaction, dropped = events(LOG, UTC)
    assert (flush.kind, flush.amount) == ("flush", pytest.approx(1.0))
    assert (compaction.kind, compaction.amount) == ("compaction", 275.0)
    assert compaction.end == datetime(2026, 11, 21, 17, 22, 15, 62_000, UTC)
    assert compaction.end - compaction.start == timedelta(milliseconds=275)
    assert (dropped.kind, dropped.amount, dropped.end - dropped.start) == ("dropped", 19, timedelta(seconds=5))


def test_times_are_in_the_zone_that_is_told():
    zone = timezone(timedelta(hours=-5))
    assert events(LOG, zone)[0].end - events(LOG, UTC)[0].end == timedelta(hours=5)


def test_a_long_compactions_figure_has_thousands():
    line = LOG.splitlines()[3].replace("in 275ms.", "in 1,234,567ms.")
    assert [one.amount for one in events(line, UTC)] == [1_234_567.0]


def test_a_flush_whose_beginning_is_not_in_the_log_is_none():
    assert events(LOG.splitlines()[1], UTC) == ()
