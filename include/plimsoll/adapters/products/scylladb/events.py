"""Read the events from ScyllaDB's log that may delay operations: compactions, reactor stalls, large allocations. Pure.

The lines of stalls have no time, because ScyllaDB writes them inside a signal handler. A stall happened between the
lines before and after it; where these are further apart than `_SURE`, its line is left out.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, tzinfo

from plimsoll.adapters.products.nodes.log_times import time_of, timed_lines
from plimsoll.domain.log_events import Event, EventKind, LogLine
from plimsoll.ports.product import Evidence

COMPACTION, STALL = EventKind("compaction", "compaction"), EventKind("reactor_stall", "reactor stall")
ALLOCATION = EventKind("large_allocation", "large allocation", "bytes")
KINDS = (COMPACTION, STALL, ALLOCATION)

_LINE = re.compile(
    r"[A-Z]+ +(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) +\[shard +\d+[^]]*\] (?P<logger>\S+) - (?P<message>.*)",
    re.ASCII,
)
_COMPACTED = re.compile(r"(\[.*?\] )?Compacted .* in (?P<ms>\d+)ms = ")
_ALLOCATED = re.compile(r"oversized allocation: (?P<bytes>\d+) bytes")
_STALLED = re.compile(r"Reactor stalled for (?P<ms>\d+) ms on shard \d+")
_SURE = timedelta(seconds=10)


class ScyllaDbLog(Evidence):
    """An implementation of the Evidence port on a node's log, whose times are in its host's `zone`."""

    kinds: Sequence[EventKind] = KINDS

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:  # noqa: ARG002 - a node is one process
        """Return compactions, reactor stalls and large allocations, in the order of their ends."""
        return tuple(_events(text, zone))

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:  # noqa: ARG002 - see `events`
        """Return the lines that have a time."""
        return timed_lines(_LINE, text, zone)


def _events(text: str, zone: tzinfo) -> Iterator[Event]:
    before: datetime | None = None
    stalls_ms: list[float] = []
    for line in text.splitlines():
        if stall := _STALLED.search(line):
            stalls_ms.append(float(stall["ms"]))
        if (match := _LINE.match(line)) is None:
            continue
        at = time_of(match, zone)
        if before is not None and at - before <= _SURE:
            yield from (Event(STALL, before, at, ms) for ms in stalls_ms)
        yield from _events_of(match["message"], at)
        before, stalls_ms = at, []


def _events_of(message: str, at: datetime) -> Iterator[Event]:
    if match := _COMPACTED.match(message):
        yield Event(COMPACTION, at - timedelta(milliseconds=int(match["ms"])), at, float(match["ms"]))
    elif match := _ALLOCATED.match(message):
        yield Event(ALLOCATION, at, at, float(match["bytes"]))
