"""The end of a cell's run: the slot for its cluster is free for others, and its campaign goes on without one."""

from typing import Any

from airflow.listeners import hookimpl

from plimsoll_airflow.internals.slots import give_back
from plimsoll_airflow.runs.ownership import CELL_DAG, LIVE_STATES, CellRunId


@hookimpl
def on_dag_run_success(dag_run: Any) -> None:
    """Give back the slot of a run that has succeeded. Airflow calls this."""
    _give_back(dag_run)


@hookimpl
def on_dag_run_failed(dag_run: Any) -> None:
    """Give back the slot of a failed run, also where it was marked as failed and continues for its teardown."""
    _give_back(dag_run)


def _give_back(dag_run: Any) -> None:
    conf = dag_run.conf or {}
    if dag_run.dag_id == CELL_DAG and dag_run.state not in LIVE_STATES and {"campaign_id", "cell_id"} <= conf.keys():
        give_back(dag_run, CellRunId(conf["campaign_id"], conf["cell_id"]))
