"""Read the events from the logs of HBase and HDFS that may delay operations. Pure.

Flushes and slow syncs of the write-ahead log give their length in ms. A compaction's is given in whole seconds, so it
begins with the line by which the same thread has begun it. Splits and moves of regions are procedures of the Master,
and so is what follows when a region server is lost or stopped (`departures`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, tzinfo

from plimsoll.adapters.products.hbase.departures import Departure, departures
from plimsoll.adapters.products.hbase.roles import MASTER
from plimsoll.adapters.products.nodes.log_times import time_of, timed_lines
from plimsoll.domain.log_events import Event, EventKind, LogLine
from plimsoll.ports.product import Evidence

COMPACTION, FLUSH = EventKind("compaction", "compaction"), EventKind("flush", "memstore flush")
SPLIT, MOVE = EventKind("split", "region split"), EventKind("move", "region moved")
PAUSE, SYNC = EventKind("long_pause", "long pause"), EventKind("slow_sync", "slow WAL sync")
LOST, STOPPED = EventKind("server_lost", "region server lost"), EventKind("server_stopped", "region server stopped")
KINDS = (COMPACTION, FLUSH, SPLIT, MOVE, PAUSE, SYNC, LOST, STOPPED)

_LINE = re.compile(
    r"[A-Z]+ +\[(?P<thread>.*?)\] (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (?P<logger>\S+): (?P<message>.*)",
    re.ASCII,
)
_IN_MS: Sequence[tuple[EventKind, re.Pattern[str]]] = (
    (FLUSH, re.compile(r"Finished flush of dataSize .* in (?P<ms>\d+)ms")),
    (SYNC, re.compile(r"Slow sync cost: (?P<ms>\d+) ms")),
    (PAUSE, re.compile(r"Detected pause in JVM or host machine .*pause of approximately (?P<ms>\d+)ms")),
)
_COMPACTING, _COMPACTED = re.compile(r"Starting compaction of "), re.compile(r"Completed compaction ")
_PROCEDURE = re.compile(
    r"Finished pid=\d+, .*state=SUCCESS.*; (?P<name>\w+) .* in "
    r"((?P<hours>\d+) hrs, )?((?P<minutes>\d+) mins?, )?((?P<seconds>[\d.]+) sec|(?P<ms>\d+) msec)"
)
_OF_PROCEDURE: Sequence[tuple[EventKind, Callable[[str, str], bool]]] = (
    (SPLIT, lambda name, _: name == "SplitTableRegionProcedure"),
    (MOVE, lambda name, text: name == "TransitRegionStateProcedure" and bool(re.search(r"\b(MOVE|REOPEN)\b", text))),
)


class HBaseLog(Evidence):
    """An implementation of the Evidence port on the logs of all processes, whose times are in their hosts' `zone`."""

    kinds: Sequence[EventKind] = KINDS

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        """Return the events in the order of their ends."""
        left = (
            _lasting(STOPPED if one.is_stop else LOST, one.at, one.over or one.last_told)
            for one in self.departures(process, text, zone)
        )
        return tuple(sorted([*_events(text, zone), *left], key=lambda event: event.end))

    def remarks(self, process: str, text: str, zone: tzinfo) -> Sequence[str]:
        """Return a sentence for each region server that left the cluster."""
        return [str(one) for one in self.departures(process, text, zone)]

    def departures(self, process: str, text: str, zone: tzinfo) -> Sequence[Departure]:
        """Return the region servers that left the cluster, of which only the Master tells."""
        return departures(timed_lines(_LINE, text, zone)) if process == MASTER.name else ()

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:  # noqa: ARG002 - all have one form
        """Return the lines that have a time, so none of stack traces."""
        return timed_lines(_LINE, text, zone)


def _events(text: str, zone: tzinfo) -> Iterator[Event]:
    compacting: dict[str, datetime] = {}
    for match in filter(None, map(_LINE.match, text.splitlines())):
        message, thread = match["message"], match["thread"]
        if _COMPACTING.match(message):
            compacting[thread] = time_of(match, zone)
        elif _COMPACTED.match(message) and thread in compacting:
            yield _lasting(COMPACTION, compacting.pop(thread), time_of(match, zone))
        elif found := _ended(message):
            kind, lasted = found
            at = time_of(match, zone)
            yield _lasting(kind, at - lasted, at)


def _ended(message: str) -> tuple[EventKind, timedelta] | None:
    """Return the kind and the length of the event that ended with this line; None where it tells of none."""
    for kind, pattern in _IN_MS:
        if told := pattern.match(message):
            return kind, timedelta(milliseconds=int(told["ms"]))
    if told := _PROCEDURE.match(message):
        kinds = (kind for kind, is_one in _OF_PROCEDURE if is_one(told["name"], message))
        return next(((kind, _length(told)) for kind in kinds), None)
    return None


def _length(told: re.Match[str]) -> timedelta:
    return timedelta(
        hours=int(told["hours"] or 0),
        minutes=int(told["minutes"] or 0),
        seconds=float(told["seconds"] or 0),
        milliseconds=int(told["ms"] or 0),
    )


def _lasting(kind: EventKind, start: datetime, end: datetime) -> Event:
    return Event(kind, start, end, (end - start) / timedelta(milliseconds=1))
