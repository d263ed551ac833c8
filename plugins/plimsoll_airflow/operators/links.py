"""Links from task instances in Airflow's pages to Plimsoll's pages, inside Airflow's own frame."""

from functools import cached_property
from typing import Any
from urllib.parse import urljoin

from airflow.sdk import BaseOperatorLink

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll_airflow.internals.moved import conf
from plimsoll_airflow.runs.ownership import CellRunId
from plimsoll_airflow.web import NAME, PREFIX


class CellPageLink(BaseOperatorLink):
    """The link to the cell's page, for tasks of the DAG `cell` and for the `run_cell` that waits for its run."""

    name = "Cell in Plimsoll"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the address, made from the run's id; empty for runs with other names."""
        try:
            named = CellRunId.parse(getattr(operator, "run_id", None) or ti_key.run_id)
            # Only to check both ids, since runs of other DAGs may have such names too; the number means nothing
            key = AttemptKey(campaign_id=named.campaign_id, cell_id=named.cell_id, attempt=1)
        except ValueError:
            return ""
        return page_url(f"campaigns/{key.campaign_id}/cells/{key.cell_id}")


class CellTaskLink(CellPageLink):
    """The same link for the tasks of the DAG `cell`, by the plugin: the api-server makes it for whoever looks.

    A link that an operator names itself is kept as an XCom by each task that ends, which costs a request a task.
    """

    @cached_property
    def operators(self) -> list[type[Any]]:  # type: ignore[override]
        """Return these tasks' classes. Every process loads plugins; only readers of DAGs with links need these."""
        from plimsoll_airflow.operators.cell import TASK_CLASSES

        return list(TASK_CLASSES)


class CampaignPageLink(BaseOperatorLink):
    name = "Campaign in Plimsoll"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:  # noqa: ARG002
        """Return the page of the task's campaign; empty where the task has not opened one."""
        return page_of_campaign(operator.campaign_id) if operator.campaign_id else ""


def page_of_campaign(campaign_id: str) -> str:
    return page_url(f"campaigns/{campaign_id}")


def page_url(place: str) -> str:
    """Return the address of a page of Plimsoll in Airflow's frame."""
    base = conf.get("api", "base_url", fallback="/")
    return urljoin(base.rstrip("/") + "/", f"plugin/{NAME}{PREFIX}/{place}")
