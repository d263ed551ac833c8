"""The DAG that the project's DAGs are compared with: runs of a plainly written chain of tasks that do nothing.

One of them waits for `load_s` seconds in the triggerer, as a load does; none of them waits where that is 0.
"""

from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import DAG, BaseOperator, Param, task


class Wait(BaseOperator):
    """Wait for the run's `load_s`. The trigger ends the task, without another process."""

    def execute(self, context: Any) -> None:
        """Begin to wait."""
        if seconds := float(context["params"]["load_s"]):
            self.defer(trigger=TimeDeltaTrigger(timedelta(seconds=seconds), end_from_trigger=True), method_name="end")


@task
def nothing() -> None:
    """Do nothing."""


@task
def cells(number: int, campaign: str) -> list[str]:
    """Return the ids of the runs to start."""
    return [f"{campaign}__{cell}" for cell in range(int(number))]


LOAD_S = Param("0", type="string")

with DAG(dag_id="plain_cell", schedule=None, max_active_runs=64, params={"load_s": LOAD_S}):
    first = nothing.override(task_id="reserve")().as_setup()
    chain = first
    for name in ("provision", "deploy", "load", "collect"):
        following = Wait(task_id=name) if name == "load" else nothing.override(task_id=name)()
        chain >> following
        chain = following
    chain >> [nothing.override(task_id="judge")(), nothing.override(task_id="destroy")().as_teardown(setups=first)]  # type: ignore[arg-type]

with DAG(dag_id="plain_campaign", schedule=None, params={"cells": Param(1, type="integer"), "load_s": LOAD_S}):
    run_cell = TriggerDagRunOperator.partial(
        task_id="run_cell",
        trigger_dag_id="plain_cell",
        logical_date=None,
        conf={"load_s": "{{ params.load_s }}"},
        wait_for_completion=True,
        deferrable=True,
        poke_interval=2,
        pool="clusters",
    ).expand(trigger_run_id=cells("{{ params.cells }}", "{{ run_id }}"))  # type: ignore[arg-type]
    run_cell >> nothing.override(task_id="quality_gate")()
