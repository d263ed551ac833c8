"""The accounts of a campaign in its store: one of each attempt whose hosts cost something, and of idle kept hosts.

`begun` opens an account, with the prices of that time; a file named after an amount says what it came to. Whoever
looks again may have seen more: the greatest amount counts.
"""

from datetime import datetime

from pydantic import ValidationError

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import ClusterId
from plimsoll.domain.cost import Cost, Paid, Tariff
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import NotFound
from plimsoll.ports.store import ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

_BEGUN = "begun"


def account_of(cluster_id: ClusterId) -> AttemptKey:
    """The account's name: the attempt's own key, or what hosts are kept for, with their cluster's number."""
    return AttemptKey(campaign_id=cluster_id.campaign_id, cell_id=cluster_id.purpose, attempt=cluster_id.number)


def note_begun(toolkit: Toolkit, definition: Definition, cluster_id: ClusterId) -> None:
    """Open the account of an attempt, or of kept hosts, that will cost something, with the prices of now."""
    tariff = toolkit.tariff(definition)
    if tariff is not None:
        name = f"{layout.cost_prefix(account_of(cluster_id))}/{_BEGUN}"
        toolkit.store.create(name, tariff.model_dump_json(indent=1).encode())


def open_accounts(campaign: CampaignStore) -> tuple[ClusterId, ...]:
    """Clusters that were begun and of which nobody has recorded the cost, so that they may have hosts."""
    return tuple(ClusterId.of_attempt(key) for key, usd in accounts(campaign).items() if usd is None)


def accounts(campaign: CampaignStore) -> dict[AttemptKey, float | None]:
    """What is on record of every attempt and of idle hosts, None where the account was only opened."""
    known: dict[AttemptKey, float | None] = {}
    for name in campaign.store.keys(layout.costs_prefix(campaign.campaign_id)):
        *_, cell_id, attempt, file = name.split("/")
        key, usd = campaign.key(cell_id, int(attempt)), _amount(file)
        known[key] = max((amount for amount in (known.get(key), usd) if amount is not None), default=None)
    return known


def tariff_of(store: ResultStore, key: AttemptKey) -> Tariff | None:
    """The prices that the account was opened with; None where they are not known."""
    try:
        return Tariff.model_validate_json(store.read(f"{layout.cost_prefix(key)}/{_BEGUN}"))
    except (NotFound, ValidationError):  # never opened, or by a version that told no prices
        return None


def recorded_usd(store: ResultStore, key: AttemptKey) -> float | None:
    """The most that was put on record for the account."""
    files = (name.rpartition("/")[2] for name in store.keys(layout.cost_prefix(key)))
    return max((usd for file in files if (usd := _amount(file)) is not None), default=None)


def note_paid(store: ResultStore, key: AttemptKey, paid: Paid, end: datetime, recorded: float | None) -> None:
    """Whoever destroys again finds less: the most that was ever found counts. `recorded` is that so far, USD."""
    if recorded is None or paid.usd > recorded:
        cost = Cost(key=key, usd=paid.usd, host_seconds=paid.host_seconds, ended_at=end)
        name = f"{layout.cost_prefix(key)}/{paid.usd:.6f}.json"
        store.write(name, cost.model_dump_json(indent=1).encode())


def _amount(file: str) -> float | None:
    """The amount in the name of an account's file; None for the one that only opens it."""
    return None if file == _BEGUN else float(file.removesuffix(".json"))
