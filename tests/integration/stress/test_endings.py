"""Runs that do not reach their end, and what they leave."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.node import Node
from tests.integration.stress.program import FEW
from tests.support.processes import until
from tests.support.suite.requirements import long
from tests.support.suite.tries import tries

SCHEMA, POPULATE, INCOMPLETE, OUTPUT = 4, 5, 6, 7
LEASE_S = 25
"""Longer than this process, which watches, may stand still on a busy machine."""
SILENT = "no operation was answered for 2 s"
THREE = "{'class': 'SimpleStrategy', 'replication_factor': 3}"
OTHER = long("a full disk under another file ends a run, too")
UNAVAILABLE = ("--keyspace", "three", "--cl", "QUORUM", "--replication", THREE)


def accounted(run: Any) -> Any:
    return run["completed"] + sum(run["errors"].values())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_with_its_own_code_and_readable_logs(node: Any, start_load: Any, number: Any) -> None:
    load = start_load(node, *FEW, "-d", "10m")
    load.process.send_signal(number)
    assert load.wait() == 128 + number
    summary, files = load.files.summary, load.files
    assert (summary["complete"], summary["exit_code"]) == (False, None)
    assert summary["reason"] == "ended by a signal"
    run = summary["run"]
    assert run["completed"] == files.completed().total() > 0
    assert 0 <= accounted(run) <= 200 * 60
    assert "not complete: ended by a signal" in load.said()
    last = (files.folder / "m.csv").read_text().splitlines()[-1]
    assert len(last.split(",")) == 31


def test_a_killed_generator_leaves_every_second_up_to_the_last(node: Any, start_load: Any) -> None:
    load = start_load(node, *FEW, "-d", "10m")
    load.process.kill()
    load.wait()
    files = load.files
    assert not (files.folder / "summary.json").exists()
    seconds = [line for line in files.progress if line["phase"] in ("warmup", "measure")]
    assert len(files.log("-intended-mutations")) >= len(seconds) >= 1


def test_a_table_that_is_not_there_is_a_schema_failure(node: Any, load: Callable[..., Any]) -> None:
    ended, files = load(node, "-d", "2s", "--rate", "50", "--no-schema", "--keyspace", "never_made")
    assert ended.returncode == SCHEMA
    assert "never_made" in files.summary["reason"]


def test_a_replication_that_cassandra_refuses_is_a_schema_failure(node: Any, load: Callable[..., Any]) -> None:
    ended, files = load(
        node, "-d", "2s", "--rate", "50", "--keyspace", "odd", "--replication", "{'class': 'NoSuchStrategy'}"
    )
    assert ended.returncode == SCHEMA
    assert "NoSuchStrategy" in files.summary["reason"]


def test_rows_that_cannot_be_written_end_populating(node: Any, load: Callable[..., Any]) -> None:
    """ALL of three replicas on one node."""
    ended, files = load(
        node, "-d", "2s", "--rate", "50", "--populate", "20", "--keyspace", "three", "--cl", "ALL",
        "--replication", THREE,
    )  # fmt: skip
    assert ended.returncode == POPULATE, ended.stderr
    # It ends once too many are lost, with those that were under way.
    assert 0 < files.summary["populate"]["errors"]["unavailable"] <= 20
    assert files.summary["run"] is None


def test_errors_of_operations_are_a_result_of_a_complete_run(node: Any, load: Callable[..., Any]) -> None:
    ended, files = load(
        node, *FEW, "-d", "2s", "--keyspace", "three", "--cl", "QUORUM", "--give-up", "0s",
        "--replication", THREE,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    run = files.summary["run"]
    assert run["errors"]["unavailable"] == run["scheduled"] == 400
    assert run["completed"] == files.completed().total() == 0
    assert {record.tag for record in files.log(".errors")} == {"unavailable"}


@pytest.mark.parametrize(
    ("options", "rule", "why"),
    [
        (UNAVAILABLE, 0, "operations of 2 s failed, more than 5 %"),
        ((), 1, "operations of 2 s took longer than 0.05 ms, more than 1 %"),
    ],
)
def test_a_rule_that_is_broken_ends_the_run_within_its_second(
    node: Any, load: Callable[..., Any], options: Any, rule: int, why: str
) -> None:
    for _ in tries():
        ended, files = load(node, *FEW, "-d", "10m", "--stop-when", "errors/2s/5%,99/2s/0.05ms", *options)
        assert ended.returncode == 0, ended.stderr
        run = files.summary["run"]
        if run["stopped"]["why"] != SILENT:  # who stood still in these two seconds was ended rightly, by the first rule
            break
    assert (run["stopped"]["seconds"], run["stopped"]["rule"]) == (2, rule)
    assert why in run["stopped"]["why"]
    assert files.summary["complete"]
    assert run["completed"] == files.completed().total()
    assert f"ended after 2 s: {run['stopped']['why']}" in ended.stdout


def test_a_rule_that_is_broken_while_rows_are_written_ends_the_run(node: Any, load: Callable[..., Any]) -> None:
    rule = ("--stop-when", "50/1s/0.001ms")
    ended, files = load(node, *FEW, "-d", "10m", "--populate", "1M", "--populate-rate", "0", *rule)
    assert ended.returncode == POPULATE, ended.stderr
    assert files.summary["reason"].startswith("populating was ended by a stop rule: ")
    assert files.summary["run"] is None


@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=OTHER) for name in ("m.hdr-selects", "m.hdr.errors", "m.csv")), "progress"]
)
def test_a_full_disk_ends_the_run(node: Any, load: Callable[..., Any], tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/full")
    ended, files = load(node, *FEW, "-d", "10m")
    assert ended.returncode == OUTPUT, ended.stderr
    assert files.summary["complete"] is False
    assert "No space left on device" in files.summary["reason"] or "is the disk full?" in files.summary["reason"]


def test_a_load_that_nobody_watches_ends_and_one_that_somebody_watches_goes_on(
    node: Node, start_load: Any, tmp_path: Path
) -> None:
    """Whoever starts a load watches it from then on: it may take longer to its first answers than nobody may look."""
    options = (*FEW, "-d", "10m", "--lease", tmp_path / "lease", "--lease-time", f"{LEASE_S}s")
    with watching(tmp_path / "lease"):
        load = start_load(node, *options)

        def goes_on() -> bool:
            assert load.process.poll() is None, load.said()
            return len(load.files.progress) > LEASE_S

        until(goes_on, "a load that is watched for longer than its lease")
    assert load.wait() == INCOMPLETE
    assert load.files.summary["reason"] == f"nobody has looked at the load for {LEASE_S} s"


def test_a_rule_that_another_generator_has_broken_ends_the_run(node: Node, start_load: Any, tmp_path: Path) -> None:
    end = tmp_path / "end.json"
    options = ("--split", "1/2", "--stop-when", "errors/5m/5%", "--end-file", end)
    load = start_load(node, *FEW, "-d", "10m", *options)
    until(lambda: len(load.files.progress) > 2, "the timed run")
    draft = tmp_path / "draft"
    draft.write_text('{"seconds": 1.5, "rule": 1, "why": "late", "host": "load2", "silent": true}')
    draft.rename(end)
    assert load.wait() == 0, load.said()
    run = load.files.summary["run"]
    assert {name: run["stopped"][name] for name in ("rule", "why", "host", "silent")} == {
        "rule": 1,
        "why": "late",
        "host": "load2",
        "silent": True,
    }
    assert run["completed"] == load.files.completed().total()


@contextmanager
def watching(lease: Path) -> Iterator[None]:
    """Look at the load that has this lease, within the block."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            lease.write_text("")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_no_node_is_connected_to_but_those_that_are_allowed(node: Any, load: Callable[..., Any]) -> None:
    """Its only node is its contact point: if that is left out, nobody is there to ask."""
    ended, _ = load(node, "-d", "2s", "--rate", "50", "--nodes-within", "127.0.0.0/8,192.0.2.1")
    assert ended.returncode == 0
    ended, files = load(node, "-d", "2s", "--rate", "50", "--nodes-within", "192.0.2.0/24")
    assert ended.returncode != 0
    assert files.summary["complete"] is False
