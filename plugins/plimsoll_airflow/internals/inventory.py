"""What an Airflow's database says of its pools, who holds their slots, triggerers, DAGs, variables and runs, and what a
stop or a crash left.

Read in Airflow 3.3.2; pools, triggerers and DAGs in 3.2.2 and 3.1.8, too. Its models are used, since the command line
has no token for the REST API, and may run where no api-server can be reached or none runs. By its public interface
Airflow tells neither which tasks hold a pool's slots, nor lets a task that was waiting go on without one.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
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

    from plimsoll_airflow.internals.moved import CronTriggerTimetable

HOLDING = ("queued", "running", "deferred")
"""States of a task that take a slot, in a pool that includes deferred tasks."""


@dataclass(frozen=True)
class PoolSize:
    """A pool's slots, and whether tasks that wait in a triggerer take one."""

    slots: int
    counts_deferred: bool


def pool_size(name: str) -> PoolSize | None:
    """Return the size of the pool; None where there is none."""
    from airflow.models.pool import Pool
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        pool = session.scalar(select(Pool).where(Pool.pool == name))
        return PoolSize(pool.slots, pool.include_deferred) if pool else None


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


def living_triggerers() -> int:
    """Return how many triggerers have sent a heartbeat lately."""
    from airflow.jobs.job import Job
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        # A triggerer that was killed still counts as running there; its last heartbeat tells
        jobs = session.scalars(select(Job).where(Job.job_type == "TriggererJob", Job.state == "running"))
        return sum(job.is_alive() for job in jobs)


def is_paused(dag_id: str) -> bool | None:
    """Tell whether the DAG is paused; None where there is no such DAG (any more)."""
    from airflow.models.dag import DagModel

    dag = DagModel.get_current(dag_id)
    return None if dag is None or dag.is_stale else dag.is_paused


CLOSE_UNFINISHED_RUNS = """
update task_instance set state = 'failed', end_date = now(), trigger_id = null
    where state not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed')
    and run_id in (select run_id from dag_run where state in ('queued', 'running'));
update dag_run set state = 'failed', end_date = now() where state in ('queued', 'running') returning id;
"""
"""Marks those runs and tasks as failed; answers with a line for each run."""


def ensure_variable(key: str, value: str, description: str) -> str:
    """Return the value of a Variable in the metadata database, made if there is none.

    Of several processes, one makes it. Uses the model `Variable` and `create_session`: the scheduler's own look-up,
    `airflow.sdk.Variable`, leaves the database out until the scheduler has started.
    """
    from airflow.models.variable import Variable
    from airflow.utils.session import create_session
    from sqlalchemy import select
    from sqlalchemy.exc import IntegrityError

    with suppress(IntegrityError), create_session(scoped=False) as session:
        if session.scalar(select(Variable.id).where(Variable.key == key)) is None:
            session.add(Variable(key=key, val=value, description=description))  # type: ignore[no-untyped-call]
    with create_session(scoped=False) as session:
        return str(session.scalars(select(Variable).where(Variable.key == key)).one().val or "")


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


def due_times(timetable: "CronTriggerTimetable", since: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the times at which runs were due after `since`, up to and including `until`, by the scheduler's rules.

    Uses `coerce_to_core_timetable` and `next_dagrun_info` as the scheduler does: the timetable of `airflow.sdk` has no
    times itself, and no API tells of times past at which no run began.
    """
    from airflow.sdk import timezone
    from airflow.timetables.base import DataInterval, TimeRestriction

    # Without catch-up Airflow passes over all times but the newest one that is past
    restriction = TimeRestriction(earliest=None, latest=None, catchup=True)
    core, last = core_timetable(timetable), DataInterval.exact(timezone.coerce_datetime(since))
    while info := core.next_dagrun_info(last_automated_data_interval=last, restriction=restriction):
        if info.run_after > until:
            return
        yield info.run_after
        last = DataInterval.exact(info.run_after)


def core_timetable(timetable: Any) -> Any:
    """Return the scheduler's timetable for one of `airflow.sdk`."""
    try:
        from airflow.serialization.encoders import coerce_to_core_timetable
    except ImportError:  # 3.1 has one kind of timetable
        return timetable
    return coerce_to_core_timetable(timetable)
