"""What the page does in Airflow: start runs, end runs, and find those of a campaign."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from airflow.api.common.trigger_dag import trigger_dag
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.core_api.datamodels.dag_run import DagRunMutableStates
from airflow.api_fastapi.core_api.services.public.dag_run import patch_dag_run_state
from airflow.exceptions import ParamValidationError
from airflow.models.dag import DagModel
from airflow.models.dagbag import DBDagBag
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from airflow.utils.state import State
from airflow.utils.types import DagRunTriggeredByType
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from plimsoll.bootstrap import load_definition
from plimsoll.domain.definition import Definition, name_of_dag
from plimsoll.domain.errors import NotFound, Problem, Refused
from plimsoll.services.attempts import Work, cancel
from plimsoll.services.campaign.request import campaign_id_of, choose, read_request
from plimsoll.services.states import Memory, cell_states
from plimsoll.settings import Settings
from plimsoll_airflow.ownership import CELL_DAG, LIVE_STATES, PLAN_TASK, REAPER_DAG
from plimsoll_airflow.toolkit import toolkit
from plimsoll_airflow.web.problems import Conflict


class StartedRun(BaseModel):
    """A DAG run that was asked for."""

    dag_id: str
    run_id: str = Field(description="Follow it by Airflow's own API: /api/v2/dags/{dag_id}/dagRuns/{run_id}")


@dataclass(frozen=True)
class RunsWork:
    """What a run works at: a campaign, or a cell of one."""

    dag_id: str
    run_id: str
    is_live: bool
    campaign_id: str
    cell_id: str | None = None
    plan: str | None = None
    """State of the task that opens the campaign; None where the run has no such task, or it has not begun."""

    @property
    def opens_campaign(self) -> bool:
        """Whether a task of it does so."""
        return self.dag_id not in (CELL_DAG, REAPER_DAG)

    @property
    def may_still_open(self) -> bool:
        """Whether that task has not come to its end."""
        return self.is_live and self.plan not in State.finished


class EndedRuns(BaseModel):
    """What was cancelled."""

    runs: list[StartedRun] = Field(description="Runs that were live and are ended now")
    attempts: list[str] = Field(description="Attempts that were under way, as campaign/cell/number")


def run_again(definition: Definition, campaign_id: str, cells: str, user: BaseUser) -> StartedRun:
    """Start the definition's DAG for the campaign and these cells: `missing`, `failed`, `invalid`, ids or patterns.

    One that waits with the same request is returned instead. Conflict when a DAG that it takes is paused; Refused for
    cells that are none.
    """
    _require_some(definition, campaign_id, cells)
    for dag_id in (definition.dag_id, CELL_DAG):
        _require_unpaused(dag_id)
    conf = {"campaign_id": campaign_id, "cells": cells}
    with create_session() as session:
        for run in _live_runs(session, definition.dag_id):
            if run.state == "queued" and run.conf == conf:
                return StartedRun(dag_id=run.dag_id, run_id=run.run_id)
    return _trigger(definition.dag_id, conf, user)


def cancel_campaign(definition: Definition, campaign_id: str, user: BaseUser) -> EndedRuns:
    """End the campaign's runs and then those of its cells, whose teardown destroys their clusters."""
    attempts = _cancel_attempts(definition, campaign_id, user)
    with create_session() as session:
        ended = [_fail(session, run) for run in _runs_of(session, definition, campaign_id)]
    return EndedRuns(runs=ended, attempts=attempts)


def destroy_clusters(campaign_id: str, user: BaseUser) -> StartedRun:
    """Start the DAG `reaper` for the clusters of this campaign, whoever owns them."""
    _require_unpaused(REAPER_DAG)
    return _trigger(REAPER_DAG, {"campaign_id": campaign_id}, user)


