"""Which attempts may have something in a database of somebody else: a file for each, until it is destroyed.

Whoever looks for clusters that were left logs in only where there is such a file.
"""

from plimsoll.domain.cluster import ClusterId
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign, campaign_exists, read_attempt


def note_used(store: ResultStore, cluster_id: ClusterId) -> None:
    """Record that the cluster is about to use its database."""
    store.create(layout.database_key(cluster_id), b"")


def note_left(store: ResultStore, cluster_id: ClusterId) -> None:
    """Record that nothing of the cluster is left in its database."""
    store.delete(layout.database_key(cluster_id))


def is_used(store: ReadableStore, campaign_id: str) -> bool:
    """Tell whether a cluster of the campaign may have something in its database."""
    return any(True for _ in store.keys(layout.databases_prefix(campaign_id)))


def users(store: ReadableStore, campaign_id: str) -> tuple[ClusterId, ...]:
    """Return the campaign's clusters that may have something in its database. Raises ValueError for other files."""
    prefix = layout.databases_prefix(campaign_id)
    return tuple(ClusterId.parse(f"{campaign_id}{key.removeprefix(prefix)}") for key in store.keys(prefix))


def may_have_left(campaign: StoredCampaign, cluster_id: ClusterId) -> bool:
    """Tell whether the attempt of that cluster was on a database of somebody else, whatever became of it."""
    key = cluster_id.attempt
    if key is None or not campaign_exists(campaign.store, campaign.campaign_id):
        return False
    return campaign.declared().provider.is_external and read_attempt(campaign.store, key) is not None
