"""A campaign that a person must approve, on a running Airflow by REST: cleared, rejected, approved, and unanswered."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import httpx
import pytest
from tests.fakes.gated import dear_provider
from tests.fakes.installation import Installation
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.local.client import DagRun, TaskInstance
from plimsoll_airflow.runs.ownership import AWAITS_ANSWER

END_S = 300.0
CAMPAIGN = "dear-mine"

pytestmark = [pytest.mark.timeout(900), long("the task's answers are in tests/airflow")]


@pytest.fixture(scope="module")
def airflow(shared_airflow: StackUnderTest) -> StackUnderTest:
    shared_airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    for dag_id in ("dear", "unanswered"):
        shared_airflow.client.unpause(dag_id)
    return shared_airflow


@contextmanager
def client_of(airflow: StackUnderTest, user: str) -> Iterator[httpx.Client]:
    login = {"username": user, "password": airflow.stack.home.password_of(user)}
    with httpx.Client(base_url=airflow.running.url, timeout=60, trust_env=False) as client:
        token = client.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        yield client


@pytest.fixture
def ada(airflow: StackUnderTest) -> Iterator[httpx.Client]:
    with client_of(airflow, "ada") as client:
        yield client


def respond(client: httpx.Client, run: DagRun, answer: str) -> httpx.Response:
    place = f"/api/v2/dags/{run.dag_id}/dagRuns/{run.run_id}/taskInstances/approve/-1/hitlDetails"
    return client.patch(place, json={"chosen_options": [answer]})


def approve_task(airflow: StackUnderTest, run: DagRun) -> TaskInstance:
    tasks = airflow.client.task_instances(run.dag_id, run.run_id)
    return next(task for task in tasks if task.task_id == "approve")


def await_question(airflow: StackUnderTest, run: DagRun, try_number: int = 1) -> None:
    def is_asked() -> bool:
        task = approve_task(airflow, run)
        return task.state in AWAITS_ANSWER and task.try_number == try_number

    until(is_asked, lambda: f"the question: {airflow.client.task_instances(run.dag_id, run.run_id)}", patience_s=END_S)


def why(airflow: StackUnderTest, run: DagRun) -> str:
    return "\n".join(airflow.client.task_errors(run, approve_task(airflow, run)))


def test_hosts_are_launched_once_a_person_has_approved_them(
    airflow: StackUnderTest, installation: Installation, ada: httpx.Client
) -> None:
    campaign = CampaignStore(installation.toolkit.store, CAMPAIGN)
    first = airflow.client.trigger("dear", {"campaign_id": CAMPAIGN})
    await_question(airflow, first)
    status = ada.get(f"/plimsoll/api/v1/campaigns/{CAMPAIGN}").raise_for_status().json()
    assert (status["state"], status["waits_for"]) == (
        "waiting",
        "waiting for an approval: its task approve asks for one",
    )
    with client_of(airflow, "vera") as vera:
        assert respond(vera, first, "Approve").status_code == HTTPStatus.FORBIDDEN

    cleared = {"dag_run_id": first.run_id, "task_ids": ["approve"], "dry_run": False, "only_failed": False}
    ada.post("/api/v2/dags/dear/clearTaskInstances", json=cleared).raise_for_status()
    await_question(airflow, first, try_number=2)
    assert respond(ada, first, "Reject").is_success
    assert airflow.wait_for(first, timeout_s=END_S).state == "failed"
    assert "approval: was rejected by ada, so no host was launched" in why(airflow, first)
    assert dear_provider(installation.folder / "work").provided() == 0
    assert campaign.approvals() == ()

    second = airflow.client.trigger("dear", {"campaign_id": CAMPAIGN})
    await_question(airflow, second)
    assert respond(ada, second, "Approve").is_success
    assert airflow.wait_for(second, timeout_s=END_S).state == "success"
    [approval] = campaign.approvals()
    assert approval.by == "ada"
    status = ada.get(f"/plimsoll/api/v1/campaigns/{CAMPAIGN}").raise_for_status().json()
    assert (status["state"], [one["by"] for one in status["approvals"]]) == ("complete", ["ada"])
    report = ada.get(f"/plimsoll/api/v1/campaigns/{CAMPAIGN}/report/report.json").raise_for_status().json()
    assert [one["by"] for one in report["approvals"]] == ["ada"]

    third = airflow.run_to_end("dear", {"campaign_id": CAMPAIGN, "cells": "v1-001k-r1"}, timeout_s=END_S)
    assert third.state == "success"  # nobody was asked again
    assert installation.attempts(CAMPAIGN) == {"v1-001k-r1": [1, 2]}


def test_a_question_that_nobody_answers_ends_the_run(airflow: StackUnderTest, installation: Installation) -> None:
    run = airflow.run_to_end("unanswered", {"campaign_id": "unanswered-mine"}, timeout_s=END_S)
    assert run.state == "failed"
    assert "approval: was not answered within 5s, so no host was launched" in why(airflow, run)
    assert installation.attempts("unanswered-mine") == {}
