"""Destroy clusters and record their cost."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import Cluster, ClusterId
from plimsoll.domain.hosts.cost import Paid, total
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.errors import DamagedRecord, StoreError
from plimsoll.ports.provider import Provider
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.at_rest import note_left
from plimsoll.services.hosts.kept_records import assignment_of, newest_assignment
from plimsoll.services.hosts.paid_hosts import (
    account_of,
    accounts,
    name_of,
    note_paid,
    read_launched,
    recorded_usd,
    tariff_of,
)
from plimsoll.services.hosts.spending import KeptCosts
from plimsoll.services.retries import with_retries
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

# The store's adapter retries single requests; these tries are for a store that is out of reach for a moment.
_PAUSES_S = (10.0, 10.0)


def destroy_cluster(
    toolkit: Toolkit,
    provider: Provider,
    cluster_id: ClusterId,
    cluster: Cluster | None = None,
    going_on: AttemptKey | None = None,
) -> None:
    """Destroy the cluster, then record its cost.

    Raises ProviderError when a part of the cluster could not be destroyed, and StoreError when it is destroyed but its
    cost could not be recorded. `cluster` is the cluster, or the part of it, that the caller has seen. `going_on` is the
    attempt that will use the hosts that replace kept ones; its share of these is recorded after its end.
    """
    provider.destroy(cluster_id)
    record_cost(toolkit, provider, cluster_id, cluster, going_on)


def record_cost(
    toolkit: Toolkit,
    provider: Provider,
    cluster_id: ClusterId,
    cluster: Cluster | None = None,
    going_on: AttemptKey | None = None,
) -> None:
    """Record the cost of a cluster that was just seen to be gone, with all hosts that were ever launched for it.

    The cost of kept hosts is divided by time among the attempts that used them; the rest is the cost of idle time.
    A host whose end is not known counts until now. Raises StoreError, after several tries, when the store can't be
    reached. That nothing is left in a database of somebody else is recorded, too.
    """
    store, key, gone_at = toolkit.store, cluster_id.attempt, toolkit.clock.now()

    def record() -> None:
        if key is None:
            _record_shares(store, cluster_id, gone_at, cluster, going_on)
        elif assignment_of(store, key):
            _record_share(store, key, gone_at)
        elif provider.name != EXTERNAL or tariff_of(store, key):  # its load hosts may be free
            _record(store, cluster_id, gone_at, cluster)

    account = account_of(cluster_id)
    destroy = f"`plimsoll clusters destroy {account}`"
    mend = f"reach the store from here, then {destroy}; until then its cost is counted up to its expiry"
    what = "the cluster is gone, but what it has cost could not be recorded"
    _recorded_with_patience(toolkit, provider, record, StoreError(what, where=str(account), mend=mend))
    # Last: if the cost could not be recorded, the reaper finds this note and tries all of it again
    if provider.name == EXTERNAL:
        note_left(toolkit.store, cluster_id)


def record_share(toolkit: Toolkit, provider: Provider, key: AttemptKey) -> None:
    """Record the cost of an attempt that is over, on kept hosts that live on. Raises StoreError after several tries."""
    record = partial(_record_share, toolkit.store, key, toolkit.clock.now())
    mend = "reach the store from here; the attempt's cost is recorded when the hosts end, with the run at the latest"
    what = "what the attempt has cost on kept hosts could not be recorded"
    _recorded_with_patience(toolkit, provider, record, StoreError(what, where=str(key), mend=mend))


def _recorded_with_patience(
    toolkit: Toolkit, provider: Provider, record: Callable[[], None], failure: StoreError
) -> None:
    """Try to record several times, after what could not be before. Does nothing where hosts cost nothing.

    Raises `failure`, with the reason, where all tries failed.
    """
    if provider.name not in toolkit.tariffs:
        return

    def record_all() -> None:
        toolkit.write_kept_records()
        record()

    try:
        with_retries(toolkit.clock, record_all, lambda _: None, again=(StoreError,), pauses_s=_PAUSES_S)
    except DamagedRecord:
        raise
    except StoreError as error:
        raise StoreError(f"{failure.what}: {error.what}", where=failure.where, mend=failure.mend) from error


def _record(store: ResultStore, cluster_id: ClusterId, gone_at: datetime, cluster: Cluster | None) -> None:
    key = account_of(cluster_id)
    seen = {name_of(host) for host in cluster.hosts} if cluster else set()
    launched, recorded = read_launched(store, cluster_id, cluster), recorded_usd(store, key)
    # An earlier record means that all hosts had ended, so of the hosts without a known end only those seen now count.
    hosts = [host for host in launched.hosts if recorded is None or host.until is not None or name_of(host) in seen]
    end = launched.end(gone_at)
    note_paid(store, key, total(hosts, end), end, recorded)


def _record_shares(
    store: ResultStore,
    cluster_id: ClusterId,
    gone_at: datetime,
    cluster: Cluster | None,
    going_on: AttemptKey | None,
) -> None:
    """Record the cost of each attempt that used the kept cluster, which is destroyed, and of its idle time."""
    account = account_of(cluster_id)
    known = accounts(CampaignStore(store, cluster_id.campaign_id))
    if cluster is None and known.get(account) is not None:
        return  # its cost is on record, and nothing of it was found this time
    _, newest = newest_assignment(store, cluster_id.campaign_id, cluster_id.purpose)
    # Of an attempt that uses the cluster's replacement by now, the share is recorded when it is over
    on_others = newest.attempt if newest and not newest.over and newest.cluster != cluster_id else None
    end, kept = read_launched(store, cluster_id, cluster).end(gone_at), KeptCosts(store, gone_at, cluster)
    for key, paid in kept.shares(cluster_id).items():
        if key not in (going_on, on_others):
            note_paid(store, key, paid, end, known.get(key))
    note_paid(store, account, kept.idle(cluster_id), end, known.get(account))


def _record_share(store: ResultStore, key: AttemptKey, end: datetime) -> None:
    paid = KeptCosts(store, end).share(key) or Paid(usd=0.0, host_seconds=0.0)
    note_paid(store, key, paid, end, recorded_usd(store, key))
