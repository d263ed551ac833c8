"""Destroy clusters that no running cell owns. Providers are asked for what exists; nothing is remembered.

Whatever one provider, or one cluster, answers, all others are asked and tried.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from threading import BoundedSemaphore, Thread

from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostsSilent, PartlySeen
from plimsoll.domain.hosts.owner import installation_of
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.errors import DamagedRecord, PlimsollError, ProviderError, StoreError, reason_of
from plimsoll.ports.controller import Owners
from plimsoll.ports.provider import Places, Provider
from plimsoll.services.hosts.at_rest import may_have_left
from plimsoll.services.hosts.ending import destroy_cluster, record_cost
from plimsoll.services.hosts.kept_records import assignment_under_way
from plimsoll.services.hosts.paid_hosts import open_accounts
from plimsoll.services.hosts.settling import settle_campaigns
from plimsoll.services.ownership import is_at_work, is_in_force
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import ClusterPlaces, NoPlaces, Toolkit

_log = logging.getLogger("plimsoll")
_AT_ONCE = 16
"""The number of clusters that are destroyed at the same time. Each may take minutes, until its hosts are gone."""


@dataclass(frozen=True)
class Living:
    """Living clusters. `unseen` names what could not be looked at, with the reason.

    `silent` names hosts of the user's own that could not be asked. What may live there ends when it expires.
    """

    clusters: tuple[Cluster, ...]
    unseen: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reaped:
    """The result of one pass of the reaper. `failed` has the clusters that could not be destroyed, with the reason.

    `unseen` and `silent` are those of `Living`.
    """

    destroyed: tuple[Cluster, ...]
    kept: tuple[Cluster, ...]
    failed: tuple[tuple[Cluster, str], ...]
    unseen: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def troubles(self) -> tuple[str, ...]:
        """Return a sentence for everything that the pass could not do. Silent hosts are no trouble: they may be off."""
        return (*(f"{cluster.id}: {why}" for cluster, why in self.failed), *self.unseen)


def on_this_machine(toolkit: Toolkit) -> Toolkit:
    """Return the toolkit with only the providers whose clusters run on this machine, and no other place to look at.

    Clusters elsewhere may belong to campaigns of another Airflow. What runs here is found without the store.
    """
    local = {name: provider for name, provider in toolkit.providers.items() if provider.is_local}
    # Without prices no account is closed, which would end hosts that are not here.
    return replace(toolkit, providers=local, places=_LocalPlaces(toolkit.places), tariffs={})


@dataclass(frozen=True)
class _LocalPlaces(NoPlaces):
    """The places of clusters that were found here, as the store tells them; none to find others in."""

    stored: ClusterPlaces

    def of_campaign(self, provider: str, campaign_id: str) -> Places:
        """Return the places that the campaign's definition names: a keyspace that its load has, for example."""
        return self.stored.of_campaign(provider, campaign_id)


def without_airflow(toolkit: Toolkit, installation: str) -> Toolkit:
    """Return the toolkit that knows that the Airflow with that id has ended, and all its runs with it.

    The same toolkit for an empty id.
    """
    return replace(toolkit, owners=_WithoutAirflow(toolkit.owners, installation)) if installation else toolkit


@dataclass(frozen=True)
class _WithoutAirflow:
    """An implementation of the Owners port where one Airflow does not run."""

    others: Owners
    installation: str

    def me(self) -> str:
        return self.others.me()

    def is_alive(self, owner: str) -> bool | None:
        return False if installation_of(owner) == self.installation else self.others.is_alive(owner)


def living_clusters(toolkit: Toolkit) -> Living:
    """Return all living clusters. Clusters are listed even if another provider, or a part of one, is silent."""
    return living_of({name: partial(toolkit.provider_everywhere, name) for name in toolkit.providers})


