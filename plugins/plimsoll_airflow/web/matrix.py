"""The pages of a campaign: the matrix of its cells, the actions on them, what *Cancel* has ended; its note, its
deletion.

The address of the page that *Cancel* leads to names what was ended, so that loading it again ends nothing more. It
shows runs that Airflow knows to be of this campaign, and attempts that the store knows to be cancelled. Only
the number of those that are not named is taken from the address.
"""

import gzip
from collections.abc import Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import Form, Query
from fastapi.responses import Response
from pydantic import AfterValidator

from plimsoll.domain.attempt.result import LONGEST_NOTE, Note
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.services.campaign.curating import Deletion, annotate, deletable, delete_campaign, interrupted_deletion
from plimsoll.services.campaign.open.request import LONGEST_CHOICE, SOME_CELLS
from plimsoll.services.store import layout
from plimsoll_airflow.web import runs
from plimsoll_airflow.web.access import action
from plimsoll_airflow.web.library import Snapshot, library
from plimsoll_airflow.web.rendering import base_of, markup, page, redirect
from plimsoll_airflow.web.under_way import under_way, watching_toolkit
from plimsoll_airflow.web.visits import Visit, Visited, campaign_pages

pages = campaign_pages()
_More = Annotated[int, Query(ge=0, le=100_000)]
_LEVEL = 5  # of compression, as in Airflow

NAMED = 40
"""The number of runs, and of attempts, that an address may name."""

LONGEST_QUERY = 2000
"""The greatest length of the query that names them: browsers and proxies limit addresses."""


def _as_attempt(text: str) -> str:
    """Return the text if it is the name of an attempt, `cell/number`. Raises ValueError."""
    AttemptKey.parse(f"campaign/{text}")
    return text


RunNames = Annotated[list[Annotated[str, Query(max_length=400)]] | None, Query(max_length=NAMED)]
AttemptNames = Annotated[
    list[Annotated[str, Query(max_length=100), AfterValidator(_as_attempt)]] | None, Query(max_length=NAMED)
]


def query_of(ended: runs.EndedRuns) -> str:
    """Return the query that names the ended runs and attempts, and counts those that are too many to be named."""
    named = [("run", f"{run.dag_id}/runs/{run.run_id}") for run in ended.runs[:NAMED]]
    named += [("attempt", attempt.partition("/")[2]) for attempt in ended.attempts[:NAMED]]
    lengths = accumulate(len(urlencode([pair])) + 1 for pair in named)
    named = [pair for pair, length in zip(named, lengths, strict=True) if length <= LONGEST_QUERY]
    more = len(ended.runs) + len(ended.attempts) - len(named)
    return urlencode([*named, ("more", str(more))] if more else named)


def ended_of(visit: Visit, run: Sequence[str], attempt: Sequence[str]) -> runs.EndedRuns:
    """Find what these names stand for, as far as it belongs to this campaign, and others' attempts under way."""
    ended = (runs.find_run_of(visit.resolved, visit.campaign_id, name) for name in run)
    keys = [AttemptKey.parse(f"{visit.campaign_id}/{name}") for name in attempt]
    return runs.EndedRuns(
        runs=list(filter(None, ended)),
        attempts=[str(key) for key in keys if layout.CANCELLED.read(visit.store, key)],
        others=list(under_way(visit.resolved, visit.campaign_id).others),
    )


@pages.get("")
def matrix(visit: Visited, started: Annotated[str, Query(max_length=300)] = "") -> Response:
    snapshot = library().snapshot(visit.campaign_id)
    context = {
        "campaign": snapshot.status,
        "live": _live(visit, snapshot),
        "deleting": interrupted_deletion(visit.store, visit.campaign_id),
        "started": started and runs.find_run_of(visit.resolved, visit.campaign_id, started),
    }
    return visit.render("matrix.html.j2", context)


@pages.get("/matrix")
def matrix_alone(visit: Visited) -> Response:
    """Return the part that changes while a campaign runs, which the page's script requests repeatedly."""
    snapshot, sent = library().snapshot(visit.campaign_id), visit.request.headers
    # Whoever may change the campaign also gets boxes to tick, so the same status makes another page
    etag = f'{snapshot.etag[:-1]}{"-e" if visit.may else ""}"'
    if sent.get("if-none-match") == etag:
        return Response(status_code=304, headers={"ETag": etag})
    about = {"ETag": etag, "Vary": "Accept-Encoding"}
    if "gzip" in sent.get("accept-encoding", ""):
        # Compressed once for all viewers: Airflow's api-server would do it again for each
        name = ("packed", base_of(visit.request), visit.may)
        packed = snapshot.once(name, lambda: gzip.compress(_live(visit, snapshot).encode(), _LEVEL, mtime=0))
        return page(packed, more={**about, "Content-Encoding": "gzip"})
    return page(_live(visit, snapshot), more=about)


