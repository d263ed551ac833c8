"""Which region servers the Master has lost, by its log, and which regions were in transition because of that. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll.domain.log_events import LogLine
from plimsoll.domain.plurals import plural

_EXPIRED = re.compile(r"RegionServer ephemeral node deleted, processing expiration \[(?P<server>[^\]]+)\]")
_CRASH = re.compile(r"\bpid=(?P<pid>\d+), [^;]*; ServerCrashProcedure (?P<server>[^\s,]+,\d+,\d+)")
_ASSIGN = re.compile(
    r"\bppid=(?P<parent>\d+), [^;]*; TransitRegionStateProcedure table=[^\s,]+, region=(?P<region>\w+), ASSIGN"
)
_FINISHED = re.compile(r" Finished pid=\d+, [^;]*state=SUCCESS")


@dataclass(frozen=True)
class Loss:
    """A region server that the Master gave up, with its regions and those that others have opened again.

    `server`: as HBase names it, `host,port,start`. `over`: when its regions were all elsewhere; None where the log ends
    before. `last_told`: the time of the log's last line.
    """

    server: str
    at: datetime
    over: datetime | None
    regions: frozenset[str]
    moved: frozenset[str]
    last_told: datetime

    @property
    def host(self) -> str:
        """Return the name or address of the server's host."""
        return self.server.split(",", 1)[0]

    def __str__(self) -> str:
        clock = "by the Master's clock"
        lost = f"the Master gave up region server {self.server} at {self.at:%H:%M:%S} {clock}"
        if self.over:
            seconds = (self.over - self.at).total_seconds()
            return f"{lost}; {plural(len(self.moved), 'region')} moved to others until {seconds:.1f} s later"
        known = plural(len(self.regions), "region") if self.regions else "its regions"
        return f"{lost}; {known} had to move, and {len(self.moved)} had when its log ended"


def losses(lines: Sequence[LogLine]) -> Sequence[Loss]:
    """Return the losses in the order in which the Master noticed them."""
    at: dict[str, datetime] = {}
    over: dict[str, datetime] = {}
    servers: dict[str, str] = {}
    regions: dict[str, set[str]] = {}
    moved: dict[str, set[str]] = {}
    for line in lines:
        for expired in _EXPIRED.finditer(line.text):
            at.setdefault(expired["server"], line.at)
        is_end = bool(_FINISHED.search(line.text))
        for crash in _CRASH.finditer(line.text):
            server = servers[crash["pid"]] = crash["server"]
            at.setdefault(server, line.at)
            if is_end:
                over[server] = line.at
        for assign in _ASSIGN.finditer(line.text):
            regions.setdefault(assign["parent"], set()).add(assign["region"])
            if is_end:
                moved.setdefault(assign["parent"], set()).add(assign["region"])
    pids = {server: pid for pid, server in servers.items()}
    return tuple(
        Loss(
            server=server,
            at=since,
            over=over.get(server),
            regions=frozenset(regions.get(pids.get(server, ""), ())),
            moved=frozenset(moved.get(pids.get(server, ""), ())),
            last_told=lines[-1].at,
        )
        for server, since in at.items()
    )
