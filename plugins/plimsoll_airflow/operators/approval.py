"""The task of a campaign's DAG that waits until a person has approved what the campaign may cost.

Airflow decides who may answer: whoever has its permission to respond to such tasks of the DAG.
"""

from datetime import timedelta
from inspect import signature
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.sdk import Context

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.trigger import Approval, ApprovalQuestion
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.units import format_duration, show_usd
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.state.runs import digest_of
from plimsoll.services.hosts.limits import missing_approval, require_approval
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.operators.campaign import CampaignTask
from plimsoll_airflow.runs.own_task import final, run_of
from plimsoll_airflow.runs.ownership import PLAN_TASK
from plimsoll_airflow.wiring.core import toolkit

APPROVE, REJECT = "Approve", "Reject"
# Before 1.13 the standard provider took the task's own time limit, which other tasks need, as that of the answer.
_LIMIT = (
    "response_timeout" if "response_timeout" in signature(HITLOperator.__init__).parameters else "execution_timeout"
)


class AskApproval(CampaignTask, HITLOperator):
    """Ask a person to approve what the campaign may cost, unless it needs no approval, or has one on record.

    A rejection fails the run and is not on record: it says nothing of tomorrow, and whoever starts another run, or
    clears this task, asks again.
    """

    # What is asked is text, and no template.
    template_fields = ("campaign_id",)

    def __init__(self, *, within: timedelta, **kwargs: Any) -> None:
        super().__init__(subject="Approve a campaign", options=[APPROVE, REJECT], **{_LIMIT: within, **kwargs})
        # Without this the own Params of the DAG would be part of the question before Airflow 3.2.
        self.params = type(self.params)()
        self.within = within

    def execute(self, context: Context) -> None:
        campaign = CampaignStore(toolkit().store, self.require_campaign())
        if not context["ti"].xcom_pull(task_ids=PLAN_TASK):
            self.log.info("no cell is to run, so there is nothing to approve")
            return
        with final():
            declared = resolve(campaign.declared())
            missing = missing_approval(toolkit(), campaign, declared)
            if missing is None:
                self.log.info("%s needs no approval, or no other one", campaign.campaign_id)
                return
            new = ApprovalQuestion(at=toolkit().clock.now(), usd=missing.usd)
            # Airflow shows the first question of a task, also once the task was cleared.
            question = campaign.record_question(new, digest_of(run_of(context).token))
            if not question.covers(missing.usd):
                what = f"was asked for {_cost(question)}; now {missing.reason}"
                raise Refused([Problem("approval", what, f"{_again(campaign)}: this run can't ask for another amount")])
            self.subject = f"Approve campaign {campaign.campaign_id}: {_cost(question)}"
            self.body = _body(campaign.campaign_id, declared, question)
        super().execute(context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> None:
        """Record the approval. Fails without another try after a rejection, and when nobody has answered in time."""
        campaign = CampaignStore(toolkit().store, self.require_campaign())
        with final():
            if event.get("error_type") == "timeout":
                what = f"was not answered within {format_duration(self.within)}, so no host was launched"
                raise Refused([Problem("approval", what, _again(campaign))])
            answer = super().execute_complete(context, event)
            user = answer["responded_by_user"]
            by = user["name"] or user["id"]
            if answer["chosen_options"] != [APPROVE]:
                what = f"was rejected by {by}, so no host was launched"
                raise Refused([Problem("approval", what, f"{_again(campaign)}, if the campaign may run after all")])
            key = layout.QUESTION.key(campaign.campaign_id, digest_of(run_of(context).token))
            question = layout.QUESTION.at(campaign.store, key)
            approval = Approval(by=by, at=answer["responded_at"], usd=question.usd)
            campaign.record_approval(approval)
            self.log.info("%s: %s", campaign.campaign_id, approval)
            require_approval(toolkit(), campaign, campaign.resolved())  # prices may have risen while nobody answered


def _again(campaign: CampaignStore) -> str:
    return f"trigger this DAG with `campaign_id` {campaign.campaign_id!r}, which asks again"


def _cost(question: ApprovalQuestion) -> str:
    return "an unknown cost" if question.usd is None else f"at most {show_usd(question.usd)}"


def _body(campaign_id: str, declared: Campaign, question: ApprovalQuestion) -> str:
    """Return the question in Markdown. It has ids and figures alone, and no text that somebody wrote."""
    plan = make_plan(declared, tariff=toolkit().tariff(declared))
    budget = "none" if declared.budget is None else show_usd(declared.budget)
    return f"""\
Campaign `{campaign_id}` of the definition `{declared.name}` waits to launch hosts.

- **Cost: {_cost(question)}**, if all cells that may run do, each once, with the time for populating. Budget: {budget}.
- Cells: {plan.estimate.most:,} at most, {plan.at_once} at a time
- Hosts: {plan.hosts} at once, {plan.host_hours("most"):,.1f} host-hours under load
- Hours: {plan.hours("most"):,.1f} cell-hours under load

*{APPROVE}* is on record with your name. After *{REJECT}* this run fails, and no host is launched.
"""
