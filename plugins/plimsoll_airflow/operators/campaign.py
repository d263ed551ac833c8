"""The tasks of a campaign's DAG, but for `run_cell`: plan, pass the gate, publish the report."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from airflow.sdk import BaseOperator, Context

from plimsoll.bootstrap import load_document
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.trigger import BegunBy
from plimsoll.services.campaign.open.creation import campaign_of_last_event, open_campaign, requested_definition
from plimsoll.services.campaign.open.planning import downloads, fetch
from plimsoll.services.campaign.open.request import OF_A_REQUEST, campaign_id_of, given_values, read_request
from plimsoll.services.campaign.state.completeness import completeness
from plimsoll.services.campaign.state.runs import begin_run, require_no_other_airflow
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaign_exists
from plimsoll.settings import Settings
from plimsoll_airflow.internals.moved import (
    AirflowFailException,
    AirflowSkipException,
    AirflowTaskTimeout,
    conf,
    is_paused,
)
from plimsoll_airflow.operators.links import CampaignPageLink, page_of_campaign
from plimsoll_airflow.runs import notices
from plimsoll_airflow.runs.asset_events import RunEvent, first_event, newest_event
from plimsoll_airflow.runs.installation import own_installation
from plimsoll_airflow.runs.own_task import final, run_of
from plimsoll_airflow.runs.ownership import CAMPAIGN_ID, CELL_DAG, GOES_ON, MEASURED_BY, PLAN_TASK, CellRunId
from plimsoll_airflow.wiring.core import toolkit

CREATED_CAMPAIGN = "{{ ti.xcom_pull(task_ids='plan', key='campaign_id') or '' }}"


class Plan(BaseOperator):
    """Open the campaign and choose the cells to run now."""

    operator_extra_links = [CampaignPageLink()]

    def __init__(self, *, definition: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.definition = definition
        self.campaign_id = ""

    def execute(self, context: Context) -> list[str]:
        """Return the ids of the runs of the DAG `cell` to start, in order. All reasons to refuse are checked here."""
        with final():
            if not _may_be_incomplete(context) and is_paused(context["ti"], CELL_DAG):
                raise AirflowFailException(f"the DAG {CELL_DAG} is paused, so no cell would run: unpause it")
            document, asked = load_document(Settings(), self.definition), dict(context["params"])
            at = context["dag_run"].run_after
            named = CampaignStore(toolkit().store, str(campaign_id_of(self.definition, asked, at)))
            event = self._event(context, named)
        # Outside of `final`, which would turn the skipping into a failure
        if isinstance(event, tuple):
            context["ti"].xcom_push(MEASURED_BY, event[0])
            raise AirflowSkipException("nothing to measure: no event has come since campaign {}, {}".format(*event))
        with final():
            values, where = (event.extra, event.where) if event else (given_values(asked), OF_A_REQUEST)
            definition = requested_definition(document, values, named, where=where)
            campaign = resolve(definition)
            request = read_request(campaign, asked)
            if definition.notify and not campaign_exists(named.store, named.campaign_id):
                notices.require_notifier()  # better now than after hours of load
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

    def _event(self, context: Context, campaign: CampaignStore) -> "RunEvent | tuple[str, BegunBy] | None":
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
        newest = newest_event(context, inlets[0], first.timestamp, measured[1] if measured else None)
        if newest is None and measured is None:
            raise AirflowFailException("Airflow no longer has the event that began this run: trigger the DAG by hand")
        return newest or measured


class CampaignTask(BaseOperator):
    """A task that works on the campaign that `plan` has opened."""

    template_fields = ("campaign_id",)
    operator_extra_links = [CampaignPageLink()]

    def __init__(self, *, campaign_id: str = CREATED_CAMPAIGN, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.campaign_id = campaign_id

    def require_campaign(self) -> str:
        """Return the campaign's id. Fails when no campaign was created."""
        if not self.campaign_id:
            raise AirflowFailException("no campaign was created; the log of `plan` says why")
        return self.campaign_id


def _may_be_incomplete(context: Context) -> bool:
    """Tell whether this run was asked for a report of what is valid."""
    return bool(context["params"].get("incomplete"))


class QualityGate(CampaignTask):
    """The gate: its run passes if its requested cells are valid and, if the campaign is complete, its checks pass.

    Otherwise it names the cells to run again.
    """

    def execute(self, context: Context) -> None:
        """Pass, or fail without another try. Skipped where `plan` was, which `report` then is too."""
        if measured_by := context["ti"].xcom_pull(task_ids=PLAN_TASK, key=MEASURED_BY):
            raise AirflowSkipException(f"nothing to measure: campaign {measured_by} has measured the event")
        campaign_id = self.require_campaign()
        requested = [CellRunId.parse(run_id).cell_id for run_id in context["ti"].xcom_pull(task_ids=PLAN_TASK) or ()]
        with final():
            from plimsoll.services.publish.publishing import pass_gate

            passed = pass_gate(toolkit(), campaign_id, requested, incomplete=_may_be_incomplete(context))
        self.log.info("%s: %s", campaign_id, passed.words)


class PublishReport(CampaignTask):
    """Write the campaign's report and publish it as the task's Asset. Skipped while the campaign is incomplete,
    unless the run was asked for a report of what is valid.

    `notify`: the events that the definition asks to be told of.
    """

    def __init__(self, *, definition: str, notify: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.definition, self.notify = definition, tuple(notify)

    def execute(self, context: Context) -> str:
        campaign_id = self.require_campaign()
        with final():
            from plimsoll.services.publish.publishing import publish_report

            known = completeness(CampaignStore(toolkit().store, campaign_id))
            incomplete = _may_be_incomplete(context)
            is_due = incomplete or known.is_complete
            url = publish_report(toolkit(), campaign_id, incomplete=incomplete) if is_due else ""
        if not url:
            raise AirflowSkipException(f"{known.words}; its report is published once all have")
        self.log.info("report: %s", url)
        with final():
            from plimsoll.services.publish.trend_marks import answer_in_short

            answer = answer_in_short(CampaignStore(toolkit().store, campaign_id))
        self._announce(context, event := {"campaign_id": campaign_id, "url": url, **answer})
        # The report is published, and its task must not fail, whatever is wrong with the trend or takes too long.
        try:
            self._follow(context, event)
        except (Exception, AirflowTaskTimeout):  # the latter is no Exception
            self.log.exception("the report is published, but the trend of %s could not be told", self.definition)
        return url

    def _announce(self, context: Context, event: dict[str, Any]) -> None:
        for asset in self.outlets:
            context["outlet_events"][asset].extra = event

    def _follow(self, context: Context, event: dict[str, Any]) -> None:
        """Complete the event of the Asset by what changed in the trend, and tell those who asked of what is news."""
        from plimsoll.services.publish.trend_marks import changes_in_short
        from plimsoll.services.publish.trends import stored_trend

        trend = stored_trend(toolkit().store, [self.definition], "date", datetime.now(UTC))
        self._announce(context, {**event, "changes": changes_in_short(trend)})
        notices.tell_news(dict(context), trend, self.notify, event["campaign_id"], page_of_campaign)