def living_of(providers: Mapping[str, Callable[[], Provider]]) -> Living:
    """Return the living clusters of these providers, wherever they look.

    A cluster counts once, for the last provider that shows its hosts: one that lends its hosts to another shows them,
    too. Who shows a cluster without hosts has only heard of it.
    """
    seen = [_living(name, provider) for name, provider in providers.items()]
    clusters: dict[ClusterId, Cluster] = {}
    for cluster in (cluster for living in seen for cluster in living.clusters):
        before = clusters.get(cluster.id)
        # Whoever may make tables in a database can plant a mark that names any cluster, which must not hide hosts
        if before is None or cluster.hosts or not before.hosts:
            clusters[cluster.id] = cluster
    return Living(
        clusters=tuple(clusters.values()),
        unseen=tuple(why for living in seen for why in living.unseen),
        silent=tuple(why for living in seen for why in living.silent),
    )


def reap(toolkit: Toolkit, is_owned: Callable[[Cluster], bool], *, dry_run: bool = False) -> Reaped:
    """Destroy every cluster without an owner, several at the same time, and record the cost of each.

    Each cluster is destroyed even if another one can't be destroyed or takes long, and while the store is out of reach.
    Accounts of hosts that have ended, and that nobody closed, are closed. So are notes of databases that were used.
    """
    living = living_clusters(toolkit)
    kept = [cluster for cluster in living.clusters if is_owned(cluster)]
    left = [cluster for cluster in living.clusters if cluster not in kept]
    if living.unseen or living.silent:
        left = [_as_declared(toolkit, cluster) for cluster in left]
    if dry_run:
        return Reaped(tuple(left), tuple(kept), (), living.unseen, living.silent)
    troubles, unrecorded = _destroy_and_record(toolkit, left)
    destroyed = tuple(cluster for cluster in left if not troubles[cluster.id])
    failed = tuple((cluster, why) for cluster in left if (why := troubles[cluster.id]))
    seen = [cluster.id for cluster in living.clusters]
    unclosed = () if unrecorded else settle_campaigns(toolkit, seen, is_owned)
    unseen = dict.fromkeys((*living.unseen, *unrecorded, *unclosed))
    return Reaped(destroyed, tuple(kept), failed, tuple(unseen), living.silent)


def has_living_owner(toolkit: Toolkit, cluster: Cluster) -> bool:
    """Tell whether somebody works on the cluster. Of an owner of whom nothing is known here, until the cluster expires.

    Without the store, nothing is known of processes on other machines.
    """
    campaign_id, now = cluster.id.campaign_id, toolkit.clock.now()
    try:
        use = assignment_under_way(toolkit.store, cluster.id) if cluster.id.is_kept else None
        # Whoever was given kept hosts last may not be named on them yet.
        owners = {cluster.owner, use.owner if use else cluster.owner}
        alive = [is_at_work(toolkit.store, toolkit.owners, campaign_id, owner, now) for owner in owners]
    except StoreError:
        alive = [toolkit.owners.is_alive(cluster.owner)]
    return any(is_in_force(is_alive, cluster.expires_at, now) for is_alive in alive)


def destroy_owned(toolkit: Toolkit, is_owner: Callable[[str], bool]) -> tuple[ClusterId, ...]:
    """Destroy the owner's clusters that providers show. The store is not used, so their cost is not recorded.

    Raises ProviderError where one could not be destroyed.
    """
    living = living_clusters(toolkit)
    owned = [cluster for cluster in living.clusters if is_owner(cluster.owner)]
    troubles = {cluster.id: trouble for cluster, trouble in _destroyed(toolkit, owned) if trouble}
    if troubles:
        raise ProviderError(
            "; ".join(troubles[cluster.id] for cluster in owned if cluster.id in troubles),
            mend="the reaper tries again; or `plimsoll clusters destroy`",
        )
    return tuple(cluster.id for cluster in owned)


