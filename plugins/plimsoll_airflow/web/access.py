"""Access rights by Airflow's auth manager, checked for whole apps and routers, so that no route can be forgotten."""

from typing import Annotated

from fastapi import Depends, Request

from plimsoll.domain.campaign import Campaign
from plimsoll_airflow.internals.api_server import BaseUser, is_allowed
from plimsoll_airflow.ownership import CELL_DAG, REAPER_DAG
from plimsoll_airflow.web.authentication import User
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.paths import CampaignId
from plimsoll_airflow.web.problems import Forbidden

READING = frozenset({"GET", "HEAD"})
"""Methods that change nothing: for those who may see DAG runs. All others are for those who may trigger DAGs."""


def require_permission(request: Request, user: User) -> None:
    """Check every request of the app: 401 for unknown users, 403 for users whose role does not allow the method."""
    _require(user, changes=request.method not in READING)


def require_campaign(request: Request, campaign_id: CampaignId, user: User) -> Campaign:
    """Return a route's campaign, if the user may do the same to the DAG that runs it."""
    campaign = library().resolved(campaign_id)
    _require(user, changes=request.method not in READING, dag_ids=(campaign.dag_id,))
    return campaign


def require_readable(campaign_id: str, user: BaseUser) -> None:
    """Raise NotFound where there is no such campaign, and 403 where the user may not see its DAG."""
    _require(user, changes=False, dag_ids=(library().resolved(campaign_id).dag_id,))


def may_read(user: BaseUser, dag_id: str) -> bool:
    """Tell whether the user may see the campaigns that this DAG runs."""
    return is_allowed(user, dag_id, changes=False)


def may_change(user: BaseUser, dag_id: str) -> bool:
    """Tell whether the user may run cells of this DAG's campaigns again, cancel them, and destroy their clusters."""
    return all(is_allowed(user, one, changes=True) for one in (dag_id, CELL_DAG, REAPER_DAG))


def require_change(campaign: Campaign, user: BaseUser) -> None:
    """Raise 403 unless `may_change`. An action on a campaign also affects the DAGs `cell` and `reaper`."""
    _require(user, changes=True, dag_ids=(campaign.dag_id, CELL_DAG, REAPER_DAG))


ResolvedCampaign = Annotated[Campaign, Depends(require_campaign)]


def _require(user: BaseUser, *, changes: bool, dag_ids: tuple[str | None, ...] = (None,)) -> None:
    if not all(is_allowed(user, dag_id, changes=changes) for dag_id in dag_ids):
        what = "changing campaigns is for those who may trigger DAGs" if changes else "campaigns are not for your role"
        raise Forbidden(what, mend="ask an administrator of this Airflow for the role that it takes")
