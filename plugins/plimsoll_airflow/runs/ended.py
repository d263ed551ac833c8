"""The end of a run. That of a cell leaves the slot for its cluster to others, and its campaign goes on without one.

Runs that a person marks as failed, in Airflow's pages, by its API or by Plimsoll's, stay failed after teardown. Airflow
skips the tasks that have not begun, lets the teardown run, and would then take a run whose last task is skipped as
successful.
"""

from typing import Any

from airflow.listeners import hookimpl

from plimsoll_airflow.internals.inventory import fail_what_was_skipped
from plimsoll_airflow.internals.slots import give_back
from plimsoll_airflow.runs.ownership import CELL_DAG, LIVE_STATES, CellRunId


@hookimpl
def on_dag_run_success(dag_run: Any) -> None:
    """Give back the slot of a run that has succeeded. Airflow calls this."""
    conf = dag_run.conf or {}
    # A run that was marked as failed keeps its slot until its teardown has run, because its cluster lives until then
    if dag_run.dag_id == CELL_DAG and dag_run.state not in LIVE_STATES and {"campaign_id", "cell_id"} <= conf.keys():
        give_back(dag_run, CellRunId(conf["campaign_id"], conf["cell_id"]))


@hookimpl
def on_dag_run_failed(dag_run: Any) -> None:
    """Give back the slot of a failed run, and let one that was set to failed end as failed.

    Airflow calls this where a run has failed, and where it was marked as failed and continues for its teardown.
    """
    on_dag_run_success(dag_run)
    if dag_run.state in LIVE_STATES and _is_ours(dag_run.dag_id):
        fail_what_was_skipped(dag_run)


def _is_ours(dag_id: str) -> bool:
    # Late, for every process loads plugins.
    from plimsoll.bootstrap import definition_folder
    from plimsoll.prefix import dag_id_of
    from plimsoll.settings import Settings

    return dag_id == CELL_DAG or dag_id in map(dag_id_of, definition_folder(Settings()).names())
