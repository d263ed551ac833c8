"""Everything that tasks, DAG files and listeners use of Airflow beyond its public interface.

The pages have `web.internals`, the local stack has `local.internals`. Airflow may change any of this between versions.
To support another version, check this module first, and add the version to `TRIED_ON` when the tests below
`tests/airflow` pass on it. Imports are inside functions, because few processes need any of them.
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
    """The times at which runs were due after `since`, up to and including `until`, by the scheduler's rules."""
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
    """The address of a run in Airflow's own pages."""
    from airflow.utils.helpers import build_airflow_dagrun_url

    return build_airflow_dagrun_url(dag_id=dag_id, run_id=run_id)


def fail_what_was_skipped(run: "DagRun") -> None:
    """Mark the run's skipped tasks as `upstream_failed`, in the transaction in which Airflow reports the failure."""
    from airflow.utils.state import TaskInstanceState
    from sqlalchemy.orm import object_session

    session: Any = object_session(run)
    assert session is not None, "Airflow tells of runs within the transaction that marks them"
    for task in run.get_task_instances(state=[TaskInstanceState.SKIPPED], session=session):
        task.state = TaskInstanceState.UPSTREAM_FAILED
