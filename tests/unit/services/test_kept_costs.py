"""What kept hosts cost: shared out by time among the attempts that used them, the rest named as idle time."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.census import Census
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.paid import PaidProvider, Prices
from tests.unit.services.test_kept_hosts import CELLS, kept

from plimsoll.domain.cost import Spending
from plimsoll.domain.errors import Refused
from plimsoll.services import kept_hosts
from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.reaping import destroy_unseen, reap
from plimsoll.services.spending import campaign_spending, spent_so_far
from plimsoll.services.toolkit import Toolkit

HOUR = timedelta(hours=1)
"""In which the four hosts of the cluster cost 4 USD."""


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def tools(tmp_path: Path, clock: SteppingClock) -> Toolkit:
    made = Installation(tmp_path)
    plain = kept("campaign")
    timing = plain.timing.model_copy(update={"duration": 9 * HOUR, "warmup": 0 * HOUR})
    made.open_campaign(plain.model_copy(update={"timing": timing}))
    owners, provider = Census(alive={"me"}), PaidProvider(made.toolkit.providers["instant"], clock)
    providers = {"instant": provider}
    return replace(made.toolkit, clock=clock, owners=owners, providers=providers, tariffs={"instant": Prices()})


def started(tools: Toolkit, cell_id: str, owner: str = "me") -> AttemptContext:
    work = begin(tools, "campaign", cell_id, owner)
    actions.provision(work)
    return work


def spending(tools: Toolkit) -> Spending:
    found = campaign_spending(CampaignStore(tools.store, "campaign"), tools.clock.now())
    assert found is not None
    return found


def shares(tools: Toolkit) -> dict[str, float]:
    return {entry.key.cell_id: entry.usd for entry in spending(tools).entries}


def test_each_attempt_pays_for_the_time_that_it_had_the_hosts(tools: Toolkit, clock: SteppingClock) -> None:
    for cell, hours in ((CELLS[0], 2), (CELLS[1], 1)):
        work = started(tools, cell)
        clock.at += hours * HOUR
        actions.destroy(work)
        clock.at += HOUR / 2
    assert shares(tools) == pytest.approx({CELLS[0]: 8.0, CELLS[1]: 4.0})
    assert spending(tools).idle_usd == pytest.approx(4.0)
    kept_hosts.end_kept(tools, "campaign")
    clock.at += 3 * HOUR
    account = spending(tools)
    assert (account.usd, account.idle_usd) == (pytest.approx(16.0), pytest.approx(4.0))
    assert all(entry.final for entry in (*account.entries, *account.idle))
    campaign = CampaignStore(tools.store, "campaign")
    assert "of it 4.00 USD while kept hosts stood idle" in spent_so_far(tools, campaign, campaign.definition())


def test_an_attempt_that_runs_has_cost_what_its_hosts_have_so_far(tools: Toolkit, clock: SteppingClock) -> None:
    started(tools, CELLS[0])
    clock.at += HOUR
    account = spending(tools)
    assert (account.usd, account.idle_usd) == (pytest.approx(4.0), 0)
    assert not account.entries[0].final


def test_an_attempt_whose_process_died_pays_until_the_next_one_begins(tools: Toolkit, clock: SteppingClock) -> None:
    started(tools, CELLS[0], "dead")
    clock.at += HOUR
    second = started(tools, CELLS[1])
    clock.at += 2 * HOUR
    actions.destroy(second)
    assert shares(tools) == pytest.approx({CELLS[0]: 4.0, CELLS[1]: 8.0})
    assert [entry.final for entry in spending(tools).entries] == [True, True]


def test_a_cell_that_runs_again_does_not_bill_its_dead_attempt_for_the_whole_cluster(
    tools: Toolkit, clock: SteppingClock
) -> None:
    actions.destroy(started(tools, CELLS[1]))
    clock.at += HOUR
    started(tools, CELLS[0], "dead")
    clock.at += HOUR
    started(tools, CELLS[0])
    assert spending(tools).of_cell(CELLS[0]) == pytest.approx(4.0)


def test_the_reaper_puts_on_record_what_kept_hosts_have_cost(tools: Toolkit, clock: SteppingClock) -> None:
    work = started(tools, CELLS[0])
    clock.at += HOUR
    actions.destroy(work)
    clock.at += HOUR
    assert reap(tools, lambda _: False).troubles == ()
    clock.at += 9 * HOUR
    account = spending(tools)
    assert (account.usd, account.idle_usd) == (pytest.approx(8.0), pytest.approx(4.0))
    assert not destroy_unseen(tools, "campaign/hosts/1"), "its account is closed"


def test_idle_time_counts_towards_the_budget(tools: Toolkit, clock: SteppingClock) -> None:
    campaign = CampaignStore(tools.store, "campaign")
    campaign.open(campaign.definition().model_copy(update={"budget": 44.0}))  # a cell is 36 USD
    work = started(tools, CELLS[0])
    clock.at += HOUR
    actions.destroy(work)
    assert begin(tools, "campaign", CELLS[1], "me")
    clock.at += 10 * HOUR
    with pytest.raises(Refused, match="no room for another cell"):
        begin(tools, "campaign", CELLS[2], "me")
