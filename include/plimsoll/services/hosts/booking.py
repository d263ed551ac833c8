"""Clusters end, and what they have cost is put on record."""

from collections.abc import Callable
from datetime import datetime

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, ClusterId
from plimsoll.domain.cost import Paid, total
from plimsoll.domain.errors import StoreError
from plimsoll.ports.provider import Provider
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.accounts import account_of, accounts, note_paid, recorded_usd
from plimsoll.services.hosts.kept_costs import KeptCosts
from plimsoll.services.hosts.launches import name_of, read_launched
from plimsoll.services.hosts.uses import newest_use, use_of
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

# The store has tries of its own; these are for one that is away for a moment.
_TRIES, _PAUSE_S = 3, 10.0


def destroy_cluster(
    toolkit: Toolkit, provider: Provider, cluster_id: ClusterId, cluster: Cluster | None = None
) -> None:
    """Destroy it, and then put on record what it has cost.

    ProviderError when something of it stays; StoreError when it is gone, and its cost could not be recorded.
    `cluster` is what the caller has seen of it, whole or not.
    """
    asked_at = toolkit.clock.now()
    provider.destroy(cluster_id)
    record_cost(toolkit, provider, cluster_id, asked_at, cluster)


def destroy_replaced(toolkit: Toolkit, provider: Provider, cluster_id: ClusterId, asker: AttemptKey) -> None:
    """Destroy kept hosts whose place others take. Raises what `destroy_cluster` raises.

    `asker`, which will use the others, may have used these too: its share is recorded once it is over.
    """
    asked_at = toolkit.clock.now()
    provider.destroy(cluster_id)
    _recorded_with_patience(
        toolkit,
        provider,
        lambda: _record_shares(toolkit.store, cluster_id, asked_at, None, going_on=asker),
        lambda error: _unrecorded(account_of(cluster_id), error),
    )


def record_cost(
    toolkit: Toolkit, provider: Provider, cluster_id: ClusterId, ended_at: datetime, cluster: Cluster | None = None
) -> None:
    """Put on record what a destroyed cluster has cost: all hosts that were ever launched for it.

    What kept hosts have cost is shared out by time among the attempts that used them; the rest is idle time.
    Hosts that nobody knows the end of count until `ended_at`, when they were told to end: what is shutting down is not
    paid for. StoreError, after some tries, when the store can't be reached.
    """
    store, key = toolkit.store, cluster_id.attempt

    def record() -> None:
        if key is None:
            _record_shares(store, cluster_id, ended_at, cluster)
        elif use_of(store, key):
            _record_share(store, key, ended_at)
        else:
            _record(store, cluster_id, ended_at, cluster)

    _recorded_with_patience(toolkit, provider, record, lambda error: _unrecorded(account_of(cluster_id), error))


def record_share(toolkit: Toolkit, provider: Provider, key: AttemptKey) -> None:
    """Put on record what an attempt that is over has cost on hosts that live on. StoreError, after some tries."""
    now = toolkit.clock.now()
    _recorded_with_patience(
        toolkit, provider, lambda: _record_share(toolkit.store, key, now), lambda error: _unrecorded_share(key, error)
    )


def _recorded_with_patience(
    toolkit: Toolkit, provider: Provider, record: Callable[[], None], explained: Callable[[StoreError], StoreError]
) -> None:
    """Nothing is recorded of hosts that cost nothing."""
    if provider.name not in toolkit.tariffs:
        return
    for left in reversed(range(_TRIES)):
        try:
            record()
        except StoreError as error:
            if not left:
                raise explained(error) from error
            toolkit.clock.sleep(_PAUSE_S)
        else:
            return


def _record(store: ResultStore, cluster_id: ClusterId, ended_at: datetime, cluster: Cluster | None) -> None:
    key = account_of(cluster_id)
    seen = {name_of(host) for host in cluster.hosts} if cluster else set()
    launched, recorded = read_launched(store, cluster_id, cluster), recorded_usd(store, key)
    # Once there is a record, a host of which no end is known had ended before, unless it was seen since.
    hosts = [host for host in launched.hosts if recorded is None or host.until is not None or name_of(host) in seen]
    end = launched.end(ended_at)
    note_paid(store, key, total(hosts, end), end, recorded)


def _record_shares(
    store: ResultStore,
    cluster_id: ClusterId,
    ended_at: datetime,
    cluster: Cluster | None,
    going_on: AttemptKey | None = None,
) -> None:
    """Of every attempt that used the kept cluster, which is gone, and of its idle time."""
    account = account_of(cluster_id)
    known = accounts(CampaignStore(store, cluster_id.campaign_id))
    if cluster is None and known.get(account) is not None:
        return  # nothing of it was there any more
    on_others = _goes_on_with_others(store, cluster_id)
    end, kept = read_launched(store, cluster_id, cluster).end(ended_at), KeptCosts(store, ended_at, cluster)
    for key, paid in kept.shares(cluster_id).items():
        if key not in (going_on, on_others):
            note_paid(store, key, paid, end, known.get(key))
    note_paid(store, account, kept.idle(cluster_id), end, known.get(account))


def _goes_on_with_others(store: ResultStore, cluster_id: ClusterId) -> AttemptKey | None:
    """The attempt that uses hosts which took this cluster's place: its share is recorded once it is over."""
    _, newest = newest_use(store, cluster_id.campaign_id, cluster_id.purpose)
    is_elsewhere = newest is not None and not newest.over and newest.cluster != cluster_id
    return newest.attempt if newest is not None and is_elsewhere else None


def _record_share(store: ResultStore, key: AttemptKey, end: datetime) -> None:
    paid = KeptCosts(store, end).share(key) or Paid(usd=0.0, host_seconds=0.0)
    note_paid(store, key, paid, end, recorded_usd(store, key))


def _unrecorded(key: AttemptKey, error: StoreError) -> StoreError:
    what = f"the cluster is gone, but what it has cost could not be recorded: {error.what}"
    mend = f"reach the store from here, then `plimsoll clusters destroy {key}`; until then it counts to its expiry"
    return StoreError(what, where=str(key), mend=mend)


def _unrecorded_share(key: AttemptKey, error: StoreError) -> StoreError:
    what = f"what the attempt has cost on kept hosts could not be recorded: {error.what}"
    mend = "reach the store from here; the attempt's cost is recorded when the hosts end, with the run at the latest"
    return StoreError(what, where=str(key), mend=mend)
