"""*Run again* in Airflow's database: which runs it starts."""

import pytest
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from sqlalchemy import select, update
from tests.airflow.web.airflow_runs import API, all_runs, start_run, tab
from tests.airflow.web.app import CAMPAIGN, DEFINITION, Client
from tests.fakes.installation import Installation

from plimsoll.services.campaign.open.planning import new_campaign_id


@pytest.fixture(autouse=True)
def ready(no_runs: None, campaign: Installation) -> None:
    """Provide the DAGs, unpaused, without any run; the campaign."""


def pause(dag_id: str) -> None:
    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=True))


@pytest.mark.parametrize("cells", ["failed", "invalid", "missing", "v1-001k-r1", "v2-*, v1-002k-r1"])
def test_running_again_starts_the_campaigns_dag_for_those_cells(client: Client, cells: str) -> None:
    answer = client("user").post(f"{API}/runs", json={"cells": cells})

    assert answer.status_code == 202, answer.text
    assert answer.json()["dag_id"] == "demo"
    assert all_runs() == [("demo", "queued", {"campaign_id": CAMPAIGN, "cells": cells})]


def test_two_who_ask_at_once_get_one_run(client: Client) -> None:
    first, second = (client("user").post(f"{API}/runs", json={"cells": "failed"}).json() for _ in range(2))

    assert first == second
    assert len(all_runs()) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"cells": "v9-*"}, 400),
        ({"cells": "v1-*-r1 v1-001k-r7"}, 400),
        ({"cells": ""}, 422),
        ({"cells": "a; rm -rf /"}, 422),
        ({"cells": "failed", "force": True}, 422),
        ({}, 422),
    ],
)
def test_a_bad_request_starts_nothing_and_says_what_is_allowed(client: Client, body: object, status: int) -> None:
    answer = client("user").post(f"{API}/runs", json=body)

    assert (answer.status_code, all_runs()) == (status, [])
    assert answer.json()["problems"]


def test_cells_that_are_all_valid_are_not_run_again_by_a_pattern(client: Client) -> None:
    answer = client("user").post(f"{API}/runs", json={"cells": "v1-*"})

    assert (answer.status_code, all_runs()) == (409, [])
    assert "by their ids" in answer.json()["mend"]


@pytest.mark.parametrize("dag_id", ["demo", "cell"])
def test_a_paused_dag_is_told_of_instead_of_a_run_that_never_starts(client: Client, dag_id: str) -> None:
    pause(dag_id)

    answer = client("user").post(f"{API}/runs", json={"cells": "failed"})

    assert (answer.status_code, all_runs()) == (409, [])
    assert f"{dag_id} is paused" in answer.json()["detail"]


def test_the_ticked_cells_of_the_form_are_run_again(client: Client) -> None:
    cells = {"cell": ["v2-001k-r1", "v2-002k-r1"]}

    answer = client("user").post(f"/plimsoll/campaigns/{CAMPAIGN}/again", data=cells)

    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"/plimsoll/campaigns/{CAMPAIGN}?started=demo%2Fruns%2F")
    assert all_runs() == [("demo", "queued", {"campaign_id": CAMPAIGN, "cells": "v2-001k-r1 v2-002k-r1"})]


def test_the_form_without_a_ticked_cell_starts_nothing(client: Client) -> None:
    answer = client("user").post(f"/plimsoll/campaigns/{CAMPAIGN}/again", data={})

    assert (answer.status_code, all_runs()) == (400, [])
    assert "no cell is selected" in answer.text


@pytest.mark.parametrize("conf", [{"campaign_id": None}, {"campaign_id": ""}, {"campaign_id": "", "cells": None}])
def test_a_run_that_was_asked_for_with_empty_fields_works_at_a_campaign_of_its_own(
    client: Client, conf: dict[str, str | None]
) -> None:
    start_run("demo", **conf)
    with create_session() as session:
        begun = session.scalars(select(DagRun.run_after)).one()

    assert new_campaign_id(DEFINITION.name, begun) in tab(client).text


def test_a_run_that_was_asked_for_is_told_of_on_its_own_campaigns_page_alone(
    client: Client, campaign: Installation
) -> None:
    campaign.open_campaign(DEFINITION, "other")
    user = client("user")
    places = [
        user.post(f"/plimsoll/campaigns/{CAMPAIGN}/{what}", data={"cells": "failed"}).headers["location"]
        for what in ("again", "destroy")
    ]

    for place in places:
        assert "Asked for" in user.get(place).text
        assert "Asked for" not in user.get(place.replace(CAMPAIGN, "other")).text


def test_a_report_of_what_is_valid_is_asked_for_by_a_run_that_runs_nothing(client: Client) -> None:
    page = client("user").get(f"/plimsoll/campaigns/{CAMPAIGN}/report").text
    assert "Publish what is valid" in page
    assert "Publish what is valid" not in client("viewer").get(f"/plimsoll/campaigns/{CAMPAIGN}/report").text
    assert client("viewer").post(f"{API}/report").status_code == 403

    answer = client("user").post(f"{API}/report")

    assert answer.status_code == 202, answer.text
    assert all_runs() == [("demo", "queued", {"campaign_id": CAMPAIGN, "incomplete": True})]
    pressed = client("user").post(f"/plimsoll/campaigns/{CAMPAIGN}/report")
    assert pressed.status_code == 303
    assert "?started=demo" in pressed.headers["location"]
