"""Campaigns that begin by events of an asset, on a running Airflow by REST: one, several, a wrong one."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.fakes.gated import LOADING, Gates
from tests.fakes.installation import Installation
from tests.support.airflow.rest import logged_in, send
from tests.support.airflow.stack import StackUnderTest
from tests.support.processes import until
from tests.support.suite.requirements import long
from tests.system.instant.definitions import DEFINITIONS

from plimsoll_airflow.local.client import DagRun

DEFINITION = DEFINITIONS["released"]
ASSET = "database-release"
END_S = 300.0

pytestmark = [pytest.mark.timeout(1800), long("the task's answers to events are in tests/airflow")]


@pytest.fixture(scope="module")
def airflow(shared_airflow: StackUnderTest) -> StackUnderTest:
    shared_airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    shared_airflow.client.unpause("released")
    return shared_airflow


@pytest.fixture
def api(airflow: StackUnderTest) -> Iterator[httpx.Client]:
    with logged_in(airflow) as client:
        yield client


def next_run(airflow: StackUnderTest, known: int) -> DagRun:
    """Return the run that begins after so many, as it ended."""
    until(lambda: len(airflow.client.dag_runs("released")) > known, lambda: "a run", patience_s=END_S)
    return airflow.wait_for(airflow.client.dag_runs("released")[0], timeout_s=END_S)


def newest_campaign(api: httpx.Client) -> dict[str, object]:
    listed = api.get("/plimsoll/api/v1/campaigns", params={"definition": "released"}).raise_for_status().json()
    found: dict[str, object] = api.get(f"/plimsoll/api/v1/campaigns/{listed[0]['campaign_id']}").json()
    return found


def test_the_documents_commands_begin_a_campaign_with_the_release_that_they_name(
    airflow: StackUnderTest, api: httpx.Client, installation: Installation, checkout: Path, tmp_path: Path
) -> None:
    text = (checkout / "docs" / "guides" / "rest.md").read_text(encoding="utf-8")
    log_in, by_event = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)[0], re.findall(r"```sh\n(.*?)```", text, re.S)
    known = len(airflow.client.dag_runs("released"))
    values = {"AIRFLOW": airflow.running.url, "PASSWORD": airflow.stack.home.password_of("admin")}
    values |= {"DEFINITION": "released", "ASSET": ASSET, "VERSION": "4.1.10", "NO_PROXY": "127.0.0.1"}

    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join([log_in, *by_event])],
        env={**os.environ, **values},
        cwd=tmp_path,
        timeout=END_S,
        check=True,
    )

    run = next_run(airflow, known)
    campaign = newest_campaign(api)
    folder = installation.folder / "store" / str(campaign["campaign_id"])
    report = json.loads((folder / "report" / "report.json").read_text())
    assert (run.state, campaign["state"], campaign["title"]) == ("success", "complete", "Release 4.1.10")
    assert campaign["parameters"] == {"version": "4.1.10"}
    assert "$(" not in (folder / "definition.yaml").read_text()
    assert report["definition"]["parameters"]["version"]["value"] == "4.1.10"
    assert "version 4.1.10 (default 4.0.1)" in (folder / "report" / "report.html").read_text()


def test_of_events_that_waited_the_newest_begins_a_campaign_and_its_status_names_the_others(
    airflow: StackUnderTest, api: httpx.Client, gates: Gates
) -> None:
    cell = "released-by-hand~v1-001k-r1"
    gates.close(cell, LOADING)
    asked = {"campaign_id": "released-by-hand", "parameters": {"version": "4.1.1"}}
    first = airflow.client.trigger("released", asked)
    until(lambda: cell in {one.cell for one in gates.arrivals()}, lambda: "a load", patience_s=END_S)
    known = len(airflow.client.dag_runs("released"))
    for version in ("4.1.2", "4.1.3"):
        send(api, ASSET, {"version": version})
    gates.open(cell, LOADING)

    run = next_run(airflow, known)
    assert (airflow.wait_for(first).state, run.state) == ("success", "success")
    campaign = newest_campaign(api)
    assert (campaign["campaign_id"] != "released-by-hand", campaign["title"]) == (True, "Release 4.1.3")
    begun = campaign["begun_by"]
    assert isinstance(begun, dict)
    assert (begun["values"], [event["extra"] for event in begun["skipped"]]) == (
        {"version": "4.1.3"},
        ["version 4.1.2"],
    )
    by_hand = api.get("/plimsoll/api/v1/campaigns/released-by-hand").json()
    assert (by_hand["title"], by_hand.get("begun_by")) == ("Release 4.1.1", None)


def test_a_wrong_event_fails_its_run_which_names_event_and_key_and_begins_no_campaign(
    airflow: StackUnderTest, api: httpx.Client, installation: Installation
) -> None:
    before, known = installation.toolkit.store.folders(""), len(airflow.client.dag_runs("released"))
    send(api, ASSET, {"release": "4.1.4"})

    run = next_run(airflow, known)
    assert run.state == "failed"
    [plan] = [task for task in airflow.client.task_instances("released", run.run_id) if task.task_id == "plan"]
    errors = "\n".join(airflow.client.task_errors(run, plan))
    assert f"the event of asset {ASSET!r}" in errors
    assert "parameters.release: there is no such parameter" in errors
    assert installation.toolkit.store.folders("") == before
