"""What a campaign has cost, from its store alone, and whether its budget has room for another cell."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from pydantic import ValidationError

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, ClusterId
from plimsoll.domain.cost import Cost, Entry, Paid, Spending, Tariff, total
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import NotFound, Problem, Refused, StoreError
from plimsoll.domain.units import format_usd, show_usd
from plimsoll.ports.provider import Provider
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.kept_costs import KeptCosts
from plimsoll.services.hosts.launches import name_of, read_launched
from plimsoll.services.hosts.uses import use_of
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, read_attempt
from plimsoll.services.toolkit import Toolkit

_HOUR = timedelta(hours=1)
_BEGUN = "begun"
# The store has tries of its own; these are for one that is away for a moment.
_TRIES, _PAUSE_S = 3, 10.0


def cell_usd(definition: Definition, tariff: Tariff) -> float | None:
    """A cell's hosts for the time under load, the least that it costs; None where no price is known."""
    hourly = tariff.usd_per_cluster_hour(definition.system.nodes)
    return None if hourly is None else hourly * (definition.timing.duration / _HOUR)


def ledger(campaign: CampaignStore, now: datetime) -> tuple[Entry, ...]:
    """Every attempt whose hosts cost something, and idle hosts. One listing, and a look at each that lives."""
    kept = KeptCosts(campaign.store, now)
    return tuple(_entry(campaign.store, kept, key, usd, now) for key, usd in _accounts(campaign).items())


def open_accounts(campaign: CampaignStore) -> tuple[ClusterId, ...]:
    """Clusters that were begun and of which nobody has recorded the cost, so that they may have hosts."""
    return tuple(ClusterId.of_attempt(key) for key, usd in _accounts(campaign).items() if usd is None)


def _accounts(campaign: CampaignStore) -> dict[AttemptKey, float | None]:
    """What is on record of every attempt and of idle hosts, None where the account was only opened."""
    known: dict[AttemptKey, float | None] = {}
    for name in campaign.store.keys(layout.costs_prefix(campaign.campaign_id)):
        *_, cell_id, attempt, file = name.split("/")
        key, usd = campaign.key(cell_id, int(attempt)), _amount(file)
        known[key] = max((amount for amount in (known.get(key), usd) if amount is not None), default=None)
    return known


def spent_usd(entries: Iterable[Entry]) -> float:
    """All together."""
    return sum(entry.usd for entry in entries)


def campaign_spending(campaign: CampaignStore, now: datetime) -> Spending | None:
    """The campaign's account, with the prices that its attempts began with; None where hosts cost nothing."""
    entries = ledger(campaign, now)
    if not entries:
        return None
    tariffs = [found for entry in entries if (found := _tariff(campaign.store, entry.key))]
    definition = campaign.definition()
    one_cell = cell_usd(definition, tariffs[-1]) if tariffs else None
    return Spending(
        entries=tuple(entry for entry in entries if not entry.idle),
        idle=tuple(entry for entry in entries if entry.idle),
        prices=tuple(dict.fromkeys(tariff.source for tariff in tariffs)),
        estimated_usd=None if one_cell is None else one_cell * definition.cells,
        budget_usd=definition.budget,
        node_usd_per_hour=tariffs[-1].node.usd_per_hour if tariffs else None,
    )


def spent_so_far(toolkit: Toolkit, campaign: CampaignStore, definition: Definition) -> str:
    """A sentence on the campaign's money for people who watch it run; empty where hosts cost nothing."""
    if definition.provider.name not in toolkit.tariffs:
        return ""
    entries = ledger(campaign, toolkit.clock.now())
    idle = spent_usd(entry for entry in entries if entry.idle)
    budget = "" if definition.budget is None else f" of its budget of {format_usd(definition.budget)}"
    kept = f", of it {show_usd(idle)} while kept hosts stood idle" if idle else ""
    return f"the campaign has spent {show_usd(spent_usd(entries))}{budget} so far{kept}"


def note_begun(toolkit: Toolkit, definition: Definition, cluster_id: ClusterId) -> None:
    """Open the account of an attempt, or of kept hosts, that will cost something, with the prices of now."""
    tariff = toolkit.tariff(definition)
    if tariff is not None:
        name = f"{layout.cost_prefix(_account(cluster_id))}/{_BEGUN}"
        toolkit.store.create(name, tariff.model_dump_json(indent=1).encode())


def _tariff(store: ResultStore, key: AttemptKey) -> Tariff | None:
    try:
        return Tariff.model_validate_json(store.read(f"{layout.cost_prefix(key)}/{_BEGUN}"))
    except (
        NotFound,
        ValidationError,
    ):  # destroyed without a known beginning, or begun by a version that told no prices
        return None


def require_budget(toolkit: Toolkit, campaign: CampaignStore, definition: Definition) -> None:
    """Refused unless the budget covers what was spent, what cells that run will still cost, and one cell more."""
    tariff = toolkit.tariff(definition) if definition.budget is not None else None
    if definition.budget is None or tariff is None:
        return
    one_cell = cell_usd(definition, tariff)
    if one_cell is None:
        mend = "give the prices of your instance types in the provider's options, or remove the budget"
        raise _refused(campaign, f"can't be kept: {tariff.source}", mend)
    now = toolkit.clock.now()
    entries = ledger(campaign, now)
    spent, due = spent_usd(entries), sum(_due(campaign.store, entry, definition, now, one_cell) for entry in entries)
    if spent + due + one_cell > definition.budget:
        what = (
            f"has no room for another cell: {spent:.2f} USD are spent, {due:.2f} USD are due for cells that run and "
            f"go on, a cell costs {one_cell:.2f} USD; the budget is {format_usd(definition.budget)}"
        )
        mend = (
            f"raise `budget` in the definition, then trigger its DAG with `campaign_id` {campaign.campaign_id!r} (or "
            f"`plimsoll run {definition.name} --campaign {campaign.campaign_id}`): the cells that are missing run"
        )
        raise _refused(campaign, what, mend)


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
        lambda error: _unrecorded(_account(cluster_id), error),
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

    _recorded_with_patience(toolkit, provider, record, lambda error: _unrecorded(_account(cluster_id), error))


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


