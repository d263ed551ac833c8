"""Destroys clusters that no living run of the DAG `cell` owns, as crashes and kills leave behind.

It runs every hour, and by hand (with `dry_run` it only shows what it would destroy). Each campaign's DAG does the same
at its end. With a campaign's id it destroys all clusters of that campaign instead, whoever owns them.
"""

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG

from plimsoll_airflow.dags.forms import reaper_params
from plimsoll_airflow.operators.reaper import Reap
from plimsoll_airflow.runs.ownership import REAPER_DAG


def make_reaper() -> None:
    """Make the DAG `reaper`."""
    with DAG(
        dag_id=REAPER_DAG,
        description="Destroys clusters that nobody owns",
        doc_md=__doc__,
        tags={"plimsoll"},
        params=reaper_params(),
        schedule="@hourly",
        start_date=datetime(2020, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        is_paused_upon_creation=False,
    ):
        Reap(task_id="reap", retries=1, execution_timeout=timedelta(minutes=50))
