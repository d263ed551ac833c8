"""Runs in Airflow's database, and the API that starts and ends them."""

from typing import Any

from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from httpx import Response
from sqlalchemy import select
from tests.airflow.web.app import CAMPAIGN, Client

API = f"/plimsoll/api/v1/campaigns/{CAMPAIGN}"


def all_runs() -> list[tuple[str, str, Any]]:
    with create_session() as session:
        found = session.scalars(select(DagRun).order_by(DagRun.id)).all()
        return [(run.dag_id, str(run.state), run.conf) for run in found]


def start_run(dag_id: str, **conf: str | None) -> None:
    from airflow.api.common.trigger_dag import trigger_dag
    from airflow.utils.types import DagRunTriggeredByType

    trigger_dag(dag_id, triggered_by=DagRunTriggeredByType.TEST, conf=conf)


def tab(client: Client, dag_id: str = "demo") -> Response:
    """Return what the tab *Campaign* of the DAG's only run answers."""
    with create_session() as session:
        run_id = session.scalars(select(DagRun.run_id).where(DagRun.dag_id == dag_id)).one()
    return client("viewer").get("/plimsoll/run", params={"dag_id": dag_id, "run_id": run_id})
