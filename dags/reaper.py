"""Destroys clusters that no live run of the DAG `cell` owns: what crashes and kills have left behind."""

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG

from plimsoll_airflow.forms import reaper_params
from plimsoll_airflow.operators.reaper import Reap

with DAG(
    dag_id="reaper",
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
