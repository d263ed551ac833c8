"""What a campaign has cost and whether its budget has room, on a provider whose hosts cost 1 USD an hour each."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NoReturn, cast

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import PaidProvider, Prices

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import ClusterId, HostInfo
from plimsoll.domain.cost import Cost
from plimsoll.domain.errors import ProviderError, Refused, StoreError
from plimsoll.domain.launch import Launch
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.progress import campaign_progress
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts.booking import destroy_cluster
from plimsoll.services.hosts.launches import StoredLaunches
from plimsoll.services.hosts.outage import Outage
from plimsoll.services.hosts.reaping import destroy_owned, destroy_unseen, reap
from plimsoll.services.hosts.spending import campaign_spending, ledger, spent_usd
from plimsoll.services.steps.running import run_cell
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, read_cluster
from plimsoll.services.toolkit import Toolkit

HOUR = timedelta(hours=1)


@pytest.fixture
def tools(installation: Installation, clock: SteppingClock) -> Toolkit:
    toolkit = installation.toolkit
    provider = PaidProvider(toolkit.providers["instant"], clock)
    return replace(toolkit, clock=clock, providers={"instant": provider}, tariffs={"instant": Prices()})


def opened(installation: Installation, *, budget: float | None, hours: float = 2) -> CampaignStore:
    """A campaign of 4 cells; each is 4 hosts for so many hours."""
    made = instant_definition()
    timing = made.timing.model_copy(update={"duration": hours * HOUR, "warmup": 0 * HOUR})
    return installation.open_campaign(made.model_copy(update={"budget": budget, "timing": timing}))


def start(tools: Toolkit, cell_id: str = "v1-001k-r1") -> AttemptContext:
    work = begin(tools, "campaign", cell_id, "me")
    actions.provision(work)
    return work


def read_cost(store: ResultStore, key: AttemptKey) -> Cost | None:
    """The record of an attempt that is over."""
    names = [name for name in store.keys(f"{key.campaign_id}/costs/{key.cell_id}/{key.attempt}") if ".json" in name]
    assert len(names) < 2
    return Cost.model_validate_json(store.read(names[0])) if names else None


def spent(tools: Toolkit, campaign: CampaignStore) -> float:
    return spent_usd(ledger(campaign, tools.clock.now()))


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
    expires = read_cluster(tools.store, work.key).expires_at
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


def test_no_cell_begins_past_the_budget(installation: Installation, tools: Toolkit, clock: SteppingClock) -> None:
    opened(installation, budget=17.0)  # a cell is 8 USD
    for cell_id in ("v1-001k-r1", "v1-002k-r1"):
        work = start(tools, cell_id)
        clock.at += 2 * HOUR
        actions.destroy(work)
    with pytest.raises(Refused, match=r"16\.00 USD are spent, 0\.00 USD are due .* the budget is 17 USD") as caught:
        begin(tools, "campaign", "v2-001k-r1", "me")
    assert "raise `budget`" in str(caught.value)
    assert CampaignStore(tools.store, "campaign").attempts("v2-001k-r1") == ()


def test_cells_that_run_are_counted_with_what_they_will_cost(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=17.0)
    start(tools, "v1-001k-r1")
    begin(tools, "campaign", "v1-002k-r1", "me")  # its hosts are yet to come
    with pytest.raises(Refused, match=r"0\.\d+ USD are spent, 15\.\d+ USD are due"):
        begin(tools, "campaign", "v2-001k-r1", "me")


def test_a_cell_that_runs_is_not_cut_by_the_budget(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=8.5)
    work = start(tools, "v1-001k-r1")
    clock.at += 10 * HOUR  # 40 USD, well past it
    actions.deploy(work)
    loading.start_load(work)
    assert loading.poll_load(work).state == "complete"
    assert tools.providers["instant"].find(work.cluster_id)


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


def test_whoever_watches_a_run_sees_what_is_spent(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=40.0)
    said: list[str] = []
    run_cell(tools, "campaign", "v1-001k-r1", "me", said.append)
    assert any(re.search(r"has spent 0\.\d+ USD of its budget of 40 USD so far", line) for line in said), said


def test_a_failed_cell_gives_its_share_back(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=9.0)
    installation.faults.plant("v1-001k-r1", "provision")
    work = begin(tools, "campaign", "v1-001k-r1", "me")
    with pytest.raises(ProviderError):
        actions.provision(work)
    actions.destroy(work)
    begin(tools, "campaign", "v2-001k-r1", "me")


def test_a_raised_budget_counts_and_nothing_that_is_measured_may_change(
    installation: Installation, tools: Toolkit
) -> None:
    campaign = opened(installation, budget=1.0)
    with pytest.raises(Refused, match="has no room"):
        begin(tools, "campaign", "v1-001k-r1", "me")
    raised = campaign.definition().model_copy(update={"budget": 100.0})
    assert campaign.open(raised) == raised
    assert campaign.definition().budget == 100.0
    begin(tools, "campaign", "v1-001k-r1", "me")
    with pytest.raises(Refused, match=r"changed since: .*seed"):
        campaign.open(raised.model_copy(update={"budget": 5.0, "seed": 9}))


def test_a_second_look_at_what_was_left_counts_if_it_found_more(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    work = start(tools)
    cluster = work.cluster()
    half = cluster.model_copy(update={"hosts": cluster.hosts[:1]})
    clock.at += HOUR
    tools.store.delete(layout.attempt_file(work.key, layout.CLUSTER))  # its provision never came so far
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


def test_hosts_of_rounds_that_were_undone_and_hosts_that_died_are_billed(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    campaign = opened(installation, budget=None)
    work = start(tools)
    tools.store.delete(layout.attempt_file(work.key, layout.CLUSTER))
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
    tools.store.write(f"{layout.costs_prefix('campaign')}/v1-001k-r1/1/notes.txt", b"somebody's own")
    assert records.unsettled() == ()


def test_a_cell_that_begins_again_destroys_what_no_cloud_shows_yet(
    installation: Installation, tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has recorded the end of the attempt before."""
    opened(installation, budget=None)
    first = begin(tools, "campaign", "v1-001k-r1", "me")
    destroyed: list[ClusterId] = []
    monkeypatch.setattr(tools.providers["instant"], "destroy", destroyed.append)
    begin(tools, "campaign", "v1-001k-r1", "me")
    assert destroyed == [first.cluster_id]


