from datetime import UTC, datetime, timedelta, timezone

import pytest

from plimsoll.adapters.products.hbase.events import HBaseLog

# Lines of a real HBase 2.6.4, but for that of a pause, which its source has in this form.
FLUSHED = (
    "INFO  [RS_FLUSH_OPERATIONS-regionserver/127.125.75.1:16020-0] 2026-11-27 02:50:04,441 regionserver.HRegion: "
    "Finished flush of dataSize ~201.71 KB/206550, heapSize ~209.81 KB/214848, currentSize=0 B/0 for "
    "e68f9352a780df79b3c4f7681c6aa86f in 1932ms, sequenceid=106, compaction requested=false"
)
THREAD = "regionserver/127.125.75.1:16020-shortCompactions-0"
STARTED = (
    f"INFO  [{THREAD}] 2026-11-27 02:50:15,496 regionserver.HRegion: Starting compaction of "
    "e68f9352a780df79b3c4f7681c6aa86f/f in probe,,1795747791943.e68f9352a780df79b3c4f7681c6aa86f."
)
COMPACTED = (
    f"INFO  [{THREAD}] 2026-11-27 02:50:16,544 regionserver.CompactSplit: Completed compaction "
    "Request=regionName=probe,,"
    "1795747791943.e68f9352a780df79b3c4f7681c6aa86f., storeName=f, fileCount=4, fileSize=22.1 K (5.5 K, 5.5 K, 5.5 K, "
    "5.6 K), priority=1, time=1795747815474; duration=1sec"
)
MOVED = (
    "INFO  [PEWorker-8] 2026-11-27 02:50:21,288 procedure2.ProcedureExecutor: Finished pid=38, state=SUCCESS; "
    "TransitRegionStateProcedure table=probe, region=1e731b27457867512473c20dc984ab69, REOPEN/MOVE in {}"
)
OPENED = (
    "INFO  [PEWorker-14] 2026-11-27 02:48:08,222 procedure2.ProcedureExecutor: Finished pid=5, ppid=4, state=SUCCESS; "
    "TransitRegionStateProcedure table=hbase:namespace, region=aaa121971a5f47fe496c497cbda2fa51, ASSIGN in 548 msec"
)
SPLIT = (
    "INFO  [PEWorker-1] 2026-11-27 03:09:21,687 procedure2.ProcedureExecutor: Finished pid=17, state=SUCCESS; "
    "SplitTableRegionProcedure table=probe, parent=5c0c57b28740efac50623541e259ae17, "
    "daughterA=32a9de04285bd2bba0aa2625bb304a0f, daughterB=34f1e2aaf8ae8f96923a7607eead839a in 4.2260 sec"
)
SYNCED = (
    "INFO  [AsyncFSWAL-0-hdfs://127.191.182.1:8020/hbase-prefix:127.191.182.3,16020,1795748109483.meta] 2026-11-27 "
    "02:56:25,537 wal.AbstractFSWAL: Slow sync cost: 226 ms, current pipeline: "
    "[DatanodeInfoWithStorage[127.0.0.1:9876,DS-9403cd4a-247f-41fc-9ac1-4b5b4a809061,DISK]]"
)
PAUSED = (
    "INFO  [JvmPauseMonitor] 2026-11-27 02:50:23,000 util.JvmPauseMonitor: Detected pause in JVM or host machine "
    "(eg GC): pause of approximately 1234ms"
)
LOG = HBaseLog()
EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("line", "kind", "ms"),
    [
        (FLUSHED, "flush", 1932),
        (SPLIT, "split", 4226),
        (MOVED.format("946 msec"), "move", 946),
        (MOVED.format("1.0560 sec"), "move", 1056),
        (MOVED.format("2 mins, 1.0560 sec"), "move", 121_056),
        (SYNCED, "slow_sync", 226),
        (PAUSED, "long_pause", 1234),
    ],
)
def test_an_event_ends_at_its_line_and_began_as_long_before_as_it_took(line: str, kind: str, ms: float) -> None:
    [event] = LOG.events("regionserver", line, EAST)
    assert (event.kind.id, event.kind.unit) == (kind, "ms")
    assert event.amount == pytest.approx(ms)
    assert event.end.utcoffset() == timedelta(hours=2)


def test_a_compaction_lasts_from_the_line_that_began_it_on_the_same_thread() -> None:
    [event] = LOG.events("regionserver", f"{STARTED}\n{FLUSHED.replace('flush', 'flash')}\n{COMPACTED}\n", UTC)
    assert (event.kind.id, event.amount) == ("compaction", 1048.0)
    assert event.start == datetime(2026, 11, 27, 2, 50, 15, 496_000, UTC)


@pytest.mark.parametrize("text", [COMPACTED, STARTED, OPENED, "", "\tat org.apache.hadoop.Foo", FLUSHED[60:]])
def test_other_lines_tell_of_no_event(text: str) -> None:
    assert LOG.events("regionserver", text, UTC) == ()


def test_lines_are_those_that_have_a_time() -> None:
    [line] = LOG.lines("master", f"{OPENED}\n\tat org.apache.hadoop.Foo\nCaused by: x\n", UTC)
    assert line.text == OPENED
    assert line.at == datetime(2026, 11, 27, 2, 48, 8, 222_000, UTC)
