"""Annotate and delete a campaign: a page for people, and the same by the JSON API."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.domain.attempt.result import LONGEST_NOTE, Note
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.services.campaign.curating import Deletion, annotate, deletable, delete_campaign, interrupted_deletion
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.internals.api_server import BaseUser, action_logging
from plimsoll_airflow.web import runs
from plimsoll_airflow.web.access import CampaignId, ResolvedCampaign, User, require_campaign, require_change, token_for
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.problems import RESPONSES
from plimsoll_airflow.web.rendering import base_of, render
from plimsoll_airflow.web.under_way import watching_toolkit
from plimsoll_airflow.web.visits import Visited, campaign_pages

pages = campaign_pages()
api = APIRouter(
    prefix="/api/v1/campaigns/{campaign_id}",
    responses=RESPONSES,
    tags=["actions"],
    dependencies=[Depends(require_campaign)],
)
_LOGGED_NOTE, _LOGGED_DELETION = Depends(action_logging("plimsoll.note")), Depends(action_logging("plimsoll.delete"))


class NoteText(BaseModel):
    """A note to write."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=2 * LONGEST_NOTE, description="What readers should know; empty: no note")


@pages.get("/manage")
def manage(visit: Visited) -> Response:
    """Return the campaign's note, and its deletion: what would be deleted, or why it can't be deleted."""
    found: Deletion | None = None
    problems: tuple[Problem, ...] = ()
    try:
        found = _deletable(visit.resolved, visit.campaign_id, visit.user) if visit.may else None
    except Refused as error:
        problems = error.problems
    note = layout.NOTE.read_sound(visit.store, visit.campaign_id)
    context = {"campaign_id": visit.campaign_id, "title": visit.resolved.title, "note": note, "longest": LONGEST_NOTE}
    return render(
        visit.request,
        "manage.html.j2",
        {
            **context,
            "deletable": found,
            "begun": interrupted_deletion(visit.store, visit.campaign_id),
            "problems": problems,
            "may": visit.may,
            "token": token_for(visit.user),
        },
    )


@pages.post("/note", dependencies=[_LOGGED_NOTE])
def write_note(visit: Visited, text: Annotated[str, Form(max_length=2 * LONGEST_NOTE)] = "") -> Response:
    """Handle *Save the note*. An empty note removes the note."""
    _annotate(visit.resolved, visit.campaign_id, text, visit.user)
    return RedirectResponse(f"{base_of(visit.request)}/campaigns/{visit.campaign_id}", status_code=HTTPStatus.SEE_OTHER)


@pages.post("/delete", dependencies=[_LOGGED_DELETION])
def delete(visit: Visited, confirm: Annotated[str, Form(max_length=200)] = "") -> Response:
    """Handle *Delete the campaign*, after the user has typed its id."""
    _delete(visit.resolved, visit.campaign_id, confirm, visit.user)
    return RedirectResponse(f"{base_of(visit.request)}/", status_code=HTTPStatus.SEE_OTHER)


@api.put("/note", dependencies=[_LOGGED_NOTE])
def put_note(campaign_id: CampaignId, note: NoteText, campaign: ResolvedCampaign, user: User) -> Note | None:
    """Replace the campaign's note; an empty text removes it."""
    return _annotate(campaign, campaign_id, note.text, user)


@api.delete("", dependencies=[_LOGGED_DELETION])
def delete_by_api(
    campaign_id: CampaignId,
    campaign: ResolvedCampaign,
    user: User,
    confirm: Annotated[str, Query(max_length=200, description="The campaign's id once more")] = "",
) -> Deletion:
    """Delete the campaign with all its measurements, permanently. Refused while it has living clusters or runs."""
    return _delete(campaign, campaign_id, confirm, user)


def _annotate(campaign: Campaign, campaign_id: str, text: str, user: BaseUser) -> Note | None:
    require_change(campaign, user)
    stored = CampaignStore(library().store, campaign_id)
    note = annotate(stored, text, str(user.get_name()), library().clock.now())
    library().forget(campaign_id)
    return note


def _deletable(campaign: Campaign, campaign_id: str, user: BaseUser) -> Deletion:
    runs.require_no_runs(campaign, campaign_id)
    return deletable(watching_toolkit(), campaign_id, str(user.get_name()))


def _delete(campaign: Campaign, campaign_id: str, confirm: str, user: BaseUser) -> Deletion:
    require_change(campaign, user)
    if confirm != campaign_id:
        mend = f"give the campaign's id once more, as `confirm`: {campaign_id}"
        raise Refused([Problem("confirm", "the deletion was not confirmed", mend)], where=f"campaign {campaign_id!r}")
    _deletable(campaign, campaign_id, user)
    deleted = delete_campaign(watching_toolkit(), campaign_id, str(user.get_name()))
    library().forget_deleted(campaign_id)
    return deleted
