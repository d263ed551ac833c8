"""The record of launches in the store, beside `cluster.json`: one file a request."""

from plimsoll.domain.cluster import ClusterId
from plimsoll.domain.launch import Launch
from plimsoll.ports.store import ResultStore
from plimsoll.services import layout
from plimsoll.services.outage import Outage


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
