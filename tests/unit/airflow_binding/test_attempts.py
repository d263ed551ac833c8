from dataclasses import replace
from datetime import timedelta

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT
from tests.fakes.paid import Prices
from tests.support.campaigns.attempt_verdicts import verdict_of

from plimsoll.domain.text.errors import NotFound, Refused
from plimsoll.services.cell import actions, attempts
from plimsoll.services.cell.attempt_state import cancel
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.hosts.paid_hosts import accounts
from plimsoll.services.store import layout
from plimsoll_airflow.runs.own_task import begin_or_resume, find_attempt, require_attempt
from plimsoll_airflow.runs.ownership import CellRun, CellRunId

CAMPAIGN, CELL = "campaign", "v1-001k-r1"
HERE = "here"
FIRST_PASS, SECOND_PASS = CellRun("run", 0, HERE), CellRun("run", 1, HERE)
WORK = CellRunId(CAMPAIGN, CELL)


@pytest.fixture
def campaign(installation: Installation) -> Installation:
    installation.open_campaign(instant_definition(), CAMPAIGN)
    return installation


def test_a_second_try_goes_on_with_the_attempt_that_the_first_has_begun(campaign: Installation) -> None:
    first = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)

    again = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)

    assert (first.key.attempt, again.key.attempt) == (1, 1)


def test_an_attempt_whose_begin_was_killed_gets_its_account_from_the_second_try(
    campaign: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = replace(campaign.toolkit, tariffs={INSTANT: Prices()})

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(attempts, "note_begun", killed)
        with pytest.raises(KeyboardInterrupt):
            begin_or_resume(tools, CAMPAIGN, CELL, FIRST_PASS)

    again = begin_or_resume(tools, CAMPAIGN, CELL, FIRST_PASS)

    assert again.key.attempt == 1
    assert accounts(again.campaign) == {again.key: None}


def test_a_cleared_run_begins_a_new_attempt_and_destroys_the_old_cluster(campaign: Installation) -> None:
    actions.provision(begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS))

    again = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, SECOND_PASS)

    assert again.key.attempt == 2
    assert campaign.provider.clusters() == []


def test_a_collected_attempt_is_over(campaign: Installation) -> None:
    collect(begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS))

    assert begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS).key.attempt == 2


def test_tasks_find_the_attempt_of_their_own_run_among_others(campaign: Installation) -> None:
    begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, CellRun("another", 0, HERE))
    mine = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)
    begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, CellRun("another", 1, HERE))

    assert require_attempt(campaign.toolkit, WORK, "run", HERE).key == mine.key


def test_a_run_that_was_cleared_in_part_keeps_its_attempt(campaign: Installation) -> None:
    # Clearing `judge` alone raises the run's clear number without another `provision`.
    begun = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)

    assert require_attempt(campaign.toolkit, WORK, FIRST_PASS.run_id, HERE).key == begun.key


def test_a_run_without_an_attempt_is_told_what_to_do(campaign: Installation) -> None:
    assert find_attempt(campaign.toolkit, WORK, "run", HERE) is None
    with pytest.raises(NotFound, match=r"run run: has begun no attempt.*\n.*clear the run"):
        require_attempt(campaign.toolkit, WORK, "run", HERE)


def test_attempts_of_the_command_line_are_nobodys_run(campaign: Installation) -> None:
    begin(campaign.toolkit, CAMPAIGN, CELL, "cli-1")

    assert find_attempt(campaign.toolkit, WORK, "run", HERE) is None


def test_an_attempt_of_another_airflows_run_is_not_ones_own_though_its_id_is_the_same(campaign: Installation) -> None:
    begin(campaign.toolkit, CAMPAIGN, CELL, CellRun("run", 0, "elsewhere").token)

    assert find_attempt(campaign.toolkit, WORK, "run", HERE) is None


@pytest.mark.parametrize("clear_number", [0, 1])
def test_an_attempt_of_another_airflow_is_left_alone_while_it_may_be_at_work(
    campaign: Installation, clear_number: int
) -> None:
    theirs = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, CellRun("run", clear_number, "elsewhere"))
    actions.provision(theirs)

    with pytest.raises(Refused, match=r"is being run by Airflow's run run, installation elsewhere, since"):
        begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)

    assert len(campaign.provider.clusters()) == 1
    later = SteppingClock()
    later.at = campaign.toolkit.clock.now() + timedelta(days=1)
    after_its_latest_end = replace(campaign.toolkit, clock=later)
    assert begin_or_resume(after_its_latest_end, CAMPAIGN, CELL, FIRST_PASS).key.attempt == 2


def test_a_cell_that_another_airflow_has_judged_or_cancelled_may_be_run_again(campaign: Installation) -> None:
    theirs = CellRun("run", 0, "elsewhere").token
    judged = begin(campaign.toolkit, CAMPAIGN, CELL, theirs).key
    layout.VERDICT.write(campaign.toolkit.store, judged, verdict_of(instant_definition(), judged))
    assert begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS).key.attempt == 2

    other = "v1-002k-r1"
    cancel(begin(campaign.toolkit, CAMPAIGN, other, theirs), "ada")
    assert begin_or_resume(campaign.toolkit, CAMPAIGN, other, FIRST_PASS).key.attempt == 2
