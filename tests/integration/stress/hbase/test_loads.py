"""Every workload by key on a real HBase: its tables, its rows, its operations, and what happens when HBase is lost."""

import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.integration.stress.node import Node
from tests.integration.stress.program import Program
from tests.support.nodes.slowness import not_slow
from tests.support.suite.requirements import IS_LONG, long

USAGE, UNREACHABLE, INCOMPLETE = 2, 3, 6
PACE = ("--rate", "100", "-t", "2", "-c", "20", "--drop")
SHORT = ("-d", "2s", *PACE)
WORKLOADS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "KeyValue": ({"rows": 100}, {"reads", "writes"}),
    "YcsbA": ({"recordcount": 100}, {"reads", "updates"}),
    "YcsbB": ({"recordcount": 100, "readallfields": "false"}, {"reads", "updates"}),
    "YcsbD": ({"recordcount": 100, "insertproportion": 0.3}, {"reads", "inserts"}),
    "YcsbE": ({"recordcount": 100, "insertproportion": 0.3}, {"scans", "inserts"}),
    "YcsbF": ({"recordcount": 100}, {"reads", "read-modify-writes"}),
    "BatchedRows": ({"batch_rows": 10, "reads": 1, "at_a_time": 10, "range": 100, "tables": 2}, {"batches", "reads"}),
}

# Their operations are other mixtures of those that remain, or run on Cassandra, in the same core of the generator.
ON_CASSANDRA_TOO = {"YcsbA", "YcsbB", "YcsbD", "YcsbF", "BatchedRows"}


def given(options: dict[str, Any]) -> tuple[str, ...]:
    return tuple(word for name, value in options.items() for word in ("-o", f"{name}={value}"))


def accounted(run: Any) -> Any:
    return run["completed"] + sum(run["errors"].values())


@pytest.mark.parametrize("name", [one for one in WORKLOADS if IS_LONG or one not in ON_CASSANDRA_TOO])
def test_a_workload_does_all_of_its_operations(run: Callable[..., Any], name: str) -> None:
    options, operations = WORKLOADS[name]
    ended, files = run(name, *SHORT, "--regions", "4", *given(options))
    assert ended.returncode == 0, ended.stderr
    done = files.summary["run"]
    assert not_slow(done["errors"]) == {}
    assert accounted(done) == done["scheduled"] == 200
    assert done["operations"].keys() == operations
    for operation, counts in done["operations"].items():
        logged = sum(record.histogram.total_count for record in files.log(f"-intended-{operation}"))
        assert logged == counts["completed"] > 0
    if rows := options.get("rows", options.get("recordcount")):
        populated = files.summary["populate"]
        assert (populated["completed"], populated["verified"]) == (rows, rows)


def test_a_batch_is_one_operation_of_all_its_rows_and_a_read_counts_the_rows_that_are_there(
    run: Callable[..., Any],
) -> None:
    batches = {"batch_rows": 10, "range": 10, "tables": 2}
    ended, files = run("BatchedRows", *SHORT, *given(batches))
    assert ended.returncode == 0, ended.stderr
    written = files.summary["run"]["operations"]["batches"]
    assert written["rows"] == 10 * written["completed"] > 0
    assert files.summary["run"]["measured"]["rows_s"] == 10 * files.summary["run"]["measured"]["achieved_ops_s"]
    ended, files = run("BatchedRows", *SHORT[:-1], *given({**batches, "batches": 0, "reads": 1, "at_a_time": 20}))
    assert ended.returncode == 0, ended.stderr
    read = files.summary["run"]["operations"]["reads"]
    # A thread's range has ten keys, so a read of twenty asks for each of them twice.
    assert read["rows"] == 20 * read["completed"] > 0
    reads = {**batches, "batches": 0, "reads": 1, "populate_batches": 1}
    ended, files = run("BatchedRows", *SHORT, *given(reads))
    assert ended.returncode == 0, ended.stderr
    read = files.summary["run"]["operations"]["reads"]
    # Each of two threads wrote one batch: all ten keys of its range.
    assert (files.summary["populate"]["completed"], read["rows"]) == (2, read["completed"])


@long("tables are made by each load")
def test_tables_are_made_as_asked_and_kept_unless_they_are_to_be_dropped(
    run: Callable[..., Any], ask_hbase: Callable[..., Any], hbase: Node
) -> None:
    asked = ("--block-encoding", "FAST_DIFF", "--compression", "GZ", "--namespace", "made")
    ended, _ = run("KeyValue", *SHORT, "--populate-only", "-o", "rows=50", "--regions", "3", *asked)
    assert ended.returncode == 0, ended.stderr
    table = f"table {hbase.address} made keyvalue"
    assert ask_hbase(table) == ["3 FAST_DIFF GZ 50"]
    ended, _ = run("KeyValue", *SHORT[:-1], "--populate-only", "-o", "rows=60", "--regions", "5", "--namespace", "made")
    assert ended.returncode == 0, ended.stderr
    assert ask_hbase(table) == ["3 FAST_DIFF GZ 60"]
    ended, _ = run("KeyValue", *SHORT, "--populate-only", "-o", "rows=20", "--regions", "5", "--namespace", "made")
    assert ended.returncode == 0, ended.stderr
    assert ask_hbase(table) == ["5 NONE NONE 20"]


def test_a_workload_of_statements_is_refused(run: Callable[..., Any]) -> None:
    ended, _ = run("TimeSeries", *SHORT)
    assert ended.returncode == USAGE
    assert "TimeSeries consists of statements of CQL" in ended.stderr


def test_a_server_that_is_not_there_is_told(hbase_program: Program) -> None:
    ended = hbase_program.run("run", "KeyValue", "--host", "127.203.41.8", *SHORT)
    assert ended.returncode == UNREACHABLE
    assert "cannot connect to 127.203.41.8:16020: ConnectException" in ended.stderr


@long("stalls show with the same core of the generator in stress/timed")
def test_a_stall_shows_in_the_times_of_all_that_was_due_in_it(hbase: Node, start: Callable[..., Any]) -> None:
    """Shorter than the time-outs, so that every operation is answered, as late as HBase was."""
    patient = ("--rpc-timeout", "60s", "--operation-timeout", "60s")
    load = start("KeyValue", *PACE, *patient, "-d", "6s", "-o", "rows=100")
    with hbase.stopped():
        time.sleep(1.2)
    assert load.wait() == 0, load.said()
    done = load.files.summary["run"]
    assert done["completed"] == done["scheduled"]
    logs = [load.files.log(f"-intended-{operation}") for operation in ("reads", "writes")]
    values = (item for log in logs for record in log for item in record.histogram.get_recorded_iterator())
    late = sum(item.count_at_value_iterated_to for item in values if item.value_iterated_to > 500_000)
    assert late >= 0.9 * 100 * (1.2 - 0.5)


@long("a lost database ends a load of Cassandra, and a region server is killed in integration/hbase")
def test_a_server_that_is_killed_fails_operations_by_kind_and_the_load_ends_in_time(
    hbase: Node, start: Callable[..., Any]
) -> None:
    load = start("YcsbA", *PACE, "-d", "10m", "-o", "recordcount=100", "--give-up", "4s")
    hbase.process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    assert load.wait() == INCOMPLETE
    assert time.monotonic() - killed < 60
    done = load.files.summary["run"]
    assert "no operation was answered for 4 s" in load.files.summary["reason"]
    failed = {kind for kind, count in done["errors"].items() if count}
    assert {"connection"} <= failed <= {"connection", "client_timeout", "unavailable", "unfinished"}
    assert done["completed"] > 0
