"""Hosts that are kept from cell to cell: which cluster an attempt uses, who uses it, and why it was replaced.

The records are in the store, below `clusters/<purpose>/`. The purpose is what hosts are kept for: a variant or the
campaign. A use is a numbered file. Only one attempt can create the next number, so cells that share hosts run one after
the other. A second file ends the use. A cluster that must not be used again is retired: the reason is recorded, the
cluster is destroyed, and the next attempt gets a cluster with the next number.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Attempt, AttemptKey
from plimsoll.domain.campaign.grid import cell_of
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, PartlySeen, kept_for
from plimsoll.domain.hosts.owner import owner_since
from plimsoll.domain.text.errors import HostsLost, Problem, ProviderError, Refused, SecretError, StoreError, Unreachable
from plimsoll.ports.provider import Provider
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.ending import destroy_cluster, record_share
from plimsoll.services.hosts.kept_records import (
    ASSIGNMENT,
    GONE,
    OF_ATTEMPT,
    Assignment,
    assignment_of,
    assignments,
    end_assignment,
    newest_assignment,
    retire,
    retirement_of,
)
from plimsoll.services.hosts.paid_hosts import note_begun, read_launched
from plimsoll.services.ownership import is_at_work, is_in_force
from plimsoll.services.retries import try_all
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit


def take(toolkit: Toolkit, campaign: Campaign, attempt: Attempt, until: datetime) -> ClusterId:
    """Return the kept cluster that the attempt alone may use from now on. A second call returns the same one.

    Raises Refused while another attempt uses it. Clusters that are over and can't be destroyed are recorded, for later.
    """
    store, campaign_id = toolkit.store, attempt.key.campaign_id
    purpose = _purpose(campaign, attempt.key)
    number, last = newest_assignment(store, campaign_id, purpose)
    if last is not None and last.attempt != attempt.key and _is_at_work(toolkit, last, attempt.owner):
        raise _refused(last)
    # Before others are launched: hosts of a variant whose cells are over are not to be paid for beside them
    _end(toolkit, campaign, campaign_id, lambda name: name != purpose, "the cells of its variant were over")
    cluster_id = _usable(toolkit, campaign, _newest(store, campaign_id, purpose, last), attempt.key)
    use = Assignment(
        attempt=attempt.key, owner=attempt.owner, cluster=cluster_id, since=toolkit.clock.now(), until=until
    )
    # Before any launch: hosts that no cloud lists yet are looked for only where an account is open
    note_begun(toolkit, campaign, cluster_id)
    is_new = last is None or (last.attempt, last.cluster) != (use.attempt, use.cluster)
    # Of several attempts at once, the one that creates the next number gets the hosts.
    if is_new and not ASSIGNMENT.create(store, campaign_id, use, purpose, number + 1):
        raise _refused(newest_assignment(store, campaign_id, purpose)[1] or use)
    OF_ATTEMPT.write(store, attempt.key, use)
    if last is not None and last.attempt != attempt.key and not last.over:  # the attempt that had the hosts died
        with suppress(StoreError):  # its share is recorded at the latest when the hosts are destroyed
            record_share(toolkit, toolkit.provider(campaign), last.attempt)
    return cluster_id


def served_before(store: ResultStore, key: AttemptKey) -> bool:
    """Tell whether another attempt has used the attempt's hosts before it."""
    use = assignment_of(store, key)
    if use is None:
        return False
    uses = assignments(store, key.campaign_id, use.cluster.purpose)
    return any(other.cluster == use.cluster and other.attempt != key for other in uses)


def release(toolkit: Toolkit, provider: Provider, key: AttemptKey, *, keep: frozenset[str] = frozenset()) -> None:
    """Remove what the attempt has left on its hosts, then let other attempts use them. Idempotent.

    The environments in `keep` stay, for an attempt that goes on with their data; every other attempt removes them.
    Hosts that must not be used again are destroyed, and so are the hosts of a cancelled attempt. Raises ProviderError
    when they can't be destroyed.
    """
    store, use = toolkit.store, _recorded_assignment(toolkit.store, key)
    if use is None:
        record_share(toolkit, provider, key)  # It had no hosts, and its account is closed with nothing
        return
    number, newest = newest_assignment(store, key.campaign_id, use.cluster.purpose)
    if newest is None or newest.attempt != key or newest.over:  # the attempt has no hosts any more
        return
    if layout.CANCELLED.read(store, key) is not None:
        retire(toolkit, newest.cluster, f"attempt {key} was cancelled")
    else:
        _clear(toolkit, provider, newest.cluster, keep)
    if retirement_of(store, newest.cluster) is not None:
        destroy_cluster(toolkit, provider, newest.cluster)
    # Only now, because from here on another attempt may take the hosts
    end_assignment(store, key.campaign_id, newest.cluster.purpose, number, toolkit.clock.now())
    record_share(toolkit, provider, key)


