"""The accounts of a campaign in its store: one for each attempt on paid hosts, and one for idle time of kept hosts.

The file `begun` opens an account and holds the prices of that time. A file named after an amount holds the final cost.
When an account is closed more than once, the greatest amount counts.
"""

from datetime import datetime

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.hosts.cost import Cost, Paid, Tariff
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.hosts.at_rest import stirred
from plimsoll.services.hosts.places import note_place
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign
from plimsoll.services.toolkit import Toolkit


def account_of(cluster_id: ClusterId) -> AttemptKey:
    """Return the account's name: the attempt's own key; for kept hosts, their purpose and their cluster's number."""
    return AttemptKey(campaign_id=cluster_id.campaign_id, cell_id=cluster_id.purpose, attempt=cluster_id.number)


def note_begun(toolkit: Toolkit, campaign: Campaign, cluster_id: ClusterId) -> None:
    """Open the account of an attempt or of kept hosts with the current prices, and note where its hosts will be.

    Where hosts cost nothing, there is no account.
    """
    tariff = toolkit.tariff(campaign)
    with stirred(toolkit.store, cluster_id.campaign_id):
        if tariff is not None:
            note_place(toolkit.store, campaign)
            layout.PRICES.create(toolkit.store, cluster_id.campaign_id, tariff, cluster_id.purpose, cluster_id.number)


def open_accounts(campaign: StoredCampaign) -> tuple[ClusterId, ...]:
    """Return the clusters whose account is open. They may still have hosts."""
    return tuple(ClusterId.of_attempt(key) for key, usd in accounts(campaign).items() if usd is None)


def readable_open_accounts(campaign: StoredCampaign) -> tuple[ClusterId, ...]:
    """Return the clusters whose account is open; none where files of others lie among the accounts: a reader of the
    costs gets the error.
    """
    try:
        return open_accounts(campaign)
    except ValueError:
        return ()


def accounts(campaign: StoredCampaign) -> dict[AttemptKey, float | None]:
    """Return the recorded cost of every attempt and of idle hosts, USD; None for an open account."""
    known: dict[AttemptKey, float | None] = {}
    for name in campaign.store.keys(layout.COST.folder(campaign.campaign_id)):
        *_, cell_id, attempt, file = name.split("/")
        key, usd = campaign.key(cell_id, int(attempt)), _amount(file)
        known[key] = max((amount for amount in (known.get(key), usd) if amount is not None), default=None)
    return known


def tariff_of(store: ReadableStore, key: AttemptKey) -> Tariff | None:
    """Return the prices at which the account was opened; None where it was not opened."""
    return layout.PRICES.read(store, key.campaign_id, key.cell_id, key.attempt)


def recorded_usd(store: ReadableStore, key: AttemptKey) -> float | None:
    """Return the greatest recorded amount of the account, USD; None while it is open."""
    folder = layout.COST.folder(key.campaign_id, key.cell_id, key.attempt)
    files = (name.rpartition("/")[2] for name in store.keys(folder))
    return max((usd for file in files if (usd := _amount(file)) is not None), default=None)


def note_paid(store: ResultStore, key: AttemptKey, paid: Paid, end: datetime, recorded: float | None) -> None:
    """Record the cost, if it is more than `recorded`, the greatest amount on record so far, USD.

    Destroying a cluster again finds fewer hosts, so a smaller amount says nothing new.
    """
    if recorded is None or paid.usd > recorded:
        cost = Cost(key=key, usd=paid.usd, host_seconds=paid.host_seconds, ended_at=end)
        layout.COST.write(store, key.campaign_id, cost, key.cell_id, key.attempt, f"{paid.usd:.6f}")


def _amount(file: str) -> float | None:
    """Return the amount in the name of an account's file, USD; None for the file that opens the account."""
    return None if file == "begun" else float(file.removesuffix(".json"))
