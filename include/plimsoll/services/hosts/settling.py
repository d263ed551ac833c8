"""Settle what is on record of clusters that nobody shows any more, once they were looked for: accounts, databases."""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import timedelta

from plimsoll.domain.campaign.grid import parts_of
from plimsoll.domain.hosts.cluster import Cluster, ClusterId
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.errors import DefinitionError, NotFound, PlimsollError, StoreError, reason_of
from plimsoll.services.hosts.at_rest import (
    StoredSetUps,
    begin_look,
    campaigns_to_look_at,
    is_used,
    mark,
    note_left,
    unmark,
    users,
)
from plimsoll.services.hosts.ending import destroy_cluster
from plimsoll.services.hosts.kept_records import assignments, retire
from plimsoll.services.hosts.paid_hosts import open_accounts, read_launches, readable_open_accounts
from plimsoll.services.ownership import LOST_AFTER
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

GIVEN_UP_AFTER = timedelta(days=7)
"""The time after an attempt's end for which a database that can't be asked is asked for its keyspace."""


def settle_campaigns(
    toolkit: Toolkit, living: Collection[ClusterId], is_owned: Callable[[Cluster], bool]
) -> tuple[str, ...]:
    """Settle what clusters that do not live, and on which nobody works, have left. Returns what could not be settled.

    Open accounts are closed: after an outage nobody else may, since hosts have ended, and what they cost could not be
    recorded then. Nothing is left in databases of attempts whose process died before it could note that: until then
    everybody who looks for clusters logs in there. Campaigns of which nothing is left to settle are at rest. Does
    nothing where this machine's own clusters alone are looked at.
    """
    if not toolkit.tariffs:
        return ()
    try:
        return tuple(
            trouble
            for campaign_id in campaigns_to_look_at(toolkit.store, toolkit.clock.now())
            for trouble in _settled(toolkit, living, is_owned, CampaignStore(toolkit.store, campaign_id))
        )
    except StoreError as error:
        return (str(error),)


def _settled(
    toolkit: Toolkit, living: Collection[ClusterId], is_owned: Callable[[Cluster], bool], campaign: CampaignStore
) -> Iterator[str]:
    yield from _accounts(toolkit, living, is_owned, campaign)
    yield from _databases(toolkit, living, is_owned, campaign)
    store, campaign_id = campaign.store, campaign.campaign_id
    with suppress(DefinitionError, NotFound):  # it stays among those that are looked at, which say what is wrong
        if not _is_settled(campaign):
            unmark(store, campaign_id)
            return
        token = begin_look(store, campaign_id)
        if _is_settled(campaign):
            mark(store, campaign_id, token, campaign.declared().provider)


def _is_settled(campaign: CampaignStore) -> bool:
    try:
        return not open_accounts(campaign) and not is_used(campaign.store, campaign.campaign_id)
    except ValueError:  # files of others lie among the accounts
        return False


def _databases(
    toolkit: Toolkit, living: Collection[ClusterId], is_owned: Callable[[Cluster], bool], campaign: CampaignStore
) -> Iterator[str]:
    try:
        for cluster_id in users(toolkit.store, campaign.campaign_id):
            cluster = None if cluster_id in living else _recorded(campaign, cluster_id)
            if cluster is not None and not is_owned(cluster):
                yield from _left(toolkit, cluster)
    except (ValueError, PlimsollError) as error:  # one campaign keeps no other from being looked at
        what = f"whether anything is left in its database can't be told: {reason_of(error)}"
        yield f"campaign {campaign.campaign_id}: {what}"


def _left(toolkit: Toolkit, cluster: Cluster) -> Iterator[str]:
    """Destroy what the cluster has in its database, or give that up."""
    try:
        destroy_cluster(toolkit, toolkit.provider_of(EXTERNAL, cluster.id.campaign_id), cluster.id)
    except Exception as error:
        if toolkit.clock.now() > cluster.expires_at + GIVEN_UP_AFTER:
            note_left(toolkit.store, cluster.id)
            yield (
                f"{cluster.id}: whether what it made there is gone could not be seen for {GIVEN_UP_AFTER.days} days, "
                f"and nobody asks any more: {reason_of(error)}; once the database answers, "
                f"`plimsoll clusters destroy {cluster.id}` removes it"
            )
        elif StoredSetUps(toolkit.store).of(cluster.id):  # that a CQL database is silent, who looked there has said
            yield f"{cluster.id}: what it made in its database is still to be removed: {reason_of(error)}"


def _accounts(
    toolkit: Toolkit, living: Collection[ClusterId], is_owned: Callable[[Cluster], bool], campaign: CampaignStore
) -> Iterator[str]:
    for cluster_id in (account for account in readable_open_accounts(campaign) if account not in living):
        try:
            cluster = _recorded(campaign, cluster_id)
            if cluster is not None and cluster.provider in toolkit.tariffs and not is_owned(cluster):
                if cluster_id.is_kept and not cluster.hosts:  # who comes next needs a cluster with an open account
                    retire(toolkit, cluster_id, "the run that asked for it had ended")
                destroy_cluster(toolkit, toolkit.provider_of(cluster.provider, cluster_id.campaign_id), cluster_id)
        except Exception as error:  # one account never keeps another open
            yield f"{cluster_id}: its account can't be closed: {reason_of(error)}"


def _recorded(campaign: CampaignStore, cluster_id: ClusterId) -> Cluster | None:
    """Return the cluster on record, or what stands for it before it was provided; None where nothing is known of it."""
    key, resolved = cluster_id.attempt, campaign.resolved()
    cluster = layout.CLUSTER.read(campaign.store, key or cluster_id)
    attempt = layout.ATTEMPT.read(campaign.store, key) if key else None
    if attempt is None:
        return cluster or _requested(campaign, cluster_id, resolved.provider.name)
    # An attempt on kept hosts has their cluster on record, with the owner that it had.
    until = attempt.started_at + max(part.declared_time for part in parts_of(resolved, cluster_id.purpose))
    return Cluster(
        id=cluster_id,
        owner=attempt.owner,
        provider=resolved.provider.name,
        hosts=(),
        created_at=attempt.started_at,
        expires_at=max(until + LOST_AFTER, cluster.expires_at if cluster else until),
    )


def _requested(campaign: CampaignStore, cluster_id: ClusterId, provider: str) -> Cluster | None:
    """Return what stands for kept hosts that were never provided, by their last use, or else by their last launch."""
    uses = assignments(campaign.store, campaign.campaign_id, cluster_id.purpose)
    asked = [(use.owner, use.since, use.until) for use in uses if use.cluster == cluster_id] or [
        (launch.owner, launch.asked_at, launch.expires_at) for launch in read_launches(campaign.store, cluster_id)
    ]
    if not asked:
        return None
    owner, created_at, expires_at = asked[-1]
    return Cluster(
        id=cluster_id, owner=owner, provider=provider, hosts=(), created_at=created_at, expires_at=expires_at
    )
