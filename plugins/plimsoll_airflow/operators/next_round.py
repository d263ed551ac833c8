"""The task of a campaign's DAG that lets a search go on: it starts the run of the next round."""

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import XCOM_RUN_ID, TriggerDagRunOperator
from airflow.sdk import Context

from plimsoll.services.campaign.open.request import words_for
from plimsoll.services.campaign.state.completeness import completeness_of, name_of_next, next_round
from plimsoll.services.campaign.state.reading import judged_state
from plimsoll.services.hosts.limits import require_approval
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.moved import AirflowFailException, AirflowSkipException
from plimsoll_airflow.operators.campaign import CREATED_CAMPAIGN
from plimsoll_airflow.runs.own_task import final, require_running
from plimsoll_airflow.runs.ownership import GOES_ON, LIVE_STATES, PLAN_TASK
from plimsoll_airflow.wiring.core import toolkit

_ROUND = "round__"
"""The beginning of the ids of runs that follow another run of the same search."""


class NextRound(TriggerDagRunOperator):
    """Ask the strategy again when the cells of this run are over, and start a run for the cells that it asks for.

    Skipped when the search is over, where this run was asked for only some cells, and where somebody ended it. A
    cell that was invalid runs once more by itself. Fails where what is left waits for a person.
    """

    template_fields = ("campaign_id",)

    def __init__(self, *, dag_id: str, **kwargs: Any) -> None:
        super().__init__(**{"trigger_dag_id": dag_id, "logical_date": None, "skip_when_already_exists": True, **kwargs})
        self.campaign_id = CREATED_CAMPAIGN

    def execute(self, context: Context) -> None:
        if not self.campaign_id:
            raise AirflowSkipException("no campaign was created; the log of `plan` says why")
        if not _is_of_search(context):
            raise AirflowSkipException(f"this run was asked for some cells alone. {_how_to_go_on(self.campaign_id)}")
        campaign = CampaignStore(toolkit().store, self.campaign_id)
        cells = next_round(campaign, toolkit().clock.now())
        if not cells:
            raise AirflowSkipException(f"{_complete(campaign)}; the strategy asks for no further cells")
        with final():  # of a person who has just rejected the campaign nothing asks again by itself
            require_approval(toolkit(), campaign, campaign.resolved())
        follower = run_of_next_round(campaign)
        self._require_news(context, follower)
        # Before the run is there: if this try is killed after that, the second one finds the run and starts none.
        context["ti"].xcom_push(key=XCOM_RUN_ID, value=follower)
        if self._count(context, follower, LIVE_STATES):
            self.log.info("an earlier try of this task has started the next round: run %s", follower)
            return
        self.trigger_run_id = follower
        parallel = context["params"].get("parallel")
        conf = {"campaign_id": self.campaign_id, "cells": words_for(cells)}
        self.conf = conf | ({"parallel": parallel} if parallel else {})
        self.log.info("next round: %s", conf["cells"])
        require_running(context["ti"])
        super().execute(context)

    def _require_news(self, context: Context, follower: str) -> None:
        """Fail where a run was started for this round and ended, or is about to end, before any attempt began."""
        is_over = self._count(context, follower) and not self._count(context, follower, LIVE_STATES)
        if is_over or follower == context["run_id"]:
            raise AirflowFailException(
                f"run {follower} was started for the cells that the strategy asks for, and no attempt has begun since. "
                f"Its tasks' logs say why. {_how_to_go_on(self.campaign_id)}"
            )

    def _count(self, context: Context, run_id: str, states: list[str] | None = None) -> int:
        """Return 1 where the campaign's DAG has that run, in one of these states if any are given; otherwise 0."""
        return context["ti"].get_dr_count(self.trigger_dag_id, run_ids=[run_id], states=states)


def run_of_next_round(campaign: CampaignStore) -> str:
    """Return the id of the run of the round that follows the attempts so far, whether or not there is such a run.

    A second try of a killed task gives it the same id, and the round after it has another. Runs outlive a deleted
    campaign.
    """
    return f"{_ROUND}{campaign.campaign_id}__{name_of_next(campaign)}"


def _complete(campaign: CampaignStore) -> str:
    """Return the words for a complete campaign. Fails where it is not: no search ends green without report."""
    state = judged_state(campaign, campaign.resolved())
    completeness = completeness_of(state)
    if not completeness.is_complete:
        waiting = ", ".join(cell.cell.id for cell in state.left_to_a_person)
        raise AirflowFailException(
            f"{completeness.words}. What is left waits for cells whose newest attempt has no valid result: {waiting}. "
            f"{_how_to_go_on(campaign.campaign_id)}"
        )
    return completeness.words


def _how_to_go_on(campaign_id: str) -> str:
    return f"To run what is missing and go on, trigger this DAG with `campaign_id` {campaign_id!r}"


def _is_of_search(context: Context) -> bool:
    """Tell whether other rounds follow the run: `plan` said so, or it is a round, whose cells others may have run."""
    goes_on = context["ti"].xcom_pull(task_ids=PLAN_TASK, key=GOES_ON)
    return bool(goes_on) or context["run_id"].startswith(_ROUND)
