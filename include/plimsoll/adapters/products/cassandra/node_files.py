"""The paths of a node's files on its host, and of its logs: lines that explain nothing, errors with advice.

Read the events from Cassandra's log that may delay operations: compactions, flushes, dropped messages. Pure.

4.0, 4.1 and 5.0 write these lines at level INFO. 3.11 writes compactions and flushes at level DEBUG, so its logs show
only dropped messages.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.base import console_path
from plimsoll.adapters.products.nodes.node_process import LogWords, NodeProcess, ProcessFiles, TimedLog, time_of
from plimsoll.adapters.products.nodes.own_machine import JmxAccess
from plimsoll.domain.keys.process import Event, EventKind, Process
from plimsoll.domain.keys.variant import JvmConfiguration
from plimsoll.ports.host import Host

JOB = "cassandra"
"""The id of the node's job, and the name of its process."""
RESTARTED = "cassandra-restarted"
"""The id of the job of a node that was ended and started again."""
SYSTEM_LOG, GC_LOG = "system.log", "gc.log"
GC_LOG_OF_RESTARTED = "gc-restarted.log"
"""A JVM that starts again would begin the file anew."""

WORDS = LogWords(
    # A node's usual lines on its tables and pools, at its start, and its warning about JMX as Plimsoll configures it.
    noise=(
        r"INFO .* (Memtable|LogTransaction|ColumnFamilyStore|SSTable|CompactionTask|StatusLogger)\.java:\d+ ",
        r"INFO .*(Node configuration:\[|JVM Arguments: |Classpath: | memory: init = )",
        r".*cassandra\.jmx\.local\.port missing",
    ),
    # It logs its final error three times.
    repeats=r"^Exception \(.*\) encountered during startup: ",
    remedies=(
        (r"Unable to gossip with any|Unable to contact any seeds", "see that the hosts reach each other by network"),
        # It uses ConfigurationException for nearly everything. If that names a setting, it is about that setting.
        (
            r"Invalid yaml|Please remove properties|ConfigurationException.*(\b[a-z]+(_[a-z]+)+\b|class)",
            "correct `settings` of the system or the variant",
        ),
    ),
)


@dataclass(frozen=True)
class NodeFiles(ProcessFiles):
    """All paths of one node, below its host's root."""

    name: str = JOB

    @property
    def settings(self) -> PurePosixPath:
        return self.configuration / "cassandra.yaml"

    @property
    def logback(self) -> PurePosixPath:
        return self.configuration / "logback.xml"

    @property
    def compiler_hints(self) -> PurePosixPath:
        """Return the release's hints for the JIT compiler: what to inline and what not."""
        return self.configuration / "hotspot_compiler"

    @property
    def jmx(self) -> JmxAccess:
        """Return the files that open the node's JMX to Plimsoll."""
        return JmxAccess(self.configuration / "jmx.password", self.configuration / "jmx.access")

    @property
    def command(self) -> PurePosixPath:
        """Return the whole command, one argument per line, for people.

        Writing it to the folder of the logs also makes that folder, which the JVM needs at once for its GC log.
        """
        return self.logs / "command.txt"

    @property
    def system_log(self) -> PurePosixPath:
        return self.logs / SYSTEM_LOG


NODE = NodeProcess(JOB, lambda root: (NodeFiles(root).system_log, NodeFiles(root).console), WORDS)
RESTARTED_NODE = NodeProcess(RESTARTED, lambda root: (NodeFiles(root).system_log, console_path(root, RESTARTED)), WORDS)


def current_process(node: Host) -> NodeProcess:
    """Return the node's process that counts: the first one, unless it was started again."""
    return NODE if node.status(RESTARTED).state == "missing" else RESTARTED_NODE


def declared(jvm: JvmConfiguration | None) -> Process:
    """Return the node's process with all files that are kept of it."""
    files = NodeFiles(PurePosixPath())
    consoles = (files.console, *(console_path(files.root, job) for job in (RESTARTED, "action-*")))
    kept = (files.settings, files.logs / "*", *consoles)
    return Process(JOB, jvm, SYSTEM_LOG, GC_LOG, tuple(map(str, kept)), gc_log_again=GC_LOG_OF_RESTARTED)


COMPACTION, FLUSH = EventKind("compaction", "compaction"), EventKind("flush", "memtable flush")
DROPPED = EventKind("dropped", "dropped messages", "messages")
KINDS = (COMPACTION, FLUSH, DROPPED)

_LINE = re.compile(
    r"[A-Z]+ +\[(?P<thread>.+?)\] (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \S+:\d+ - (?P<message>.*)", re.ASCII
)
_COMPACTED = re.compile(r"Compacted \(.* in (?P<ms>\d(?:\D?\d)*)ms\. ")
_DROPPED = re.compile(
    r"\S+ messages were dropped in (the )?last (?P<ms>\d+) ?ms: (?P<internal>\d+) \D+ (?P<cross>\d+) cross"
)
_WRITING, _WRITTEN = re.compile(r"Writing Memtable-(?P<table>[^@]+)@"), "Completed flushing "


class CassandraLog(TimedLog):
    """An implementation of the Evidence port on a node's system.log, whose times are in its JVM's `zone`."""

    kinds: Sequence[EventKind] = KINDS
    pattern = _LINE

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        return tuple(_events(text, zone))


def _events(text: str, zone: tzinfo) -> Iterator[Event]:
    writing: dict[str, datetime] = {}
    for match in filter(None, map(_LINE.match, text.splitlines())):
        message, thread = match["message"], match["thread"]
        # Most lines tell of no event, and parsing a time takes about a hundred times as long as this
        is_told = message.startswith(("Compacted", "Writing Memtable-", _WRITTEN)) or "messages were dropped" in message
        if not is_told:
            continue
        at = time_of(match, zone)
        if _WRITING.match(message):
            writing[thread] = at
        elif message.startswith(_WRITTEN) and thread in writing:
            start = writing.pop(thread)
            yield Event(FLUSH, start, at, (at - start) / timedelta(milliseconds=1))
        elif event := _ended(message, at):
            yield event


def _ended(message: str, at: datetime) -> Event | None:
    """Return the event that ended at that time, from a line that gives its duration; None where it tells none."""
    if match := _COMPACTED.match(message):
        took_ms = float(re.sub(r"\D", "", match["ms"]))  # Between thousands stands what the node's language has there
        return Event(COMPACTION, at - timedelta(milliseconds=took_ms), at, took_ms)
    if match := _DROPPED.match(message):
        dropped = int(match["internal"]) + int(match["cross"])
        return Event(DROPPED, at - timedelta(milliseconds=int(match["ms"])), at, dropped)
    return None
