"""The task `run_cell` of a campaign's DAG: one run of the DAG `cell`, from its start to its end."""

from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.triggers.external_task import DagStateTrigger
from airflow.sdk import BaseOperatorLink, Context
from airflow.utils.state import DagRunState

from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.campaign.state.runs import begin_run
from plimsoll.services.cell.attempts import runs_again
from plimsoll.services.hosts.limits import require_approval, require_money_and_time
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.inventory import run_url
from plimsoll_airflow.internals.moved import COUNTS_WAITING_TASKS, AirflowFailException, AirflowRescheduleException
from plimsoll_airflow.operators.links import CellPageLink
from plimsoll_airflow.runs.installation import own_installation
from plimsoll_airflow.runs.notices import tell_if_late
from plimsoll_airflow.runs.own_task import final, is_under_load, require_running, run_of, was_cancelled
from plimsoll_airflow.runs.ownership import CELL_DAG, LIVE_STATES, CellRunId
from plimsoll_airflow.triggers.slot import MAKE_WAY, START, SlotTrigger
from plimsoll_airflow.wiring.core import toolkit

_ATTEMPTS_BEFORE = "attempts_before"
"""Key of the XCom with the number of the cell's attempts before this task has started its run."""


class CellRunLink(BaseOperatorLink):
    name = "Run of the cell"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:  # noqa: ARG002
        """Return the run's page. The run's id follows from the cell, so nothing needs to be looked up."""
        return run_url(CELL_DAG, operator.cell_run.run_id)


