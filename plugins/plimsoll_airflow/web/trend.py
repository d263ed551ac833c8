"""The trend over the campaigns of definitions, with marks: a page with its charts, and the same by the JSON API."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.analysis.trend.marks import Remark
from plimsoll.analysis.trend.series import Order
from plimsoll.domain.attempt.result import LONGEST_NOTE
from plimsoll.domain.campaign.cell import CAMPAIGN_ID, LONGEST_CAMPAIGN_ID
from plimsoll.ports.store import ResultStore
from plimsoll.prefix import dag_id_of, name_of_dag
from plimsoll.report.trend import words
from plimsoll.report.trend.document import TrendDocument
from plimsoll.services.publish.trend_marks import accept_change, mark_baseline, name_of_change
from plimsoll_airflow.internals.api_server import BaseUser, action_logging
from plimsoll_airflow.web import content
from plimsoll_airflow.web.access import (
    DefinitionChosen,
    DefinitionNamed,
    User,
    may_change,
    require_changeable,
    token_for,
)
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.made_trends import made_page, made_trend
from plimsoll_airflow.web.problems import RESPONSES
from plimsoll_airflow.web.rendering import REPORT_POLICY, redirect, render
from plimsoll_airflow.web.visits import readable_campaigns

pages = APIRouter(prefix="/trend", include_in_schema=False)
api = APIRouter(prefix="/api/v1", responses=RESPONSES, tags=["campaigns"])
MOST_DEFINITIONS = 20
_LONGEST_CHANGE = 200
By = Annotated[Order, Query(description="The order of campaigns: by date, the database's release, or `label`")]


@dataclass(frozen=True)
class Named:
    """Definitions whose campaigns are followed, and in which order."""

    name: Annotated[
        list[DefinitionNamed],
        Query(min_length=1, max_length=MOST_DEFINITIONS, description="Definitions with comparable campaigns"),
    ]
    by: By = "date"

    @property
    def names(self) -> list[str]:
        """Return the definitions' names, each once and sorted, so that the same trend has one name."""
        return sorted(set(self.name))


Asked = Annotated[Named, Depends()]


@api.get("/trend")
def get_trend(user: User, asked: Asked) -> TrendDocument:
    """Return the figures of all campaigns of these definitions and where they change, as `plimsoll trend --json`."""
    return made_trend(asked.names, asked.by, readable_campaigns(user))


class Acceptance(BaseModel):
    """A change to accept."""

    model_config = ConfigDict(extra="forbid")

    change: Annotated[str, Field(max_length=_LONGEST_CHANGE, description="Its first campaign, or `campaign/variant`")]
    why: Annotated[str, Field(max_length=2 * LONGEST_NOTE, description="The reason; empty: it is taken back")]


class Baseline(BaseModel):
    """A campaign with which series start anew."""

    model_config = ConfigDict(extra="forbid")

    campaign_id: Annotated[str, Field(pattern=CAMPAIGN_ID, max_length=LONGEST_CAMPAIGN_ID)]
    why: Annotated[str, Field(max_length=2 * LONGEST_NOTE, description="The reason; empty: it is taken back")]


@api.post("/trend/accept", tags=["actions"], dependencies=[Depends(action_logging("plimsoll.trend.accept"))])
def post_acceptance(user: User, asked: Asked, body: Acceptance) -> TrendDocument:
    """Accept a change, so that badge and notices leave it out. Returns the trend with it."""
    return _marked(asked, user, accept_change, body.change, body.why)


@api.post("/trend/baseline", tags=["actions"], dependencies=[Depends(action_logging("plimsoll.trend.baseline"))])
def post_baseline(user: User, asked: Asked, body: Baseline) -> TrendDocument:
    """Seek changes only among that campaign and later ones. Returns the trend with it."""
    return _marked(asked, user, mark_baseline, body.campaign_id, body.why)


@dataclass(frozen=True)
class Chosen:
    """What a form or a link of Airflow's asks for. A field that was left empty names no definition."""

    name: Annotated[tuple[DefinitionChosen, ...], Query(max_length=MOST_DEFINITIONS)] = ()
    by: By = "date"
    dag_id: Annotated[str, Query(max_length=250)] = ""

    @property
    def names(self) -> list[str]:
        return sorted(set(filter(None, (*self.name, name_of_dag(self.dag_id)))))


def _query(names: Iterable[str], by: Order) -> str:
    return urlencode([*(("name", name) for name in names), ("by", by)])


@pages.get("")
def trend(request: Request, user: User, chosen: Annotated[Chosen, Depends()]) -> Response:
    """Show how results of definitions move from campaign to campaign, once one is chosen."""
    readable = readable_campaigns(user)
    definitions = sorted({campaign.definition for campaign in readable})
    # The tab of a DAG is there for every DAG, also for one that has no campaign yet or runs none.
    known = [name for name in chosen.names if name in definitions or name in chosen.name]
    context = {
        "definitions": definitions,
        "names": chosen.names,
        "by": chosen.by,
        "orders": get_args(Order),
        "query": _query(known, chosen.by),
        "found": made_trend(known, chosen.by, readable) if known else None,
        "words": words,
        "name_of_change": name_of_change,
        "may": bool(known) and all(may_change(user, dag_id_of(name)) for name in known),
        "token": token_for(user),
        "longest": LONGEST_NOTE,
        "most": MOST_DEFINITIONS,
    }
    return render(request, "trend.html.j2", context)


@pages.get("/page")
def trend_page(user: User, asked: Asked) -> Response:
    """Return the trend with its charts alone, as `plimsoll trend --html` writes it."""
    page = made_page(asked.names, asked.by, readable_campaigns(user))
    return content.document(page, REPORT_POLICY)


Why = Annotated[str, Form(max_length=2 * LONGEST_NOTE)]


@pages.post("/accept", dependencies=[Depends(action_logging("plimsoll.trend.accept"))])
def accept(
    request: Request,
    user: User,
    asked: Asked,
    change: Annotated[str, Form(max_length=_LONGEST_CHANGE)],
    why: Why = "",
) -> Response:
    """Handle *Accept* and *Take back* beside a change."""
    _marked(asked, user, accept_change, change, why)
    return redirect(request, f"/trend?{_query(asked.names, asked.by)}")


@pages.post("/baseline", dependencies=[Depends(action_logging("plimsoll.trend.baseline"))])
def baseline(
    request: Request,
    user: User,
    asked: Asked,
    campaign_id: Annotated[str, Form(max_length=LONGEST_CAMPAIGN_ID)],
    why: Why = "",
) -> Response:
    """Handle *Start anew with it* and *Take back* beside a campaign."""
    _marked(asked, user, mark_baseline, campaign_id, why)
    return redirect(request, f"/trend?{_query(asked.names, asked.by)}")


_Marking = Callable[[ResultStore, TrendDocument, str, Remark], None]


def _marked(asked: Named, user: BaseUser, mark: _Marking, marked: str, why: str) -> TrendDocument:
    """Mark a change or a campaign of the trend, and return it with that; an empty reason takes the mark back.

    Raises 403 for users who may not change its campaigns.
    """
    require_changeable(user, map(dag_id_of, asked.names))
    remark = Remark(why, str(user.get_name()), library().clock.now())
    readable = readable_campaigns(user)
    mark(library().store, made_trend(asked.names, asked.by, readable), marked, remark)
    return made_trend(asked.names, asked.by, readable)
