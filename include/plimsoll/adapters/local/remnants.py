"""Incomplete clusters: processes without a folder, or a folder without a description."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.adapters.process_tags import Marks
from plimsoll.domain.cluster import Cluster, ClusterId, HostInfo, Role

PROVIDER = "local"
_UNKNOWN = HostInfo(name="node1", role="node", address="unknown")


def remnant(cluster_id: ClusterId, found: Sequence[Marks], folder: Path, now: datetime) -> Cluster:
    """A cluster from the remaining facts: the marks of its processes, else the time of its folder."""
    made = _made(folder, now)
    hosts = {marks.host: _host(marks) for marks in found if marks.host} or {_UNKNOWN.name: _UNKNOWN}
    return Cluster(
        id=cluster_id,
        owner=next((marks.owner for marks in found), ""),
        provider=PROVIDER,
        hosts=tuple(hosts[name] for name in sorted(hosts)),
        created_at=min((marks.since for marks in found if marks.since), default=made),
        expires_at=max((marks.expires for marks in found if marks.expires), default=made),
    )


def _host(marks: Marks) -> HostInfo:
    role: Role = "load" if marks.host == "load" else "node"
    return HostInfo(name=marks.host, role=role, address=marks.address or _UNKNOWN.address)


def _made(folder: Path, now: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    except OSError:
        return now
