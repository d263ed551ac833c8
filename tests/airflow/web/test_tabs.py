"""The tab *Campaign* of a run in Airflow."""

from typing import Any

import pytest
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from sqlalchemy import select
from tests.airflow.web.airflow_runs import start_run, tab
from tests.airflow.web.app import CAMPAIGN, DEFINITION, Client
from tests.airflow.web.markup import Page
from tests.fakes.installation import Installation


@pytest.fixture(autouse=True)
def ready(no_runs: None, campaign: Installation) -> None:
    """Provide the DAGs, unpaused, without any run; the campaign."""


def test_the_tab_of_a_run_leads_to_its_campaign_or_cell(client: Client) -> None:
    start_run("demo", campaign_id=CAMPAIGN)
    start_run("cell", campaign_id=CAMPAIGN, cell_id="v1-001k-r1")
    viewer = client("viewer")
    with create_session() as session:
        found = {run.dag_id: run.run_id for run in session.scalars(select(DagRun))}

    places = {
        dag_id: viewer.get("/plimsoll/run", params={"dag_id": dag_id, "run_id": run_id}).headers["location"]
        for dag_id, run_id in found.items()
    }

    assert places == {
        "demo": f"/plimsoll/campaigns/{CAMPAIGN}",
        "cell": f"/plimsoll/campaigns/{CAMPAIGN}/cells/v1-001k-r1",
    }
    assert viewer.get("/plimsoll/run?dag_id=demo&run_id=none").status_code == 404


def test_the_tab_of_a_run_says_that_its_plan_has_not_opened_the_campaign_and_leads_there_once_it_has(
    client: Client, campaign: Installation
) -> None:
    start_run("demo", campaign_id="maiden-voyage")
    waiting = tab(client)

    assert (waiting.status_code, "location" in waiting.headers) == (200, False)
    assert "has not created its campaign yet. The task <code>plan</code> has not begun" in waiting.text
    _set_states(run="running", plan="up_for_retry")
    assert "<code>plan</code> is up for retry" in tab(client).text
    campaign.open_campaign(DEFINITION, "maiden-voyage")
    assert tab(client).headers["location"] == "/plimsoll/campaigns/maiden-voyage"


@pytest.mark.parametrize(
    ("run", "plan", "words"),
    [
        ("failed", "failed", "This run has ended and has created no campaign: its task <code>plan</code> is failed."),
        ("running", "failed", "This run has created no campaign: its task <code>plan</code> is failed. Its log says"),
        ("failed", None, "has created no campaign: its task <code>plan</code> never began"),
        ("failed", "success", "it was removed since"),
    ],
)
def test_the_tab_of_a_run_that_opened_no_campaign_says_so_and_where_to_look(
    client: Client, run: str, plan: str | None, words: str
) -> None:
    start_run("demo", campaign_id="maiden-voyage")
    _set_states(run=run, plan=plan)

    shown = Page(tab(client).text)
    (log,) = (link for link in shown.attributes("a", "href") if link.endswith("/tasks/plan"))

    assert words in tab(client).text
    assert "not created its campaign yet" not in shown.text
    assert log.startswith("/dags/demo/runs/manual__")


@pytest.mark.parametrize("text", ["name: demo\nloads: [1/s\n", None], ids=["faulty", "removed"])
def test_the_tab_of_a_run_leads_to_its_campaign_whatever_became_of_the_definition(
    client: Client, campaign: Installation, text: str | None
) -> None:
    start_run("demo", campaign_id=CAMPAIGN)
    if text is None:
        (campaign.folder / "campaigns" / "demo.yaml").unlink()
    else:
        campaign.write_definition("demo", text)

    assert tab(client).headers["location"] == f"/plimsoll/campaigns/{CAMPAIGN}"


@pytest.mark.parametrize("odd", ["../x", "A", 5, ["a"]])
def test_the_tab_of_somebody_elses_run_is_an_error_whatever_it_was_asked_for(
    client: Client, campaign: Installation, odd: Any
) -> None:
    (campaign.folder / "campaigns" / "demo.yaml").unlink()  # so that the DAG is none of Plimsoll's
    start_run("demo")
    with create_session() as session:
        session.scalars(select(DagRun)).one().conf = {"campaign_id": odd}

    assert tab(client).status_code == 404


def test_the_tab_of_a_cells_run_without_its_campaign_is_an_error(client: Client) -> None:
    start_run("cell", campaign_id="maiden-voyage", cell_id="v1-001k-r1")

    assert client("viewer").get(tab(client, "cell").headers["location"]).status_code == 404


def _set_states(*, run: str, plan: str | None) -> None:
    with create_session() as session:
        found = session.scalars(select(DagRun)).one()
        found.state = run
        task = found.get_task_instance("plan", session=session)
        assert task is not None
        task.state = plan
