"""The cost of a campaign, from its store alone, with that of kept hosts while attempts used them and while they were
idle, and what is still due for the cells that run.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.grid import cells_by_id, parts_of
from plimsoll.domain.campaign.part import Setup
from plimsoll.domain.hosts.cluster import Cluster, ClusterId
from plimsoll.domain.hosts.cost import Entry, Paid, Spending, Tariff, shared, total
from plimsoll.domain.text.units import format_usd, show_usd
from plimsoll.ports.store import ReadableStore
from plimsoll.services.hosts.kept_records import assignment_of, assignments, spans
from plimsoll.services.hosts.paid_hosts import accounts, has_prices, is_least, read_launched, tariff_of
from plimsoll.services.ownership import LOST_AFTER
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.toolkit import Toolkit


class KeptCosts:
    """Costs up to one point in time. It reads each use and each cluster's hosts only once."""

    def __init__(self, store: ReadableStore, end: datetime, seen: Cluster | None = None) -> None:
        """Read the records. Hosts of unknown end count until `end`. `seen` is a cluster as its provider showed it."""
        self._store, self._end, self._seen = store, end, seen
        self._uses, self._of = cache(partial(assignments, store)), cache(self._share_out)

    def share(self, key: AttemptKey) -> Paid | None:
        """Return the attempt's cost on all kept clusters that it used; None where it has used none."""
        use = assignment_of(self._store, key)
        return self.shares(use.cluster, key)[key] if use else None

    def shares(self, cluster_id: ClusterId, *keys: AttemptKey) -> Mapping[AttemptKey, Paid]:
        """Return the cost of these attempts on all clusters of the cluster's purpose.

        Without keys: the cost of all attempts that used the cluster. An attempt has used several clusters if its first
        one was replaced.
        """
        uses = self._uses(cluster_id.campaign_id, cluster_id.purpose)
        wanted = set(keys) or {use.attempt for use in uses if use.cluster == cluster_id}
        paid = dict.fromkeys(wanted, Paid(usd=0.0, host_seconds=0.0))
        for key, used in dict.fromkeys((use.attempt, use.cluster) for use in uses if use.attempt in wanted):
            paid[key] = paid[key].plus(self._of(used)[0][key])
        return paid

    def idle(self, cluster_id: ClusterId) -> Paid:
        """Return the cost of the cluster while no attempt used it."""
        return self._of(cluster_id)[1]

    def _share_out(self, cluster_id: ClusterId) -> tuple[dict[AttemptKey, Paid], Paid]:
        seen = self._seen if self._seen and self._seen.id == cluster_id else None
        launched = read_launched(self._store, cluster_id, seen)
        used = spans(self._uses(cluster_id.campaign_id, cluster_id.purpose), cluster_id)
        return shared(launched.hosts, used, launched.end(self._end))


_HOUR = timedelta(hours=1)


def cell_usd(campaign: Campaign, tariff: Tariff, cell_id: str) -> float | None:
    """Return the cost of a cell's hosts, USD, for all time that its definition gives it; None without a price."""
    # Kept hosts are as many as the stage with the most needs, whatever the cell's own stage does
    own = [campaign] if campaign.cluster_scope != "cell" else parts_of(campaign, cell_id)
    hourly = tariff.usd_per_cluster_hour(max(setup.node_hosts for setup in own), campaign.load_generator.hosts)
    return None if hourly is None else hourly * (_time_of(campaign, cell_id) / _HOUR)


def grid_usd(campaign: Campaign, tariff: Tariff) -> float | None:
    """Return the cost of all cells' hosts, USD, for the same; None where no price is known."""
    priced = [(tariff.usd_per_cluster_hour(*campaign.shape_of(stage)), stage.host_time) for stage in campaign.stages]
    known = [usd * (time / _HOUR) for usd, time in priced if usd is not None]
    return sum(known) if len(known) == len(priced) else None


def ledger(campaign: StoredCampaign, now: datetime) -> tuple[Entry, ...]:
    """Return the cost of every attempt on paid hosts, and of idle hosts.

    It takes one listing of the store, reads of each account that is open, and one of each that may lack a price.
    """
    kept, entries, known = KeptCosts(campaign.store, now), list[Entry](), accounts(campaign)
    # A definition has all of its prices or not, so one account tells of the others, which are many
    are_priced = all(has_prices(campaign.store, key) for key in list(known)[:1])
    for key, usd in known.items():
        cluster_id = ClusterId.of_attempt(key)
        so_far = _so_far(campaign.store, kept, cluster_id, now) if usd is None else usd
        least = not (are_priced and so_far) and is_least(campaign.store, key, so_far, usd)
        entries.append(Entry(key=key, usd=so_far, final=usd is not None, idle=cluster_id.is_kept, is_least=least))
    return tuple(entries)


