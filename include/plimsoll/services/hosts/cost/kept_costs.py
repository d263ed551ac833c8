"""What kept hosts cost: the share of each attempt that used them, and the rest, in which nobody did."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import Cluster, ClusterId
from plimsoll.domain.hosts.cost import Paid, shared
from plimsoll.ports.store import ReadableStore
from plimsoll.services.hosts.assignments import Assignment, assignment_of, assignments, spans
from plimsoll.services.hosts.launch_records import read_launched


class KeptCosts:
    """Costs up to one point in time. It reads each use and each cluster's hosts only once."""

    def __init__(self, store: ReadableStore, end: datetime, seen: Cluster | None = None) -> None:
        """Read the records. Hosts of unknown end count until `end`. `seen` is a cluster as its provider showed it."""
        self._store, self._end, self._seen = store, end, seen
        self._uses, self._of = cache(self._read_assignments), cache(self._share_out)

    def share(self, key: AttemptKey) -> Paid | None:
        """Return the attempt's cost on all kept clusters that it used; None where it has used none."""
        use = assignment_of(self._store, key)
        return self.shares(use.cluster, key)[key] if use else None

    def shares(self, cluster_id: ClusterId, *keys: AttemptKey) -> Mapping[AttemptKey, Paid]:
        """Return the cost of these attempts on all clusters of the cluster's purpose.

        Without keys: the cost of all attempts that used the cluster. An attempt has used several clusters if its first
        one was replaced.
        """
        every = self._uses(cluster_id.campaign_id, cluster_id.purpose)
        wanted = set(keys) or {one.attempt for one in every if one.cluster == cluster_id}
        paid = dict.fromkeys(wanted, Paid(usd=0.0, host_seconds=0.0))
        for key, used in dict.fromkeys((one.attempt, one.cluster) for one in every if one.attempt in wanted):
            paid[key] = paid[key].plus(self._of(used)[0][key])
        return paid

    def idle(self, cluster_id: ClusterId) -> Paid:
        """Return the cost of the cluster while no attempt used it."""
        return self._of(cluster_id)[1]

    def _read_assignments(self, campaign_id: str, purpose: str) -> tuple[Assignment, ...]:
        return assignments(self._store, campaign_id, purpose)

    def _share_out(self, cluster_id: ClusterId) -> tuple[dict[AttemptKey, Paid], Paid]:
        seen = self._seen if self._seen and self._seen.id == cluster_id else None
        launched = read_launched(self._store, cluster_id, seen)
        used = spans(self._uses(cluster_id.campaign_id, cluster_id.purpose), cluster_id)
        return shared(launched.hosts, used, launched.end(self._end))