class RunCell(TriggerDagRunOperator):
    """Run the DAG `cell` for one cell and wait for its end. Fails when the attempt is invalid.

    `run_id` contains campaign and cell. A second try of a killed task attaches to the living run, and starts none where
    the cell has become valid. Clearing the task runs the cell again. If the cell is under load, that run is cancelled
    and its cluster destroyed first. If it has come no further than its deployment, it continues, because it is as fresh
    as a new one. So two people who clear the task at once get one attempt.
    """

    template_fields = ()
    operator_extra_links = [CellRunLink(), CellPageLink()]

    def __init__(self, *, run_id: str, **kwargs: Any) -> None:
        waiting = {"wait_for_completion": True, "deferrable": True}
        super().__init__(
            **{"trigger_dag_id": CELL_DAG, "reset_dag_run": True, "logical_date": None, **waiting, **kwargs}
        )
        self.run_id = run_id

    @property
    def cell_run(self) -> CellRunId:
        return CellRunId.parse(self.run_id)

    @property
    def _campaign(self) -> CampaignStore:
        return CampaignStore(toolkit().store, self.cell_run.campaign_id)

    def execute(self, context: Context) -> None:
        """Start the run, or attach to it, as soon as there is a slot for this cell."""
        if self._is_done(context):
            self.log.info("%s became valid while this task was killed: nothing to run", self.cell_run.cell_id)
            return
        self.take_slot(context)

    def resume_execution(self, next_method: str, next_kwargs: dict[str, Any] | None, context: Context) -> None:
        """Go on after a wait. The process that began to wait has kept the links, and none is kept again."""
        self.operator_extra_links = []
        super().resume_execution(next_method, next_kwargs, context)

    def take_slot(self, context: Context, event: str = "") -> None:
        """Start the run, or attach to it, if a slot is free. Otherwise wait for one, outside the pool if need be."""
        if parallel := self._most_at_once(context):
            ti = context["ti"]
            slot = SlotTrigger(ti.dag_id, ti.run_id, ti.map_index or 0, parallel, self.poke_interval)
            step = slot.step()
            # Only after the trigger has said so: it looks twice, and most earlier cells have a slot by then
            if step == MAKE_WAY == event:
                self.log.info("an earlier cell may need this one's place: waiting outside the pool")
                later = datetime.now(UTC) + timedelta(seconds=self.poke_interval)
                raise AirflowRescheduleException(later)  # type: ignore[no-untyped-call]
            if step != START:
                self.log.info("no more than %s cells at a time: waiting for a free slot", parallel)
                self.defer(trigger=slot, method_name="take_slot")
        self._start(context)

    def _most_at_once(self, context: Context) -> int | None:
        """Return how many cells may run at a time; None where Airflow alone sees to it."""
        asked, most = context["params"].get("parallel"), self.max_active_tis_per_dagrun
        if asked and asked < (most or asked):
            return int(asked)
        return None if COUNTS_WAITING_TASKS else most

    def _start(self, context: Context) -> None:
        self.trigger_run_id = self.run_id
        self.conf = {"campaign_id": self.cell_run.campaign_id, "cell_id": self.cell_run.cell_id}
        if context["ti"].get_dr_count(CELL_DAG, run_ids=[self.run_id], states=LIVE_STATES):
            if self._was_cancelled():
                self.log.info("run %s was cancelled: starting it anew once it has ended", self.run_id)
                self._await_end("start_anew")
            # Unless a person cleared this task while the cell is under load. A killed process's retry is no clearing.
            if not (self._was_cleared(context) and is_under_load(toolkit(), self.cell_run, own_installation())):
                self.log.info("run %s lives: waiting for it", self.run_id)
                self._await_end("execute_complete")
            self.log.info("run %s is under load and this task was cleared: starting it over", self.run_id)
        # Here, in the campaign's own run where people look, rather than in a run of the cell.
        with final():
            resolved = self._campaign.resolved()
            require_approval(toolkit(), self._campaign, resolved)
            require_money_and_time(toolkit(), self._campaign, resolved, self.cell_run.cell_id)
        require_running(context["ti"])  # else a run whose teardown is over would be put on record again
        with final():  # `plan` did so, but a cleared task can run long after its run had ended
            begin_run(toolkit(), self.cell_run.campaign_id, run_of(context).token, cells=1, goes_on=True)
        tell_if_late(dict(context), self._campaign)
        context["ti"].xcom_push(key=_ATTEMPTS_BEFORE, value=self._attempts())
        # Outside of `final`, because Airflow's operator asks for the run by an exception
        super().execute(context)

    def start_anew(self, context: Context, event: tuple[str, dict[str, Any]]) -> None:
        """Start the run after the cancelled one has ended, unless somebody else has started it already."""
        if self._was_cancelled():
            self._start(context)
        else:
            self.execute_complete(context, event)

    def execute_complete(self, context: Context, event: tuple[str, dict[str, Any]]) -> None:
        """Fail without another try, with the reasons, unless the run succeeded or noise disturbed the cell.

        A disturbed cell runs again at once, as often as its definition lets it.
        """
        if event[1][self.run_id] == DagRunState.SUCCESS:
            self.log.info("run %s succeeded", self.run_id)
        elif (
            not self._was_cancelled() and runs_again(self._campaign, self.cell_run.cell_id) and self._has_begun(context)
        ):
            self.log.info("noise disturbed the cell, so it runs again: %s", self._reason())
            self._start(context)
        else:
            why = self._reason() if self._has_begun(context) else "it began no attempt: the log of `provision` says why"
            raise AirflowFailException(f"run {self.run_id} of the DAG {CELL_DAG} failed: {why}")

    def _attempts(self) -> int:
        return len(self._campaign.attempts(self.cell_run.cell_id))

    def _has_begun(self, context: Context) -> bool:
        """Tell whether the run has begun an attempt: no earlier one that noise disturbed is tried again for ever."""
        ti = context["ti"]
        before = ti.xcom_pull(task_ids=ti.task_id, key=_ATTEMPTS_BEFORE, map_indexes=ti.map_index)
        return before is None or self._attempts() > int(before)

    def _await_end(self, then: str) -> None:
        states = [DagRunState.SUCCESS, DagRunState.FAILED]
        trigger = DagStateTrigger(CELL_DAG, states, run_ids=[self.run_id], poll_interval=self.poke_interval)
        self.defer(trigger=trigger, method_name=then)

    def _was_cancelled(self) -> bool:
        return was_cancelled(toolkit(), self.cell_run, own_installation())

    def _is_done(self, context: Context) -> bool:
        """Tell whether the earlier try was killed and the cell has become valid, so that no second load is needed."""
        is_second = context["ti"].try_number > 1 and not self._was_cleared(context)
        return is_second and valid_verdict(self._campaign, self.cell_run.cell_id) is not None

    def _was_cleared(self, context: Context) -> bool:
        """Tell whether this is the first try since a person cleared the task."""
        ti = context["ti"]
        # Clearing sets the tries that are left anew; a killed process uses one up.
        return 1 < ti.try_number == ti.max_tries - (self.retries or 0) + 1

    def _reason(self) -> str:
        newest = self._campaign.newest_attempt(self.cell_run.cell_id)
        verdict = newest and layout.VERDICT.read(self._campaign.store, newest)
        return "; ".join(verdict.reasons) if verdict and verdict.reasons else "its tasks' logs say why"
