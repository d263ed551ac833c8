"""A request for a page of a campaign or for a comparison of two, and the routers of such pages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from plimsoll.domain.attempt.status import CampaignSummary
from plimsoll.ports.store import ResultStore
from plimsoll.report.compare.campaigns import pairing_of
from plimsoll.report.compare.parts import Comparisons
from plimsoll.services.publish.results import compare_stored
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.api_server import BaseUser
from plimsoll_airflow.web import access
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.rendering import redirect, render


@dataclass(frozen=True)
class Visit:
    """The user of a request, and the campaign that it is about."""

    request: Request
    campaign_id: access.CampaignId
    resolved: access.ResolvedCampaign
    user: access.User

    @property
    def store(self) -> ResultStore:
        return library().store

    @property
    def campaign(self) -> CampaignStore:
        return CampaignStore(self.store, self.campaign_id)

    @cached_property
    def may(self) -> bool:
        """Tell whether the user may change the campaign. Airflow is asked once for each request."""
        return access.may_change(self.user, self.resolved.dag_id)

    def render(self, template: str, context: Mapping[str, Any]) -> Response:
        about = {"campaign_id": self.campaign_id, "may": self.may, "token": access.token_for(self.user)}
        return render(self.request, template, {**about, **context})

    def back(self, place: str = "") -> Response:
        return redirect(self.request, f"/campaigns/{self.campaign_id}{place}")


@dataclass(frozen=True)
class ComparisonOptions:
    """The options of a comparison, from a query."""

    pair: access.Pairs = ""
    force: access.Force = False

    @property
    def pairing(self) -> dict[str, str]:
        """Return ids of A's variants to ids of B's."""
        return pairing_of(filter(None, re.split("[ ,]+", self.pair)))


Visited = Annotated[Visit, Depends(Visit)]


def campaign_pages() -> APIRouter:
    """Return a router for pages of a campaign: below its path, and only for those who may see the campaign."""
    return APIRouter(
        prefix="/campaigns/{campaign_id}", include_in_schema=False, dependencies=[Depends(access.require_campaign)]
    )


def readable_campaigns(user: BaseUser) -> list[CampaignSummary]:
    """Return the campaigns that the user may see, the one that began last first."""
    return [campaign for campaign in library().campaigns() if access.may_read(user, campaign.dag_id)]


def compare(a: str, b: str, options: ComparisonOptions, user: BaseUser) -> Comparisons:
    """Compare campaign B with A. Raises NotFound, 403 for users who may not see both, Refused where not comparable."""
    for campaign_id in (a, b):
        access.require_readable(campaign_id, user)
    now = library().clock.now()
    return compare_stored(library().store, a, b, pairing=options.pairing, force=options.force, now=now)
