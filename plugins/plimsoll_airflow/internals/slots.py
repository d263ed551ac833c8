"""Slots of the pool `clusters`: who holds them, who waits for one, and when one is given back. Read in Airflow 3.3.2.

Uses the models `DagRun`, `TaskInstance`, `XComModel` and `Pool`: by its public interface Airflow tells neither which
tasks hold a pool's slots, nor lets a task that was waiting go on without one.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll_airflow.runs.ownership import (
    CAMPAIGN_ID,
    CLUSTERS_POOL,
    JUDGE_TASK,
    PLAN_TASK,
    RUN_CELL_TASK,
    RUNS_AGAIN,
    CellRunId,
)

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from sqlalchemy.orm import Session

HOLDING = ("queued", "running", "deferred")
"""States of a task that take a slot, in a pool that includes deferred tasks."""


@dataclass(frozen=True)
class Slots:
    """The pool's holders, `campaign__cell` each, and of one run the number of cells that wait for a slot."""

    holders: tuple[CellRunId, ...]
    waiting: int


def give_back(run: "DagRun", cell: CellRunId) -> None:
    """Move the `run_cell` that waits for this cell's run out of the pool, in the transaction that ends the run.

    What is left of the task needs no cluster. In the pool it would wait for a slot again behind other campaigns' cells,
    and its campaign's gate and report with it, because a waiting task that goes on gives its slot back first. A cell
    that runs again at once stays in the pool, since it needs a cluster again.
    """
    from airflow.models.pool import Pool
    from airflow.models.taskinstance import TaskInstance
    from sqlalchemy import select
    from sqlalchemy.orm import object_session

    session = object_session(run)
    assert session is not None, "Airflow tells of runs within the transaction that marks them"
    if _xcom(session, run, JUDGE_TASK, RUNS_AGAIN) is not None:
        return
    named = (TaskInstance.task_id == RUN_CELL_TASK, TaskInstance._rendered_map_index == cell.cell_id)
    holding = (TaskInstance.pool == CLUSTERS_POOL, TaskInstance.state.in_(HOLDING))
    for task in session.scalars(select(TaskInstance).where(*named, *holding)):
        # Cells of other campaigns have the same ids
        if _campaign_of(session, task) == cell.campaign_id:
            task.pool = Pool.DEFAULT_POOL_NAME


def slots(dag_id: str, run_id: str) -> Slots:
    """Tell who holds the pool's slots, and how many cells of that run wait for one."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session
    from sqlalchemy import func, select

    in_pool = (TaskInstance.task_id == RUN_CELL_TASK, TaskInstance.pool == CLUSTERS_POOL)
    of_run = (TaskInstance.dag_id == dag_id, TaskInstance.run_id == run_id, TaskInstance.state == "scheduled")
    with create_session() as session:
        waiting = session.scalar(select(func.count()).select_from(TaskInstance).where(*in_pool, *of_run)) or 0
        query = select(TaskInstance).where(*in_pool, TaskInstance.state.in_(HOLDING)).order_by(TaskInstance.start_date)
        holders = [(_campaign_of(session, task), task.rendered_map_index) for task in session.scalars(query)]
        return Slots(tuple(CellRunId(campaign, cell or "") for campaign, cell in holders if campaign), waiting)


def _campaign_of(session: "Session", task: "TaskInstance") -> str:
    """Return the campaign that `plan` of the task's run has opened; empty where it left none."""
    from airflow.models.xcom import XComModel

    row = _xcom(session, task, PLAN_TASK, CAMPAIGN_ID)
    return str(XComModel.deserialize_value(row) or "") if row else ""


def _xcom(session: "Session", of: "DagRun | TaskInstance", task_id: str, key: str) -> Any:
    """Return the row of what that task of a run has left under that key; None where it left nothing."""
    from airflow.models.xcom import XComModel
    from sqlalchemy import select

    of_run = (XComModel.dag_id == of.dag_id, XComModel.run_id == of.run_id)
    return session.scalar(select(XComModel).where(*of_run, XComModel.task_id == task_id, XComModel.key == key))
