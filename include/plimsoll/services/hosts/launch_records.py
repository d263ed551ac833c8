"""The record of a cluster's hosts in the store: `cluster.json`, and next to it a file for each request for hosts.

And the check whether a campaign has hosts in another account than the one that its connection leads to: through that
connection nobody could end them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo, Launch
from plimsoll.domain.text.errors import Problem, ProviderError
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.hosts.accounts import readable_open_accounts
from plimsoll.services.hosts.at_rest import stirred_campaigns
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaign_exists
from plimsoll.services.toolkit import Toolkit


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
