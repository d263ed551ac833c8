"""Attempts whose run of the DAG `cell` Airflow knows: they run as long as it does."""

from collections.abc import Iterator

import pytest
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from airflow.utils.state import DagRunState
from airflow.utils.types import DagRunTriggeredByType, DagRunType
from sqlalchemy import delete, update
from tests.fakes.owners import FixedOwners

from plimsoll_airflow.runs.ownership import CELL_DAG, CampaignRunOwner, CellRun
from plimsoll_airflow.web.under_way import RunsAndProcesses

RUN = CellRun("mine__v1-001k-r1", 0, "here")


@pytest.fixture
def owners(database: None) -> Iterator[RunsAndProcesses]:
    """Provide them beside one live run of the DAG `cell`."""
    live = DagRun(
        dag_id=CELL_DAG,
        run_id=RUN.run_id,
        run_type=DagRunType.MANUAL,
        state=DagRunState.RUNNING,
        triggered_by=DagRunTriggeredByType.TEST,
    )
    with create_session() as session:
        session.execute(delete(DagRun))
        session.add(live)
    yield RunsAndProcesses(FixedOwners(alive={"process"}, unknown={"cli-1"}))
    with create_session() as session:
        session.execute(delete(DagRun))


def test_an_attempt_is_worked_at_as_long_as_its_pass_of_the_run_lives(owners: RunsAndProcesses) -> None:
    assert owners.is_alive(RUN.token) is True

    with create_session() as session:
        session.execute(update(DagRun).values(clear_number=1))
    assert (owners.is_alive(RUN.token), owners.is_alive(CellRun(RUN.run_id, 1, "here").token)) == (False, True)

    with create_session() as session:
        session.execute(update(DagRun).values(state="failed"))
    assert owners.is_alive(CellRun(RUN.run_id, 1, "here").token) is False


def test_of_runs_that_this_airflow_does_not_know_nothing_is_told(owners: RunsAndProcesses) -> None:
    assert owners.is_alive(CellRun("another__v1-001k-r1", 0, "here").token) is None


def test_of_runs_of_another_airflow_nothing_is_told_though_one_here_has_the_same_id(owners: RunsAndProcesses) -> None:
    assert owners.is_alive(CellRun(RUN.run_id, 0, "here").token) is True
    assert owners.is_alive(CellRun(RUN.run_id, 0, "elsewhere").token) is None
    assert owners.is_alive(CampaignRunOwner(CELL_DAG, RUN.run_id, "here").token) is True
    assert owners.is_alive(CampaignRunOwner(CELL_DAG, RUN.run_id, "elsewhere").token) is None


def test_other_owners_are_asked_for_elsewhere(owners: RunsAndProcesses) -> None:
    assert [owners.is_alive(one) for one in ("process", "another", "cli-1")] == [True, False, None]
