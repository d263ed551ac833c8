import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.errors import NotFound
from plimsoll.services.cell import actions
from plimsoll.services.cell.collect import collect
from plimsoll_airflow.attempts import begin_or_resume, find_attempt, require_attempt
from plimsoll_airflow.ownership import CellRun

CAMPAIGN, CELL = "campaign", "v1-001k-r1"
FIRST_PASS, SECOND_PASS = CellRun("run", 0), CellRun("run", 1)


@pytest.fixture
def campaign(installation: Installation) -> Installation:
    installation.open_campaign(instant_definition(), CAMPAIGN)
    return installation


def test_a_second_try_goes_on_with_the_attempt_that_the_first_has_begun(campaign: Installation) -> None:
    first = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)

    again = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)

    assert (first.key.attempt, again.key.attempt) == (1, 1)


def test_a_cleared_run_begins_a_new_attempt_and_destroys_the_old_cluster(campaign: Installation) -> None:
    actions.provision(begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS))

    again = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, SECOND_PASS)

    assert again.key.attempt == 2
    assert campaign.provider.clusters() == []


def test_a_collected_attempt_is_over(campaign: Installation) -> None:
    collect(begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS))

    assert begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS).key.attempt == 2


def test_tasks_find_the_attempt_of_their_own_run_among_others(campaign: Installation) -> None:
    begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, CellRun("another", 0))
    mine = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)
    begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, CellRun("another", 1))

    assert require_attempt(campaign.toolkit, CAMPAIGN, CELL, "run").key == mine.key


def test_a_run_that_was_cleared_in_part_keeps_its_attempt(campaign: Installation) -> None:
    # Clearing `judge` alone raises the run's clear number without another `provision`.
    begun = begin_or_resume(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS)

    assert require_attempt(campaign.toolkit, CAMPAIGN, CELL, FIRST_PASS.run_id).key == begun.key


def test_a_run_without_an_attempt_is_told_what_to_do(campaign: Installation) -> None:
    assert find_attempt(campaign.toolkit, CAMPAIGN, CELL, "run") is None
    with pytest.raises(NotFound, match=r"run run: has begun no attempt.*\n.*clear the run"):
        require_attempt(campaign.toolkit, CAMPAIGN, CELL, "run")


def test_attempts_of_the_command_line_are_nobodys_run(campaign: Installation) -> None:
    from plimsoll.services.cell.attempts import begin

    begin(campaign.toolkit, CAMPAIGN, CELL, "cli-1")

    assert find_attempt(campaign.toolkit, CAMPAIGN, CELL, "run") is None
