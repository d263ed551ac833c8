"""What the pages and the JSON API use inside the api-server: its users, its log, its database.

They run in the process of Airflow's api-server, so they know the user as it does (`get_user`, `bearer_scheme`,
`oauth2_scheme`, `COOKIE_NAME_JWT_TOKEN`, `BaseUser`) and record what users change in its audit log (`action_logging`).
Asking the REST API instead would be a request to the own process, for which a token of the user's is not always there.

Read in Airflow 3.3.2, 3.2.2 and 3.1.8.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from airflow.api.common.trigger_dag import trigger_dag
from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.base_auth_manager import COOKIE_NAME_JWT_TOKEN
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import bearer_scheme, get_user, oauth2_scheme
from airflow.api_fastapi.logging.decorators import action_logging
from airflow.configuration import conf
from airflow.models.dag import DagModel
from airflow.models.dagbag import DBDagBag
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from airflow.utils.state import State
from airflow.utils.types import DagRunTriggeredByType
from sqlalchemy import select

from plimsoll.domain.text.errors import NotFound, Problem, Refused
from plimsoll_airflow.internals.moved import ParamValidationError
from plimsoll_airflow.runs.ownership import LIVE_STATES

__all__ = [
    "COOKIE_NAME_JWT_TOKEN", "FINISHED_STATES", "BaseUser", "SeenRun", "action_logging", "bearer_scheme",
    "fail_run", "find_run", "get_user", "is_allowed", "live_runs", "oauth2_scheme", "signing_key",
    "task_state", "trigger",
]  # fmt: skip

FINISHED_STATES = frozenset(map(str, State.finished))
"""States of tasks that have come to their end."""


@dataclass(frozen=True)
class SeenRun:
    """A DAG run as it was when it was looked up. `run_after` is when it was due, or triggered."""

    dag_id: str
    run_id: str
    state: str
    conf: Mapping[str, Any]
    run_after: datetime
    clear_number: int
    """The number of times that tasks of the run were cleared."""

    @property
    def is_live(self) -> bool:
        return self.state in LIVE_STATES


def find_run(dag_id: str, run_id: str) -> SeenRun | None:
    """Return the run with that id; None where there is none. Uses the model `DagRun`, which the REST API asks too."""
    if "\0" in dag_id + run_id:  # psycopg2 raises ValueError
        return None
    with create_session() as session:
        run = session.scalar(select(DagRun).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id))
        return None if run is None else _seen(run)


def live_runs(dag_id: str) -> list[SeenRun]:
    """Return the DAG's runs that have not ended. Uses the model `DagRun`, which the REST API asks too."""
    with create_session() as session:
        runs = session.scalars(select(DagRun).where(DagRun.dag_id == dag_id, DagRun.state.in_(LIVE_STATES)))
        return [_seen(run) for run in runs]


def task_state(run: SeenRun, task_id: str) -> str | None:
    """Return the state of the run's task; None where there is no such task, or it has no state yet.

    Uses `DagRun.get_task_instance`, in this process as `find_run` does.
    """
    with create_session() as session:
        dag_run = session.scalar(select(DagRun).where(DagRun.dag_id == run.dag_id, DagRun.run_id == run.run_id))
        task = dag_run.get_task_instance(task_id, session=session) if dag_run else None
        return task.state if task else None


def fail_run(run: SeenRun) -> None:
    """Mark a run as failed. Airflow ends its tasks and runs its teardown. Raises NotFound where its DAG is gone.

    Uses the DAG from `DBDagBag`, as the REST API's PATCH of a run does.
    """
    # Of its own: what 3.1 marks tasks with would end a shared one, and detach the run.
    with create_session(scoped=False) as session:
        dag_run = session.scalars(select(DagRun).where(DagRun.dag_id == run.dag_id, DagRun.run_id == run.run_id)).one()
        dag = DBDagBag().get_dag_for_run(dag_run, session=session)
        if dag is None:
            mend = "end the run in Airflow's grid"
            raise NotFound(f"the DAG {run.dag_id} is gone", where=f"run {run.run_id}", mend=mend)
        mark_run_failed(dag, dag_run, session)


def trigger(dag_id: str, conf: Mapping[str, str | bool], user: BaseUser) -> str:
    """Start a run of the DAG for the user, and return its id.

    Raises Refused for a `conf` that does not fit its Params. Uses `trigger_dag`, by which Airflow's own tasks start
    runs: it takes the user's name.
    """
    try:
        run = trigger_dag(
            dag_id, triggered_by=DagRunTriggeredByType.UI, triggering_user_name=user.get_name(), conf=dict(conf)
        )
    except (ParamValidationError, ValueError) as error:
        raise Refused([Problem("cells", str(error), "see the DAG's form")], where=f"Params of {dag_id}") from error
    assert run is not None
    return str(run.run_id)


def is_allowed(user: BaseUser, dag_id: str | None, *, changes: bool) -> bool:
    """Tell whether Airflow's auth manager lets the user see the DAG's runs, or (`changes`) start and end them.

    Without a DAG: whether the user may do that to any DAG. Uses `get_auth_manager` and the team in `DagModel`, because
    the auth manager's interface is public, but the way to the one that is configured is not.
    """
    team = DagModel.get_team_name(dag_id) if dag_id else None
    return get_auth_manager().is_authorized_dag(
        method="POST" if changes else "GET",
        access_entity=DagAccessEntity.RUN,
        details=DagDetails(id=dag_id, team_name=team) if dag_id else None,
        user=user,
    )


def signing_key() -> str:
    """Return the api-server's secret. It signs data that a browser receives and sends back.

    Uses Airflow's own `conf`, because that of `airflow.sdk` makes up no secret where none is set.
    """
    return conf.get_mandatory_value("api", "secret_key")


def _seen(run: DagRun) -> SeenRun:
    return SeenRun(run.dag_id, run.run_id, str(run.state), run.conf or {}, run.run_after, run.clear_number or 0)


try:
    from airflow.api_fastapi.core_api.datamodels.dag_run import DagRunMutableStates
    from airflow.api_fastapi.core_api.services.public.dag_run import patch_dag_run_state

    def mark_run_failed(dag: Any, run: Any, session: Any) -> None:
        """Mark the run as failed, and tell listeners. Uses the function behind that PATCH."""
        patch_dag_run_state(dag=dag, dag_run=run, state=DagRunMutableStates.FAILED, session=session)

except ImportError:  # before 3.3 that PATCH had no function of its own
    from airflow.api.common.mark_tasks import set_dag_run_state_to_failed
    from airflow.listeners.listener import get_listener_manager

    def mark_run_failed(dag: Any, run: Any, session: Any) -> None:
        """Mark the run as failed, and tell listeners. Uses what the code of that PATCH uses."""
        set_dag_run_state_to_failed(dag=dag, run_id=run.run_id, commit=True, session=session)
        get_listener_manager().hook.on_dag_run_failed(dag_run=run, msg="")
