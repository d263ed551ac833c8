from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.products.cassandra.node_files import NODE
from plimsoll.adapters.products.nodes.node_state import down, state_of
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.host import CommandResult, Job, JobStatus


@pytest.fixture
def host(tmp_path: Path) -> ScriptedHost:
    return ScriptedHost(tmp_path / "node1", HostInfo(name="node1", role="node", address="127.9.9.1"))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (JobStatus("missing"), "was never started"),
        (JobStatus("running"), "is running"),
        (JobStatus("exited", 3), "ended with exit code 3"),
        (JobStatus("exited", 137), "ended with signal 9"),
        (JobStatus("exited", None), "was killed"),
    ],
)
def test_a_status_in_words(status: JobStatus, words: str) -> None:
    assert state_of(status) == words


def test_a_node_that_runs_is_not_down(host: ScriptedHost) -> None:
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    assert down(host, NODE) is None


def test_a_node_that_is_down_says_why(host: ScriptedHost) -> None:
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    host.write(host.root / "cassandra/logs/system.log", "WARN  heap is full\n")
    host.statuses["cassandra"] = JobStatus("exited", 137)
    assert down(host, NODE) == (
        "node1 (127.9.9.1) ended with signal 9; a person sent it, or the kernel: see whether the host was out of "
        "memory (`dmesg` shows it); a smaller heap or a larger host helps then:\nits log's last lines:\n"
        "WARN  heap is full"
    )


@pytest.mark.parametrize("code", [137, 143, None])
def test_the_reason_of_a_node_that_a_signal_ended_is_the_signal_and_not_what_it_logged_last(
    host: ScriptedHost, code: int | None
) -> None:
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    pools = "INFO  [ScheduledTasks:1] 2026-01-31 12:00:00,000 StatusLogger.java:65 - MutationStage 0 0 1 0 0\n"
    hints = "INFO  [HintsDispatcher:1] 2026-01-31 12:00:00,000 HintsService.java:220 - Paused hints dispatch\n"
    host.write(host.root / "cassandra/logs/system.log", pools * 3 + hints)
    host.statuses["cassandra"] = JobStatus("exited", code)
    (line,) = (down(host, NODE) or "").splitlines()
    assert line.startswith("node1 (127.9.9.1) " + ("was killed" if code is None else f"ended with signal {code - 128}"))


def test_a_node_that_ended_by_itself_says_what_it_logged_last_but_no_table_of_its_pools(host: ScriptedHost) -> None:
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    pools = "INFO  [ScheduledTasks:1] 2026-01-31 12:00:00,000 StatusLogger.java:65 - MutationStage 0 0 1 0 0\n"
    host.write(host.root / "cassandra/logs/system.log", "INFO  [Hook] stopping\n" + pools)
    host.statuses["cassandra"] = JobStatus("exited", 3)
    assert down(host, NODE) == "node1 (127.9.9.1) ended with exit code 3:\nits log's last lines:\nINFO  [Hook] stopping"


@pytest.mark.parametrize(("free", "told"), [("4096", True), ("2097152", True), ("99999999", False), ("-", False)])
def test_a_node_that_is_down_on_a_full_disk_says_that_too(host: ScriptedHost, free: str, told: bool) -> None:
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    host.statuses["cassandra"] = JobStatus("exited", 135)
    host.command = lambda _: CommandResult(0, f"Avail\n{free}\n", "")
    assert ("its disk is full: free disk space" in down(host, NODE)) is told
