"""All that tasks, DAG files and listeners use of Airflow beyond its public interface.

What the pages use is in `web.internals`, what the local stack uses in `local.internals`. Airflow may change any of it
between two versions. Whoever installs another version looks here first, and adds the version to `TRIED_ON` when the
tests below `tests/airflow` pass on it. Imports are made late: some processes need one of them, most need none.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from airflow.sdk import CronTriggerTimetable

TRIED_ON = ("3.3.2",)
"""Versions of Airflow that this module was tried on."""


def due_times(timetable: "CronTriggerTimetable", since: datetime, until: datetime) -> Iterator[datetime]:
    """When runs were due after `since`, up to and with `until`, as the scheduler reckons it."""
    from airflow.sdk import timezone
    from airflow.serialization.encoders import coerce_to_core_timetable
    from airflow.timetables.base import DataInterval, TimeRestriction

    restriction = TimeRestriction(earliest=None, latest=None, catchup=True)
    core, last = coerce_to_core_timetable(timetable), DataInterval.exact(timezone.coerce_datetime(since))
    while info := core.next_dagrun_info(last_automated_data_interval=last, restriction=restriction):
        if info.run_after > until:
            return
        yield info.run_after
        last = DataInterval.exact(info.run_after)


def run_url(dag_id: str, run_id: str) -> str:
    """Address of a run in Airflow's own pages."""
    from airflow.utils.helpers import build_airflow_dagrun_url

    return build_airflow_dagrun_url(dag_id=dag_id, run_id=run_id)


def fail_what_was_skipped(run: "DagRun") -> None:
    """Mark the run's skipped tasks as not run because of a failure, in the transaction that Airflow tells of it in."""
    from airflow.utils.state import TaskInstanceState
    from sqlalchemy.orm import object_session

    session: Any = object_session(run)
    assert session is not None, "Airflow tells of runs within the transaction that marks them"
    for task in run.get_task_instances(state=[TaskInstanceState.SKIPPED], session=session):
        task.state = TaskInstanceState.UPSTREAM_FAILED
