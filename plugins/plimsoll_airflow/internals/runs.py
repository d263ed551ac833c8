"""Runs: their pages, and what becomes of their tasks. Read in Airflow 3.3.2."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun


def run_url(dag_id: str, run_id: str) -> str:
    """Return the address of a run in Airflow's own pages.

    Uses `build_airflow_dagrun_url`, by which Airflow makes its own links: the paths of its pages are not public.
    """
    from airflow.utils.helpers import build_airflow_dagrun_url

    return build_airflow_dagrun_url(dag_id=dag_id, run_id=run_id)


def fail_what_was_skipped(run: "DagRun") -> None:
    """Mark the run's skipped tasks as `upstream_failed`, in the transaction in which Airflow reports the failure.

    Uses the model `DagRun`, which listeners are given, and its session: a change through the API would come after that
    transaction, when the scheduler may have found the run successful.
    """
    from airflow.utils.state import TaskInstanceState
    from sqlalchemy.orm import object_session

    session: Any = object_session(run)
    assert session is not None, "Airflow tells of runs within the transaction that marks them"
    for task in run.get_task_instances(state=[TaskInstanceState.SKIPPED], session=session):
        task.state = TaskInstanceState.UPSTREAM_FAILED
