"""The tasks of a campaign's DAG: plan, run a cell, pass the gate, publish the report."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.providers.standard.triggers.external_task import DagStateTrigger
from airflow.sdk import BaseOperator, BaseOperatorLink
from airflow.utils.state import DagRunState

from plimsoll.bootstrap import load_document
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.trigger import BegunBy
from plimsoll.services.campaign.open.creation import (
    OF_A_REQUEST,
    campaign_of_last_event,
    open_campaign,
    requested_definition,
)
from plimsoll.services.campaign.open.planning import downloads, fetch
from plimsoll.services.campaign.open.request import campaign_id_of, given_values, read_request
from plimsoll.services.campaign.state.completeness import completeness
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.campaign.state.runs import begin_run, require_no_other_airflow
from plimsoll.services.cell.attempts import runs_again
from plimsoll.services.hosts.approval import require_approval
from plimsoll.services.hosts.deadline import require_time
from plimsoll.services.hosts.spending import require_budget
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, campaign_exists
from plimsoll.settings import Settings
from plimsoll_airflow.internals.inventory import run_url
from plimsoll_airflow.internals.moved import (
    COUNTS_WAITING_TASKS,
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
    AirflowTaskTimeout,
    conf,
    is_paused,
)
from plimsoll_airflow.operators.failing import final
from plimsoll_airflow.operators.links import CampaignPageLink, CellPageLink
from plimsoll_airflow.runs import notices
from plimsoll_airflow.runs.asset_events import RunEvent, first_event, newest_event
from plimsoll_airflow.runs.attempts import is_under_load, was_cancelled
from plimsoll_airflow.runs.installation import own_installation
from plimsoll_airflow.runs.notices import tell_if_late
from plimsoll_airflow.runs.own_task import require_running
from plimsoll_airflow.runs.ownership import (
    CAMPAIGN_ID,
    CELL_DAG,
    GOES_ON,
    LIVE_STATES,
    MEASURED_BY,
    PLAN_TASK,
    CampaignRunOwner,
    CellRunId,
)
from plimsoll_airflow.triggers.slot import MAKE_WAY, START, SlotTrigger
from plimsoll_airflow.wiring.core import toolkit

if TYPE_CHECKING:
    from airflow.sdk import Context

CREATED_CAMPAIGN = "{{ ti.xcom_pull(task_ids='plan', key='campaign_id') or '' }}"


class Plan(BaseOperator):
    """Open the campaign and choose the cells to run now."""

    operator_extra_links = [CampaignPageLink()]

    def __init__(self, *, definition: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.definition = definition
        self.campaign_id = ""

    def execute(self, context: "Context") -> list[str]:
        """Return the ids of the runs of the DAG `cell` to start, in order. All reasons to refuse are checked here."""
        with final():
            if is_paused(context["ti"], CELL_DAG):
                raise AirflowFailException(f"the DAG {CELL_DAG} is paused, so no cell would run: unpause it")
            document, asked = load_document(Settings(), self.definition), dict(context["params"])
            at = context["dag_run"].run_after
            named = CampaignStore(toolkit().store, str(campaign_id_of(self.definition, asked, at)))
            event = self._event(context, named)
        if isinstance(event, tuple):
            context["ti"].xcom_push(MEASURED_BY, event[0])
            raise AirflowSkipException("nothing to measure: no event has come since campaign {}, {}".format(*event))
        with final():
            given, where = (event.extra, event.where) if event else (given_values(asked), OF_A_REQUEST)
            definition = requested_definition(document, given, named, where=where)
            campaign = resolve(definition)
            request = read_request(campaign, asked)
            if campaign.own_values:  # a run that goes on, perhaps on another worker, is given none of them
                self._fetch(campaign)
            largest_run = conf.getint("core", "max_map_length")
            me = run_of(context).token
            # Before anything of the campaign is written, and again once others can see this run.
            require_no_other_airflow(toolkit(), campaign_id_of(definition.name, request.model_dump(), at), me)
            begun_by = event.record(campaign.parameters, own_installation()) if event else None
            if begun_by:
                self.log.info("%s", begun_by)
            plan = open_campaign(
                toolkit(), definition, request, at, document, largest_run=largest_run, begun_by=begun_by
            )
        self.campaign_id = plan.campaign_id
        context["ti"].xcom_push(CAMPAIGN_ID, plan.campaign_id)
        context["ti"].xcom_push(GOES_ON, plan.goes_on)
        with final():  # until the run's last task takes it back
            begin_run(toolkit(), plan.campaign_id, me, len(plan.cells))
        self.log.info("campaign %s: %s", plan.campaign_id, plan.summary)
        if toolkit().provider(campaign).is_local:
            for note in toolkit().local_notes(toolkit().hosts_spec(campaign), campaign.disturbance):
                self.log.info("note: %s", note)
        return [CellRunId(plan.campaign_id, cell.id).run_id for cell in plan.cells]

    def _fetch(self, campaign: Campaign) -> None:
        """Fetch the software that values name, such as a new release: nobody can have prepared it beforehand."""
        missing = [download for download in downloads(toolkit(), campaign) if not download.is_there]
        if missing:
            self.log.info("fetching %s", ", ".join(map(str, missing)))
            fetch(toolkit(), campaign)

    def _event(self, context: "Context", campaign: CampaignStore) -> "RunEvent | tuple[str, BegunBy] | None":
        """Return the event whose values the run's new campaign gets, or the campaign that has measured it already.

        None where no event began the run, and where its campaign is there already, which keeps its values.
        """
        first = first_event(context)
        if first is None or campaign_exists(campaign.store, campaign.campaign_id):
            return None
        inlets = [inlet for inlet in self.inlets if inlet.name == first.asset.name]
        if not inlets:
            began = f"an event of asset {first.asset.name!r} began this run"
            mend = "trigger the DAG by hand for a new campaign"
            raise AirflowFailException(f"{began}, and the definition's `trigger` names it no more: {mend}")
        measured = campaign_of_last_event(campaign.store, self.definition, first.asset.name, own_installation())
        newest = newest_event(context, inlets[0], first.timestamp, measured[1].at if measured else None)
        if newest is None and measured is None:
            raise AirflowFailException("Airflow no longer has the event that began this run: trigger the DAG by hand")
        return newest or measured


class CampaignTask(BaseOperator):
    """A task that works on the campaign that `plan` has opened."""

    template_fields = ("campaign_id",)
    operator_extra_links = [CampaignPageLink()]

    def __init__(
        self,
        *,
        campaign_id: str = CREATED_CAMPAIGN,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.campaign_id = campaign_id

    def require_campaign(self) -> str:
        """Return the campaign's id. Fails when no campaign was created."""
        if not self.campaign_id:
            raise AirflowFailException("no campaign was created; the log of `plan` says why")
        return self.campaign_id


