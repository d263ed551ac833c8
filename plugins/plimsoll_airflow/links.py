"""From Airflow's pages to Plimsoll's: links on task instances, inside Airflow's own frame."""

from typing import Any
from urllib.parse import urljoin

from airflow.configuration import conf
from airflow.sdk import BaseOperatorLink

from plimsoll.domain.cell import AttemptKey
from plimsoll_airflow.ownership import CellRunId
from plimsoll_airflow.web import PREFIX


class CellPageLink(BaseOperatorLink):
    """From a task of the DAG `cell`, or the `run_cell` that waits for its run, to the cell's page."""

    name = "Cell in Plimsoll"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Known from the run's id; none for runs that are named otherwise."""
        try:
            named = CellRunId.parse(getattr(operator, "run_id", None) or ti_key.run_id)
            key = AttemptKey(campaign_id=named.campaign_id, cell_id=named.cell_id, attempt=1)
        except ValueError:
            return ""
        return page_url(f"campaigns/{key.campaign_id}/cells/{key.cell_id}")


class CampaignPageLink(BaseOperatorLink):
    """From a task of a campaign's DAG to the campaign's page."""

    name = "Campaign in Plimsoll"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:  # noqa: ARG002
        """The campaign that the task worked at; none where it never came so far."""
        return page_url(f"campaigns/{operator.campaign_id}") if operator.campaign_id else ""


def page_url(place: str) -> str:
    """A page of ours in Airflow's frame."""
    base = conf.get("api", "base_url", fallback="/")
    return urljoin(base.rstrip("/") + "/", f"plugin/plimsoll{PREFIX}/{place}")