def work_of_run(dag_id: str, run_id: str) -> RunsWork:
    """The campaign that a run works at, and the cell if it is one of the DAG `cell`. NotFound for other runs."""
    with create_session() as session:
        run = session.scalar(select(DagRun).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id))
        if run is None:
            raise NotFound("there is no such run", where=f"{dag_id} {run_id}")
        conf, is_live = run.conf or {}, run.state in LIVE_STATES
        if dag_id in (CELL_DAG, REAPER_DAG):
            return RunsWork(dag_id, run_id, is_live, _named(conf, run_id), conf.get("cell_id"))
        definition = load_definition(Settings(), name_of_dag(dag_id))
        plan = run.get_task_instance(PLAN_TASK, session=session)
        campaign_id = campaign_id_of(definition, run.conf, run.run_after)
        return RunsWork(dag_id, run_id, is_live, campaign_id, plan=plan.state if plan else None)


def _named(conf: Mapping[str, Any], run_id: str) -> str:
    campaign_id = conf.get("campaign_id")
    if not campaign_id:
        raise NotFound("works at no campaign", where=f"run {run_id}")
    return str(campaign_id)


def _require_some(definition: Definition, campaign_id: str, cells: str) -> None:
    """What `plan` would refuse, or find nothing to do for, is refused before a run is started."""
    request = read_request(definition, {"campaign_id": campaign_id, "cells": cells})
    tools = toolkit()
    now = tools.clock.now()
    states = cell_states(tools.store, campaign_id, definition, now, Memory())
    if not choose(request, states, now):
        raise Conflict(
            f"no cell of the campaign is {cells!r}, so nothing would run",
            where=f"campaign {campaign_id!r}",
            mend="name cells by their ids to run them again although they are valid",
        )


def _cancel_attempts(definition: Definition, campaign_id: str, user: BaseUser) -> list[str]:
    tools, by = toolkit(), str(user.get_name())
    states = cell_states(tools.store, campaign_id, definition, tools.clock.now(), Memory())
    running = [one.key for state in states for one in state.attempts if one.is_running]
    for key in running:
        cancel(Work(tools, key), by)
    return [str(key) for key in running]


def _runs_of(session: Session, definition: Definition, campaign_id: str) -> Iterator[DagRun]:
    """The campaign's live runs, those that start cells first."""
    for run in _live_runs(session, definition.dag_id):
        if campaign_id_of(definition, run.conf, run.run_after) == campaign_id:
            yield run
    for run in _live_runs(session, CELL_DAG):
        if (run.conf or {}).get("campaign_id") == campaign_id:
            yield run


def _live_runs(session: Session, dag_id: str) -> list[DagRun]:
    return list(session.scalars(select(DagRun).where(DagRun.dag_id == dag_id, DagRun.state.in_(LIVE_STATES))))


def _fail(session: Session, run: DagRun) -> StartedRun:
    dag = DBDagBag().get_dag_for_run(run, session=session)
    if dag is None:
        raise NotFound(f"the DAG {run.dag_id} is gone", where=f"run {run.run_id}", mend="end the run in Airflow's grid")
    patch_dag_run_state(dag=dag, dag_run=run, state=DagRunMutableStates.FAILED, session=session)
    return StartedRun(dag_id=run.dag_id, run_id=run.run_id)


def _require_unpaused(dag_id: str) -> None:
    dag = DagModel.get_current(dag_id)
    if dag is None or dag.is_stale:
        raise NotFound(f"there is no DAG {dag_id}", mend="bring its definition back into the folder of definitions")
    if dag.is_paused:
        raise Conflict(f"the DAG {dag_id} is paused, so nothing would run", mend="unpause it in Airflow's list of DAGs")


def _trigger(dag_id: str, conf: dict[str, str], user: BaseUser) -> StartedRun:
    try:
        run = trigger_dag(
            dag_id, triggered_by=DagRunTriggeredByType.UI, triggering_user_name=user.get_name(), conf=conf
        )
    except (ParamValidationError, ValueError) as error:
        raise Refused([Problem("cells", str(error), "see the DAG's form")], where=f"Params of {dag_id}") from error
    assert run is not None
    return StartedRun(dag_id=run.dag_id, run_id=run.run_id)