def _account(cluster_id: ClusterId) -> AttemptKey:
    """The account's name: the attempt's own key, or what hosts are kept for, with their cluster's number."""
    return AttemptKey(campaign_id=cluster_id.campaign_id, cell_id=cluster_id.purpose, attempt=cluster_id.number)


def _record(store: ResultStore, cluster_id: ClusterId, ended_at: datetime, cluster: Cluster | None) -> None:
    key = _account(cluster_id)
    seen = {name_of(host) for host in cluster.hosts} if cluster else set()
    launched, recorded = read_launched(store, cluster_id, cluster), _recorded(store, key)
    # Once there is a record, a host of which no end is known had ended before, unless it was seen since.
    hosts = [host for host in launched.hosts if recorded is None or host.until is not None or name_of(host) in seen]
    end = launched.end(ended_at)
    _note(store, key, total(hosts, end), end, recorded)


def _record_shares(
    store: ResultStore,
    cluster_id: ClusterId,
    ended_at: datetime,
    cluster: Cluster | None,
    going_on: AttemptKey | None = None,
) -> None:
    """Of every attempt that used the kept cluster, which is gone, and of its idle time."""
    account = _account(cluster_id)
    known = _accounts(CampaignStore(store, cluster_id.campaign_id))
    if cluster is None and known.get(account) is not None:
        return  # nothing of it was there any more
    end, kept = read_launched(store, cluster_id, cluster).end(ended_at), KeptCosts(store, ended_at, cluster)
    for key, paid in kept.shares(cluster_id).items():
        if key != going_on:
            _note(store, key, paid, end, known.get(key))
    _note(store, account, kept.idle(cluster_id), end, known.get(account))


def _record_share(store: ResultStore, key: AttemptKey, end: datetime) -> None:
    paid = KeptCosts(store, end).share(key) or Paid(usd=0.0, host_seconds=0.0)
    _note(store, key, paid, end, _recorded(store, key))


def _note(store: ResultStore, key: AttemptKey, paid: Paid, end: datetime, recorded: float | None) -> None:
    """Whoever destroys again finds less: the most that was ever found counts. `recorded` is that so far, USD."""
    if recorded is None or paid.usd > recorded:
        cost = Cost(key=key, usd=paid.usd, host_seconds=paid.host_seconds, ended_at=end)
        name = f"{layout.cost_prefix(key)}/{paid.usd:.6f}.json"
        store.write(name, cost.model_dump_json(indent=1).encode())


def _unrecorded(key: AttemptKey, error: StoreError) -> StoreError:
    what = f"the cluster is gone, but what it has cost could not be recorded: {error.what}"
    mend = f"reach the store from here, then `plimsoll clusters destroy {key}`; until then it counts to its expiry"
    return StoreError(what, where=str(key), mend=mend)


def _unrecorded_share(key: AttemptKey, error: StoreError) -> StoreError:
    what = f"what the attempt has cost on kept hosts could not be recorded: {error.what}"
    mend = "reach the store from here; the attempt's cost is recorded when the hosts end, with the run at the latest"
    return StoreError(what, where=str(key), mend=mend)


def _recorded(store: ResultStore, key: AttemptKey) -> float | None:
    """The most that was put on record for the account."""
    files = (name.rpartition("/")[2] for name in store.keys(layout.cost_prefix(key)))
    return max((usd for file in files if (usd := _amount(file)) is not None), default=None)


def _entry(store: ResultStore, kept: KeptCosts, key: AttemptKey, usd: float | None, now: datetime) -> Entry:
    cluster_id = ClusterId.of_attempt(key)
    so_far = _so_far(store, kept, cluster_id, now) if usd is None else usd
    return Entry(key=key, usd=so_far, final=usd is not None, idle=cluster_id.is_kept)


def _so_far(store: ResultStore, kept: KeptCosts, cluster_id: ClusterId, now: datetime) -> float:
    """What an attempt, or idle hosts, have cost until now, USD."""
    key = cluster_id.attempt
    if key is None:
        return kept.idle(cluster_id).usd
    share = kept.share(key)
    if share is not None:
        return share.usd
    launched = read_launched(store, cluster_id)
    return total(launched.hosts, launched.end(now)).usd


def _amount(file: str) -> float | None:
    """The amount in the name of an account's file; None for the one that only opens it."""
    return None if file == _BEGUN else float(file.removesuffix(".json"))


def _due(store: ResultStore, entry: Entry, definition: Definition, now: datetime, one_cell: float) -> float:
    """What an attempt that runs, or is about to, will cost beyond what it has."""
    if entry.final:
        return 0.0
    attempt = read_attempt(store, entry.key)
    if attempt is None or now > attempt.started_at + definition.timing.duration:
        return 0.0
    return max(0.0, one_cell - entry.usd)


def _refused(campaign: CampaignStore, what: str, mend: str) -> Refused:
    return Refused([Problem("budget", what, mend)], where=f"campaign {campaign.campaign_id!r}")
