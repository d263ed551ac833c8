"""Which region servers have left the cluster, by the Master's log, and which regions moved because of that. Pure.

The Master does the same for a server that was lost and for one that was stopped. But who is stopped closes its regions
and its write-ahead logs first, so that the Master finds no log of it to split.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from plimsoll.domain.log_events import LogLine
from plimsoll.domain.plurals import plural

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


def departures(lines: Sequence[LogLine]) -> Sequence[Departure]:
    """Return the departures in the order in which the Master noticed them."""
    told = [line for line in lines if _RELEVANT.search(line.text)]
    ends = [line for line in told if _FINISHED.search(line.text)]
    noticed = {**_first(told, _CRASH), **_first(told, _EXPIRED)}
    over, pids = _first(ends, _CRASH), _pids(told)
    logs, regions, moved = _most_logs(told), _regions(told), _regions(ends)
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
        for server, at in sorted(noticed.items(), key=lambda one: one[1])
    )


def _first(lines: Sequence[LogLine], pattern: re.Pattern[str]) -> dict[str, datetime]:
    """Return when the pattern was first told of each server."""
    return {found["server"]: line.at for line in reversed(lines) for found in pattern.finditer(line.text)}


def _pids(lines: Sequence[LogLine]) -> dict[str, str]:
    """Return the procedure of each server."""
    return {found["server"]: found["pid"] for line in lines for found in _CRASH.finditer(line.text)}


def _most_logs(lines: Sequence[LogLine]) -> Mapping[str, int]:
    """Return how many write-ahead logs of each server the Master found at most."""
    most: dict[str, int] = {}
    for found in filter(None, (_LOGS.search(line.text) for line in lines)):
        most[found["server"]] = max(int(found["count"]), most.get(found["server"], 0))
    return most


def _regions(lines: Sequence[LogLine]) -> Mapping[str, Set[str]]:
    """Return the regions that each procedure assigns to other servers."""
    assigned: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        for found in _ASSIGN.finditer(line.text):
            assigned[found["parent"]].add(found["region"])
    return assigned
