"""Close the accounts of hosts that nobody shows any more, once they were looked for by the record of their launches."""

from collections.abc import Callable, Collection, Iterator
from datetime import timedelta

from plimsoll.domain.cell import definitions_of
from plimsoll.domain.cluster import Cluster, ClusterId
from plimsoll.domain.errors import StoreError, reason_of
from plimsoll.services.hosts.accounts import open_accounts
from plimsoll.services.hosts.ending import destroy_cluster
from plimsoll.services.hosts.launch_records import read_provided
from plimsoll.services.store.campaigns import CampaignStore, campaign_ids, read_attempt, read_cluster
from plimsoll.services.toolkit import Toolkit

# After this time beyond its declared time an attempt can't be running any more.
_LOST_AFTER = timedelta(hours=2)


def close_accounts(
    toolkit: Toolkit, living: Collection[ClusterId], is_owned: Callable[[Cluster], bool]
) -> tuple[str, ...]:
    """Close every open account whose cluster does not live, and on which nobody works. Returns what kept some open.

    After an outage nobody else may: hosts have ended, and what they have cost could not be recorded then.
    """
    if not toolkit.tariffs:
        return ()
    try:
        return tuple(
            trouble for one in campaign_ids(toolkit.store) for trouble in _of_campaign(toolkit, one, living, is_owned)
        )
    except StoreError as error:
        return (str(error),)


def _of_campaign(
    toolkit: Toolkit, campaign_id: str, living: Collection[ClusterId], is_owned: Callable[[Cluster], bool]
) -> Iterator[str]:
    campaign = CampaignStore(toolkit.store, campaign_id)
    try:
        unseen = [one for one in open_accounts(campaign) if one not in living]
    except ValueError:  # files of others lie among the accounts: a reader of the campaign's costs gets the error
        return
    for cluster_id in unseen:
        try:
            cluster = _recorded(campaign, cluster_id)
            if cluster is not None and cluster.provider in toolkit.tariffs and not is_owned(cluster):
                provider = toolkit.provider_of(cluster.provider, campaign_id)
                destroy_cluster(toolkit, provider, cluster_id)
        except Exception as error:  # one account never keeps another open
            yield f"{cluster_id}: its account can't be closed: {reason_of(error)}"


def _recorded(campaign: CampaignStore, cluster_id: ClusterId) -> Cluster | None:
    """Return the cluster on record, or what stands for it before it was provided; None where nothing is known of it."""
    key, definition = cluster_id.attempt, campaign.definition()
    found = read_provided(campaign.store, cluster_id) if key is None else read_cluster(campaign.store, key)
    attempt = read_attempt(campaign.store, key) if key else None
    if attempt is None:
        return found
    # An attempt on kept hosts has their cluster on record, with the owner that it had.
    until = attempt.started_at + max(one.declared_time for one in definitions_of(definition, cluster_id.purpose))
    return Cluster(
        id=cluster_id,
        owner=attempt.owner,
        provider=definition.provider.name,
        hosts=(),
        created_at=attempt.started_at,
        expires_at=max(until + _LOST_AFTER, found.expires_at if found else until),
    )
