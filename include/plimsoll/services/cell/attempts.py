"""Begin an attempt at a cell, after removing what older attempts left behind, and tell what the campaign has cost so
far. A cell whose newest attempt the noise of machines made invalid runs again by itself.
"""

from collections.abc import Sequence
from functools import partial

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostsSilent, RecordsUnread
from plimsoll.domain.hosts.owner import is_of_another_airflow, owner_since
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.errors import PlimsollError, Problem, Refused
from plimsoll.ports.provider import Provider
from plimsoll.services.cell.attempt_state import attempt_state
from plimsoll.services.cell.context import AttemptContext, require_cell
from plimsoll.services.hosts.ending import destroy_cluster
from plimsoll.services.hosts.limits import require_approval, require_money_and_time
from plimsoll.services.hosts.paid_hosts import note_begun, open_accounts
from plimsoll.services.hosts.spending import spent_so_far
from plimsoll.services.ownership import is_at_work, require_free
from plimsoll.services.retries import try_all
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import folder_of
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies import state


def begin(toolkit: Toolkit, campaign_id: str, cell_id: str, owner: str) -> AttemptContext:
    """Return a new attempt at the cell. Clusters that older attempts at the cell left behind are destroyed first.

    Called again after a failure or a kill in between, it goes on with the attempt that the owner has on record.

    Raises Refused where the campaign's budget or `finish_by` leaves no room for another cell, where nobody has approved
    what must be approved, where somebody else runs the cell or holds the campaign, and where the campaign is being
    deleted.
    """
    campaign = CampaignStore(toolkit.store, campaign_id)
    resolved = campaign.resolved()
    campaign.require_kept()
    require_cell(resolved, cell_id)
    require_approval(toolkit, campaign, resolved)
    require_free(toolkit, campaign_id, owner)
    _require_nobody_at_work(toolkit, campaign, resolved, cell_id, owner)
    key = campaign.newest_attempt(cell_id)
    if key is None or not is_barely_begun(toolkit, key, owner):
        # Before the budget is looked at: an attempt whose cost is final takes nothing more from it
        _destroy_older(toolkit, resolved, campaign, cell_id)
        require_money_and_time(toolkit, campaign, resolved, cell_id)
        key = campaign.begin_attempt(cell_id, owner, toolkit.clock.now(), toolkit.code_version)
    note_begun(toolkit, resolved, ClusterId.of_attempt(key))
    return AttemptContext(toolkit, key)


def is_barely_begun(toolkit: Toolkit, key: AttemptKey, owner: str) -> bool:
    """Tell whether nothing but the owner's record is there of the attempt: no step, no failure, nobody cancelled it."""
    if [*toolkit.store.keys(folder_of(key))] != [layout.ATTEMPT.key(key)]:
        return False
    attempt = layout.ATTEMPT.read(toolkit.store, key)
    return attempt is not None and attempt.owner == owner


def _require_nobody_at_work(
    toolkit: Toolkit, campaign: CampaignStore, resolved: Campaign, cell_id: str, owner: str
) -> None:
    """Raise Refused where another living owner has not finished the cell's newest attempt.

    Whether a run of another Airflow lives, nobody can tell here: it does until the latest end of its attempt.
    """
    newest = campaign.newest_attempt(cell_id)
    attempt = layout.ATTEMPT.read(toolkit.store, newest) if newest else None
    if newest is None or attempt is None or attempt.owner == owner:
        return
    if layout.VERDICT.read(toolkit.store, newest) or layout.CANCELLED.read(toolkit.store, newest):
        return
    at_work = is_at_work(toolkit.store, toolkit.owners, campaign.campaign_id, attempt.owner, toolkit.clock.now())
    if at_work is None and is_of_another_airflow(attempt.owner, owner):
        at_work = attempt_state(toolkit, newest, resolved).is_running
    if at_work:
        what = f"is being run by {owner_since(attempt.owner, attempt.started_at)}"
        raise Refused([Problem(f"cell {cell_id}", what, "wait until it has ended, or end it there")])


def _destroy_older(toolkit: Toolkit, resolved: Campaign, campaign: CampaignStore, cell_id: str) -> None:
    """Destroy clusters that the provider lists, and those of attempts with an open account: a cloud's list may lag."""
    provider = toolkit.provider(resolved)
    older = {
        cluster.id: cluster
        for cluster in _shown(provider)
        if _is_of(cluster.id, campaign, cell_id) or _has_left_keyspace(toolkit, cluster, campaign)
    }
    unsettled = {account: None for account in open_accounts(campaign) if _is_of(account, campaign, cell_id)}
    to_destroy = {**unsettled, **older}.items()
    try_all(partial(destroy_cluster, toolkit, provider, cluster_id, cluster) for cluster_id, cluster in to_destroy)


def _shown(provider: Provider) -> Sequence[Cluster]:
    """Return the clusters that the provider shows.

    One on hosts that are silent, or whose record is damaged, keeps no other hosts from being used.
    """
    try:
        return provider.clusters()
    except (HostsSilent, RecordsUnread) as error:
        return error.clusters


def _has_left_keyspace(toolkit: Toolkit, cluster: Cluster, campaign: CampaignStore) -> bool:
    """Tell whether the cluster has the keyspace that all cells of the campaign use in turn, and nobody works on it."""
    is_own = cluster.provider == EXTERNAL and cluster.id.campaign_id == campaign.campaign_id
    return is_own and toolkit.owners.is_alive(cluster.owner) is False


def _is_of(cluster_id: ClusterId, campaign: CampaignStore, cell_id: str) -> bool:
    return (cluster_id.campaign_id, cluster_id.purpose) == (campaign.campaign_id, cell_id)


def runs_again(campaign: CampaignStore, cell_id: str) -> bool:
    """Tell whether the newest attempt was disturbed, and the cell has not run as often as its definition lets it.

    The answer follows from the store alone, and a killed run goes on with the same one.
    """
    newest_first = (layout.VERDICT.read(campaign.store, key) for key in reversed(campaign.attempts(cell_id)))
    return state.runs_again(newest_first, campaign.resolved().disturbance.tries)


def money_line(work: AttemptContext) -> str:
    """Return a sentence about the campaign's cost so far, or why it can't be told; empty where hosts cost nothing.

    It only informs, so a store that fails here must not fail the attempt.
    """
    try:
        return spent_so_far(work.toolkit, work.campaign, work.part)
    except PlimsollError as error:
        return f"what the campaign has spent so far can't be told: {error}"
