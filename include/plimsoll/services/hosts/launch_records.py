"""The record of a cluster's hosts in the store: `cluster.json`, and next to it a file for each request for hosts."""

from dataclasses import dataclass
from datetime import datetime

from plimsoll.domain.cluster import Cluster, ClusterId, HostInfo
from plimsoll.domain.launch import Launch
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.hosts.accounts import open_accounts
from plimsoll.services.hosts.outage import Outage
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, campaign_ids
from plimsoll.services.store.records import find_record, read_record


class StoredLaunches:
    """An implementation of the Launches port."""

    def __init__(self, store: ResultStore, outage: Outage) -> None:
        self._store, self._outage = store, outage

    def of(self, cluster_id: ClusterId) -> tuple[Launch, ...]:
        """Return the cluster's launches, in the order of their requests."""
        with self._outage.noticed():
            return read_launches(self._store, cluster_id)

    def unsettled(self) -> tuple[ClusterId, ...]:
        """Return the clusters of all campaigns whose account is open."""
        with self._outage.noticed():
            return tuple(cluster_id for one in campaign_ids(self._store) for cluster_id in self._open(one))

    def _open(self, campaign_id: str) -> tuple[ClusterId, ...]:
        """Return the clusters of the campaign whose account is open; none where files of others lie among the
        accounts.
        """
        try:
            return open_accounts(CampaignStore(self._store, campaign_id))
        except ValueError:  # a reader of the campaign's costs gets the error
            return ()

    def note(self, launch: Launch) -> None:
        """Record the launch in place of its earlier record."""
        with self._outage.noticed():
            name = layout.launch_file(launch.id, launch.token)
            self._store.write(name, launch.model_dump_json(indent=1).encode())


def read_launches(store: ReadableStore, cluster_id: ClusterId) -> tuple[Launch, ...]:
    """Return the cluster's launches, in the order of their requests."""
    found = [read_record(store, name, Launch) for name in store.keys(layout.launches_prefix(cluster_id))]
    return tuple(sorted(found, key=lambda launch: launch.asked_at))


def read_provided(store: ReadableStore, cluster_id: ClusterId) -> Cluster | None:
    """Return the cluster as it was last provisioned; None where it never was."""
    return find_record(store, layout.cluster_key(cluster_id), Cluster)


@dataclass(frozen=True)
class LaunchedHosts:
    """Every host that a cluster ever had, and the time at which they end themselves; None if it never had any."""

    hosts: tuple[HostInfo, ...]
    expires_at: datetime | None

    def end(self, at: datetime) -> datetime:
        """Return the end of a host whose end is not known: that time or its expiry, whichever is earlier."""
        return min(at, self.expires_at or at)


def read_launched(store: ReadableStore, cluster_id: ClusterId, seen: Cluster | None = None) -> LaunchedHosts:
    """Return the hosts from `seen`, `cluster.json` and the record of launches; later sources replace earlier ones.

    The record of launches is the most exact source, because it has the end of hosts too.
    """
    clusters = [found for found in (seen, read_provided(store, cluster_id)) if found]
    launches = read_launches(store, cluster_id)
    hosts = [host for cluster in clusters for host in cluster.hosts]
    hosts += [host for launch in launches for host in launch.hosts or ()]
    ends = [max(cluster.expires_at, cluster.created_at) for cluster in clusters]
    latest = max([*ends, *(launch.expires_at for launch in launches)], default=None)
    return LaunchedHosts(tuple({name_of(host): host for host in hosts}.values()), latest)


def name_of(host: HostInfo) -> str:
    """Return a name that no other host of the cluster has, not even one of another launch."""
    return host.facts.get("instance_id", host.name)
