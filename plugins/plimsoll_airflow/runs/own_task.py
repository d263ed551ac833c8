"""The present task: its run and whether that still goes on, the attempt that a run of the DAG `cell` works at, and how
it fails: an error that another try would meet again ends it at once.

The attempt is looked up in the store and not in XCom, because a task that was killed half way has left it there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from airflow.sdk import Context, TaskInstanceState
from airflow.sdk.types import RuntimeTaskInstanceProtocol

from plimsoll.domain.text.errors import NotFound
from plimsoll.ports.controller import Owners
from plimsoll.services.cell import attempts
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.steps.steps import step_in
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll_airflow.internals.moved import AirflowFailException, AirflowSkipException, AirflowTaskTimeout
from plimsoll_airflow.runs.installation import own_installation
from plimsoll_airflow.runs.ownership import CELL_DAG, LIVE_STATES, CampaignRunOwner, CellRun, CellRunId, is_of_run

TRIES: Mapping[str, Any] = {"retries": 3, "retry_delay": timedelta(seconds=5)}
"""Arguments for a DAG's `default_args`: tries are for killed processes, an error ends its task at once (`final`)."""


@contextmanager
def final() -> Iterator[None]:
    """Make errors and the time limit end the task without another try.

    Adapters themselves retry what is worth retrying. Retries of a task are for a killed process, which raises no
    exception.
    """
    try:
        yield
    except (Exception, AirflowTaskTimeout) as error:  # the latter is no Exception
        raise AirflowFailException(str(error)) from error


def run_of(context: Context) -> CampaignRunOwner:
    return CampaignRunOwner(context["ti"].dag_id, context["ti"].run_id, own_installation())


def pass_of(context: Context) -> CellRun:
    """Return the present pass of the task's run of the DAG `cell`."""
    return CellRun(context["run_id"], context["dag_run"].clear_number or 0, own_installation())


def require_running(ti: RuntimeTaskInstanceProtocol) -> None:
    """Raise AirflowSkipException where somebody ended or cleared the task. Its process is told at its next heartbeat.

    The state of the task's run does not tell: a run that is ended continues for its teardown.
    """
    states = ti.get_task_states(ti.dag_id, map_index=ti.map_index, task_ids=[ti.task_id], run_ids=[ti.run_id])
    if TaskInstanceState.RUNNING not in states.get(ti.run_id, {}).values():
        raise AirflowSkipException("this task was ended by hand or cleared, and so it starts no other run")


def begin_or_resume(toolkit: Toolkit, campaign_id: str, cell_id: str, run: CellRun) -> AttemptContext:
    """Return the attempt that this pass of the run has begun and not yet collected, else a new one.

    A second try of a killed task continues the attempt. A cleared run is another pass and begins a new attempt.
    """
    newest = CampaignStore(toolkit.store, campaign_id).newest_attempt(cell_id)
    if newest is not None and layout.MANIFEST.read(toolkit.store, newest) is None:
        attempt = layout.ATTEMPT.read(toolkit.store, newest)
        is_own = attempt is not None and attempt.owner == run.token
        if is_own and not attempts.is_barely_begun(toolkit, newest, run.token):
            return AttemptContext(toolkit, newest)
    return attempts.begin(toolkit, campaign_id, cell_id, run.token)


def require_own_pass(work: AttemptContext, context: Context, first: str) -> None:
    """Raise NotFound for an earlier pass's attempt where the present pass could begin none, as its `first` task failed.

    Else what that attempt came to would be taken for what this pass did.
    """
    attempt, ti = work.attempt(), context["ti"]
    if attempt.owner == pass_of(context).token:
        return
    states = ti.get_task_states(ti.dag_id, task_ids=[first], run_ids=[ti.run_id])
    if TaskInstanceState.FAILED in states.get(ti.run_id, {}).values():
        mend = f"the log of `{first}` says why; then clear the run"
        raise NotFound("has begun no attempt since it was cleared", where=f"run {ti.run_id}", mend=mend)


def find_attempt(toolkit: Toolkit, cell: CellRunId, run_id: str, installation: str) -> AttemptContext | None:
    """Return the newest attempt at the cell that any pass of the Airflow run has begun; None when it has begun none."""
    for key in reversed(CampaignStore(toolkit.store, cell.campaign_id).attempts(cell.cell_id)):
        attempt = layout.ATTEMPT.read(toolkit.store, key)
        if attempt and is_of_run(attempt.owner, run_id, installation):
            return AttemptContext(toolkit, key)
    return None


def require_attempt(toolkit: Toolkit, cell: CellRunId, run_id: str, installation: str) -> AttemptContext:
    """Return the newest attempt of that run. Raises NotFound when there is none."""
    work = find_attempt(toolkit, cell, run_id, installation)
    if work is None:
        raise NotFound(
            "has begun no attempt", where=f"run {run_id}", mend="the log of `provision` says why; then clear the run"
        )
    return work


def was_cancelled(toolkit: Toolkit, cell: CellRunId, installation: str) -> bool:
    """Tell whether a person has cancelled the newest attempt of that Airflow's run for the cell."""
    work = find_attempt(toolkit, cell, cell.run_id, installation)
    return work is not None and layout.CANCELLED.read(toolkit.store, work.key) is not None


def is_under_load(toolkit: Toolkit, cell: CellRunId, installation: str) -> bool:
    """Tell whether the newest attempt of that run has begun its load and its files are not being collected yet."""
    work = find_attempt(toolkit, cell, cell.run_id, installation)
    progress = layout.PROGRESS.read(toolkit.store, work.key) if work else None
    current = step_in(progress.phase) if progress else None
    return current is not None and current.polling is not None


class RunOwners:
    """An implementation of the Owners port in a task of the run `own`. `others` answers for owners that are no runs."""

    def __init__(self, others: Owners, ti: RuntimeTaskInstanceProtocol, own: CellRun) -> None:
        self._others, self._ti, self._own = others, ti, own

    def me(self) -> str:
        return self._others.me()

    def is_alive(self, owner: str) -> bool | None:
        """Tell whether that run has not ended; None for runs of another Airflow. An earlier pass of the own run has."""
        run = CellRun.parse(owner)
        if run is None:
            return self._others.is_alive(owner)
        if run.installation != self._own.installation:
            return None
        if run.run_id == self._own.run_id:
            return False
        return bool(self._ti.get_dr_count(CELL_DAG, run_ids=[run.run_id], states=LIVE_STATES))
