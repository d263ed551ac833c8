"""A team's deployment in its containers: a cell on real Cassandra nodes, on hosts over SSH, to its report."""

import json
import time
from collections.abc import Iterator

import httpx
import pytest
from tests.containers.deployment import LOAD, NODES, Deployment, running_deployment
from tests.support.airflow.stack import POLL_S
from tests.support.campaigns.local_definition import local_definition
from tests.support.processes import until

from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll_airflow.local.client import AirflowClient, DagRun

CAMPAIGN = "small-in-containers"
USER, PASSWORD = "ada", "not a secret: this Airflow lives for one test"
PARSED_WITHIN_S, ENDED_WITHIN_S = 300, 1200


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with running_deployment(tmp_path_factory.mktemp("containers")) as made:
        yield made


@pytest.fixture(scope="module")
def definition(deployment: Deployment) -> Definition:
    """Provide one cell of the demo, cut down, for hosts that are always there."""
    known = " ".join(deployment.host_key.public.split()[:2])
    hosts = [{"address": address, "user": "bench", "host_key": known} for address in (*NODES, LOAD)]
    options = {
        "connection": "bench",
        "folder": "/var/tmp/plimsoll",
        "disk_per_host": "1G",
        "groups": [{"name": "containers", "nodes": hosts[:-1], "load": hosts[-1]}],
    }
    content = local_definition("small", variants=1).model_dump(mode="json")
    definition = Definition.model_validate({**content, "provider": {"name": "ssh", "options": options}})
    (deployment.campaigns / "small.yaml").write_text(dump_definition(definition))
    return definition


@pytest.fixture(scope="module")
def airflow(deployment: Deployment, definition: Definition) -> Iterator[AirflowClient]:
    """Provide Airflow's REST API to an admin made as docs/guides/team.md says; the hosts' key is in a connection."""
    name = ("--firstname", "Ada", "--lastname", "Lovelace", "--email", "ada@example.com")
    made = ("users", "create", "--username", USER, "--role", "Admin", *name, "--password", PASSWORD)
    deployment.compose("run", "--rm", "airflow", *made, timeout_s=300)
    deployment.compose("run", "--rm", "prepare", definition.name, timeout_s=1800)
    key = {"connection_id": "bench", "conn_type": "ssh", "login": "bench"}
    with AirflowClient(deployment.url, PASSWORD, user=USER) as client:
        client.call("POST", "/connections", json={**key, "extra": _extra(deployment)})
        yield client


def test_a_small_campaign_runs_through_the_containers_to_its_report(
    deployment: Deployment, definition: Definition, airflow: AirflowClient
) -> None:
    _until_parsed(airflow, definition.dag_id)
    for dag_id in ("cell", definition.dag_id):
        airflow.unpause(dag_id)

    run = _ended(airflow, airflow.trigger(definition.dag_id, {"campaign_id": CAMPAIGN}))

    store = deployment.service.store()
    assert run.state == "success", _what_went_wrong(airflow, run)
    verdict = valid_verdict(CampaignStore(store, CAMPAIGN), "g1-00200-r1")
    assert verdict is not None
    assert verdict.met is not None
    assert store.exists(report_key(CAMPAIGN))
    _page_is_there(deployment)


def _extra(deployment: Deployment) -> str:
    return json.dumps({"private_key": deployment.user_key.private})


def _until_parsed(airflow: AirflowClient, dag_id: str) -> None:
    until(lambda: airflow.dag(dag_id) and airflow.dag("cell"), f"{dag_id} is parsed", patience_s=PARSED_WITHIN_S)


def _ended(airflow: AirflowClient, run: DagRun) -> DagRun:
    deadline = time.monotonic() + ENDED_WITHIN_S
    while not (current := airflow.dag_run(run.dag_id, run.run_id)).is_final:
        assert time.monotonic() < deadline, f"{run.run_id} is still {current.state}"
        time.sleep(5 * POLL_S)
    return current


def _what_went_wrong(airflow: AirflowClient, run: DagRun) -> str:
    runs = [run, *airflow.dag_runs("cell", state="failed")]
    failed = [(one, task) for one in runs for task in airflow.task_instances(one.dag_id, one.run_id)]
    errors = [f"{task.name}: {airflow.task_errors(one, task)}" for one, task in failed if task.state == "failed"]
    return "\n".join(errors) or run.state


def _page_is_there(deployment: Deployment) -> None:
    with httpx.Client(base_url=deployment.url, timeout=60, trust_env=False) as web:
        login = {"username": USER, "password": PASSWORD}
        token = web.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        answer = web.get(
            f"/plimsoll/api/v1/campaigns/{CAMPAIGN}/capacity", headers={"Authorization": f"Bearer {token}"}
        )
        assert answer.status_code == 200, answer.text
