"""What runs after what, and when: the promises that the DAGs' wiring makes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, TriggerRule
from airflow.sdk.definitions.mappedoperator import MappedOperator
from ruamel.yaml import YAML
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.dag_bag import DagBag, DagSerialization

from plimsoll.domain.keys.trigger import Trigger
from plimsoll.ports.artefacts import MOST_FETCH_S
from plimsoll.ports.provider import TIME_TO_PROVISION
from plimsoll.services.definitions.reference import dump_definition

CHECKOUT = Path(__file__).resolve().parents[2]
DAGS = CHECKOUT / "dags"
VISIBILITY = "AIRFLOW__CELERY_BROKER_TRANSPORT_OPTIONS__VISIBILITY_TIMEOUT"
_SCHEDULED = {"schedule": "0 2 * * *", "timezone": "Europe/Paris", "notify": ("missed-schedule",)}


@pytest.fixture
def dags(installation: Installation) -> dict[str, DAG]:
    installation.define(instant_definition(parallel=7))
    installation.define(instant_definition("nightly").model_copy(update=_SCHEDULED))
    return DagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder").dags


def upstream(dag: DAG) -> dict[str, set[str]]:
    return {task.task_id: set(task.upstream_task_ids) for task in dag.tasks}


def test_a_cell_goes_through_its_phases_and_judging_does_not_hold_up_destruction(dags: dict[str, DAG]) -> None:
    assert upstream(dags["cell"]) == {
        "reserve": set(),
        "provision": {"reserve"},
        "deploy": {"provision"},
        "load": {"deploy"},
        "collect": {"load"},
        "judge": {"collect"},
        "destroy": {"collect", "reserve"},
    }


def test_the_cluster_is_destroyed_whatever_happens_after_reserve(dags: dict[str, DAG]) -> None:
    reserve, destroy = (dags["cell"].get_task(name) for name in ("reserve", "destroy"))

    assert reserve.is_setup
    assert reserve.inherits_from_empty_operator  # it runs in no process, so none can die in it
    assert destroy.is_teardown
    assert destroy.trigger_rule == TriggerRule.ALL_DONE_SETUP_SUCCESS
    assert destroy.retries == 3


def test_a_failed_load_is_collected_and_judged(dags: dict[str, DAG]) -> None:
    rules = {task.task_id: task.trigger_rule for task in dags["cell"].tasks if task.task_id in ("collect", "judge")}

    assert rules == {"collect": TriggerRule.ALL_DONE, "judge": TriggerRule.ALL_SUCCESS}


def test_a_cells_run_ends_as_its_judgement_does(dags: dict[str, DAG]) -> None:
    leaves = [task for task in dags["cell"].leaves if not task.is_teardown]

    assert [task.task_id for task in leaves] == ["judge"]


def test_every_deferrable_task_has_another_try(dags: dict[str, DAG]) -> None:
    retries = dags["cell"].get_task("load").retries, dags["instant"].get_task("run_cell").retries

    assert all(retries)


def test_every_task_of_a_cell_that_works_in_a_process_is_bounded_in_time(dags: dict[str, DAG]) -> None:
    unbounded = [task.task_id for task in dags["cell"].tasks if task.execution_timeout is None]

    assert unbounded == ["reserve"]


def test_no_task_lasts_so_long_that_the_broker_gives_it_to_a_second_worker(dags: dict[str, DAG]) -> None:
    compose = YAML(typ="safe").load((CHECKOUT / "docker-compose.yaml").read_text(encoding="utf-8"))
    visible = timedelta(seconds=int(compose["services"]["worker"]["environment"][VISIBILITY]))
    assert dags.keys() == {"cell", "instant", "nightly", "reaper", "schedules"}

    limits = {
        f"{dag_id}.{task.task_id}": task.execution_timeout
        for dag_id, dag in dags.items()
        for task in dag.tasks
        if not task.inherits_from_empty_operator  # which no worker gets
    }
    too_long = {name: limit for name, limit in limits.items() if limit is None or 2 * limit > visible}

    assert limits["cell.provision"] == TIME_TO_PROVISION
    assert too_long == {}


def test_a_campaign_ends_as_its_report_does_and_that_waits_for_the_gate(dags: dict[str, DAG]) -> None:
    dag = dags["instant"]

    assert upstream(dag) == {
        "plan": set(),
        "run_cell": {"plan"},
        "quality_gate": {"run_cell"},
        "report": {"quality_gate"},
        "reap": {"run_cell"},
    }
    # A teardown has no say in how the run ends.
    assert [task.task_id for task in dag.leaves if not task.is_teardown] == ["report"]
    assert dag.get_task("quality_gate").trigger_rule == TriggerRule.ALL_DONE
    assert dag.get_task("report").trigger_rule == TriggerRule.ALL_SUCCESS
    assert [asset.name for asset in dag.get_task("report").outlets] == ["report-instant"]


def test_cells_in_flight_are_bounded_by_definition_and_pool(dags: dict[str, DAG]) -> None:
    run_cell = dags["instant"].get_task("run_cell")

    assert isinstance(run_cell, MappedOperator)
    assert run_cell.pool == "clusters"
    assert run_cell.max_active_tis_per_dagrun == 7


def test_one_run_of_a_campaigns_dag_at_a_time(dags: dict[str, DAG]) -> None:
    assert dags["instant"].max_active_runs == 1
    assert dags["instant"].catchup is False


def test_a_definitions_schedule_is_the_dags(dags: dict[str, DAG]) -> None:
    from plimsoll_airflow.internals.inventory import core_timetable

    assert dags["instant"].timetable.can_be_scheduled is False
    nightly = core_timetable(dags["nightly"].timetable)
    assert nightly.summary == "0 2 * * *"
    assert nightly.serialize()["timezone"] == "Europe/Paris"


def test_a_trigger_is_the_dags_schedule_alone_or_beside_its_times(installation: Installation) -> None:
    from plimsoll_airflow.internals.inventory import core_timetable

    for name, more in (("released", {}), ("both", _SCHEDULED)):
        update = {"trigger": Trigger(asset="database-release"), **more}
        installation.define(instant_definition(name).model_copy(update=update))
    dags = DagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder").dags

    alone, both = (core_timetable(dags[name].timetable) for name in ("released", "both"))
    assert [asset.name for _, asset in alone.asset_condition.iter_assets()] == ["database-release"]
    assert [asset.name for _, asset in both.asset_condition.iter_assets()] == ["database-release"]
    assert both.timetable.summary == "0 2 * * *"
    assert dags["released"].max_active_runs == dags["both"].max_active_runs == 1


def test_each_mention_of_a_queues_asset_has_its_one_watcher(installation: Installation, database: None) -> None:
    """Of several mentions Airflow takes the last one's watchers."""
    from airflow.dag_processing.collection import AssetModelOperation
    from airflow.serialization.serialized_objects import LazyDeserializedDAG

    url = "https://sqs.eu-west-1.amazonaws.com/123456789012/builds"
    trigger = Trigger.model_validate({"asset": "builds", "queue": {"url": url}})
    for name, more in (("released", {}), ("both", _SCHEDULED)):
        installation.define(instant_definition(name).model_copy(update={"trigger": trigger, **more}))
    dags = DagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder").dags

    for dag in (dags["released"], dags["both"]):
        lazy = LazyDeserializedDAG(data=DagSerialization.to_dict(dag))
        [watcher] = AssetModelOperation.collect({dag.dag_id: lazy}).assets["builds", "builds"].watchers
        assert watcher.trigger == {
            "classpath": "plimsoll_airflow.triggers.queue.QueueTrigger",
            "kwargs": {"url": url, "connection": "aws_default"},
        }


