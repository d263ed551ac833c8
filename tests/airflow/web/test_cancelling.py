"""*Cancel* and *Destroy* in Airflow's database: which runs they end."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from httpx import Response
from sqlalchemy import select
from tests.airflow.web.airflow_runs import API, all_runs, start_run
from tests.airflow.web.app import CAMPAIGN, DEFINITION, Client, audited
from tests.airflow.web.markup import Page
from tests.fakes.installation import Installation

from plimsoll.domain.campaign.cell import Attempt
from plimsoll.domain.hosts.owner import ProcessOwner
from plimsoll.services.campaign.open.planning import new_campaign_id
from plimsoll.services.cell.attempt_state import failure_of
from plimsoll.services.ownership import HOLD, Hold
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals import api_server
from plimsoll_airflow.internals.api_server import SeenRun, mark_run_failed
from plimsoll_airflow.runs.ownership import CellRun
from plimsoll_airflow.web.matrix import LONGEST_QUERY, NAMED, query_of
from plimsoll_airflow.web.runs import EndedRuns, StartedRun


@pytest.fixture(autouse=True)
def ready(no_runs: None, campaign: Installation) -> None:
    """Provide the DAGs, unpaused, without any run; the campaign."""


def live_tasks() -> dict[tuple[str, str], set[str]]:
    """Return the tasks that have not ended, by DAG and campaign."""
    found: dict[tuple[str, str], set[str]] = {}
    with create_session() as session:
        for run in session.scalars(select(DagRun)):
            for task in run.get_task_instances(session=session):
                if task.state is None:
                    found.setdefault((run.dag_id, run.conf.get("campaign_id", "")), set()).add(task.task_id)
    return found


def mark_failed() -> None:
    """Do with the only run what Airflow's own pages and API do."""
    from airflow.models.dagbag import DBDagBag

    # A request's session is its own. In 3.1 that matters, for marking ends the one that others share.
    with create_session(scoped=False) as session:
        run = session.scalars(select(DagRun)).one()
        dag = DBDagBag().get_dag_for_run(run, session=session)
        assert dag is not None
        mark_run_failed(dag, run, session)


def run_teardown(task_id: str) -> str:
    """Return the state of the one run once that task, which alone is left of it, has succeeded."""
    from airflow.models.dagbag import DBDagBag

    with create_session() as session:
        run = session.scalars(select(DagRun)).one()
        run.dag = DBDagBag().get_dag_for_run(run, session=session)
        left = run.get_task_instance(task_id, session=session)
        assert left is not None
        left.state = "success"
        run.update_state(session=session, execute_callbacks=False)
        return str(run.state)


def test_cancelling_ends_the_runs_of_this_campaign_and_tells_of_its_cells(client: Client) -> None:
    start_run("demo", campaign_id=CAMPAIGN)
    start_run("demo", campaign_id="other")
    start_run("cell", campaign_id=CAMPAIGN, cell_id="v3-001k-r1")
    start_run("cell", campaign_id="other", cell_id="v3-001k-r1")

    answer = client("user").post(f"{API}/cancel").json()

    assert live_tasks() == {
        ("demo", "other"): {"plan", "run_cell", "quality_gate", "report", "reap"},
        ("demo", CAMPAIGN): {"reap"},
        ("cell", "other"): {"reserve", "provision", "deploy", "load", "collect", "judge", "destroy"},
        ("cell", CAMPAIGN): {"destroy"},
    }
    assert [run["dag_id"] for run in answer["runs"]] == ["demo", "cell"]
    assert answer["attempts"] == [f"{CAMPAIGN}/v3-001k-r1/1"]
    cell = client("viewer").get(f"{API}/cells/v3-001k-r1").json()["status"]
    assert (cell["state"], cell["reason"]) == ("failed", "cancelled by the user")


def shown_after(client: Client, pressed: Response) -> Response:
    """Return the page that a browser shows after a form was sent."""
    assert pressed.status_code == 303
    return client("user").get(pressed.headers["location"])


def goes_on_elsewhere(campaign: Installation, cell_id: str, owner: str) -> None:
    """Let somebody else work at that cell."""
    store = campaign.toolkit.store
    key = CampaignStore(store, CAMPAIGN).key(cell_id, 1)
    attempt = Attempt(key=key, owner=owner, started_at=datetime.now(UTC), code_version="0.1.0")
    layout.ATTEMPT.write(store, key, attempt)