def spent_usd(entries: Iterable[Entry]) -> float:
    return sum(entry.usd for entry in entries)


def known_usd(entries: Sequence[Entry]) -> float | None:
    """Return the sum of the entries, USD; None where a price is not known."""
    return None if any(entry.is_least for entry in entries) else spent_usd(entries)


def campaign_spending(campaign: StoredCampaign, now: datetime) -> Spending | None:
    """Return the campaign's cost, with the prices at which its attempts began; None where hosts cost nothing."""
    entries = ledger(campaign, now)
    if not entries:
        return None
    oldest_first = sorted((entry.key for entry in entries), key=partial(_began, campaign.store))
    tariffs = [tariff for key in oldest_first if (tariff := tariff_of(campaign.store, key))]
    resolved = campaign.resolved()
    return Spending(
        entries=tuple(entry for entry in entries if not entry.idle),
        idle=tuple(entry for entry in entries if entry.idle),
        prices=tuple(dict.fromkeys(tariff.source for tariff in tariffs)),
        estimated_usd=grid_usd(resolved, tariffs[-1]) if tariffs else None,
        budget_usd=resolved.budget,
        node_usd_per_hour=tariffs[-1].node.usd_per_hour if tariffs else None,
    )


def _began(store: ReadableStore, key: AttemptKey) -> datetime:
    """Return when the attempt began. Idle hosts, whose prices are those of an attempt, count as older than all."""
    attempt = layout.ATTEMPT.read(store, key)
    return attempt.started_at if attempt else datetime.min.replace(tzinfo=UTC)


def spent_so_far(toolkit: Toolkit, campaign: CampaignStore, setup: Setup) -> str:
    """Return a sentence about the campaign's cost for people who watch it run; empty where hosts cost nothing."""
    entries = ledger(campaign, toolkit.clock.now()) if setup.provider.name in toolkit.tariffs else ()
    if not entries:
        return ""
    usd = known_usd(entries)
    if usd is None:
        return "what the campaign has spent so far can't be told: a price of its hosts is not known"
    idle = spent_usd(entry for entry in entries if entry.idle)
    budget = "" if setup.budget is None else f" of its budget of {format_usd(setup.budget)}"
    kept = f", of it {show_usd(idle)} while kept hosts stood idle" if idle else ""
    return f"the campaign has spent {show_usd(usd)}{budget} so far{kept}"


def _so_far(store: ReadableStore, kept: KeptCosts, cluster_id: ClusterId, now: datetime) -> float:
    """Return the cost of an attempt or of idle hosts until now, USD."""
    key = cluster_id.attempt
    if key is None:
        return kept.idle(cluster_id).usd
    if (share := kept.share(key)) is not None:
        return share.usd
    launched = read_launched(store, cluster_id)
    return total(launched.hosts, launched.end(now)).usd


def _time_of(campaign: Campaign, cell_id: str) -> timedelta:
    """Return the time for which a cell needs hosts. Of loads that share their data, the lowest alone populates."""
    cell = cells_by_id(campaign).get(cell_id)
    if cell is None:
        return campaign.declared_time
    part = campaign.part(cell.part)
    is_further = cell.load_ops_s > min(part.loads_on_data_of(cell.variant, cell.load_ops_s))
    beyond = part.timing.beyond_the_load if is_further else timedelta(0)
    return part.declared_time - beyond


def due_usd(store: ReadableStore, campaign: Campaign, entries: Iterable[Entry], now: datetime, tariff: Tariff) -> float:
    """Return the further cost of the attempts that run or are about to run, USD."""
    return sum(_due(store, entry, campaign, now, tariff) for entry in entries if not entry.final)


def _due(store: ReadableStore, entry: Entry, campaign: Campaign, now: datetime, tariff: Tariff) -> float:
    cell_id, attempt = entry.key.cell_id, layout.ATTEMPT.read(store, entry.key)
    whole = _time_of(campaign, cell_id)
    if attempt is None or now > attempt.started_at + whole + LOST_AFTER:
        return 0.0
    progress = layout.PROGRESS.read_sound(store, entry.key)
    begun = {phase: at for phase, at in progress.phases.items() if at <= now} if progress else {}
    load = max(part.timing.duration for part in parts_of(campaign, cell_id))
    return (cell_usd(campaign, tariff, cell_id) or 0.0) * (_left(whole, load, begun, now) / whole)


def _left(whole: timedelta, load: timedelta, begun: Mapping[str, datetime], now: datetime) -> timedelta:
    """Return what is left of a cell's time, by the begin of its phases: all of it before rows are written.

    Hosts are paid for, too, while they are waited for and set up, which is no part of that time.
    """
    if "collect" in begun:
        return timedelta(0)
    if loaded_since := begun.get("warm-up", begun.get("load")):
        return max(timedelta(0), load - (now - loaded_since))
    return max(load, whole - (now - begun.get("populate", now)))