class CellRunLink(BaseOperatorLink):
    """The link from a mapped `run_cell` to the run of the DAG `cell` that it waits for."""

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
        """Return the campaign and the cell."""
        return CellRunId.parse(self.run_id)

    @property
    def _campaign(self) -> CampaignStore:
        return CampaignStore(toolkit().store, self.cell_run.campaign_id)

    def execute(self, context: "Context") -> None:
        """Start the run, or attach to it, as soon as there is a slot for this cell."""
        if self._is_done(context):
            self.log.info("%s became valid while this task was killed: nothing to run", self.cell_run.cell_id)
            return
        self.take_slot(context)

    def resume_execution(self, next_method: str, next_kwargs: dict[str, Any] | None, context: "Context") -> None:
        """Go on after a wait. The process that began to wait has kept the links, and none is kept again."""
        self.operator_extra_links = []
        super().resume_execution(next_method, next_kwargs, context)

    def take_slot(self, context: "Context", event: str = "") -> None:
        """Start the run, or attach to it, if a slot is free. Otherwise wait for one, outside the pool if need be."""
        if parallel := self._most_at_once(context):
            ti = context["ti"]
            slot = SlotTrigger(ti.dag_id, ti.run_id, ti.map_index or 0, parallel, self.poke_interval)
            step = slot.step()
            if step == MAKE_WAY == event:
                self.log.info("an earlier cell may need this one's place: waiting outside the pool")
                later = datetime.now(UTC) + timedelta(seconds=self.poke_interval)
                raise AirflowRescheduleException(later)  # type: ignore[no-untyped-call]
            if step != START:
                self.log.info("no more than %s cells at a time: waiting for a free slot", parallel)
                self.defer(trigger=slot, method_name="take_slot")
        self._start(context)

    def _most_at_once(self, context: "Context") -> int | None:
        """Return how many cells may run at a time; None where Airflow alone sees to it."""
        asked, most = context["params"].get("parallel"), self.max_active_tis_per_dagrun
        if asked and asked < (most or asked):
            return int(asked)
        return None if COUNTS_WAITING_TASKS else most

    def _start(self, context: "Context") -> None:
        self.trigger_run_id = self.run_id
        self.conf = {"campaign_id": self.cell_run.campaign_id, "cell_id": self.cell_run.cell_id}
        if context["ti"].get_dr_count(CELL_DAG, run_ids=[self.run_id], states=LIVE_STATES):
            if self._was_cancelled():
                self.log.info("run %s was cancelled: starting it anew once it has ended", self.run_id)
                self._await_end("start_anew")
            if not self._is_to_start_over(context):
                self.log.info("run %s lives: waiting for it", self.run_id)
                self._await_end("execute_complete")
            self.log.info("run %s is under load and this task was cleared: starting it over", self.run_id)
        # Here, in the campaign's own run where people look, rather than in a run of the cell.
        with final():
            resolved = self._campaign.resolved()
            require_approval(toolkit(), self._campaign, resolved)
            require_budget(toolkit(), self._campaign, resolved, self.cell_run.cell_id)
            require_time(toolkit(), self._campaign, resolved, self.cell_run.cell_id)
        require_running(context["ti"])  # else a run whose teardown is over would be put on record again
        with final():  # `plan` did so, but a cleared task can run long after its run had ended
            begin_run(toolkit(), self.cell_run.campaign_id, run_of(context).token, cells=1, goes_on=True)
        tell_if_late(dict(context), self._campaign)
        super().execute(context)

    def start_anew(self, context: "Context", event: tuple[str, dict[str, Any]]) -> None:
        """Start the run after the cancelled one has ended, unless somebody else has started it already."""
        if self._was_cancelled():
            self._start(context)
        else:
            self.execute_complete(context, event)

    def execute_complete(self, context: "Context", event: tuple[str, dict[str, Any]]) -> None:
        """Fail without another try, with the reasons, unless the run succeeded or noise disturbed the cell.

        A disturbed cell runs again at once, as often as its definition lets it.
        """
        if event[1][self.run_id] == DagRunState.SUCCESS:
            self.log.info("run %s succeeded", self.run_id)
        elif not self._was_cancelled() and runs_again(self._campaign, self.cell_run.cell_id):
            self.log.info("noise disturbed the cell, so it runs again: %s", self._reason())
            self._start(context)
        else:
            raise AirflowFailException(f"run {self.run_id} of the DAG {CELL_DAG} failed: {self._reason()}")

    def _await_end(self, then: str) -> None:
        states = [DagRunState.SUCCESS, DagRunState.FAILED]
        trigger = DagStateTrigger(CELL_DAG, states, run_ids=[self.run_id], poll_interval=self.poke_interval)
        self.defer(trigger=trigger, method_name=then)

    def _was_cancelled(self) -> bool:
        return was_cancelled(toolkit(), self.cell_run, own_installation())

    def _is_to_start_over(self, context: "Context") -> bool:
        """Tell whether a person cleared this task while the cell is under load. A killed process's retry is none."""
        return self._was_cleared(context) and is_under_load(toolkit(), self.cell_run, own_installation())

    def _is_done(self, context: "Context") -> bool:
        """Tell whether the earlier try was killed and the cell has become valid, so that no second load is needed."""
        is_second = context["ti"].try_number > 1 and not self._was_cleared(context)
        return is_second and valid_verdict(self._campaign, self.cell_run.cell_id) is not None

    def _was_cleared(self, context: "Context") -> bool:
        """Tell whether this is the first try since a person cleared the task."""
        ti = context["ti"]
        # Clearing sets the tries that are left anew; a killed process uses one up.
        return 1 < ti.try_number == ti.max_tries - (self.retries or 0) + 1

    def _reason(self) -> str:
        newest = self._campaign.newest_attempt(self.cell_run.cell_id)
        verdict = newest and layout.VERDICT.read(self._campaign.store, newest)
        return "; ".join(verdict.reasons) if verdict and verdict.reasons else "its tasks' logs say why"


