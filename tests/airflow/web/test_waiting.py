"""A campaign whose run lives and waits: for a cluster that another campaign holds, or for another run of its DAG."""

from typing import Any

import pytest
from airflow.api.common.trigger_dag import trigger_dag
from airflow.models.dagrun import DagRun
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session
from airflow.utils.types import DagRunTriggeredByType
from sqlalchemy import select
from tests.airflow.web.app import CAMPAIGN, DEFINITION, Client
from tests.fakes.installation import Installation

from plimsoll.domain.keys.trigger import Approve
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow import lifecycle
from plimsoll_airflow.internals import api_server
from plimsoll_airflow.internals.inventory import Slots, slots
from plimsoll_airflow.runs.ownership import CellRunId
from plimsoll_airflow.web.library import library

OTHER = "demo-other"
API = "/plimsoll/api/v1/campaigns"


@pytest.fixture(autouse=True)
def ready(no_runs: None, installation: Installation) -> None:
    """Provide two campaigns of which nothing was tried."""
    installation.define(DEFINITION)
    for campaign_id in (CAMPAIGN, OTHER):
        installation.open_campaign(DEFINITION, campaign_id)
        library().forget(campaign_id)


def start(dag_id: str, state: str, **conf: str) -> str:
    run = trigger_dag(dag_id, triggered_by=DagRunTriggeredByType.TEST, conf=dict(conf))
    assert run is not None
    with create_session() as session:
        session.scalars(select(DagRun).where(DagRun.run_id == run.run_id)).one().state = state
    return str(run.run_id)


def set_cell(run_id: str, campaign_id: str, cell_id: str, state: str) -> None:
    """Set the state of the run's `run_cell`, whose `plan` has opened that campaign."""
    with create_session() as session:
        run = session.scalars(select(DagRun).where(DagRun.run_id == run_id)).one()
        task: Any = run.get_task_instance("run_cell", session=session)
        task.state, task._rendered_map_index = state, cell_id
        XComModel.set("campaign_id", campaign_id, dag_id=run.dag_id, task_id="plan", run_id=run_id, session=session)


def pool_of(run_id: str) -> str:
    with create_session() as session:
        run = session.scalars(select(DagRun).where(DagRun.run_id == run_id)).one()
        task = run.get_task_instance("run_cell", session=session)
        assert task is not None
        return str(task.pool)


def end_of_cell(campaign_id: str, cell_id: str, *, state: str) -> None:
    """Tell Airflow's listeners that the run of that cell has come into that state."""
    start("cell", state, campaign_id=campaign_id, cell_id=cell_id)
    with create_session() as session:
        run = session.scalars(select(DagRun).where(DagRun.dag_id == "cell")).one()
        (lifecycle.on_dag_run_success if state == "success" else lifecycle.on_dag_run_failed)(run)


def test_a_run_that_waits_for_a_cluster_says_who_holds_it_and_is_not_incomplete(client: Client) -> None:
    set_cell(start("demo", "running", campaign_id=OTHER), OTHER, "v1-001k-r1", "deferred")
    set_cell(start("demo", "running", campaign_id=CAMPAIGN), CAMPAIGN, "v2-002k-r1", "scheduled")

    status = client("viewer").get(f"{API}/{CAMPAIGN}").json()
    words = f"waiting for a cluster (held by {OTHER} with v1-001k-r1)"
    assert (status["state"], status["waits_for"]) == ("waiting", words)
    for place in (f"/plimsoll/campaigns/{CAMPAIGN}", "/plimsoll/"):
        page = client("viewer").get(place).text
        assert words in page
        assert 'class="state incomplete"' not in page


def test_running_again_shows_at_once_behind_which_run_it_is_queued(client: Client, campaign: Installation) -> None:
    """A cell of that campaign runs, and the queue shows all the same."""
    first = start("demo", "running", campaign_id=OTHER)
    answer = client("user").post(f"{API}/{CAMPAIGN}/runs", json={"cells": "failed"})
    assert answer.status_code == 202

    page = client("viewer").get(f"/plimsoll/campaigns/{CAMPAIGN}").text
    assert f"a run of cells failed is queued behind run {first} of campaign {OTHER}" in page