def end_kept(toolkit: Toolkit, campaign_id: str) -> None:
    """Destroy every cluster that is kept for the campaign and that no attempt uses.

    Raises ProviderError, once all were tried, where some could not be destroyed.
    """
    campaign = CampaignStore(toolkit.store, campaign_id).resolved()
    if campaign.cluster_scope != "cell":
        _end(toolkit, campaign, campaign_id, lambda _: True, "the run that used it had ended")
        prefix, store = layout.KEPT_CLUSTERS.folder(campaign_id), toolkit.store
        unended = [key for key in store.keys(prefix) if key.endswith(f"/{layout.UNENDED.path}")]
        clusters = [ClusterId.parse(f"{campaign_id}{key.removeprefix(prefix).rpartition('/')[0]}") for key in unended]
        provided, now = {cluster: layout.CLUSTER.read(store, cluster) for cluster in clusters}, toolkit.clock.now()
        # Everything on the hosts of one that has expired has ended itself by now
        if living := [cluster for cluster, seen in provided.items() if seen is None or seen.expires_at >= now]:
            what = "; ".join(store.read(layout.UNENDED.key(cluster)).decode() for cluster in living)
            mend = "remove the cause, such as hosts that are down; what runs there ends at the cluster's expiry"
            raise ProviderError(f"hosts could not be freed: {what}", where=f"campaign {campaign_id!r}", mend=mend)


def _purpose(campaign: Campaign, key: AttemptKey) -> str:
    return kept_for(cell_of(campaign, key.cell_id).variant if campaign.cluster_scope == "variant" else "")


def _recorded_assignment(store: ResultStore, key: AttemptKey) -> Assignment | None:
    """Return the attempt's use; None where it has none. Writes the attempt's own record if its process died before."""
    if (use := assignment_of(store, key)) is not None:
        return use
    purpose = _purpose(CampaignStore(store, key.campaign_id).resolved(), key)
    _, newest = newest_assignment(store, key.campaign_id, purpose)
    if newest is None or newest.attempt != key:
        return None
    OF_ATTEMPT.write(store, key, newest)
    return newest


def _usable(toolkit: Toolkit, campaign: Campaign, cluster_id: ClusterId, asker: AttemptKey) -> ClusterId:
    """Return that cluster, or the next of its purpose if it is retired or has lost hosts that the provider can't
    replace. `asker` is the attempt that will use the cluster.
    """
    store, provider = toolkit.store, toolkit.provider(campaign)
    _end_unended(toolkit, provider, cluster_id)
    if retirement_of(store, cluster_id) is None and (why := _why_lost(store, provider, cluster_id)):
        retire(toolkit, cluster_id, why)
    if retirement_of(store, cluster_id) is None:
        return cluster_id
    with _unended_noted(store, cluster_id):
        destroy_cluster(toolkit, provider, cluster_id, going_on=asker)
    return cluster_id.numbered(cluster_id.number + 1)


@contextmanager
def _unended_noted(store: ResultStore, cluster_id: ClusterId) -> Iterator[None]:
    """Continue although the cluster can't be destroyed, and record the reason so that this is tried again.

    Whatever still runs on its hosts ends by itself at the cluster's expiry.
    """
    try:
        yield
    except ProviderError as error:
        store.create(layout.UNENDED.key(cluster_id), error.text().encode())


def _why_lost(store: ResultStore, provider: Provider, cluster_id: ClusterId) -> str:
    """Explain why a provisioned cluster can't be used again; empty where it can, or where it is not provisioned yet."""
    if not store.exists(layout.CLUSTER.key(cluster_id)):
        return ""
    try:
        is_whole = living_or_recorded(store, cluster_id, lambda: provider.find(cluster_id)) is not None
    except HostsLost as error:
        return f"hosts of it did not answer: {error.what}"
    return "" if is_whole or _can_be_made_whole(store, provider, cluster_id) else GONE


