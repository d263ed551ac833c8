"""Incomplete clusters: processes without a folder, or a folder without a description."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.adapters.hosts.process_tags import ProcessTags
from plimsoll.domain.cluster import Cluster, ClusterId, HostInfo, Role

PROVIDER = "local"
_UNKNOWN = HostInfo(name="node1", role="node", address="unknown")


def remnant(cluster_id: ClusterId, found: Sequence[ProcessTags], folder: Path, now: datetime) -> Cluster:
    """Return a cluster from the remaining facts: the tags of its processes, else the time of its folder."""
    made = _made(folder, now)
    hosts = {tags.host: _host(tags) for tags in found if tags.host} or {_UNKNOWN.name: _UNKNOWN}
    return Cluster(
        id=cluster_id,
        owner=next((tags.owner for tags in found), ""),
        provider=PROVIDER,
        hosts=tuple(hosts[name] for name in sorted(hosts)),
        created_at=min((tags.since for tags in found if tags.since), default=made),
        expires_at=max((tags.expires for tags in found if tags.expires), default=made),
    )


def _host(tags: ProcessTags) -> HostInfo:
    role: Role = "load" if tags.host == "load" else "node"
    return HostInfo(name=tags.host, role=role, address=tags.address or _UNKNOWN.address)


def _made(folder: Path, now: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    except OSError:
        return now
