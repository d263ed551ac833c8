"""One run a cell: its cluster's life from reservation to destruction, and the judgement of what was measured on it.

The DAGs of campaigns start its runs. To run a cell again, press *Run again* on the cell's page, or trigger the
campaign's DAG with the campaign's id and the cell's.
"""

from datetime import timedelta

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, TriggerRule

from plimsoll_airflow.forms import cell_params
from plimsoll_airflow.operators.cell import Collect, Deploy, Destroy, Judge, Provision
from plimsoll_airflow.operators.failing import TRIES
from plimsoll_airflow.operators.load import Load
from plimsoll_airflow.ownership import CELL_DAG

with DAG(
    dag_id=CELL_DAG,
    description="One cell of a campaign",
    doc_md=__doc__,
    tags={"plimsoll"},
    params=cell_params(),
    schedule=None,
    is_paused_upon_creation=False,
    # The pool `clusters` is the limit to change; this one holds for runs triggered past it.
    max_active_runs=64,
    default_args=dict(TRIES),
):
    # Can't fail and runs in no process: where it stands, the teardown runs, whatever dies half way.
    reserve = EmptyOperator(task_id="reserve").as_setup()  # type: ignore[no-untyped-call]
    provision = Provision(task_id="provision", execution_timeout=timedelta(hours=1))
    deploy = Deploy(task_id="deploy", execution_timeout=timedelta(hours=1))
    # The time to start it; how long it may last is in the definition.
    load = Load(task_id="load", execution_timeout=timedelta(minutes=30))
    collect = Collect(task_id="collect", trigger_rule=TriggerRule.ALL_DONE, execution_timeout=timedelta(hours=1))
    judge = Judge(task_id="judge", execution_timeout=timedelta(hours=1))
    destroy = Destroy(task_id="destroy", execution_timeout=timedelta(minutes=20))

    reserve >> provision >> deploy >> load >> collect >> [judge, destroy.as_teardown(setups=reserve)]
