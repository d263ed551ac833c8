"""The record of a cluster's hosts in the store: `cluster.json`, and beside it a file for each request for hosts."""

from dataclasses import dataclass
from datetime import datetime

from plimsoll.domain.cluster import Cluster, ClusterId, HostInfo
from plimsoll.domain.errors import NotFound
from plimsoll.domain.launch import Launch
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.outage import Outage
from plimsoll.services.store import layout


class StoredLaunches:
    """Implements the Launches port."""

    def __init__(self, store: ResultStore, outage: Outage) -> None:
        self._store, self._outage = store, outage

    def of(self, cluster_id: ClusterId) -> tuple[Launch, ...]:
        """The cluster's launches, in the order in which they were asked for."""
        with self._outage.noticed():
            return read_launches(self._store, cluster_id)

    def note(self, launch: Launch) -> None:
        """Over what was known of it."""
        with self._outage.noticed():
            name = layout.launch_file(launch.id, launch.token)
            self._store.write(name, launch.model_dump_json(indent=1).encode())


def read_launches(store: ResultStore, cluster_id: ClusterId) -> tuple[Launch, ...]:
    """What was launched for the cluster; nothing for one of an earlier version."""
    found = [Launch.model_validate_json(store.read(name)) for name in store.keys(layout.launches_prefix(cluster_id))]
    return tuple(sorted(found, key=lambda launch: launch.asked_at))


def read_provided(store: ResultStore, cluster_id: ClusterId) -> Cluster | None:
    """The cluster as it was provided last; None for one that never was."""
    try:
        return Cluster.model_validate_json(store.read(layout.cluster_key(cluster_id)))
    except NotFound:
        return None


@dataclass(frozen=True)
class Launched:
    """Every host that a cluster ever had, and when they end themselves at the latest; None: none was launched."""

    hosts: tuple[HostInfo, ...]
    expires_at: datetime | None

    def end(self, at: datetime) -> datetime:
        """When hosts end of which no end is known: at that time, or at their expiry."""
        return min(at, self.expires_at or at)


def read_launched(store: ResultStore, cluster_id: ClusterId, seen: Cluster | None = None) -> Launched:
    """By what was seen, by `cluster.json`, and by the record of launches, which knows most and counts first."""
    clusters = [found for found in (seen, read_provided(store, cluster_id)) if found]
    launches = read_launches(store, cluster_id)
    hosts = [host for cluster in clusters for host in cluster.hosts]
    hosts += [host for launch in launches for host in launch.hosts or ()]
    ends = [max(cluster.expires_at, cluster.created_at) for cluster in clusters]
    latest = max([*ends, *(launch.expires_at for launch in launches)], default=None)
    return Launched(tuple({name_of(host): host for host in hosts}.values()), latest)


def name_of(host: HostInfo) -> str:
    """What tells a host from all others of its cluster, those of another try included."""
    return host.facts.get("instance_id", host.name)