@pytest.mark.parametrize("past", [timedelta(minutes=1), timedelta(hours=23)])
def test_unpausing_waits_for_the_next_time_that_is_due(
    dags: dict[str, DAG], monkeypatch: pytest.MonkeyPatch, past: timedelta
) -> None:
    from airflow.timetables.base import TimeRestriction

    from plimsoll_airflow.internals.inventory import core_timetable

    due = datetime(2026, 1, 5, 1, 0, tzinfo=UTC)
    monkeypatch.setattr("airflow.timetables.trigger.utcnow", lambda: due + past)
    dag: Any = dags["nightly"]
    restriction = TimeRestriction(earliest=dag.start_date, latest=None, catchup=dag.catchup)
    timetable = core_timetable(dag.timetable)
    first = timetable.next_dagrun_info(last_automated_data_interval=None, restriction=restriction)

    assert first is not None
    assert first.run_after == due + timedelta(days=1)


def test_the_reaper_runs_every_hour_and_never_twice_at_once(dags: dict[str, DAG]) -> None:
    from plimsoll_airflow.internals.inventory import core_timetable

    assert core_timetable(dags["reaper"].timetable).summary == "0 * * * *"
    assert dags["reaper"].max_active_runs == 1


def test_only_campaigns_wait_to_be_unpaused(dags: dict[str, DAG]) -> None:
    paused = {dag_id: dag.is_paused_upon_creation for dag_id, dag in dags.items()}

    assert paused == {"cell": False, "reaper": False, "instant": None, "nightly": None, "schedules": False}


def test_plan_has_time_to_fetch_what_values_of_parameters_name(installation: Installation) -> None:
    text = dump_definition(instant_definition("released")).replace("title: An instant", "title: $(version), an instant")
    parameters = "parameters:\n  version: {type: text, default: 4.0.1}\n"
    installation.write_definition("released", text + parameters)
    installation.define(instant_definition())
    dags = DagBag(dag_folder=str(DAGS), bundle_path=DAGS, bundle_name="dags-folder").dags

    plain, released = (dags[name].get_task("plan").execution_timeout for name in ("instant", "released"))
    assert plain is not None
    assert released == plain + timedelta(seconds=MOST_FETCH_S)
