"""Destroy a cluster wherever it may be: an error of one place keeps no other place from being tried and verified."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from plimsoll.adapters.providers.ec2.cloud import Cloud, CloudRegion
from plimsoll.adapters.providers.ec2.launched import Launched
from plimsoll.adapters.providers.ec2.remnants import PATIENCE, ListedInstances, Removal, remove, terminate_listed
from plimsoll.adapters.providers.ec2.tags import of_cluster
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.controller import Clock, Log
from plimsoll.ports.provider import Launches

DestroySince = dict[tuple[ClusterId, CloudRegion], datetime]


@dataclass(frozen=True)
class Destroyer:
    """The destroyer of clusters of one result store.

    `destroy_since` has, for clusters whose record could not be read, the time before which all their launches were. So
    hosts that may not show yet are waited for once, and not again by each further try of this process.
    """

    clock: Clock
    store: str
    launches: Launches
    log: Log
    destroy_since: DestroySince

    def destroy(self, clouds: Sequence[Cloud], cluster_id: ClusterId) -> None:
        """Terminate and delete everything with the cluster's tags, and look whether it is so.

        A cluster is in one place. Where it was found, errors of other places say nothing about it; else they are raised
        once all places were tried.
        """
        # First what shows: the record of launches may be out of reach, and take minutes to be found so.
        shown = [(cloud, terminate_listed(cloud, of_cluster(self.store, cluster_id))) for cloud in clouds]
        places = [(cloud, self._launched(cloud, cluster_id, listed)) for cloud, listed in shown]
        homes = [(cloud, launched) for cloud, launched in places if launched.is_known_here]
        errors = self._removed(homes or places, cluster_id, PATIENCE)
        if homes:
            self._removed([place for place in places if place not in homes], cluster_id, timedelta(0))
        if len(errors) > 1:
            mend = "; ".join(dict.fromkeys(error.mend for error in errors))
            raise ProviderError("; ".join(error.headline for error in errors), mend=mend)
        for error in errors:
            raise error

    def forget(self, cluster_id: ClusterId) -> None:
        """Forget the tries to destroy the cluster, because it is about to have other hosts."""
        for key in [key for key in self.destroy_since if key[0] == cluster_id]:
            self.destroy_since.pop(key, None)

    def _launched(self, cloud: Cloud, cluster_id: ClusterId, listed: ListedInstances) -> Launched:
        key = cluster_id, cloud.place
        since = self.destroy_since.setdefault(key, listed.whole_since or self.clock.now())
        launched = Launched.read_if_possible(self.launches, cluster_id, cloud.place, self.clock, since)
        if launched.is_complete:
            self.destroy_since.pop(key, None)
        launched.discovered(listed.instances)
        launched.ended(listed.accepted)
        return launched

    def _removed(
        self, places: Sequence[tuple[Cloud, Launched]], cluster_id: ClusterId, patience: timedelta
    ) -> list[ProviderError]:
        removals = [Removal(cloud, self.clock, self.store, launched, cluster_id) for cloud, launched in places]
        return remove(removals, self.clock, self.log, patience)
