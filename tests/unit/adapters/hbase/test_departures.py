"""A region server that died: the Master's log says which one, and that its regions were moving."""

from datetime import UTC, datetime

import pytest

from plimsoll.adapters.products.hbase.events import Departure, HBaseLog, departures

SERVER = "127.9.9.3,16020,1795747791943"
EXPIRED = (
    "INFO  [RegionServerTracker-0] 2026-11-27 02:50:10,000 master.RegionServerTracker: RegionServer ephemeral node "
    f"deleted, processing expiration [{SERVER}]"
)
STARTED = (
    "INFO  [PEWorker-2] 2026-11-27 02:50:10,100 procedure.ServerCrashProcedure: Start pid=48, "
    f"state=RUNNABLE:SERVER_CRASH_START, hasLock=true; ServerCrashProcedure {SERVER}, splitWal=true, meta=false"
)
MOVING = (
    "INFO  [PEWorker-2] 2026-11-27 02:50:12,000 procedure2.ProcedureExecutor: Initialized subprocedures=["
    "{pid=49, ppid=48, state=RUNNABLE:REGION_STATE_TRANSITION_GET_ASSIGN_CANDIDATE, hasLock=false; "
    "TransitRegionStateProcedure table=usertable, region=aaa1, ASSIGN}, {pid=50, ppid=48, "
    "state=RUNNABLE:REGION_STATE_TRANSITION_GET_ASSIGN_CANDIDATE, hasLock=false; TransitRegionStateProcedure "
    "table=usertable, region=bbb2, ASSIGN}]"
)
OPENED = (
    "INFO  [PEWorker-7] 2026-11-27 02:50:15,000 procedure2.ProcedureExecutor: Finished pid={pid}, ppid=48, "
    "state=SUCCESS, hasLock=false; TransitRegionStateProcedure table=usertable, region={region}, ASSIGN in 2.9000 sec"
)
OTHERS = (
    "INFO  [PEWorker-7] 2026-11-27 02:50:16,000 procedure2.ProcedureExecutor: Finished pid=5, ppid=4, state=SUCCESS; "
    "TransitRegionStateProcedure table=other, region=ccc3, ASSIGN in 548 msec"
)
OVER = (
    "INFO  [PEWorker-7] 2026-11-27 02:50:20,000 procedure2.ProcedureExecutor: Finished pid=48, state=SUCCESS, "
    f"hasLock=false; ServerCrashProcedure {SERVER}, splitWal=true, meta=false in 9.9000 sec"
)
NO_LOGS = (
    "INFO  [PEWorker-3] 2026-11-27 02:50:10,937 master.SplitLogManager: hdfs://127.9.9.1:8020/hbase/WALs/"
    f"{SERVER}-splitting dir is empty, no logs to split.\n"
    f"INFO  [PEWorker-3] 2026-11-27 02:50:10,937 master.SplitWALManager: {SERVER} WAL count=0, meta=true"
)
LOGS_SPLIT = (
    f"INFO  [PEWorker-1] 2026-11-27 02:50:10,604 master.SplitWALManager: {SERVER} WAL count=1, meta=false\n{NO_LOGS}"
)
FIRST, SECOND = OPENED.format(pid=49, region="aaa1"), OPENED.format(pid=50, region="bbb2")
LOG = HBaseLog()


def lost(*lines: str) -> Departure:
    [found] = departures(LOG.lines("master", "\n".join(lines), UTC))
    return found


def test_a_loss_has_its_server_and_the_regions_that_moved() -> None:
    found = lost(EXPIRED, STARTED, MOVING, FIRST, SECOND, OTHERS, OVER)
    assert (found.server, found.host, found.regions) == (SERVER, "127.9.9.3", {"aaa1", "bbb2"})
    assert str(found) == (
        f"the Master gave up region server {SERVER} at 02:50:10 by the Master's clock; 2 regions moved to others until "
        "10.0 s later"
    )


def test_a_log_that_ends_before_says_how_many_regions_had_moved() -> None:
    assert str(lost(EXPIRED, STARTED, MOVING, FIRST)).endswith("; 2 regions had to move, and 1 had when its log ended")
    assert str(lost(EXPIRED)).endswith("; its regions had to move, and 0 had when its log ended")


@pytest.mark.parametrize(
    ("lines", "end"), [((EXPIRED, MOVING, FIRST, OVER), 20), ((EXPIRED, STARTED, MOVING, FIRST), 15)]
)
def test_it_is_an_event_for_as_long_as_regions_were_moving(lines: tuple[str, ...], end: int) -> None:
    [event] = [one for one in LOG.events("master", "\n".join(lines), UTC) if one.kind.id == "server_lost"]
    assert event.start == datetime(2026, 11, 27, 2, 50, 10, tzinfo=UTC)
    assert event.end == datetime(2026, 11, 27, 2, 50, end, tzinfo=UTC)


def test_a_server_that_left_no_write_ahead_log_was_stopped_and_not_lost() -> None:
    stopped = (EXPIRED, STARTED, NO_LOGS, MOVING, FIRST, SECOND, OVER)
    assert str(lost(*stopped)) == (
        f"region server {SERVER} was stopped at 02:50:10 by the Master's clock; 2 regions moved to others until 10.0 s "
        "later"
    )
    assert [one.kind.id for one in LOG.events("master", "\n".join(stopped), UTC)] == ["server_stopped"]


def test_a_server_whose_logs_were_split_was_lost() -> None:
    split = (EXPIRED, STARTED, LOGS_SPLIT, MOVING, FIRST, SECOND, OVER)
    assert [one.kind.id for one in LOG.events("master", "\n".join(split), UTC)] == ["server_lost"]


def test_remarks_name_every_server_that_left_in_the_order_of_their_ends() -> None:
    other, text = "127.9.9.2,16020,1795747791940", "\n".join((EXPIRED, STARTED, MOVING, FIRST, SECOND, OVER))
    both = f"{text}\n{text.replace(SERVER, other).replace('02:50:', '02:51:').replace('=48', '=60')}"
    first, second = LOG.remarks("master", both, UTC)
    assert f"gave up region server {SERVER} at 02:50:10" in first
    assert f"gave up region server {other} at 02:51:10" in second
    assert LOG.remarks("regionserver", both, UTC) == []


def test_a_log_without_a_loss_tells_of_none() -> None:
    assert departures(LOG.lines("master", OTHERS, UTC)) == ()
    assert departures(()) == ()
