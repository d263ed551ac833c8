"""What a campaign has cost."""

from dataclasses import replace
from datetime import datetime

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.paid import Prices
from tests.unit.services.spending.paid_campaign import HOUR, opened, read_cost, spent, start

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import ClusterId, HostInfo, Launch
from plimsoll.domain.text.errors import ProviderError
from plimsoll.services.campaign.show.progress import campaign_progress
from plimsoll.services.campaign.show.status import campaign_summary
from plimsoll.services.campaign.state.reading import Memory
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.hosts.ending import destroy_cluster
from plimsoll.services.hosts.paid_hosts import StoredLaunches
from plimsoll.services.hosts.reaping import reap
from plimsoll.services.hosts.spending import campaign_spending, ledger, spent_so_far
from plimsoll.services.retries import Outage
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit


def test_a_cell_that_runs_costs_more_every_hour(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    start(tools)
    clock.at += HOUR / 2
    assert spent(tools, campaign) == pytest.approx(2.0)
    clock.at += HOUR / 2
    assert spent(tools, campaign) == pytest.approx(4.0)


def test_its_cost_is_on_record_once_it_is_destroyed_and_stays(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    work = start(tools)
    clock.at += HOUR
    actions.destroy(work)
    clock.at += 5 * HOUR
    actions.destroy(work)
    cost = read_cost(tools.store, work.key)
    assert (cost.usd, cost.host_seconds, cost.ended_at) == (pytest.approx(4.0), 4 * 3600, BEGAN + HOUR)
    assert spent(tools, campaign) == pytest.approx(4.0)


def test_a_campaigns_progress_shows_what_it_has_cost(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=None)
    start(tools)
    clock.at += HOUR
    assert campaign_progress(tools.store, "campaign", now=clock.now()).usd == pytest.approx(4.0)


def test_of_hosts_without_a_known_price_nobody_says_that_they_were_free(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    unpriced = replace(tools, tariffs={"instant": Prices(None)})
    begin(unpriced, "campaign", "v1-001k-r1", "me")
    clock.at += HOUR
    progress = campaign_progress(tools.store, "campaign", now=clock.now())
    summary = campaign_summary(tools.store, "campaign", campaign.resolved(), clock.now(), Memory())
    assert (progress.usd, progress.spent, summary.usd) == (None, "an unknown amount", None)
    told = spent_so_far(unpriced, campaign, campaign.resolved().parts[0])
    assert told == "what the campaign has spent so far can't be told: a price of its hosts is not known"


@pytest.mark.parametrize(("priced", "usd"), [(("node1", "load"), None), (("node1", "node2", "node3", "load"), 4.0)])
def test_a_host_without_a_known_price_beside_others_is_not_left_out_of_a_sum(
    installation: Installation, tools: Toolkit, clock: SteppingClock, priced: tuple[str, ...], usd: float | None
) -> None:
    """The definition has no price, and the provider told those of some hosts, or of all."""
    campaign = opened(installation, budget=None)
    work = start(replace(tools, tariffs={"instant": Prices(None)}))
    cluster = layout.CLUSTER.read(tools.store, work.key)
    hosts = [host if host.name in priced else host.model_copy(update={"usd_per_hour": None}) for host in cluster.hosts]
    layout.CLUSTER.write(tools.store, work.key, cluster.model_copy(update={"hosts": tuple(hosts)}))
    clock.at += HOUR
    assert campaign_progress(tools.store, "campaign", now=clock.now()).usd == usd
    spending = campaign_spending(campaign, clock.now())
    assert spending is not None
    assert (spending.usd, spending.is_least) == (float(len(priced)), usd is None)


@pytest.mark.parametrize(("price", "usd"), [(1.0, 4.0), (None, None)])
def test_of_an_account_that_is_closed_the_records_of_its_hosts_are_not_read_again(
    installation: Installation, tools: Toolkit, clock: SteppingClock, price: float | None, usd: float | None
) -> None:
    """The definition has no price. An older version has recorded costs without telling whether hosts lacked one."""
    campaign = opened(installation, budget=None)
    work = start(replace(tools, tariffs={"instant": Prices(None)}))
    cluster = layout.CLUSTER.read(tools.store, work.key)
    hosts = (cluster.hosts[0].model_copy(update={"usd_per_hour": price}), *cluster.hosts[1:])
    layout.CLUSTER.write(tools.store, work.key, cluster.model_copy(update={"hosts": hosts}))
    clock.at += HOUR
    actions.destroy(work)
    cost = read_cost(tools.store, work.key)
    key = layout.COST.key("campaign", "v1-001k-r1", 1, f"{cost.usd:.6f}")
    recorded = tools.store.read(key)
    tools.store.write(key, layout.COST.content(cost.model_copy(update={"is_least": None})))
    assert campaign_progress(tools.store, "campaign", now=clock.now()).usd == usd
    tools.store.write(key, recorded)
    tools.store.write(layout.CLUSTER.key(work.key), b"damaged")
    assert campaign_progress(tools.store, "campaign", now=clock.now()).usd == usd
    assert campaign_spending(campaign, clock.now()).is_least == (usd is None)


def test_every_attempt_counts(installation: Installation, tools: Toolkit, clock: SteppingClock) -> None:
    campaign = opened(installation, budget=None)
    for _ in range(2):
        work = start(tools)
        clock.at += HOUR
        actions.destroy(work)
    assert [(entry.key.attempt, entry.final) for entry in ledger(campaign, clock.now())] == [(1, True), (2, True)]
    assert spent(tools, campaign) == pytest.approx(8.0)


def test_what_the_reaper_destroys_is_accounted_for(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=None)
    work = start(tools)
    clock.at += HOUR
    assert reap(tools, lambda _: True).kept
    assert read_cost(tools.store, work.key) is None
    reap(tools, lambda _: False)
    assert read_cost(tools.store, work.key).usd == pytest.approx(4.0)


def test_what_ended_by_itself_costs_up_to_its_expiry(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    work = start(tools)
    installation.provider.destroy(work.cluster_id)  # nobody puts that on record
    clock.at += 100 * HOUR
    expires = layout.CLUSTER.read(tools.store, work.key).expires_at
    assert spent(tools, campaign) == pytest.approx(4 * (expires - BEGAN) / HOUR)


def test_an_attempt_that_never_had_hosts_costs_nothing(installation: Installation, tools: Toolkit) -> None:
    campaign = opened(installation, budget=None)
    installation.faults.plant("v1-001k-r1", "provision")
    work = begin(tools, "campaign", "v1-001k-r1", "me")
    with pytest.raises(ProviderError):
        actions.provision(work)
    actions.destroy(work)
    assert read_cost(tools.store, work.key).usd == 0
    assert spent(tools, campaign) == 0


def test_the_account_names_prices_estimate_and_each_cells_share(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=40.0)
    for cell_id, attempts in (("v1-001k-r1", 2), ("v2-001k-r1", 1)):
        for _ in range(attempts):
            work = start(tools, cell_id)
            clock.at += HOUR / 4
            actions.destroy(work)
    account = campaign_spending(campaign, clock.now())
    assert account.usd == pytest.approx(3.0)
    assert account.of_cell("v1-001k-r1") == pytest.approx(2.0)
    assert account.of_cell("v1-002k-r1") is None
    assert account.prices == ("a price table of tests",)
    assert (account.estimated_usd, account.budget_usd, account.node_usd_per_hour) == (32.0, 40.0, 1.0)


def test_prices_that_hosts_were_printed_with_are_known_though_the_definition_has_none(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    """Nor does a damaged file of prices keep anybody from the campaign."""
    campaign = opened(installation, budget=None)
    unpriced = replace(tools, tariffs={"instant": Prices(None)})
    work = begin(unpriced, "campaign", "v1-001k-r1", "me")
    launch = launched(work.key, (paid_host("i-1", BEGAN),))
    StoredLaunches(tools.store, Outage(clock)).note(launch)
    clock.at += HOUR
    assert campaign_progress(tools.store, "campaign", now=clock.now()).usd == pytest.approx(spent(tools, campaign))
    begin(unpriced, "campaign", "v2-001k-r1", "me")
    tools.store.write(layout.PRICES.key("campaign", "v2-001k-r1", 1), b"")
    assert campaign_progress(tools.store, "campaign", now=clock.now()).usd == pytest.approx(spent(tools, campaign))


def test_the_newest_prices_are_those_of_the_attempt_that_began_last(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    start(tools, "v2-002k-r1")
    clock.at += HOUR
    begin(replace(tools, tariffs={"instant": Prices(3.0)}), "campaign", "v1-001k-r1", "me")
    account = campaign_spending(campaign, clock.now())
    assert (account.node_usd_per_hour, account.estimated_usd) == (3.0, 96.0)


def test_a_second_look_at_what_was_left_counts_if_it_found_more(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    work = start(tools)
    cluster = work.cluster()
    half = cluster.model_copy(update={"hosts": cluster.hosts[:1]})
    clock.at += HOUR
    tools.store.delete(layout.CLUSTER.key(work.key))  # its provision never came so far
    for found, usd in ((half, 1.0), (cluster, 4.0), (half, 4.0)):
        destroy_cluster(tools, tools.providers["instant"], work.cluster_id, found)
        assert spent(tools, campaign) == pytest.approx(usd)


def test_whoever_sees_a_remnant_alone_bills_all_that_was_launched(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    work = start(tools)
    cluster = work.cluster()
    unknown = HostInfo(name="node1", role="node", address="unknown")
    clock.at += HOUR
    destroy_cluster(
        tools, tools.providers["instant"], work.cluster_id, cluster.model_copy(update={"hosts": (unknown,)})
    )
    assert read_cost(tools.store, work.key).usd == pytest.approx(4.0)
    assert spent(tools, campaign) == pytest.approx(4.0)


def launched(key: AttemptKey, hosts: tuple[HostInfo, ...], number: int = 0) -> Launch:
    return Launch(
        owner="me",
        id=ClusterId.of_attempt(key),
        token=f"{number:016x}",
        role="node",
        place={"region": "us-east-1", "zone": "us-east-1a"},
        asked_at=BEGAN,
        expires_at=BEGAN + 10 * HOUR,
        hosts=hosts,
    )


def paid_host(instance: str, since: datetime | None, until: datetime | None = None) -> HostInfo:
    return HostInfo(
        name="node1",
        role="node",
        address="10.0.0.1",
        since=since,
        until=until,
        usd_per_hour=1.0,
        facts={"instance_id": instance},
    )


@pytest.mark.parametrize(("place", "usd"), [({"region": "us-east-1"}, 10.0), ({"program": "my-cloud"}, 50.0)])
def test_hosts_of_a_program_which_do_not_end_themselves_cost_for_as_long_as_nobody_saw_them_end(
    installation: Installation, tools: Toolkit, clock: SteppingClock, place: dict[str, str], usd: float
) -> None:
    campaign = opened(installation, budget=None)
    work = begin(tools, "campaign", "v1-001k-r1", "me")
    launch = launched(work.key, (paid_host("i-1", BEGAN),)).model_copy(update={"place": place})
    StoredLaunches(tools.store, Outage(clock)).note(launch)
    clock.at += 50 * HOUR
    assert spent(tools, campaign) == pytest.approx(usd)


def test_hosts_of_rounds_that_were_undone_and_hosts_that_died_are_billed(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    work = start(tools)
    tools.store.delete(layout.CLUSTER.key(work.key))
    records = StoredLaunches(tools.store, Outage(clock))
    undone, died = paid_host("i-1", BEGAN, BEGAN + HOUR / 2), paid_host("i-2", BEGAN, BEGAN + HOUR)
    records.note(launched(work.key, (undone, paid_host("i-3", None, BEGAN))))  # that never ran
    records.note(launched(work.key, (died, paid_host("i-4", BEGAN)), 1))
    clock.at += 2 * HOUR
    assert spent(tools, campaign) == pytest.approx(0.5 + 1 + 2)
    actions.destroy(work)
    clock.at += HOUR
    assert spent(tools, campaign) == pytest.approx(0.5 + 1 + 2)


def test_clusters_whose_account_is_open_are_those_that_may_have_hosts_that_nobody_lists(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=None)
    works = [start(tools, cell) for cell in ("v1-001k-r1", "v1-002k-r1")]
    records = StoredLaunches(tools.store, Outage(clock))
    assert records.unsettled() == tuple(work.cluster_id for work in works)
    actions.destroy(works[0])
    assert records.unsettled() == (works[1].cluster_id,)
    tools.store.write(f"{layout.COST.folder('campaign')}/v1-001k-r1/1/notes.txt", b"somebody's own")
    assert records.unsettled() == ()


def test_where_hosts_cost_nothing_there_is_nothing_to_count(installation: Installation, tools: Toolkit) -> None:
    campaign = opened(installation, budget=0.01)
    free = replace(tools, tariffs={})
    work = start(free)
    actions.destroy(work)
    assert read_cost(free.store, work.key) is None
    assert campaign.attempts("v1-001k-r1")
    assert campaign_spending(campaign, free.clock.now()) is None
