"""One load at a time on a database of somebody else: attempts of several campaigns of a store wait for one another."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import DamagedRecord, NotFound, ProviderError, Refused
from plimsoll.services.cell.attempt_state import attempt_state
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.assignments import note_used, times_of_use
from plimsoll.services.hosts.at_rest import stirred_campaigns
from plimsoll.services.retries import report_waiting
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

_LONGEST = timedelta(minutes=30)


def await_turn(work: AttemptContext) -> datetime:
    """Record that the attempt uses its database, and wait until no other campaign's attempt loads it before this one.

    Who recorded it first goes first; cells of one campaign run one after the other anyway. Returns since when it is the
    attempt's turn, from which on its hosts are counted; asked again, the same. Raises ProviderError after half an hour.
    """
    store, clock, turn = work.toolkit.store, work.toolkit.clock, layout.TURN.key(work.key)
    # Before anything is made there: whoever looks for what was left logs in only where there is such a note
    note_used(store, work.cluster_id)
    addresses, until = work.provider.shared_addresses(), clock.now() + _LONGEST
    others = (CampaignStore(store, name) for name in stirred_campaigns(store) if name != work.key.campaign_id)
    sharing = [campaign for campaign in others if addresses & _addresses(work, campaign)]
    if sharing:
        # Times of a store may be whole seconds: whoever notes a use in the same one is seen after it.
        clock.sleep(2.0)
    told = None
    while first := next((key for campaign in sharing for key in _before(work, campaign)), None):
        what = f"{', '.join(sorted(addresses))} is loaded by {first}"
        if clock.now() >= until:
            mend = "run the cell again when that has ended; in Airflow, a pool `clusters` of one slot keeps them apart"
            raise ProviderError(what, where=str(work.key), mend=mend)
        if first != told:
            report_waiting(f"waiting until {until:%H:%M:%S} UTC at most: {what}")
        told = first
        clock.sleep(10.0)
    store.create(turn, clock.now().isoformat().encode())  # unless it was its turn before
    return datetime.fromisoformat(store.read(turn).decode())


def _addresses(work: AttemptContext, campaign: CampaignStore) -> frozenset[str]:
    with suppress(NotFound, Refused):  # what can't be read or provided here, nobody here runs
        return work.toolkit.provider(campaign.resolved()).shared_addresses()
    return frozenset()


def _before(work: AttemptContext, campaign: CampaignStore) -> Iterator[AttemptKey]:
    """Yield the campaign's attempts under way that recorded their use before this one."""
    store, own = work.toolkit.store, work.cluster_id
    since_own = times_of_use(store, own.campaign_id).get(own)
    if since_own is None:
        raise ProviderError("it was destroyed while it waited", where=str(work.key), mend="run the cell again")
    for cluster_id, since in times_of_use(store, campaign.campaign_id).items():
        key = cluster_id.attempt
        if key and (since, str(cluster_id)) < (since_own, str(own)) and _is_under_way(work, campaign, key):
            yield key


def _is_under_way(work: AttemptContext, campaign: CampaignStore, key: AttemptKey) -> bool:
    try:
        state = attempt_state(work.toolkit, key, campaign.resolved())
    except DamagedRecord:  # nobody knows
        return True
    return state.attempt is not None and state.is_running