class Unreachable:
    """A store whose broken methods fail; the others work as before."""

    def __init__(self, store: ResultStore, *broken: str) -> None:
        self._store, self._broken = store, broken

    def __getattr__(self, name: str) -> Any:
        if name in self._broken:
            return self._fail
        return getattr(self._store, name)

    def _fail(self, *_: object, **__: object) -> NoReturn:
        raise StoreError("can't be used: connection refused")


def without(tools: Toolkit, *broken: str) -> Toolkit:
    """The toolkit with a store whose methods of these names fail."""
    return replace(tools, store=cast(ResultStore, Unreachable(tools.store, *broken)))


@pytest.mark.parametrize("broken", [("read", "exists", "keys", "folders", "write", "create"), ("write", "create")])
def test_a_store_out_of_reach_keeps_no_hosts_alive(
    installation: Installation, tools: Toolkit, clock: SteppingClock, broken: tuple[str, ...]
) -> None:
    opened(installation, budget=None)
    work = start(tools)
    clock.at += HOUR
    later = AttemptContext(without(tools, *broken), work.key)
    with pytest.raises(StoreError, match=r"the cluster is gone, but what it has cost could not be recorded") as caught:
        actions.destroy(later)
    assert f"plimsoll clusters destroy {work.key}" in caught.value.mend
    assert installation.provider.clusters() == []


def test_the_reaper_ends_all_clusters_before_it_tells_of_a_store_out_of_reach(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=None)
    works = [start(tools, cell) for cell in ("v1-001k-r1", "v1-002k-r1")]
    reaped = reap(without(tools, "read", "keys", "write"), lambda _: False)
    assert installation.provider.clusters() == []
    assert [cluster.id for cluster in reaped.destroyed] == [work.cluster_id for work in works]
    first, others = reaped.troubles
    assert "could not be recorded" in first
    # They end side by side: whichever was first is tried, and the other is only named.
    (named,) = (str(work.key) for work in works if str(work.key) in others)
    assert named not in first


def test_a_budget_without_prices_can_not_be_kept(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=100.0)
    unknown = replace(tools, tariffs={"instant": Prices(None)})
    with pytest.raises(Refused, match="a price table of tests"):
        begin(unknown, "campaign", "v1-001k-r1", "me")


def test_where_hosts_cost_nothing_there_is_nothing_to_count(installation: Installation, tools: Toolkit) -> None:
    campaign = opened(installation, budget=0.01)
    free = replace(tools, tariffs={})
    work = start(free)
    actions.destroy(work)
    assert read_cost(free.store, work.key) is None
    assert campaign.attempts("v1-001k-r1")
    assert campaign_spending(campaign, free.clock.now()) is None


def test_an_owners_clusters_end_without_the_store(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=None)
    works = [start(tools, cell) for cell in ("v1-001k-r1", "v1-002k-r1")]
    blind = without(tools, "read", "exists", "keys", "folders", "write")
    assert destroy_owned(blind, lambda owner: owner == "nobody") == ()
    assert destroy_owned(blind, lambda owner: owner == "me") == tuple(work.cluster_id for work in works)
    assert installation.provider.clusters() == []


def test_an_attempt_that_no_cloud_shows_is_destroyed_by_its_name(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=None)
    work = start(tools)
    clock.at += HOUR
    assert destroy_unseen(tools, str(work.key))
    assert read_cost(tools.store, work.key).usd == pytest.approx(4.0)
    assert not destroy_unseen(tools, str(work.key)), "its account is closed"
    assert not destroy_unseen(tools, "campaign")
