"""One run per cell: the life of its cluster from reservation to destruction, and the judgement of its measurement.

The DAGs of campaigns start its runs. To run a cell again, press *Run again* on the cell's page, or trigger the
campaign's DAG with the campaign's id and the cell's.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, chain

from plimsoll.settings import Settings
from plimsoll_airflow.dags.forms import cell_params
from plimsoll_airflow.operators.cell import tasks_of
from plimsoll_airflow.operators.failing import TRIES
from plimsoll_airflow.runs.ownership import CELL_DAG


def make_cell() -> None:
    """Make the DAG `cell`."""
    with DAG(
        dag_id=CELL_DAG,
        description="One cell of a campaign",
        doc_md=__doc__,
        tags={"plimsoll"},
        params=cell_params(),
        schedule=None,
        is_paused_upon_creation=False,
        # The pool `clusters` is the limit to change; this one holds for runs triggered past it.
        max_active_runs=Settings().cell_runs,
        default_args=dict(TRIES),
    ):
        # Can't fail and runs in no process: where it stands, the teardown runs, whatever dies half way.
        reserve = EmptyOperator(task_id="reserve").as_setup()  # type: ignore[no-untyped-call]
        kept = tasks_of("keep")
        chain(reserve, *tasks_of("measure"), *kept, *tasks_of("judge"))
        chain(kept[-1], *(task.as_teardown(setups=reserve) for task in tasks_of("clean-up")))
