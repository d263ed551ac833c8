"""One process at a time works at a campaign, and says so as long as it lives."""

from collections.abc import Set
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.owners import FixedOwners

from plimsoll.domain.hosts.owner import ProcessOwner
from plimsoll.domain.text.errors import Refused
from plimsoll.services.campaign.open.creation import open_campaign
from plimsoll.services.campaign.open.request import Request
from plimsoll.services.cell.attempts import begin
from plimsoll.services.ownership import LASTS, held, is_at_work, require_free
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

FIRST = ProcessOwner(host="lab1", boot="b", namespace=1, pid=11, started=5).token
SECOND = ProcessOwner(host="lab2", boot="c", namespace=1, pid=22, started=6).token
SECONDS = timedelta(seconds=1)


@pytest.fixture
def tools(tmp_path: Path, clock: SteppingClock) -> Toolkit:
    return replace(Installation(tmp_path).toolkit, clock=clock)


def of(tools: Toolkit, me: str, *, alive: Set[str] = frozenset(), unknown: Set[str] = frozenset()) -> Toolkit:
    """Return the toolkit of one process, and what it can tell of others."""
    return replace(tools, owners=FixedOwners(me=me, alive=alive, unknown=unknown))


def test_a_second_is_refused_and_told_who_holds_it_and_since_when(tools: Toolkit) -> None:
    message = r"campaign 'mine': is being run by process 11 on lab1, since 2026-01-31 12:00 UTC \(wait until"
    with held(of(tools, FIRST), "mine"):
        with pytest.raises(Refused, match=message), held(of(tools, SECOND, alive={FIRST}), "mine"):
            pass
        second, request = of(tools, SECOND, alive={FIRST}), Request(campaign_id="mine")
        with pytest.raises(Refused, match=message):
            open_campaign(second, instant_definition(), request, tools.clock.now())
    assert tools.store.folders("") == ("mine",)
    with held(of(tools, SECOND, alive={FIRST}), "mine"):
        pass


def test_after_the_holder_has_died_the_next_one_goes_on(tools: Toolkit) -> None:
    held(of(tools, FIRST), "mine").__enter__()  # and never left

    with held(of(tools, SECOND), "mine"), pytest.raises(Refused, match="process 22"):
        require_free(of(tools, FIRST, alive={SECOND}), "mine")


def test_one_on_another_machine_holds_it_as_long_as_it_renews(tools: Toolkit, clock: SteppingClock) -> None:
    holder = held(of(tools, FIRST), "mine").__enter__()
    elsewhere = of(tools, SECOND, unknown={FIRST})

    clock.sleep((LASTS - SECONDS).total_seconds())
    holder.renew()
    clock.sleep(2)
    with pytest.raises(Refused, match="process 11"):
        require_free(elsewhere, "mine")
    assert is_at_work(tools.store, elsewhere.owners, "mine", FIRST, clock.now())

    clock.sleep(LASTS.total_seconds())
    require_free(elsewhere, "mine")
    assert is_at_work(tools.store, elsewhere.owners, "mine", FIRST, clock.now()) is False


def test_one_that_was_taken_over_is_told_and_takes_nothing_back(tools: Toolkit) -> None:
    with held(of(tools, FIRST), "mine") as first, held(of(tools, SECOND), "mine"):
        for step in (first.renew, first.require):
            with pytest.raises(Refused, match="process 22 on lab2"):
                step()
    with held(of(tools, "process:x"), "mine"):
        pass


def test_of_owners_that_are_no_processes_nobody_knows(tools: Toolkit) -> None:
    run = "airflow:a__b#0@here"
    owners = of(tools, FIRST, unknown={run}).owners
    assert is_at_work(tools.store, owners, "mine", run, tools.clock.now()) is None


def test_a_run_of_airflows_begins_no_cell_of_a_campaign_that_a_process_holds(tools: Toolkit) -> None:
    CampaignStore(tools.store, "mine").open(instant_definition())
    run = "airflow:mine__v1-001k-r1#0@here"
    with held(of(tools, FIRST), "mine") as first:
        with pytest.raises(Refused, match="is being run by process 11 on lab1"):
            begin(of(tools, SECOND, alive={FIRST}), "mine", "v1-001k-r1", run)
        assert begin(of(tools, FIRST), "mine", "v1-001k-r1", first.hold.owner).key.attempt == 1
    assert begin(of(tools, SECOND), "mine", "v2-001k-r1", run).key.attempt == 1
