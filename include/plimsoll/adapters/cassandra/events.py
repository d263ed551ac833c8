"""Cassandra's own log, read for what may hold up operations: compactions, flushes, dropped messages. Pure.

Lines as 4.0, 4.1 and 5.0 write them at INFO. 3.11 writes compactions and flushes at DEBUG only, so that its logs show
dropped messages alone.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo

from plimsoll.domain.happening import Event, LogLine

_LINE = re.compile(
    r"[A-Z]+ +\[(?P<thread>.+?)\] (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) \S+:\d+ - (?P<message>.*)", re.ASCII
)
_COMPACTED = re.compile(r"Compacted \(.* in (?P<ms>[\d,.]+)ms\. ")
_DROPPED = re.compile(
    r"\S+ messages were dropped in (the )?last (?P<ms>\d+) ?ms: (?P<internal>\d+) \D+ (?P<cross>\d+) cross"
)
_WRITING, _WRITTEN = re.compile(r"Writing Memtable-(?P<table>[^@]+)@"), "Completed flushing "


def events(text: str, zone: tzinfo) -> tuple[Event, ...]:
    """The events of one node's system.log, in the order in which they ended; its times are in the JVM's `zone`."""
    return tuple(_events(text, zone))


def lines(text: str, zone: tzinfo) -> tuple[LogLine, ...]:
    """Every line of one node's system.log that has a time, which is in the JVM's `zone`; not those of stack traces."""
    return tuple(LogLine(_time(match, zone), match[0]) for match in filter(None, map(_LINE.match, text.splitlines())))


def _time(match: re.Match[str], zone: tzinfo) -> datetime:
    return datetime.strptime(match["time"], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=zone)


def _events(text: str, zone: tzinfo) -> Iterator[Event]:
    writing: dict[str, datetime] = {}
    for match in filter(None, map(_LINE.match, text.splitlines())):
        message, thread = match["message"], match["thread"]
        if (
            not message.startswith(("Compacted", "Writing Memtable-", _WRITTEN))
            and "messages were dropped" not in message
        ):
            continue
        at = _time(match, zone)
        if _WRITING.match(message):
            writing[thread] = at
        elif message.startswith(_WRITTEN) and thread in writing:
            start = writing.pop(thread)
            yield Event("flush", start, at, (at - start) / timedelta(milliseconds=1))
        elif event := _ended(message, at):
            yield event


def _ended(message: str, at: datetime) -> Event | None:
    """Compactions and drops are told when they are over, with how long they took or the time that they count."""
    if match := _COMPACTED.match(message):
        took_ms = float(match["ms"].replace(",", ""))
        return Event("compaction", at - timedelta(milliseconds=took_ms), at, took_ms)
    if match := _DROPPED.match(message):
        dropped = int(match["internal"]) + int(match["cross"])
        return Event("dropped", at - timedelta(milliseconds=int(match["ms"])), at, dropped)
    return None