def run_of(context: "Context") -> CampaignRunOwner:
    """Return the run of a campaign's DAG that a task belongs to."""
    return CampaignRunOwner(context["ti"].dag_id, context["ti"].run_id, own_installation())


def _may_be_incomplete(context: "Context") -> bool:
    """Tell whether this run was asked for a report of what is valid."""
    return bool(context["params"].get("incomplete"))


class QualityGate(CampaignTask):
    """The gate: its run passes if its requested cells are valid and, if the campaign is complete, its checks pass.

    Otherwise it names the cells to run again.
    """

    def execute(self, context: "Context") -> None:
        """Pass, or fail without another try. Skipped where `plan` was, which `report` then is too."""
        if measured_by := context["ti"].xcom_pull(task_ids=PLAN_TASK, key=MEASURED_BY):
            raise AirflowSkipException(f"nothing to measure: campaign {measured_by} has measured the event")
        campaign_id = self.require_campaign()
        requested = [CellRunId.parse(run_id).cell_id for run_id in context["ti"].xcom_pull(task_ids=PLAN_TASK) or ()]
        with final():
            from plimsoll.services.publish.publishing import pass_gate

            found = pass_gate(toolkit(), campaign_id, requested, incomplete=_may_be_incomplete(context))
        self.log.info("%s: %s", campaign_id, found.words)