@pages.post("/again", dependencies=action("again"))
def run_again(
    visit: Visited,
    cells: Annotated[str, Form(max_length=LONGEST_CHOICE, pattern=f"^$|{SOME_CELLS}")] = "",
    cell: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Handle *Run again*: the cells of the pressed button, else the ticked cells."""
    chosen = cells or " ".join(cell or ())
    if not chosen:
        raise Refused([Problem("cells", "no cell is selected", "tick the cells to run again")], where="Run again")
    return _show_run(visit, runs.run_again(visit.resolved, visit.campaign_id, chosen, visit.user))


@pages.post("/report", dependencies=action("report"))
def publish_what_is_valid(visit: Visited) -> Response:
    """Handle *Publish what is valid*: the campaign's page shows the run that does it."""
    return _show_run(visit, runs.publish_valid(visit.resolved, visit.campaign_id, visit.user))


@pages.get("/cancel")
@pages.get("/destroy")
def confirm(visit: Visited) -> Response:
    """Return the runs, or clusters, that *Cancel* or *Destroy* would end, and the button that does it."""
    what = PurePosixPath(visit.request.url.path).name
    others = under_way(visit.resolved, visit.campaign_id).others if what == "cancel" else ()
    elsewhere = {other.attempt for other in others}
    running = [cell for cell in library().snapshot(visit.campaign_id).status.matrix if cell.runs]
    cells = [cell for cell in running if f"{visit.campaign_id}/{cell.id}/{cell.attempts}" not in elsewhere]
    live = runs.live_runs(visit.resolved, visit.campaign_id)
    return visit.render("confirm.html.j2", {"what": what, "runs": live, "cells": cells, "others": others})


@pages.post("/cancel", dependencies=action("cancel"))
def cancel(visit: Visited) -> Response:
    """Handle *Cancel*. Attempts of others go on: then a page says what was ended and what was not."""
    ended = runs.cancel_campaign(visit.resolved, visit.campaign_id, visit.user)
    return visit.back(f"/cancelled?{query_of(ended)}" if ended.others else "")


@pages.get("/cancelled")
def cancelled(visit: Visited, run: RunNames = None, attempt: AttemptNames = None, more: _More = 0) -> Response:
    """Show what *Cancel* has ended, and what goes on.

    The page has an address of its own, so loading it again ends nothing.
    """
    ended = ended_of(visit, run or (), attempt or ())
    return visit.render("cancelled.html.j2", {"ended": ended, "more": more})


@pages.post("/destroy", dependencies=action("destroy"))
def destroy(visit: Visited) -> Response:
    return _show_run(visit, runs.destroy_clusters(visit.campaign_id, visit.user))


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
    annotate_visited(visit, text)
    return visit.back()


@pages.post("/delete", dependencies=action("delete"))
def delete(visit: Visited, confirm: Annotated[str, Form(max_length=200)] = "") -> Response:
    """Handle *Delete the campaign*, after the user has typed its id."""
    delete_visited(visit, confirm)
    return redirect(visit.request, "/")


def annotate_visited(visit: Visit, text: str) -> Note | None:
    note = annotate(visit.campaign, text, str(visit.user.get_name()), library().clock.now())
    library().forget(visit.campaign_id)
    return note


def _deletable(visit: Visit) -> Deletion:
    runs.require_no_runs(visit.resolved, visit.campaign_id)
    return deletable(watching_toolkit(), visit.campaign_id, str(visit.user.get_name()))


def delete_visited(visit: Visit, confirm: str) -> Deletion:
    if confirm != (named := visit.campaign_id):
        mend = f"give the campaign's id once more, as `confirm`: {named}"
        raise Refused([Problem("confirm", "the deletion was not confirmed", mend)], where=f"campaign {named!r}")
    _deletable(visit)
    deleted = delete_campaign(watching_toolkit(), named, str(visit.user.get_name()))
    library().forget_deleted(named)
    return deleted


def _show_run(visit: Visit, started: runs.StartedRun) -> Response:
    """Return a redirect to the campaign's page, which shows the run by its address."""
    return visit.back(f"?started={quote(f'{started.dag_id}/runs/{started.run_id}', safe='')}")


def _live(visit: Visit, snapshot: Snapshot) -> str:
    """Return the part that changes, made once for all viewers with the same rights."""
    base, may = base_of(visit.request), visit.may
    context = {"campaign": snapshot.status, "may": may}
    return snapshot.once(("live", base, may), lambda: markup(base, "live.html.j2", context))
