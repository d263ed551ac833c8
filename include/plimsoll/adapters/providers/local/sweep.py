"""Find running processes of clusters by the tags in their environment, and clusters that are incomplete: processes
without a folder, or a folder without a description.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from plimsoll.adapters.hosts.processes import SUBNET, ProcessTags, read_process_tags
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo, Role

PROVIDER = "local"
_UNKNOWN = HostInfo(name="node1", role="node", address="unknown")


@dataclass(frozen=True)
class TaggedProcess:
    """A living process of a cluster."""

    process: psutil.Process
    tags: ProcessTags


def tagged_processes(work: Path) -> Iterator[TaggedProcess]:
    """Yield every living process of any cluster of that work folder, except this one. Zombies have no environment.

    Those of other users, whom root could read, may say of themselves what they like.
    """
    for process, environment in _environments():
        tags = read_process_tags(environment, work)
        if tags is not None and process.pid != os.getpid() and _is_own(process.pid):
            yield TaggedProcess(process, tags)


def _is_own(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}").stat().st_uid == os.geteuid()
    except OSError:  # it has ended
        return False


def subnets_in_use() -> frozenset[str]:
    """Return subnets of every tagged process of this machine, of any user, as far as they are readable."""
    return frozenset(environment[SUBNET] for _, environment in _environments() if SUBNET in environment)


def _environments() -> Iterator[tuple[psutil.Process, Mapping[str, str]]]:
    for process in psutil.process_iter():
        try:
            yield process, process.environ()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue


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
