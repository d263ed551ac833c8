from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.cassandra.node_status import down, state_of
from plimsoll.domain.cluster import HostInfo
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
    assert down(host) is None


def test_a_node_that_is_down_says_why(host: ScriptedHost) -> None:
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    host.write(host.root / "cassandra/logs/system.log", "WARN  heap is full\n")
    host.statuses["cassandra"] = JobStatus("exited", 137)
    assert down(host) == "node1 (127.9.9.1) ended with signal 9:\nits log's last lines:\nWARN  heap is full"


@pytest.mark.parametrize(("free", "told"), [("4096", True), ("2097152", True), ("99999999", False), ("-", False)])
def test_a_node_that_is_down_on_a_full_disk_says_that_too(host: ScriptedHost, free: str, told: bool) -> None:
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    host.statuses["cassandra"] = JobStatus("exited", 135)
    host.command = lambda _: CommandResult(0, f"Avail\n{free}\n", "")
    assert ("its disk is full: free disk space" in down(host)) is told
