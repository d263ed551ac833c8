"""Whether a budget has room for another cell."""

import re
from dataclasses import replace

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.paid import Prices
from tests.support.campaigns.one_cell import run_cell
from tests.unit.services.spending.paid_campaign import HOUR, opened, start

from plimsoll.domain.attempt.status import Phase
from plimsoll.domain.text.errors import ProviderError, Refused
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempt_state import note_phase
from plimsoll.services.cell.attempts import begin
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit


def test_no_cell_begins_past_the_budget(installation: Installation, tools: Toolkit, clock: SteppingClock) -> None:
    opened(installation, budget=17.0)  # a cell is 8 USD
    for cell_id in ("v1-001k-r1", "v1-002k-r1"):
        work = start(tools, cell_id)
        clock.at += 2 * HOUR
        actions.destroy(work)
    with pytest.raises(Refused, match=r"16\.00 USD are spent, 0\.00 USD are due .* `budget` is 17 USD") as caught:
        begin(tools, "campaign", "v2-001k-r1", "me")
    assert "raise `budget` in the definition" in str(caught.value)
    assert CampaignStore(tools.store, "campaign").attempts("v2-001k-r1") == ()


def test_cells_that_run_are_counted_with_what_they_will_cost(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=17.0)
    start(tools, "v1-001k-r1")
    begin(tools, "campaign", "v1-002k-r1", "me")  # its hosts are yet to come
    with pytest.raises(Refused, match=r"0\.\d+ USD are spent, 16\.00 USD are due"):
        begin(tools, "campaign", "v2-001k-r1", "me")


@pytest.mark.parametrize(
    ("phases", "due"),
    [
        ([], "8.00"),
        ([("deploy", 0.0)], "8.00"),
        ([("populate", 2.5)], "8.00"),
        ([("populate", 0.5), ("warm-up", 2.5), ("load", 2.75)], "6.00"),
        ([("populate", 0.5), ("load", 2.0)], "4.00"),
        ([("populate", 0.5), ("load", 0.5)], "0.00"),
        ([("deploy", 0.5), ("collect", 2.5)], "0.00"),
    ],
)
def test_a_cell_owes_what_is_left_of_its_load_however_long_its_hosts_were_waited_for(
    installation: Installation, tools: Toolkit, clock: SteppingClock, phases: list[tuple[Phase, float]], due: str
) -> None:
    opened(installation, budget=17.0)
    work = start(tools, "v1-001k-r1")
    began = clock.at
    for phase, hours in phases:
        clock.at = began + hours * HOUR
        note_phase(tools, work.key, phase)
    clock.at = began + 3 * HOUR
    with pytest.raises(Refused, match=rf"12\.00 USD are spent, {due} USD are due"):
        begin(tools, "campaign", "v2-001k-r1", "me")


def test_an_attempt_that_can_not_be_running_any_more_owes_nothing(
    installation: Installation, tools: Toolkit, clock: SteppingClock
) -> None:
    opened(installation, budget=9.0)
    begin(tools, "campaign", "v1-001k-r1", "me")
    clock.at += 5.9 * HOUR
    with pytest.raises(Refused, match=r"0\.00 USD are spent, 8\.00 USD are due"):
        begin(tools, "campaign", "v2-001k-r1", "me")
    clock.at += 0.2 * HOUR
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


def test_whoever_watches_a_run_sees_what_is_spent(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=40.0)
    lines: list[str] = []
    run_cell(tools, "campaign", "v1-001k-r1", "me", lines.append)
    assert any(re.search(r"has spent 0\.\d+ USD of its budget of 40 USD so far", line) for line in lines), lines


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
    raised = campaign.declared().model_copy(update={"budget": 100.0})
    assert campaign.open(raised) == raised
    assert campaign.declared().budget == 100.0
    begin(tools, "campaign", "v1-001k-r1", "me")
    with pytest.raises(Refused, match=r"changed since: .*seed"):
        campaign.open(raised.model_copy(update={"budget": 5.0, "seed": 9}))


def test_a_cell_counts_with_the_time_that_it_is_given_for_populating_and_waiting(
    installation: Installation, tools: Toolkit
) -> None:
    definition = opened(installation, budget=20.0).declared()
    timing = definition.timing.model_copy(update={"populating": 3 * HOUR})
    longer = definition.model_copy(update={"timing": timing, "wait_for_calm": HOUR / 2})
    installation.open_campaign(longer, "longer")
    with pytest.raises(Refused, match=r"a cell costs 22\.00 USD"):
        begin(tools, "longer", "v1-001k-r1", "me")


def test_a_budget_without_prices_can_not_be_kept(installation: Installation, tools: Toolkit) -> None:
    opened(installation, budget=100.0)
    unknown = replace(tools, tariffs={"instant": Prices(None)})
    with pytest.raises(Refused, match="a price table of tests"):
        begin(unknown, "campaign", "v1-001k-r1", "me")
