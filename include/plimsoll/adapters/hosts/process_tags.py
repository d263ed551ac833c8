"""Tags of processes: environment variables of all processes of a cluster.

Child processes inherit them, and others can read them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from plimsoll.domain.cluster import Cluster, ClusterId, HostInfo

SUBNET = "PLIMSOLL_SUBNET"
_ADDRESS = "PLIMSOLL_ADDRESS"
_CLUSTER, _OWNER, _WORK, _HOST = "PLIMSOLL_CLUSTER", "PLIMSOLL_OWNER", "PLIMSOLL_WORK", "PLIMSOLL_HOST"
_ENVIRONMENT = "PLIMSOLL_ENVIRONMENT"
_HOST_NAME = re.compile(r"[a-z0-9-]+")
_SINCE, _EXPIRES = "PLIMSOLL_CLUSTER_SINCE", "PLIMSOLL_EXPIRES"


@dataclass(frozen=True)
class ProcessTags:
    """The content of a process' tags. Only the cluster is always known."""

    cluster_id: ClusterId
    owner: str = ""
    host: str = ""
    address: str = ""
    since: datetime | None = None
    expires: datetime | None = None


def process_tags_of(cluster: Cluster, info: HostInfo, work: PurePath, environment: str = "") -> dict[str, str]:
    """Return the environment variables that tag every process of that host in that environment."""
    return {
        **({_ENVIRONMENT: environment} if environment else {}),
        _CLUSTER: str(cluster.id),
        _OWNER: cluster.owner,
        _WORK: str(work),
        _HOST: info.name,
        _ADDRESS: info.address,
        SUBNET: info.address.rpartition(".")[0],
        _SINCE: cluster.created_at.isoformat(),
        _EXPIRES: cluster.expires_at.isoformat(),
    }


def read_process_tags(environment: Mapping[str, str], work: PurePath) -> ProcessTags | None:
    """Return the tags in a process' environment; None for a process of no cluster of that work folder.

    Everything but the cluster is optional, so that processes of any version of Plimsoll are found.
    """
    if environment.get(_WORK) != str(work):
        return None
    try:
        cluster_id = ClusterId.parse(environment.get(_CLUSTER, ""))
    except ValueError:  # somebody else's variable of that name
        return None
    tags = {name: environment.get(name, "") for name in (_OWNER, _HOST, _ADDRESS)}
    host = tags[_HOST] if _HOST_NAME.fullmatch(tags[_HOST]) else ""
    since, expires = _time(environment.get(_SINCE)), _time(environment.get(_EXPIRES))
    return ProcessTags(cluster_id, tags[_OWNER], host, tags[_ADDRESS], since, expires)


def _time(text: str | None) -> datetime | None:
    """Return the time; None for what no version of Plimsoll writes, such as a time without a zone."""
    try:
        time = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None
