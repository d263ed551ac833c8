"""Annotate and delete a campaign: a page for people, and the same by the JSON API."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.domain.attempt.result import LONGEST_NOTE, Note
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.services.campaign.curating import Deletion, annotate, deletable, delete_campaign, interrupted_deletion
from plimsoll.services.store import layout
from plimsoll_airflow.web import runs
from plimsoll_airflow.web.access import action, require_campaign
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.problems import RESPONSES
from plimsoll_airflow.web.rendering import redirect
from plimsoll_airflow.web.under_way import watching_toolkit
from plimsoll_airflow.web.visits import Visit, Visited, campaign_pages

pages = campaign_pages()
api = APIRouter(
    prefix="/api/v1/campaigns/{campaign_id}",
    responses=RESPONSES,
    tags=["actions"],
    dependencies=[Depends(require_campaign)],
)


class NoteText(BaseModel):
    """A note to write."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(max_length=2 * LONGEST_NOTE, description="What readers should know; empty: no note")


@pages.get("/manage")
def manage(visit: Visited) -> Response:
    deletion: Deletion | None = None
    problems: tuple[Problem, ...] = ()
    try:
        deletion = _deletable(visit) if visit.may else None
    except Refused as error:
        problems = error.problems
    note = layout.NOTE.read_sound(visit.store, visit.campaign_id)
    context = {
        "title": visit.resolved.title,
        "note": note,
        "longest": LONGEST_NOTE,
        "deletable": deletion,
        "begun": interrupted_deletion(visit.store, visit.campaign_id),
        "problems": problems,
    }
    return visit.render("manage.html.j2", context)


@pages.post("/note", dependencies=action("note"))
def write_note(visit: Visited, text: Annotated[str, Form(max_length=2 * LONGEST_NOTE)] = "") -> Response:
    """Handle *Save the note*. An empty note removes the note."""
    _annotate(visit, text)
    return visit.back()


@pages.post("/delete", dependencies=action("delete"))
def delete(visit: Visited, confirm: Annotated[str, Form(max_length=200)] = "") -> Response:
    """Handle *Delete the campaign*, after the user has typed its id."""
    _delete(visit, confirm)
    return redirect(visit.request, "/")


@api.put("/note", dependencies=action("note"))
def put_note(visit: Visited, note: NoteText) -> Note | None:
    """Replace the campaign's note; an empty text removes it."""
    return _annotate(visit, note.text)


@api.delete("", dependencies=action("delete"))
def delete_by_api(
    visit: Visited,
    confirm: Annotated[str, Query(max_length=200, description="The campaign's id once more")] = "",
) -> Deletion:
    """Delete the campaign with all its measurements, permanently. Refused while it has living clusters or runs."""
    return _delete(visit, confirm)


def _annotate(visit: Visit, text: str) -> Note | None:
    note = annotate(visit.campaign, text, str(visit.user.get_name()), library().clock.now())
    library().forget(visit.campaign_id)
    return note


def _deletable(visit: Visit) -> Deletion:
    runs.require_no_runs(visit.resolved, visit.campaign_id)
    return deletable(watching_toolkit(), visit.campaign_id, str(visit.user.get_name()))


def _delete(visit: Visit, confirm: str) -> Deletion:
    if confirm != (named := visit.campaign_id):
        mend = f"give the campaign's id once more, as `confirm`: {named}"
        raise Refused([Problem("confirm", "the deletion was not confirmed", mend)], where=f"campaign {named!r}")
    _deletable(visit)
    deleted = delete_campaign(watching_toolkit(), named, str(visit.user.get_name()))
    library().forget_deleted(named)
    return deleted
