"""Read the events from the logs of HBase and HDFS that may delay operations, departures of region servers included.
Pure.

Flushes and slow syncs of the write-ahead log give their length in ms. A compaction's is given in whole seconds, so it
begins with the line by which the same thread has begun it. Splits and moves of regions are procedures of the Master,
and so is what follows when a region server has left.

The Master does the same for a server that was lost and for one that was stopped. But who is stopped closes its regions
and its write-ahead logs first, so that the Master finds no log of it to split.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from operator import itemgetter

from plimsoll.adapters.products.hbase.roles import MASTER
from plimsoll.adapters.products.nodes.node_process import TimedLog, time_of
from plimsoll.domain.keys.process import Event, EventKind, LogLine
from plimsoll.domain.text.wording import plural

COMPACTION, FLUSH = EventKind("compaction", "compaction"), EventKind("flush", "memstore flush")
SPLIT, MOVE = EventKind("split", "region split"), EventKind("move", "region moved")
PAUSE, SYNC = EventKind("long_pause", "long pause"), EventKind("slow_sync", "slow WAL sync")
LOST, STOPPED = EventKind("server_lost", "region server lost"), EventKind("server_stopped", "region server stopped")

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

_EXPIRED = re.compile(r"RegionServer ephemeral node deleted, processing expiration \[(?P<server>[^\]]+)\]")
_CRASH = re.compile(r"\bpid=(?P<pid>\d+), [^;]*; ServerCrashProcedure (?P<server>[^\s,]+,\d+,\d+)")
_LOGS = re.compile(r"SplitWALManager: (?P<server>\S+) WAL count=(?P<count>\d+)")
_ASSIGN = re.compile(
    r"\bppid=(?P<parent>\d+), [^;]*; TransitRegionStateProcedure table=[^\s,]+, region=(?P<region>\w+), ASSIGN"
)

_FINISHED = re.compile(r" Finished pid=\d+, [^;]*state=SUCCESS")
_RELEVANT = re.compile(r"processing expiration|ServerCrashProcedure|WAL count=|TransitRegionStateProcedure")


@dataclass(frozen=True)
class Departure:
    """A region server that the Master took out of the cluster, with its regions and those that others opened again.

    `server`: as HBase names it, `host,port,start`. `is_stop`: whether it had left nothing to be recovered. `over`: when
    its regions were all elsewhere; None where the log ends before. `last_told`: the time of the log's last line.
    """

    server: str
    is_stop: bool
    at: datetime
    over: datetime | None
    regions: Set[str]
    moved: Set[str]
    last_told: datetime

    @property
    def host(self) -> str:
        """Return the name or address of the server's host."""
        return self.server.split(",", 1)[0]

    def __str__(self) -> str:
        clock = f"at {self.at:%H:%M:%S} by the Master's clock"
        server = f"region server {self.server}"
        happened = f"{server} was stopped" if self.is_stop else f"the Master gave up {server}"
        if self.over:
            later = f"until {(self.over - self.at).total_seconds():.1f} s later"
            return f"{happened} {clock}; {plural(len(self.moved), 'region')} moved to others {later}"
        known = plural(len(self.regions), "region") if self.regions else "its regions"
        return f"{happened} {clock}; {known} had to move, and {len(self.moved)} had when its log ended"


class HBaseLog(TimedLog):
    """An implementation of the Evidence port on the logs of all processes, whose times are in their hosts' `zone`."""

    kinds: Sequence[EventKind] = (COMPACTION, FLUSH, SPLIT, MOVE, PAUSE, SYNC, LOST, STOPPED)
    pattern = _LINE

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:
        left = (
            _lasting(STOPPED if departure.is_stop else LOST, departure.at, departure.over or departure.last_told)
            for departure in self.departures(process, text, zone)
        )
        return tuple(sorted([*_events(text, zone), *left], key=lambda event: event.end))

    def remarks(self, process: str, text: str, zone: tzinfo) -> Sequence[str]:
        return [str(departure) for departure in self.departures(process, text, zone)]

    def departures(self, process: str, text: str, zone: tzinfo) -> Sequence[Departure]:
        """Return the region servers that left the cluster, of which only the Master tells."""
        return departures(self.lines(process, text, zone)) if process == MASTER.name else ()