def living_or_recorded(
    store: ResultStore, subject: ClusterId | AttemptKey, find: Callable[[], Cluster | None]
) -> Cluster | None:
    """Return the cluster that is found; the one on record, where its provider can't tell whether it lives.

    None where it is gone. A cloud whose API is away says nothing about its hosts: those that are gone do not answer.
    Raises HostsLost where the provider has found hosts to be lost, and ProviderError or SecretError without a record.
    """
    try:
        return find()
    except HostsLost:
        raise
    except (ProviderError, SecretError):
        recorded = layout.CLUSTER.read(store, subject)
        if recorded is None:
            raise
        return recorded


def _end_unended(toolkit: Toolkit, provider: Provider, newest: ClusterId) -> None:
    """Try again to destroy this and older clusters of the purpose that could not be destroyed when they were over."""
    for cluster_id in map(newest.numbered, range(1, newest.number + 1)):
        key = layout.UNENDED.key(cluster_id)
        if toolkit.store.exists(key):
            with suppress(ProviderError):
                destroy_cluster(toolkit, provider, cluster_id)
                toolkit.store.delete(key)


def _can_be_made_whole(store: ResultStore, provider: Provider, cluster_id: ClusterId) -> bool:
    """Tell whether the provider can replace the cluster's lost hosts: some host is there, and not all were told to
    end, for example by hand, which closes the cluster's account.
    """
    if not provider.replaces_hosts or all(host.until is not None for host in read_launched(store, cluster_id).hosts):
        return False
    try:
        shown = provider.clusters()
    except PartlySeen as error:
        shown = error.clusters
    return any(cluster.id == cluster_id for cluster in shown)


def _clear(toolkit: Toolkit, provider: Provider, cluster_id: ClusterId, keep: frozenset[str]) -> None:
    """Remove what attempts have left on the cluster's hosts, but for `keep`. Retire the cluster where that fails.

    If hosts were lost, the next attempt has them replaced and the whole cluster cleared before it uses the cluster.
    """
    try:
        cluster = living_or_recorded(toolkit.store, cluster_id, lambda: provider.find(cluster_id))
        if cluster is not None:
            provider.clear(cluster, keep)
        elif not _can_be_made_whole(toolkit.store, provider, cluster_id):
            retire(toolkit, cluster_id, GONE)
    except (ProviderError, Unreachable) as error:
        retire(toolkit, cluster_id, f"what was left on it could not be removed: {error.what}")


def _end(toolkit: Toolkit, campaign: Campaign, campaign_id: str, is_to_end: Callable[[str], bool], reason: str) -> None:
    """Destroy the newest cluster of each purpose that is to end, unless an attempt works on it.

    What keeps one from being destroyed, or its cost from being recorded, keeps no other alive.
    """
    store, provider = toolkit.store, toolkit.provider(campaign)

    def end(purpose: str) -> None:
        _, last = newest_assignment(store, campaign_id, purpose)
        if last is not None and _is_at_work(toolkit, last, toolkit.owners.me()):
            return
        cluster_id = _newest(store, campaign_id, purpose, last)
        _end_unended(toolkit, provider, cluster_id)
        # Where UNENDED is still there, the cluster has just resisted another try
        if not store.exists(layout.UNENDED.key(cluster_id)):
            retire(toolkit, cluster_id, reason)
            with _unended_noted(store, cluster_id):
                destroy_cluster(toolkit, provider, cluster_id)

    purposes = filter(is_to_end, store.folders(layout.KEPT_CLUSTERS.folder(campaign_id)))
    try_all(partial(end, purpose) for purpose in purposes)


def _is_at_work(toolkit: Toolkit, use: Assignment, asker: str) -> bool:
    """Tell whether the attempt still needs its hosts. Where its owner is unknown, it does until its latest end."""
    if use.over or use.owner == asker:
        return False
    now = toolkit.clock.now()
    is_alive = is_at_work(toolkit.store, toolkit.owners, use.attempt.campaign_id, use.owner, now)
    return is_in_force(is_alive, use.until, now)


def _newest(store: ResultStore, campaign_id: str, purpose: str, last: Assignment | None) -> ClusterId:
    """Return the newest cluster of the purpose that was used, provisioned or retired. The first where none was."""
    folders = store.folders(f"{layout.KEPT_CLUSTERS.folder(campaign_id)}/{purpose}")
    known = [int(name) for name in folders if name.isdecimal()]
    return ClusterId.of(campaign_id, purpose, max([1, *known, *([last.cluster.number] if last else [])]))


def _refused(use: Assignment) -> Refused:
    what = f"are in use by attempt {use.attempt} of {owner_since(use.owner, use.since)}"
    mend = "cells that share hosts run one after the other: wait until that one has ended, then run this cell again"
    return Refused([Problem(f"hosts of campaign {use.attempt.campaign_id}", what, mend)])
