"""A request for a page of a campaign, and the routers of such pages."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from plimsoll.ports.store import ResultStore
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.web.access import ResolvedCampaign, may_change, require_campaign
from plimsoll_airflow.web.authentication import User
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.paths import CampaignId


@dataclass(frozen=True)
class Visit:
    """The user of a request, and the campaign that it is about."""

    request: Request
    campaign_id: CampaignId
    resolved: ResolvedCampaign
    user: User

    @property
    def store(self) -> ResultStore:
        """Return the store of the campaign."""
        return library().store

    @property
    def campaign(self) -> CampaignStore:
        """Return the campaign's part of the store."""
        return CampaignStore(self.store, self.campaign_id)

    @cached_property
    def may(self) -> bool:
        """Tell whether the user may change the campaign. Airflow is asked once for each request."""
        return may_change(self.user, self.resolved.dag_id)


Visited = Annotated[Visit, Depends(Visit)]


def campaign_pages() -> APIRouter:
    """Return a router for pages of a campaign: below its path, and only for those who may see the campaign."""
    return APIRouter(
        prefix="/campaigns/{campaign_id}", include_in_schema=False, dependencies=[Depends(require_campaign)]
    )
