"""Where the links on Airflow's task pages lead."""

from types import SimpleNamespace
from typing import Any

import pytest
from airflow.models.taskinstancekey import TaskInstanceKey
from tests.fakes.installation import Installation
from tests.support.airflow.dag_bag import DagBag, DagSerialization
from tests.support.airflow.home import CHECKOUT

from plimsoll_airflow.operators.campaign import QualityGate
from plimsoll_airflow.operators.cell import Provision
from plimsoll_airflow.operators.links import CampaignPageLink, CellPageLink
from plimsoll_airflow.operators.run_cell import RunCell

FRAME = "http://localhost:8080/plugin/plimsoll/plimsoll/campaigns"


@pytest.fixture(autouse=True)
def base_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "http://localhost:8080")


def in_run(run_id: str) -> Any:
    return SimpleNamespace(run_id=run_id)


def instance(key: TaskInstanceKey) -> Any:
    return SimpleNamespace(key=key)


def test_from_a_task_of_the_dag_cell_to_its_cell() -> None:
    task, link = Provision(task_id="provision"), CellPageLink()

    assert link.get_link(task, ti_key=in_run("demo-mine__g1-040k-r3")) == f"{FRAME}/demo-mine/cells/g1-040k-r3"
    assert link.get_link(task, ti_key=in_run("manual__2026-01-31T12:00:00+00:00_Ab1")) == ""


def test_the_pages_of_airflow_show_it_for_each_task_of_a_process_without_asking_the_database(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in the api-server. Airflow changes it for the whole process when it reads DAGs as the scheduler does.
    monkeypatch.setattr(DagSerialization, "_load_operator_extra_links", True)
    dags = CHECKOUT / "dags"
    parsed = DagBag(dag_folder=str(dags / "cell.py"), bundle_path=dags, bundle_name="dags-folder").dags["cell"]
    shown = DagSerialization.from_dict(DagSerialization.to_dict(parsed))
    run = "demo-mine__g1-040k-r3"

    for name in [name for name in parsed.task_dict if name != "reserve"]:
        task, ti = shown.get_task(name), instance(TaskInstanceKey("cell", name, run))
        links = {link: task.get_extra_links(ti, link) for link in task.extra_links}
        assert links == {"Cell in Plimsoll": f"{FRAME}/demo-mine/cells/g1-040k-r3"}
        assert not parsed.get_task(name).operator_extra_links  # its process would keep each of them


def test_from_the_task_that_waits_for_a_cell_to_that_cell() -> None:
    task = RunCell(task_id="run_cell", run_id="demo-mine__g1-040k-r3")

    assert CellPageLink().get_link(task, ti_key=in_run("scheduled__2026")) == f"{FRAME}/demo-mine/cells/g1-040k-r3"


def test_from_a_task_of_a_campaign_to_the_campaign() -> None:
    link = CampaignPageLink()

    assert link.get_link(QualityGate(task_id="gate", campaign_id="demo-mine"), ti_key=None) == f"{FRAME}/demo-mine"
    assert link.get_link(QualityGate(task_id="gate", campaign_id=""), ti_key=None) == ""
