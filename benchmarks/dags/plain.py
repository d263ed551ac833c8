"""The DAG that the project's DAGs are compared with: runs of a plainly written chain of tasks that do nothing."""

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, Param, task


@task
def nothing() -> None:
    """Do nothing."""


@task
def cells(number: int, campaign: str) -> list[str]:
    """The ids of the runs to start."""
    return [f"{campaign}__{cell}" for cell in range(int(number))]


with DAG(dag_id="plain_cell", schedule=None, max_active_runs=64):
    first = nothing.override(task_id="reserve")().as_setup()
    chain = first
    for name in ("provision", "deploy", "load", "collect"):
        following = nothing.override(task_id=name)()
        chain >> following
        chain = following
    chain >> [nothing.override(task_id="judge")(), nothing.override(task_id="destroy")().as_teardown(setups=first)]  # type: ignore[arg-type]

with DAG(dag_id="plain_campaign", schedule=None, params={"cells": Param(1, type="integer")}):
    run_cell = TriggerDagRunOperator.partial(
        task_id="run_cell",
        trigger_dag_id="plain_cell",
        logical_date=None,
        wait_for_completion=True,
        deferrable=True,
        poke_interval=2,
        pool="clusters",
    ).expand(trigger_run_id=cells("{{ params.cells }}", "{{ run_id }}"))  # type: ignore[arg-type]
    run_cell >> nothing.override(task_id="quality_gate")()
