"""What is on record of paid hosts: a cluster's hosts in `cluster.json`, with a file beside it for each request for
hosts; and what they cost, in accounts: one for each attempt, and one for idle time of kept hosts.

The file `begun` opens an account and holds the prices of that time. A file named after an amount holds the final cost.
When an account is closed more than once, the greatest amount counts.

And the check whether a campaign has hosts in another cloud account than the one that its connection leads to: through
that connection nobody could end them.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo, Launch
from plimsoll.domain.hosts.cost import Cost, Paid, Tariff, lacks_price
from plimsoll.domain.text.errors import DamagedRecord, Problem, ProviderError
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.hosts.at_rest import stirred, stirred_campaigns
from plimsoll.services.hosts.kept_records import assignment_of
from plimsoll.services.hosts.places import note_place
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.store.listing import campaign_exists
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


def accounts(campaign: StoredCampaign, *of: object) -> dict[AttemptKey, float | None]:
    """Return the recorded cost of every attempt and of idle hosts, USD; None for an open account.

    `of`: a cell's id and an attempt's number, where its account alone is asked for.
    """
    known: dict[AttemptKey, float | None] = {}
    for name in campaign.store.keys(layout.COST.folder(campaign.campaign_id, *of)):
        *_, cell_id, attempt, file = name.split("/")
        key, usd = campaign.key(cell_id, int(attempt)), None if file == "begun" else float(file.removesuffix(".json"))
        known[key] = max((amount for amount in (known.get(key), usd) if amount is not None), default=None)
    return known


def tariff_of(store: ReadableStore, key: AttemptKey) -> Tariff | None:
    """Return the prices at which the account was opened; None where it was not opened."""
    return layout.PRICES.read(store, key.campaign_id, key.cell_id, key.attempt)


def recorded_usd(store: ReadableStore, key: AttemptKey) -> float | None:
    """Return the greatest recorded amount of the account, USD; None while it is open."""
    return accounts(StoredCampaign(store, key.campaign_id), key.cell_id, key.attempt).get(key)


def note_paid(store: ResultStore, key: AttemptKey, paid: Paid, end: datetime, recorded: float | None) -> None:
    """Record the cost, if it is more than `recorded`, the greatest amount on record so far, USD.

    Destroying a cluster again finds fewer hosts, so a smaller amount says nothing new. Whether a host had no known
    price is recorded, too, so that whoever asks later need not read the records of all hosts.
    """
    if recorded is None or paid.usd > recorded:
        is_least = None
        if not has_prices(store, key):
            with suppress(DamagedRecord):  # who asks for the cost gets the error; the account is closed all the same
                is_least = _is_least_by_hosts(store, key, paid.usd)
        cost = Cost(key=key, usd=paid.usd, host_seconds=paid.host_seconds, ended_at=end, is_least=is_least)
        layout.COST.write(store, key.campaign_id, cost, key.cell_id, key.attempt, _named(paid.usd))


def _named(usd: float) -> str:
    return f"{usd:.6f}"


def has_prices(store: ReadableStore, key: AttemptKey) -> bool:
    """Tell whether the definition knew all prices when the account was opened; also where that is not on record."""
    tariff = layout.PRICES.read_sound(store, key.campaign_id, key.cell_id, key.attempt)
    return tariff is None or tariff.is_complete


def is_least(store: ReadableStore, key: AttemptKey, so_far: float, recorded: float | None) -> bool:
    """Tell whether a host of the account has no known price, so that it has cost more than `so_far`, USD.

    `recorded`: its greatest amount on record, None while it is open.
    """
    if recorded is not None:
        cost = layout.COST.read_sound(store, key.campaign_id, key.cell_id, key.attempt, _named(recorded))
        if cost and cost.is_least is not None:
            return cost.is_least
    return not has_prices(store, key) and _is_least_by_hosts(store, key, so_far)


def _is_least_by_hosts(store: ReadableStore, key: AttemptKey, usd: float) -> bool:
    """Tell the same of an account that was opened without all prices.

    Hosts may have been printed with prices that the definition does not know: what is on record of them counts.
    """
    use = assignment_of(store, key)
    return not usd or lacks_price(read_launched(store, use.cluster if use else ClusterId.of_attempt(key)).hosts)


class StoredLaunches:
    """An implementation of the Launches port.

    The answer to a launch, and the ends of hosts, are kept in memory where they can't be recorded: they count as the
    record, and are written before costs are counted. A request that can't be recorded is not kept: it is never sent.
    """

    def __init__(self, store: ResultStore, outage: Outage) -> None:
        self._store, self._outage = store, outage
        self._unwritten: dict[tuple[ClusterId, str], Launch] = {}

    def of(self, cluster_id: ClusterId) -> tuple[Launch, ...]:
        with self._outage.noticed():
            stored = {launch.token: launch for launch in read_launches(self._store, cluster_id)}
        kept = {token: launch for (kept_id, token), launch in self._unwritten.copy().items() if kept_id == cluster_id}
        return tuple(sorted((stored | kept).values(), key=lambda launch: launch.asked_at))

    def unsettled(self) -> tuple[ClusterId, ...]:
        with self._outage.noticed():
            campaigns = [CampaignStore(self._store, name) for name in stirred_campaigns(self._store)]
            return tuple(cluster_id for campaign in campaigns for cluster_id in readable_open_accounts(campaign))

    def note(self, launch: Launch) -> None:
        if launch.hosts is not None:
            self._unwritten[launch.id, launch.token] = launch
        with self._outage.noticed():
            self._write(launch)

    def write_kept(self) -> None:
        """Write what could not be written before. Raises StoreError where that fails again."""
        for launch in list(self._unwritten.values()):
            self._write(launch)

    def _write(self, launch: Launch) -> None:
        layout.LAUNCH.write(self._store, launch.id, launch, launch.token[:16])
        # Another thread may have kept a newer record of the launch meanwhile
        if self._unwritten.get((launch.id, launch.token)) is launch:
            del self._unwritten[launch.id, launch.token]


def read_launches(store: ReadableStore, cluster_id: ClusterId) -> tuple[Launch, ...]:
    """Return the cluster's launches, in the order of their requests."""
    return tuple(sorted(layout.LAUNCH.read_all(store, cluster_id), key=lambda launch: launch.asked_at))