class PublishReport(CampaignTask):
    """Write the campaign's report and publish it as the task's Asset. Skipped while the campaign is incomplete,
    unless the run was asked for a report of what is valid.

    `notify`: the events that the definition asks to be told of.
    """

    def __init__(self, *, definition: str, notify: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.definition, self.notify = definition, tuple(notify)

    def execute(self, context: "Context") -> str:
        """Return the address of the report."""
        campaign_id = self.require_campaign()
        with final():
            from plimsoll.services.publish.publishing import publish_report

            found = completeness(CampaignStore(toolkit().store, campaign_id))
            incomplete = _may_be_incomplete(context)
            is_due = incomplete or found.is_complete
            url = publish_report(toolkit(), campaign_id, incomplete=incomplete) if is_due else ""
        if not url:
            raise AirflowSkipException(f"{found.words}; its report is published once all have")
        self.log.info("report: %s", url)
        with final():
            from plimsoll.services.publish.announcing import answer_in_short

            answer = answer_in_short(CampaignStore(toolkit().store, campaign_id))
        self._announce(context, event := {"campaign_id": campaign_id, "url": url, **answer})
        # The report is published, and its task must not fail, whatever is wrong with the trend or takes too long.
        try:
            self._follow(context, event)
        except (Exception, AirflowTaskTimeout):  # the latter is no Exception
            self.log.exception("the report is published, but the trend of %s could not be told", self.definition)
        return url

    def _announce(self, context: "Context", event: dict[str, Any]) -> None:
        for asset in self.outlets:
            context["outlet_events"][asset].extra = event

    def _follow(self, context: "Context", event: dict[str, Any]) -> None:
        """Complete the event of the Asset by what changed in the trend, and tell those who asked of what is news."""
        from plimsoll.services.publish.announcing import changes_in_short
        from plimsoll.services.publish.trends import stored_trend

        trend = stored_trend(toolkit().store, [self.definition], "date", datetime.now(UTC))
        self._announce(context, {**event, "changes": changes_in_short(trend)})
        notices.tell_news(dict(context), trend, self.notify, event["campaign_id"])
