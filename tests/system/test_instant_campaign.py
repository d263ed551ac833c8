"""Campaigns of an instant provider through a real Airflow on PostgreSQL: everything is real but the clusters."""

import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.airflow_stack import StackUnderTest
from tests.fakes.airflow_campaign import run_campaign
from tests.fakes.installation import Installation, instant_definition

from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.planning import running_order
from plimsoll_airflow.local import census, processes

MANY = instant_definition("many", variants=2, loads=2, repeats=2, parallel=3)
FEW = instant_definition("few", variants=1, loads=4, parallel=4)
LONG = instant_definition("long", variants=1, loads=1, load_s=20)

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def airflow(airflow_stack: Callable[..., StackUnderTest], installation: Installation, checkout: Path) -> StackUnderTest:
    for definition in (MANY, FEW, LONG):
        installation.define(definition)
    # A killed triggerer's work is taken over after this time; the default is two minutes.
    prompt = {"AIRFLOW__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD": "10"}
    environment = {**installation.environment, **prompt, "PYTHONPATH": str(checkout)}
    return airflow_stack(env=environment, dag_ids=["many", "few", "long", "cell", "reaper"])


def test_8_cells_3_at_a_time_to_their_report(airflow: StackUnderTest, installation: Installation) -> None:
    outcome = run_campaign(airflow, installation, MANY, parallel=3, timeout_s=1500)

    assert outcome.failures == (), "\n".join(outcome.failures)
    assert outcome.run.state == "success"
    assert outcome.clusters == 8
    assert 1 < outcome.most_alive <= 3
    assert installation.provider.clusters() == []
    (campaign_id,) = _campaigns_of(installation, "many")
    campaign = CampaignStore(installation.toolkit.store, campaign_id)
    assert all(campaign.valid_verdict(cell.id) for cell in running_order(MANY))
    assert installation.toolkit.store.exists(f"{campaign_id}/report/report.html")


def test_a_failed_cell_is_named_by_the_gate_and_run_again_alone(
    airflow: StackUnderTest, installation: Installation
) -> None:
    airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    installation.faults.plant("v1-002k-r1", "load")
    failed = airflow.run_to_end("few", {"campaign_id": "few-mine"}, timeout_s=800)
    states = {task.name: task.state for task in airflow.client.task_instances("few", failed.run_id)}
    gate = next(task for task in airflow.client.task_instances("few", failed.run_id) if task.task_id == "quality_gate")
    provided = installation.provider.provided()
    installation.faults.heal("v1-002k-r1")

    healed = airflow.run_to_end("few", {"campaign_id": "few-mine", "cells": "failed"}, timeout_s=800)

    assert failed.state == "failed"
    assert sorted(state or "" for name, state in states.items() if name.startswith("run_cell")) == [
        "failed",
        "success",
        "success",
        "success",
    ]
    assert "v1-002k-r1" in "\n".join(airflow.client.task_errors(failed, gate))
    assert healed.state == "success"
    assert installation.provider.provided() == provided + 1


def test_a_killed_triggerer_changes_nothing(airflow: StackUnderTest, installation: Installation) -> None:
    airflow.client.unpause("long")
    run = airflow.client.trigger("long", {"campaign_id": "long-mine"})
    _await_load(airflow, "long-mine__v1-001k-r1")

    _replace_triggerer(airflow)

    assert airflow.wait_for(run, timeout_s=600).state == "success"
    campaign = CampaignStore(installation.toolkit.store, "long-mine")
    assert [key.attempt for key in campaign.attempts("v1-001k-r1")] == [1]


def _campaigns_of(installation: Installation, name: str) -> list[str]:
    return [campaign for campaign in installation.toolkit.store.folders("") if campaign.startswith(name)]


def _await_load(airflow: StackUnderTest, run_id: str) -> None:
    deadline = time.monotonic() + 180
    while not _is_loading(airflow, run_id):
        assert time.monotonic() < deadline, "the load has not begun"
        time.sleep(0.5)


def _is_loading(airflow: StackUnderTest, run_id: str) -> bool:
    if run_id not in {run.run_id for run in airflow.client.dag_runs("cell")}:
        return False
    tasks = airflow.client.task_instances("cell", run_id)
    return any(task.task_id == "load" and task.state == "deferred" for task in tasks)


def _replace_triggerer(airflow: StackUnderTest) -> None:
    home = airflow.stack.home
    killed = [member.process for member in census.members(home) if member.component == "triggerer"]
    for process in killed:
        process.kill()
    psutil.wait_procs(killed, timeout=30)
    arguments = processes.AIRFLOW_COMPONENTS["triggerer"]
    environment = airflow.stack.environment(airflow.running.port)
    processes.start("triggerer", processes.airflow_command(arguments), home, environment)
