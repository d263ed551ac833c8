"""Reports scheduled campaigns that did not start when they were due. Exists only if a definition asks for it."""

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG

from plimsoll_airflow.operators.schedules import WatchSchedules, watched
from plimsoll_airflow.runs.ownership import SCHEDULES_DAG


def make_schedules() -> None:
    """Make the DAG `schedules` if a definition asks for it."""
    if any(watched()):
        with DAG(
            dag_id=SCHEDULES_DAG,
            description="Tells of campaigns that did not start when they were due",
            doc_md=__doc__,
            tags={"plimsoll"},
            schedule="20 * * * *",
            start_date=datetime(2020, 1, 1, tzinfo=UTC),
            catchup=False,
            max_active_runs=1,
            is_paused_upon_creation=False,
        ):
            WatchSchedules(task_id="watch", retries=1, execution_timeout=timedelta(minutes=10))