def test_loading_the_page_again_that_tells_what_was_cancelled_cancels_nothing_more(
    client: Client, campaign: Installation
) -> None:
    goes_on_elsewhere(campaign, "v3-002k-r1", "somebody")
    start_run("demo", campaign_id=CAMPAIGN)
    start_run("cell", campaign_id=CAMPAIGN, cell_id="v3-001k-r1")
    pressed = client("user").post(f"/plimsoll/campaigns/{CAMPAIGN}/cancel")
    first = shown_after(client, pressed)
    start_run("demo", campaign_id=CAMPAIGN, cells="v1-002k-r1")
    before = live_tasks()

    again = shown_after(client, pressed)

    assert (first.status_code, again.text, live_tasks()) == (200, first.text, before)
    text = Page(first.text).text
    assert ("run demo: manual" in text, "run cell: manual" in text) == (True, True)
    assert f"attempt {CAMPAIGN}/v3-001k-r1/1" in text
    assert f"{CAMPAIGN}/v3-002k-r1/1: somebody works at it. To end it: end it where it was begun." in text


def test_the_page_after_cancelling_tells_of_nothing_that_is_not_this_campaigns(client: Client) -> None:
    start_run("demo", campaign_id="other")
    with create_session() as session:
        run_id = session.scalars(select(DagRun.run_id)).one()
    page = f"/plimsoll/campaigns/{CAMPAIGN}/cancelled"

    answer = client("viewer").get(page, params={"run": [f"demo/runs/{run_id}", "x"], "attempt": ["v1-001k-r1/1"]})

    assert ("Nothing was cancelled" in answer.text, run_id in answer.text, "v1-001k-r1" in answer.text) == (
        True,
        False,
        False,
    )
    assert "No attempt of others goes on any more" in answer.text
    for wrong in ("../x/1", "v1-001k-r1", "v1-001k-r1/0", "v1-001k-r1/one", f"{'a' * 85}/1"):
        assert client("viewer").get(page, params={"attempt": wrong}).status_code == 422
    assert "and 7 more runs and attempts" in client("viewer").get(page, params={"more": 7}).text


def test_of_very_much_that_was_cancelled_the_address_names_a_part_and_counts_the_rest() -> None:
    ended = [StartedRun(dag_id="cell", run_id=f"{CAMPAIGN}__v1-{number:03}k-r1") for number in range(500)]
    attempts = [f"{CAMPAIGN}/v1-{number:03}k-r1/1" for number in range(500)]

    query = query_of(EndedRuns(runs=ended, attempts=attempts, others=[]))

    found = parse_qs(query)
    named = len(found["run"]) + len(found["attempt"])
    assert (len(found["run"]), found["attempt"][0], found["more"]) == (NAMED, "v1-000k-r1/1", [str(1000 - named)])
    assert len(query) <= LONGEST_QUERY + len("&more=1000")


PROCESS = ProcessOwner(host="lab1", boot="b", namespace=1, pid=4711, started=5).token


@pytest.mark.parametrize(
    ("owner", "who", "mend"),
    [
        (PROCESS, "process 4711 on lab1", "end process 4711 on lab1 with Ctrl-C; it destroys its cluster itself"),
        (
            CellRun("demo-mine__v3-001k-r1", 0, "elsewhere").token,
            "Airflow's run demo-mine__v3-001k-r1, installation elsewhere",
            "cancel the campaign on that Airflow's own page",
        ),
    ],
)
def test_what_others_work_at_is_not_spoilt_but_told_of_with_what_ends_it(
    client: Client, campaign: Installation, owner: str, who: str, mend: str
) -> None:
    store, key = campaign.toolkit.store, CampaignStore(campaign.toolkit.store, CAMPAIGN).key("v3-001k-r1", 1)
    now = datetime.now(UTC)
    layout.ATTEMPT.write(store, key, Attempt(key=key, owner=owner, started_at=now, code_version="0.1.0"))
    hold = Hold(owner=owner, since=now, until=now + timedelta(minutes=5))
    HOLD.write(store, CAMPAIGN, hold, 1)
    here = f"/plimsoll/campaigns/{CAMPAIGN}/cancel"
    nothing_else_runs = client("user").get(here).text
    in_vain = shown_after(client, client("user").post(here))
    start_run("demo", campaign_id=CAMPAIGN)
    start_run("demo", campaign_id=CAMPAIGN, cells="v1-001k-r1")

    question = Page(client("user").get(here).text).text
    answered = client("user").post(f"{API}/cancel")
    answer = answered.json()
    start_run("demo", campaign_id=CAMPAIGN, cells="v1-002k-r1")
    pressed = shown_after(client, client("user").post(here))

    assert (answer["attempts"], [run["dag_id"] for run in answer["runs"]]) == ([], ["demo", "demo"])
    assert answer["others"] == [{"attempt": str(key), "owner": who, "mend": mend}]
    assert answer["summary"] == f"2 runs were ended. {key} goes on, because {who} works at it ({mend})."
    assert ("demo: manual" in question, "their clusters are destroyed" in question) == (True, False)
    assert ("Nothing of this campaign runs" in nothing_else_runs, 'class="bad"' in nothing_else_runs) == (False, False)
    for text in (Page(nothing_else_runs).text, question, Page(in_vain.text).text, Page(pressed.text).text):
        assert f"{key}: {who} works at it. To end it: {mend}." in text
    assert [one.status_code for one in (in_vain, answered, pressed)] == [200] * 3
    assert "Nothing was cancelled" in in_vain.text
    assert "Not all of the campaign was cancelled" in pressed.text
    assert (layout.CANCELLED.read(store, key), failure_of(store, key)) == (None, None)
    assert client("viewer").get(f"{API}/cells/v3-001k-r1").json()["status"]["state"] == "running"


