"""The task of a campaign's DAG that lets a search go on: it starts the run of the next round."""

from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from plimsoll.services.campaign.completeness import completeness_of
from plimsoll.services.campaign.request import Request, words_for
from plimsoll.services.campaign.rounds import name_of_next, next_round
from plimsoll.services.campaign.state import judged_state
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.operators.campaign import OPENED_CAMPAIGN
from plimsoll_airflow.ownership import LIVE_STATES
from plimsoll_airflow.toolkit import toolkit

if TYPE_CHECKING:
    from airflow.sdk import Context

_ROUND = "round__"
"""What ids of runs begin with that follow another run of the same search."""


class NextRound(TriggerDagRunOperator):
    """Ask the strategy again when the cells of this run are over, and start a run for the cells that it asks for.

    Skipped when the search is over, where this run was asked for only some cells, and where somebody ended it. Cells
    whose newest attempt was unsound do not run again by themselves: fails where nothing else is left to run.
    """

    template_fields = ("campaign_id",)

    def __init__(self, *, dag_id: str, **kwargs: Any) -> None:
        super().__init__(**{"trigger_dag_id": dag_id, "logical_date": None, "skip_when_already_exists": True, **kwargs})
        self.campaign_id = OPENED_CAMPAIGN

    def execute(self, context: "Context") -> None:
        """Start the run of the next round."""
        if not self.campaign_id or not _is_of_search(context):
            raise AirflowSkipException("this run was asked for some cells alone")
        if not context["ti"].get_dr_count(self.trigger_dag_id, run_ids=[context["run_id"]], states=LIVE_STATES):
            raise AirflowSkipException("this run was ended by hand, and with it what would follow")
        campaign = CampaignStore(toolkit().store, self.campaign_id)
        cells = next_round(campaign, toolkit().clock.now())
        if not cells:
            raise AirflowSkipException(f"{_complete(campaign)}; the strategy asks for no further cells")
        # The same for a second try of a killed task, another for the round after it. Runs outlive a deleted campaign.
        self.trigger_run_id = f"{_ROUND}{self.campaign_id}__{name_of_next(campaign)}"
        parallel = context["params"].get("parallel")
        asked = {"campaign_id": self.campaign_id, "cells": words_for(cells)}
        self.conf = asked | ({"parallel": parallel} if parallel else {})
        self.log.info("next round: %s", self.conf["cells"])
        super().execute(context)


def _complete(campaign: CampaignStore) -> str:
    """How complete the campaign is. Fails while it is not: the search's last run must not end green without a report."""
    state = judged_state(campaign, campaign.definition())
    found = completeness_of(state)
    if not found.is_complete:
        waiting = ", ".join(one.cell.id for one in state.left_to_a_person)
        raise AirflowFailException(
            f"{found.words}. What is left waits for cells whose newest attempt has no valid result: {waiting}. "
            f"To run these again and go on, trigger this DAG with `campaign_id` {campaign.campaign_id!r}"
        )
    return found.words


def _is_of_search(context: "Context") -> bool:
    """Whether other rounds follow the run: it was asked for all missing cells, or is itself a round of a search."""
    request = Request.model_validate({key: value for key, value in context["params"].items() if value is not None})
    return request.is_for_all or str(context["run_id"]).startswith(_ROUND)
