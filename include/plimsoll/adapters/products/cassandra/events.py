"""Read the events from Cassandra's log that may delay operations: compactions, flushes, dropped messages. Pure.

4.0, 4.1 and 5.0 write these lines at level INFO. 3.11 writes compactions and flushes at level DEBUG, so its logs show
only dropped messages.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, tzinfo

from plimsoll.adapters.products.nodes.node_process import time_of, timed_lines
from plimsoll.domain.process import Event, EventKind, LogLine
from plimsoll.ports.product import Evidence

COMPACTION, FLUSH = EventKind("compaction", "compaction"), EventKind("flush", "memtable flush")
DROPPED = EventKind("dropped", "dropped messages", "messages")
KINDS = (COMPACTION, FLUSH, DROPPED)

_LINE = re.compile(
    r"[A-Z]+ +\[(?P<thread>.+?)\] (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \S+:\d+ - (?P<message>.*)", re.ASCII
)
_COMPACTED = re.compile(r"Compacted \(.* in (?P<ms>[\d,.]+)ms\. ")
_DROPPED = re.compile(
    r"\S+ messages were dropped in (the )?last (?P<ms>\d+) ?ms: (?P<internal>\d+) \D+ (?P<cross>\d+) cross"
)
_WRITING, _WRITTEN = re.compile(r"Writing Memtable-(?P<table>[^@]+)@"), "Completed flushing "


class CassandraLog(Evidence):
    """An implementation of the Evidence port on a node's system.log, whose times are in its JVM's `zone`."""

    kinds: Sequence[EventKind] = KINDS

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:  # noqa: ARG002 - a node is one process
        """Return compactions, flushes and dropped messages, in the order of their ends."""
        return tuple(_events(text, zone))

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:  # noqa: ARG002 - see `events`
        """Return the lines that have a time, so none of stack traces."""
        return timed_lines(_LINE, text, zone)


def _events(text: str, zone: tzinfo) -> Iterator[Event]:
    writing: dict[str, datetime] = {}
    for match in filter(None, map(_LINE.match, text.splitlines())):
        message, thread = match["message"], match["thread"]
        if (
            not message.startswith(("Compacted", "Writing Memtable-", _WRITTEN))
            and "messages were dropped" not in message
        ):
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
        took_ms = float(match["ms"].replace(",", ""))
        return Event(COMPACTION, at - timedelta(milliseconds=took_ms), at, took_ms)
    if match := _DROPPED.match(message):
        dropped = int(match["internal"]) + int(match["cross"])
        return Event(DROPPED, at - timedelta(milliseconds=int(match["ms"])), at, dropped)
    return None