def test_a_run_of_a_paused_dag_says_that_it_is_paused(client: Client) -> None:
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    start("demo", "queued", campaign_id=CAMPAIGN)
    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == "demo").values(is_paused=True))
    words = client("viewer").get(f"{API}/{CAMPAIGN}").json()["waits_for"]
    assert words == "a run of cells missing is queued: the DAG demo is paused"


def test_a_run_that_waits_for_an_approval_says_so(
    client: Client, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve = Approve.model_validate({"above": "1 USD"})
    CampaignStore(installation.toolkit.store, CAMPAIGN).open(DEFINITION.model_copy(update={"approve": approve}))
    library().forget(CAMPAIGN)
    start("demo", "running", campaign_id=CAMPAIGN)
    monkeypatch.setattr(api_server, "task_state", lambda _, task_id: {"approve": "awaiting_input"}[task_id])
    status = client("viewer").get(f"{API}/{CAMPAIGN}").json()
    assert (status["state"], status["waits_for"]) == (
        "waiting",
        "waiting for an approval: its task approve asks for one",
    )


def test_a_campaign_without_a_run_waits_for_nothing(client: Client) -> None:
    start("demo", "running", campaign_id=OTHER)
    status = client("viewer").get(f"{API}/{CAMPAIGN}").json()
    assert "waits_for" not in status
    assert "Cancel" not in client("user").get(f"/plimsoll/campaigns/{CAMPAIGN}").text


def test_a_run_that_lives_can_be_cancelled_also_before_its_first_cell(client: Client) -> None:
    start("demo", "running", campaign_id=CAMPAIGN)
    for place in ("", "/matrix"):  # the part that changes brings and takes the button
        page = client("user").get(f"/plimsoll/campaigns/{CAMPAIGN}{place}").text
        assert f'href="/plimsoll/campaigns/{CAMPAIGN}/cancel"' in page
    assert "Cancel" not in client("viewer").get(f"/plimsoll/campaigns/{CAMPAIGN}").text


@pytest.mark.parametrize("state", ["success", "failed"])
def test_a_finished_cell_gives_its_slot_back_and_its_campaign_needs_none_to_go_on(state: str) -> None:
    waiting = start("demo", "running", campaign_id=CAMPAIGN)
    set_cell(waiting, CAMPAIGN, "v1-001k-r1", "deferred")
    same_cell_of_another = start("demo", "running", campaign_id=OTHER)
    set_cell(same_cell_of_another, OTHER, "v1-001k-r1", "deferred")

    end_of_cell(CAMPAIGN, "v1-001k-r1", state=state)

    assert (pool_of(waiting), pool_of(same_cell_of_another)) == ("default_pool", "clusters")
    assert slots("demo", waiting) == Slots((CellRunId(OTHER, "v1-001k-r1"),), 0)


def test_a_disturbed_cell_that_runs_again_at_once_keeps_its_slot() -> None:
    waiting = start("demo", "running", campaign_id=CAMPAIGN)
    set_cell(waiting, CAMPAIGN, "v1-001k-r1", "deferred")
    run_id = start("cell", "failed", campaign_id=CAMPAIGN, cell_id="v1-001k-r1")
    with create_session() as session:
        XComModel.set("runs_again", True, dag_id="cell", task_id="judge", run_id=run_id, session=session)
        lifecycle.on_dag_run_failed(session.scalars(select(DagRun).where(DagRun.dag_id == "cell")).one())
    assert pool_of(waiting) == "clusters"


def test_a_run_that_was_marked_as_failed_keeps_its_slot_until_its_teardown_has_run() -> None:
    waiting = start("demo", "running", campaign_id=CAMPAIGN)
    set_cell(waiting, CAMPAIGN, "v1-001k-r1", "deferred")
    start("cell", "queued", campaign_id=CAMPAIGN, cell_id="v1-001k-r1")
    with create_session() as session:
        lifecycle.on_dag_run_failed(session.scalars(select(DagRun).where(DagRun.dag_id == "cell")).one())
    assert pool_of(waiting) == "clusters"
