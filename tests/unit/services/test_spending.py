"""What a campaign has cost and whether its budget has room, on a provider whose hosts cost 1 USD an hour each."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.fakes.clock import BEGAN, SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import PaidProvider, Prices

from plimsoll.domain.cluster import PartlySeen
from plimsoll.domain.cost import Cost
from plimsoll.domain.errors import ProviderError, Refused
from plimsoll.services import phases
from plimsoll.services.attempts import begin
from plimsoll.services.campaigns import CampaignStore, read_cluster
from plimsoll.services.progress import campaign_progress
from plimsoll.services.reaping import reap
from plimsoll.services.running import run_cell
from plimsoll.services.spending import campaign_spending, destroy_cluster, ledger, spent_usd

HOUR = timedelta(hours=1)


@pytest.fixture
def clock():
    return SteppingClock()


@pytest.fixture
def installation(tmp_path):
    return Installation(tmp_path)


@pytest.fixture
def tools(installation, clock):
    toolkit = installation.toolkit
    provider = PaidProvider(toolkit.providers["instant"], clock)
    return replace(toolkit, clock=clock, providers={"instant": provider}, tariffs={"instant": Prices()})


def opened(installation, *, budget, hours=2):
    """A campaign of 4 cells; each is 4 hosts for so many hours."""
    made = instant_definition()
    timing = made.timing.model_copy(update={"duration": hours * HOUR, "warmup": 0 * HOUR})
    return installation.open_campaign(made.model_copy(update={"budget": budget, "timing": timing}))


def start(tools, cell_id="v1-001k-r1"):
    work = begin(tools, "campaign", cell_id, "me")
    phases.provision(work)
    return work


def read_cost(store, key):
    """The record of an attempt that is over."""
    names = [name for name in store.keys(f"{key.campaign_id}/costs/{key.cell_id}/{key.attempt}") if ".json" in name]
    assert len(names) < 2
    return Cost.model_validate_json(store.read(names[0])) if names else None


def spent(tools, campaign):
    return spent_usd(ledger(campaign, tools.clock.now()))


def test_a_cell_that_runs_costs_more_every_hour(installation, tools, clock):
    campaign = opened(installation, budget=None)
    start(tools)
    clock.at += HOUR / 2
    assert spent(tools, campaign) == pytest.approx(2.0)
    clock.at += HOUR / 2
    assert spent(tools, campaign) == pytest.approx(4.0)


def test_its_cost_is_on_record_once_it_is_destroyed_and_stays(installation, tools, clock):
    campaign = opened(installation, budget=None)
    work = start(tools)
    clock.at += HOUR
    phases.destroy(work)
    clock.at += 5 * HOUR
    phases.destroy(work)
    cost = read_cost(tools.store, work.key)
    assert (cost.usd, cost.host_seconds, cost.ended_at) == (pytest.approx(4.0), 4 * 3600, BEGAN + HOUR)
    assert spent(tools, campaign) == pytest.approx(4.0)


def test_a_campaigns_progress_shows_what_it_has_cost(installation, tools, clock):
    opened(installation, budget=None)
    start(tools)
    clock.at += HOUR
    assert campaign_progress(tools.store, "campaign", now=clock.now()).usd == pytest.approx(4.0)


def test_every_attempt_counts(installation, tools, clock):
    campaign = opened(installation, budget=None)
    for _ in range(2):
        work = start(tools)
        clock.at += HOUR
        phases.destroy(work)
    assert [(entry.key.attempt, entry.final) for entry in ledger(campaign, clock.now())] == [(1, True), (2, True)]
    assert spent(tools, campaign) == pytest.approx(8.0)


def test_what_the_reaper_destroys_is_accounted_for(installation, tools, clock):
    opened(installation, budget=None)
    work = start(tools)
    clock.at += HOUR
    assert reap(tools, lambda _: True).kept
    assert read_cost(tools.store, work.key) is None
    reap(tools, lambda _: False)
    assert read_cost(tools.store, work.key).usd == pytest.approx(4.0)


def test_what_ended_by_itself_costs_up_to_its_expiry(installation, tools, clock):
    campaign = opened(installation, budget=None)
    work = start(tools)
    installation.provider.destroy(work.key)  # nobody puts that on record
    clock.at += 100 * HOUR
    expires = read_cluster(tools.store, work.key).expires_at
    assert spent(tools, campaign) == pytest.approx(4 * (expires - BEGAN) / HOUR)


def test_an_attempt_that_never_had_hosts_costs_nothing(installation, tools):
    campaign = opened(installation, budget=None)
    installation.faults.plant("v1-001k-r1", "provision")
    work = begin(tools, "campaign", "v1-001k-r1", "me")
    with pytest.raises(ProviderError):
        phases.provision(work)
    phases.destroy(work)
    assert read_cost(tools.store, work.key).usd == 0
    assert spent(tools, campaign) == 0


def test_no_cell_begins_past_the_budget(installation, tools, clock):
    opened(installation, budget=17.0)  # a cell is 8 USD
    for cell_id in ("v1-001k-r1", "v1-002k-r1"):
        work = start(tools, cell_id)
        clock.at += 2 * HOUR
        phases.destroy(work)
    with pytest.raises(Refused, match=r"16\.00 USD are spent, 0\.00 USD are due .* the budget is 17 USD") as caught:
        begin(tools, "campaign", "v2-001k-r1", "me")
    assert "raise `budget`" in str(caught.value)
    assert CampaignStore(tools.store, "campaign").attempts("v2-001k-r1") == ()


def test_cells_that_run_are_counted_with_what_they_will_cost(installation, tools):
    opened(installation, budget=17.0)
    start(tools, "v1-001k-r1")
    begin(tools, "campaign", "v1-002k-r1", "me")  # its hosts are yet to come
    with pytest.raises(Refused, match=r"0\.\d+ USD are spent, 15\.\d+ USD are due"):
        begin(tools, "campaign", "v2-001k-r1", "me")


def test_a_cell_that_runs_is_not_cut_by_the_budget(installation, tools, clock):
    opened(installation, budget=8.5)
    work = start(tools, "v1-001k-r1")
    clock.at += 10 * HOUR  # 40 USD, well past it
    phases.deploy(work)
    phases.start_load(work)
    assert phases.poll_load(work).state == "complete"
    assert tools.providers["instant"].find(work.key)


def test_the_account_names_prices_estimate_and_each_cells_share(installation, tools, clock):
    campaign = opened(installation, budget=40.0)
    for cell_id, attempts in (("v1-001k-r1", 2), ("v2-001k-r1", 1)):
        for _ in range(attempts):
            work = start(tools, cell_id)
            clock.at += HOUR / 4
            phases.destroy(work)
    account = campaign_spending(campaign, clock.now())
    assert account.usd == pytest.approx(3.0)
    assert account.of_cell("v1-001k-r1") == pytest.approx(2.0)
    assert account.of_cell("v1-002k-r1") is None
    assert account.prices == ("a price table of tests",)
    assert (account.estimated_usd, account.budget_usd, account.node_usd_per_hour) == (32.0, 40.0, 1.0)


def test_whoever_watches_a_run_sees_what_is_spent(installation, tools):
    opened(installation, budget=40.0)
    said = []
    run_cell(tools, "campaign", "v1-001k-r1", "me", said.append)
    assert any(re.search(r"has spent 0\.\d+ USD of its budget of 40 USD so far", line) for line in said), said


def test_what_can_not_be_seen_is_destroyed_all_the_same(installation, tools, monkeypatch):
    campaign = opened(installation, budget=None)
    work = start(tools)
    provider = tools.providers["instant"]
    monkeypatch.setattr(provider, "find", lambda _: None)

    def partly():
        raise PartlySeen("key pairs may not be listed", [])

    monkeypatch.setattr(provider, "clusters", partly)
    phases.destroy(work)
    assert installation.provider.clusters() == []
    assert [entry.final for entry in ledger(campaign, tools.clock.now())] == [True]


def test_a_failed_cell_gives_its_share_back(installation, tools):
    opened(installation, budget=9.0)
    installation.faults.plant("v1-001k-r1", "provision")
    work = begin(tools, "campaign", "v1-001k-r1", "me")
    with pytest.raises(ProviderError):
        phases.provision(work)
    phases.destroy(work)
    begin(tools, "campaign", "v2-001k-r1", "me")


def test_a_raised_budget_counts_and_nothing_that_is_measured_may_change(installation, tools):
    campaign = opened(installation, budget=1.0)
    with pytest.raises(Refused, match="has no room"):
        begin(tools, "campaign", "v1-001k-r1", "me")
    raised = campaign.definition().model_copy(update={"budget": 100.0})
    assert campaign.open(raised) == raised
    assert campaign.definition().budget == 100.0
    begin(tools, "campaign", "v1-001k-r1", "me")
    with pytest.raises(Refused, match=r"changed since: .*seed"):
        campaign.open(raised.model_copy(update={"budget": 5.0, "seed": 9}))


def test_a_second_look_at_what_was_left_counts_if_it_found_more(installation, tools, clock):
    campaign = opened(installation, budget=None)
    work = start(tools)
    cluster = tools.providers["instant"].find(work.key)
    half = cluster.model_copy(update={"hosts": cluster.hosts[:1]})
    clock.at += HOUR
    for found, usd in ((half, 1.0), (cluster, 4.0), (half, 4.0)):
        destroy_cluster(tools, tools.providers["instant"], work.key, found)
        assert spent(tools, campaign) == pytest.approx(usd)


def test_a_budget_without_prices_can_not_be_kept(installation, tools):
    opened(installation, budget=100.0)
    unknown = replace(tools, tariffs={"instant": Prices(None)})
    with pytest.raises(Refused, match="a price table of tests"):
        begin(unknown, "campaign", "v1-001k-r1", "me")


def test_where_hosts_cost_nothing_there_is_nothing_to_count(installation, tools):
    campaign = opened(installation, budget=0.01)
    free = replace(tools, tariffs={})
    work = start(free)
    phases.destroy(work)
    assert read_cost(free.store, work.key) is None
    assert campaign.attempts("v1-001k-r1")
    assert campaign_spending(campaign, free.clock.now()) is None