def test_cancelling_a_search_ends_the_round_that_follows_too_even_one_that_starts_meanwhile(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run("demo", campaign_id=CAMPAIGN)
    start_run("demo", campaign_id=CAMPAIGN, cells="v1-001k-r1")
    fail_run = api_server.fail_run

    def fail_as_the_next_starts(run: SeenRun) -> None:
        if len(all_runs()) == 2:
            start_run("demo", campaign_id=CAMPAIGN, cells="v1-002k-r1")
        fail_run(run)

    monkeypatch.setattr(api_server, "fail_run", fail_as_the_next_starts)
    answer = client("user").post(f"{API}/cancel").json()

    assert len({run["run_id"] for run in answer["runs"]}) == len(answer["runs"]) == 3
    assert live_tasks() == {("demo", CAMPAIGN): {"reap"}}


def test_what_cancelling_would_end_is_named_by_its_page(client: Client) -> None:
    start_run("demo", campaign_id=CAMPAIGN)
    start_run("demo", campaign_id="other")
    with create_session() as session:
        mine, other = session.scalars(select(DagRun.run_id).order_by(DagRun.id)).all()

    question = client("user").get(f"/plimsoll/campaigns/{CAMPAIGN}/cancel").text

    assert f"demo: {mine}" in question
    assert other not in question


@pytest.mark.parametrize("how", ["cancelled", "marked in Airflow"])
@pytest.mark.parametrize(("dag_id", "teardown"), [("demo", "reap"), ("cell", "destroy")])
def test_what_was_ended_by_hand_has_failed_once_its_teardown_has_run(
    client: Client, dag_id: str, teardown: str, how: str
) -> None:
    start_run(dag_id, campaign_id=CAMPAIGN, **({"cell_id": "v3-001k-r1"} if dag_id == "cell" else {}))
    if how == "cancelled":
        client("user").post(f"{API}/cancel")
    else:
        mark_failed()

    assert all_runs()[0][:2] == (dag_id, "queued")
    assert run_teardown(teardown) == "failed"


def test_runs_of_other_dags_are_airflows_own_affair(client: Client, campaign: Installation) -> None:
    start_run("demo", campaign_id=CAMPAIGN)
    (campaign.folder / "campaigns" / "demo.yaml").unlink()
    mark_failed()

    assert run_teardown("reap") == "success"


def test_the_campaign_of_a_run_that_named_none_is_cancelled_too(client: Client, campaign: Installation) -> None:
    start_run("demo")
    with create_session() as session:
        run = session.scalars(select(DagRun)).one()
        campaign_id = new_campaign_id(DEFINITION.name, run.run_after)
    campaign.open_campaign(DEFINITION, campaign_id)

    client("user").post(f"/plimsoll/api/v1/campaigns/{campaign_id}/cancel")

    assert live_tasks() == {("demo", ""): {"reap"}}


def test_a_campaign_that_a_run_works_at_is_not_deleted(client: Client) -> None:
    start_run("demo", campaign_id=CAMPAIGN)
    answer = client("admin").delete(API, params={"confirm": CAMPAIGN})
    assert (answer.status_code, "works at the campaign" in answer.text) == (400, True)


def test_destroying_asks_the_reaper_for_this_campaigns_clusters(client: Client) -> None:
    answer = client("user").post(f"{API}/destroy")

    assert answer.status_code == 202
    assert all_runs() == [("reaper", "queued", {"campaign_id": CAMPAIGN})]


def test_what_people_did_is_in_airflows_audit_log(client: Client) -> None:
    before = audited("plimsoll.destroy")

    client("user").post(f"{API}/destroy")

    [(who, what)] = audited("plimsoll.destroy")[len(before) :]
    assert (who, CAMPAIGN in what) == ("the user", True)