def destroy_unseen(toolkit: Toolkit, cluster: str) -> bool:
    """Destroy the parts of a cluster that its provider may not show, and close its account.

    `cluster` is its name, `campaign/cell/attempt`. False where its account is closed, or where it had no paid hosts and
    nothing in a database of somebody else. Raises StoreError and ProviderError.
    """
    try:
        cluster_id = ClusterId.parse(cluster)
    except ValueError:
        return False
    campaign = CampaignStore(toolkit.store, cluster_id.campaign_id)
    if cluster_id not in open_accounts(campaign) and not may_have_left(campaign, cluster_id):
        return False
    destroy_cluster(toolkit, toolkit.provider(campaign.resolved()), cluster_id)
    return True


def _living(name: str, provider: Callable[[], Provider]) -> Living:
    try:
        return Living(tuple(provider().clusters()))
    except HostsSilent as error:
        return Living(error.clusters, silent=(str(error),))
    except PartlySeen as error:
        return Living(error.clusters, unseen=(str(error),))
    except Exception as error:
        return Living((), unseen=(f"provider {name}: {_reason_of(error)}",))


def _reason_of(error: Exception) -> str:
    """Return the error as a sentence. Of one that nobody expects the log has all."""
    if not isinstance(error, PlimsollError):
        _log.error("not expected: %s", error, exc_info=error)
    return reason_of(error)


def _destroy_and_record(toolkit: Toolkit, clusters: Sequence[Cluster]) -> tuple[dict[ClusterId, str], tuple[str, ...]]:
    """Return for each cluster why it could not be destroyed, empty if it was; and which costs could not be recorded.

    Once the store is out of reach, it is not tried again for the other clusters.
    """
    troubles: dict[ClusterId, str] = {}
    away: StoreError | None = None
    unrecorded: list[str] = []
    damaged: list[str] = []
    for cluster, trouble in _destroyed(toolkit, clusters):
        troubles[cluster.id] = trouble
        if trouble:
            continue
        if away is not None:
            unrecorded.append(str(cluster.id))
            continue
        try:
            record_cost(toolkit, toolkit.providers[cluster.provider], cluster.id, cluster)
        except Exception as error:
            # What is damaged says nothing about the other clusters
            if isinstance(error, StoreError) and not isinstance(error, DamagedRecord):
                away = error
            else:
                damaged.append(f"{cluster.id}: what it has cost can't be recorded: {_reason_of(error)}")
    others = f"nor what these have cost, which are gone too: {', '.join(sorted(unrecorded))}"
    return troubles, (*damaged, *([str(away)] if away else []), *([others] if unrecorded else []))


def _destroyed(toolkit: Toolkit, clusters: Sequence[Cluster]) -> Iterator[tuple[Cluster, str]]:
    """Yield each cluster as soon as its destruction is over, with the reason if a part of it is left.

    Daemon threads do the work, so that a process that is told to end does not wait for them.
    """
    over: SimpleQueue[tuple[Cluster, str]] = SimpleQueue()
    slots = BoundedSemaphore(_AT_ONCE)

    def destroy(cluster: Cluster) -> None:
        trouble = ""
        with slots:
            try:
                toolkit.provider_of(cluster.provider, cluster.id.campaign_id).destroy(cluster.id)
            except Exception as error:
                trouble = _reason_of(error)
            over.put((cluster, trouble))

    for cluster in clusters:
        Thread(target=destroy, args=(cluster,), daemon=True, name=f"destroy-{cluster.id}").start()
    for _ in clusters:
        yield over.get()


def _as_declared(toolkit: Toolkit, cluster: Cluster) -> Cluster:
    """Return the cluster as that of the borrower of its load hosts, where its campaign has one.

    While that provider is silent, the lender shows them as its own, and must not end them before what was made in a
    database is removed from them.
    """
    try:
        is_lent = CampaignStore(toolkit.store, cluster.id.campaign_id).declared().provider.name == EXTERNAL
    except (PlimsollError, ValueError):
        return cluster
    return cluster.model_copy(update={"provider": EXTERNAL}) if is_lent else cluster