def _events(text: str, zone: tzinfo) -> Iterator[Event]:
    compacting: dict[str, datetime] = {}
    for match in filter(None, map(_LINE.match, text.splitlines())):
        message, thread = match["message"], match["thread"]
        if _COMPACTING.match(message):
            compacting[thread] = time_of(match, zone)
        elif _COMPACTED.match(message) and thread in compacting:
            yield _lasting(COMPACTION, compacting.pop(thread), time_of(match, zone))
        elif ended := _ended(message):
            kind, lasted = ended
            at = time_of(match, zone)
            yield _lasting(kind, at - lasted, at)


def _ended(message: str) -> tuple[EventKind, timedelta] | None:
    """Return the kind and the length of the event that ended with this line; None where it tells of none."""
    for kind, pattern in _IN_MS:
        if match := pattern.match(message):
            return kind, timedelta(milliseconds=int(match["ms"]))
    if match := _PROCEDURE.match(message):
        if match["name"] == "SplitTableRegionProcedure":
            return SPLIT, _length(match)
        if match["name"] == "TransitRegionStateProcedure" and re.search(r"\b(MOVE|REOPEN)\b", message):
            return MOVE, _length(match)
    return None


def _length(match: re.Match[str]) -> timedelta:
    return timedelta(
        hours=int(match["hours"] or 0),
        minutes=int(match["minutes"] or 0),
        seconds=float(match["seconds"] or 0),
        milliseconds=int(match["ms"] or 0),
    )


def _lasting(kind: EventKind, start: datetime, end: datetime) -> Event:
    return Event(kind, start, end, (end - start) / timedelta(milliseconds=1))


def departures(lines: Sequence[LogLine]) -> Sequence[Departure]:
    """Return the departures in the order in which the Master noticed them."""
    relevant = [line for line in lines if _RELEVANT.search(line.text)]
    ends = [line for line in relevant if _FINISHED.search(line.text)]
    # The expiry is logged first. A log that is read from its end may lack that line, and still have the procedure's.
    noticed = {**_first(relevant, _CRASH), **_first(relevant, _EXPIRED)}
    procedures = (match for line in relevant for match in _CRASH.finditer(line.text))
    over, pids = _first(ends, _CRASH), {match["server"]: match["pid"] for match in procedures}
    logs, regions, moved = _most_logs(relevant), _regions(relevant), _regions(ends)
    return tuple(
        Departure(
            server=server,
            is_stop=logs.get(server) == 0,
            at=at,
            over=over.get(server),
            regions=regions.get(pids.get(server, ""), frozenset()),
            moved=moved.get(pids.get(server, ""), frozenset()),
            last_told=lines[-1].at,
        )
        for server, at in sorted(noticed.items(), key=itemgetter(1))
    )


def _first(lines: Sequence[LogLine], pattern: re.Pattern[str]) -> dict[str, datetime]:
    """Return when the pattern was first told of each server."""
    return {match["server"]: line.at for line in reversed(lines) for match in pattern.finditer(line.text)}


def _most_logs(lines: Sequence[LogLine]) -> Mapping[str, int]:
    """Return how many write-ahead logs of each server the Master found at most."""
    # The Master counts a server's logs in two lines, with those of `hbase:meta` apart: of a lost server one may be 0
    most: dict[str, int] = {}
    for match in filter(None, (_LOGS.search(line.text) for line in lines)):
        most[match["server"]] = max(int(match["count"]), most.get(match["server"], 0))
    return most


def _regions(lines: Sequence[LogLine]) -> Mapping[str, Set[str]]:
    """Return the regions that each procedure assigns to other servers."""
    assigned: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        # The line `Initialized subprocedures=[…]` names all regions of a server at once
        for match in _ASSIGN.finditer(line.text):
            assigned[match["parent"]].add(match["region"])
    return assigned
