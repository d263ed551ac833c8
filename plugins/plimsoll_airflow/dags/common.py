"""The DAGs that all campaigns share: `cell`, `reaper` and, where asked for, `schedules` and `retention`."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, chain

from plimsoll.settings import Settings
from plimsoll_airflow.dags.forms import cell_params, reaper_params
from plimsoll_airflow.operators.cell import tasks_of
from plimsoll_airflow.operators.regular import Reap, RemoveRawFiles, WatchSchedules, watched
from plimsoll_airflow.runs.own_task import TRIES
from plimsoll_airflow.runs.ownership import CELL_DAG, REAPER_DAG, RETENTION_DAG, SCHEDULES_DAG

_OF_CELL = """\
One run per cell: the life of its cluster from reservation to destruction, and the judgement of its measurement.

The DAGs of campaigns start its runs. To run a cell again, press *Run again* on the cell's page, or trigger the
campaign's DAG with the campaign's id and the cell's.
"""
_OF_REAPER = """\
Destroys clusters that no living run of the DAG `cell` owns, as crashes and kills leave behind.

It runs every hour, and by hand (with `dry_run` it only shows what it would destroy). Each campaign's DAG does the same
at its end. With a campaign's id it destroys all clusters of that campaign instead, whoever owns them.
"""
_OF_SCHEDULES = (
    """Reports scheduled campaigns that did not start when they were due. Exists only if a definition asks for it."""
)
_OF_RETENTION = """\
Removes raw files of campaigns that have ended and are published, once they are older than `PLIMSOLL_RAW_DAYS` or take
more than `PLIMSOLL_RAW_GB`. Exists only where one of these is set.
"""
_REGULAR: Mapping[str, Any] = {
    "tags": {"plimsoll"},
    "start_date": datetime(2020, 1, 1, tzinfo=UTC),
    "catchup": False,
    "max_active_runs": 1,
    "is_paused_upon_creation": False,
}


def make_cell() -> None:
    with DAG(
        dag_id=CELL_DAG,
        description="One cell of a campaign",
        doc_md=_OF_CELL,
        tags={"plimsoll"},
        params=cell_params(),
        schedule=None,
        # It begins nothing by itself, and while it is paused no campaign can run a cell
        is_paused_upon_creation=False,
        # The pool `clusters` is the limit to change; this one holds for runs triggered past it.
        max_active_runs=Settings().cell_runs,
        default_args=dict(TRIES),
    ):
        # Can't fail and runs in no process: where it stands, the teardown runs, whatever dies half way.
        reserve = EmptyOperator(task_id="reserve").as_setup()  # type: ignore[no-untyped-call]
        kept = tasks_of("keep")
        chain(reserve, *tasks_of("measure"), *kept, *tasks_of("judge"))
        # Beside the judgement, which needs no hosts: they end without waiting for it
        chain(kept[-1], *(task.as_teardown(setups=reserve) for task in tasks_of("clean-up")))


def make_reaper() -> None:
    about, params = "Destroys clusters that nobody owns", reaper_params()
    with DAG(REAPER_DAG, description=about, doc_md=_OF_REAPER, params=params, schedule="@hourly", **_REGULAR):
        Reap(task_id="reap", retries=1, execution_timeout=timedelta(minutes=50))


def make_schedules() -> None:
    """Make the DAG `schedules` if a definition asks for it."""
    if any(watched()):
        about = "Tells of campaigns that did not start when they were due"
        with DAG(SCHEDULES_DAG, description=about, doc_md=_OF_SCHEDULES, schedule="20 * * * *", **_REGULAR):
            WatchSchedules(task_id="watch", retries=1, execution_timeout=timedelta(minutes=10))


def make_retention() -> None:
    """Make the DAG `retention` if a setting asks for it."""
    if Settings().raw_days or Settings().raw_gb:
        about = "Removes raw files of old campaigns"
        with DAG(RETENTION_DAG, description=about, doc_md=_OF_RETENTION, schedule="40 3 * * *", **_REGULAR):
            RemoveRawFiles(task_id="remove", retries=1, execution_timeout=timedelta(minutes=50))
