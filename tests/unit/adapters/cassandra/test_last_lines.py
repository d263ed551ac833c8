"""What is picked of a node's words, and what helps; the lines are those of real nodes of Cassandra 4.0.1."""

from pathlib import Path

import pytest
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.products.cassandra.node_files import NODE, WORDS
from plimsoll.adapters.products.nodes.node_state import last_lines, picked, remedy
from plimsoll.domain.hosts.cluster import HostInfo

START = [
    "INFO  [main] 2026-01-31 12:00:00,000 Config.java:691 - Node configuration:[" + "a=null; " * 1200 + "]",
    "INFO  [main] 2026-01-31 12:00:00,000 CassandraDaemon.java:640 - JVM Arguments: [-XX:OnOutOfMemoryError=kill]",
    "ERROR [main] 2026-01-31 12:00:01,000 StartupChecks.java:190 - cassandra.jmx.local.port missing from a file",
    "INFO  [MemtableFlushWriter:1] 2026-01-31 12:00:00,000 Memtable.java:498 - Completed flushing",
    "INFO  [main] 2026-01-31 12:00:02,000 NativeLibrary.java:188 - JNA mlockall successful",
]
ERROR = "ERROR [main] 2026-01-31 12:00:03,000 CassandraDaemon.java:909 - Exception encountered during startup"


def test_the_exception_comes_first_and_what_every_node_says_is_left_out() -> None:
    taken = "Failed to bind port 9042 on 127.0.9.1."
    said = picked(
        [
            *START,
            ERROR,
            f"java.lang.IllegalStateException: {taken}",
            "\tat org.apache.cassandra.service.CassandraDaemon.start(CassandraDaemon.java:1)",
            "\t... 7 common frames omitted",
            "Caused by: io.netty.channel.unix.Errors$NativeIoException: bind(..) failed: Address already in use",
            "INFO  [Hook] 2026-01-31 12:00:04,000 HintsService.java:220 - Paused hints dispatch",
            f"Exception (java.lang.IllegalStateException) encountered during startup: {taken}",
        ],
        WORDS,
    )
    assert str(said).splitlines() == [
        ERROR,
        f"java.lang.IllegalStateException: {taken}",
        "Caused by: io.netty.channel.unix.Errors$NativeIoException: bind(..) failed: Address already in use",
        "its log's last lines:",
        START[-1],
        "INFO  [Hook] 2026-01-31 12:00:04,000 HintsService.java:220 - Paused hints dispatch",
    ]


def test_long_lines_are_cut_and_old_ones_are_left_out() -> None:
    said = picked(
        [*(f"ERROR [main] {number}" for number in range(10, 100)), f"ERROR {'x' * 10_000}", "y" * 10_000], WORDS
    )
    assert len(said.complaints) == 6
    assert said.complaints[0] == "ERROR [main] 95"
    assert "characters left out" in said.complaints[-1]
    assert max(map(len, str(said).splitlines())) < 350


def test_a_node_that_said_nothing_is_said_to(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path / "node1", HostInfo(name="node1", role="node", address="127.9.9.1"))
    assert str(last_lines(host, NODE)) == "it said nothing"


def test_log_and_console_are_both_heard(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path / "node1", HostInfo(name="node1", role="node", address="127.9.9.1"))
    host.write(host.root / "cassandra/logs/system.log", "\n".join([*START, ""]))
    host.write(host.root / "jobs/cassandra.log", "Unrecognized VM option 'Foo'\n")
    assert last_lines(host, NODE).complaints == ("Unrecognized VM option 'Foo'",)


FAULT = "org.apache.cassandra.exceptions.ConfigurationException: "


@pytest.mark.parametrize(
    ("said", "mend"),
    [
        ("Invalid yaml. Please remove properties [foo] from your cassandra.yaml", "`settings`"),
        (f"{FAULT}Unable to find snitch class 'org.apache.cassandra.locator.NoSnitch'", "`settings`"),
        (f"{FAULT}Batch sync specified, but commitlog_sync_period_in_ms found.", "`settings`"),
        (f"{FAULT}/127.0.9.1:7000 is in use by another process.", "ss -ltnp"),
        ("java.lang.IllegalStateException: Failed to bind port 9042 on 127.0.9.1.", "ss -ltnp"),
        (f"{FAULT}Unable to bind to /10.0.0.1:7000. Cannot assign requested address", "the host itself"),
        ("Unrecognized VM option 'Foo'", "`flags`"),
        ("Conflicting collector combinations in option list", "`flags`"),
        ("# There is insufficient memory for the Java Runtime Environment to continue.", "smaller heap"),
        ("java.lang.OutOfMemoryError: Java heap space", "smaller heap"),
        ("java.lang.OutOfMemoryError: unable to create native thread", "ulimit -u"),
        ("java.io.IOException: No space left on device", "free disk space"),
        (f"{FAULT}Unable to check disk. Perhaps the user does not have the necessary permissions", "right to write"),
        ("Caused by: java.nio.file.AccessDeniedException: /data/commitlog", "right to write"),
        ("Caused by: java.nio.file.FileSystemException: /data/commitlog: Not a directory", "remove the file"),
        ("java.net.SocketException: Too many open files", "ulimit -n"),
        ("java.lang.RuntimeException: Unable to gossip with any peers", "by network"),
        ("java.lang.ExceptionInInitializerError: null", ""),
        ("org.apache.cassandra.db.commitlog.CommitLogReplayer$CommitLogReplayException: Could not read", ""),
        ("nothing that anybody knows", ""),
    ],
)
def test_the_advice_fits_the_exception_or_is_left_out(said: str, mend: str) -> None:
    found = remedy(said, WORDS)
    assert (mend in found) if mend else not found


def test_a_flag_on_the_command_line_is_no_complaint() -> None:
    assert picked(START, WORDS).complaints == ()