@dataclass(frozen=True)
class LaunchedHosts:
    """Every host that a cluster ever had, and the time at which they end themselves; None if they never do."""

    hosts: tuple[HostInfo, ...]
    ends_at: datetime | None

    def end(self, at: datetime) -> datetime:
        """Return the end of a host whose end is not known: that time, unless it had ended itself before."""
        return min(at, self.ends_at or at)


def read_launched(store: ReadableStore, cluster_id: ClusterId, seen: Cluster | None = None) -> LaunchedHosts:
    """Return the hosts from `seen`, `cluster.json` and the record of launches; later sources replace earlier ones.

    The record of launches is the most exact source. It may have a host twice, by the answer to its launch and by a
    later look: a record with an end replaces one without, whichever comes first.
    """
    clusters = [cluster for cluster in (seen, layout.CLUSTER.read(store, cluster_id)) if cluster]
    launches = read_launches(store, cluster_id)
    hosts = [host for cluster in clusters for host in cluster.hosts]
    hosts += [host for launch in launches for host in launch.hosts or ()]
    ends = [max(cluster.expires_at, cluster.created_at) for cluster in clusters]
    ends += [launch.ends_at or launch.expires_at for launch in launches]
    latest = None if any(launch.is_of_program for launch in launches) else max(ends, default=None)
    known: dict[str, HostInfo] = {}
    for host in hosts:
        before = known.get(name_of(host))
        if before is None or _end_of(before) <= _end_of(host):
            known[name_of(host)] = host
    return LaunchedHosts(tuple(known.values()), latest)


def _end_of(host: HostInfo) -> tuple[bool, bool, datetime]:
    """Return what a record is chosen by: that it has an end, that the host was paid for, and the end itself."""
    return host.until is not None, host.since is not None, host.until or datetime.min.replace(tzinfo=UTC)


def name_of(host: HostInfo) -> str:
    """Return a name that no other host of the cluster has, not even one of another launch."""
    return host.facts.get("instance_id", host.name)


def account_problems(toolkit: Toolkit, campaign: Campaign, campaign_id: str) -> Iterator[Problem]:
    """Yield where hosts of the campaign live in another account than the definition's connection leads to.

    Where that can't be told, the provider that the campaign had so far may go on.
    """
    source, launches = campaign.provider.hosts_from, _living(toolkit, campaign_id)
    if source is None or not launches:
        return
    where = f"{source.key}.connection"
    try:
        account = toolkit.provider(campaign).account()
    except ProviderError as error:
        if CampaignStore(toolkit.store, campaign_id).declared().provider != campaign.provider:
            what = f"the account that it leads to can't be told, and hosts of the campaign live: {error.headline}"
            yield Problem(where, what, error.mend)
        return
    if not account:  # its hosts are in none
        return
    for other in dict.fromkeys(launch.account for launch in launches if launch.account != account):
        yield _problem(where, account, [launch for launch in launches if launch.account == other])


def _living(toolkit: Toolkit, campaign_id: str) -> list[Launch]:
    """Return the launches of the campaign whose hosts live, as far as is on record, in a known account."""
    store, now = toolkit.store, toolkit.clock.now()
    if not campaign_id or not campaign_exists(store, campaign_id):
        return []
    return [
        launch
        for cluster_id in readable_open_accounts(CampaignStore(store, campaign_id))
        for launch in read_launches(store, cluster_id)
        if launch.account and launch.living and now < (launch.ends_at or launch.expires_at)
    ]


def _problem(where: str, account: str, launches: Sequence[Launch]) -> Problem:
    clusters = list(dict.fromkeys(str(launch.id) for launch in launches))
    what = f"leads to the account {account}, and hosts of {', '.join(clusters)} live in {launches[0].account}"
    through = ", ".join(dict.fromkeys(launch.place["connection"] for launch in launches))
    ends = ", ".join(f"`plimsoll clusters destroy {cluster}`" for cluster in clusters)
    mend = f"they were launched through {through}: write that, or first let them end; {ends} ends them"
    return Problem(where, what, mend)
