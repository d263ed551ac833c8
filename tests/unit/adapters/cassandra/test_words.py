from datetime import timedelta

import pytest
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.cassandra.words import LINES, down, last_lines, remedy, said_last, state_of
from plimsoll.domain.cluster import HostInfo
from plimsoll.ports.host import CommandResult, Job, JobStatus

LOG = """INFO  [main] 2026-01-31 Config.java:1 - Node configuration
INFO  [MemtableFlushWriter:1] 2026-01-31 12:00:00,000 Memtable.java:498 - Completed flushing
ERROR [main] 2026-01-31 CassandraDaemon.java:909 - Exception encountered during startup: Invalid yaml
\tat org.apache.cassandra.config.YamlConfigurationLoader.check(YamlConfigurationLoader.java:1)
\t... 7 common frames omitted
"""


@pytest.fixture
def host(tmp_path):
    return ScriptedHost(tmp_path / "node1", HostInfo(name="node1", role="node", address="127.9.9.1"))


def test_stack_frames_and_table_chatter_are_left_out():
    assert [line[:5] for line in last_lines(LOG.splitlines())] == ["INFO ", "ERROR"]


def test_only_the_last_lines_count():
    assert last_lines(f"line {number}" for number in range(100)) == [f"line {n}" for n in range(100 - LINES, 100)]


def test_log_and_console_are_both_heard(host):
    host.write(host.root / "cassandra/logs/system.log", LOG)
    host.write(host.root / "jobs/cassandra.log", "Unrecognized VM option 'Foo'\n")
    assert said_last(host).splitlines()[-2:] == [LOG.splitlines()[2], "Unrecognized VM option 'Foo'"]


@pytest.mark.parametrize(
    ("said", "mend"),
    [
        ("Invalid yaml. Please remove properties [foo] from your cassandra.yaml", "settings"),
        ("Unrecognized VM option 'Foo'", "jvm"),
        ("/127.0.9.1:7000 is in use by another process.", "ss -ltnp"),
        ("Failed to bind port 9042 on 127.0.9.1.", "ss -ltnp"),
        ("There is insufficient memory for the Java Runtime Environment to continue.", "smaller heap"),
        ("java.io.IOException: No space left on device", "disk"),
        ("nothing that anybody knows", "read the log"),
    ],
)
def test_each_complaint_has_its_remedy(said, mend):
    assert mend in remedy(said, "read the log")


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
def test_a_status_in_words(status, words):
    assert state_of(status) == words


def test_a_node_that_runs_is_not_down(host):
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    assert down(host) is None


def test_a_node_that_is_down_says_why(host):
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    host.write(host.root / "cassandra/logs/system.log", "WARN  heap is full\n")
    host.statuses["cassandra"] = JobStatus("exited", 137)
    assert down(host) == "node1 (127.9.9.1) ended with signal 9; its log's last lines:\nWARN  heap is full"


@pytest.mark.parametrize(("free", "told"), [("4096", True), ("2097152", True), ("99999999", False), ("-", False)])
def test_a_node_that_is_down_on_a_full_disk_says_that_too(host, free, told):
    host.start(Job("cassandra", ["java"], timedelta(hours=1)))
    host.statuses["cassandra"] = JobStatus("exited", 135)
    host.command = lambda _: CommandResult(0, f"Avail\n{free}\n", "")
    assert ("its disk is full: free disk space" in down(host)) is told
