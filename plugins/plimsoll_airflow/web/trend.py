"""The trend over the campaigns of definitions, with marks: a page with its charts, and the same by the JSON API."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import Annotated, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.analysis.trend.marks import Remark
from plimsoll.analysis.trend.series import Order
from plimsoll.domain.attempt.result import LONGEST_NOTE
from plimsoll.domain.campaign.cell import CAMPAIGN_ID, LONGEST_CAMPAIGN_ID
from plimsoll.domain.text.errors import NotFound
from plimsoll.domain.text.wording import meant
from plimsoll.ports.store import ResultStore
from plimsoll.prefix import dag_id_of, name_of_dag
from plimsoll.report.trend import words
from plimsoll.report.trend.document import TrendDocument
from plimsoll.report.trend.page import trend_html
from plimsoll.services.publish.trend_marks import accept_change, mark_baseline
from plimsoll.services.publish.trends import stored_trend
from plimsoll_airflow.internals.api_server import BaseUser, action_logging
from plimsoll_airflow.web import content, headers
from plimsoll_airflow.web.access import DefinitionChosen, User, may_change, require_changeable, token_for
from plimsoll_airflow.web.library import LISTED_S, library
from plimsoll_airflow.web.problems import RESPONSES
from plimsoll_airflow.web.rendering import redirect, render
from plimsoll_airflow.web.visits import readable_campaigns

pages = APIRouter(prefix="/trend", include_in_schema=False)
api = APIRouter(prefix="/api/v1", responses=RESPONSES, tags=["campaigns"])
MOST_DEFINITIONS = 20
_LONGEST_CHANGE = 200
Names = Annotated[
    list[DefinitionChosen],
    Query(min_length=1, max_length=MOST_DEFINITIONS, description="Definitions with comparable campaigns"),
]
By = Annotated[Order, Query(description="The order of campaigns: by date, the database's release, or `label`")]
_making = Lock()


@api.get("/trend")
def get_trend(user: User, name: Names, by: By = "date") -> TrendDocument:
    """Return the figures of all campaigns of these definitions and where they change, as `plimsoll trend --json`."""
    return _trend(name, by, user).document


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
def post_acceptance(user: User, name: Names, body: Acceptance, by: By = "date") -> TrendDocument:
    """Accept a change, so that badge and notices leave it out. Returns the trend with it."""
    return _marked(name, by, user, Mark(accept_change, body.change, body.why))


@api.post("/trend/baseline", tags=["actions"], dependencies=[Depends(action_logging("plimsoll.trend.baseline"))])
def post_baseline(user: User, name: Names, body: Baseline, by: By = "date") -> TrendDocument:
    """Seek changes only among that campaign and later ones. Returns the trend with it."""
    return _marked(name, by, user, Mark(mark_baseline, body.campaign_id, body.why))


@dataclass(frozen=True)
class Chosen:
    """What a form or a link of Airflow's asks for. A field that was left empty names no definition."""

    name: Annotated[tuple[DefinitionChosen, ...], Query(max_length=MOST_DEFINITIONS)] = ()
    by: By = "date"
    dag_id: Annotated[str, Query(max_length=250)] = ""

    @property
    def names(self) -> list[str]:
        """Return the definitions' names, each once."""
        return list(dict.fromkeys(filter(None, (*self.name, name_of_dag(self.dag_id)))))

    @property
    def query(self) -> str:
        """Return the query of a link to the same."""
        return urlencode([*(("name", name) for name in self.names), ("by", self.by)])


@pages.get("")
def trend(request: Request, user: User, chosen: Annotated[Chosen, Depends()]) -> Response:
    """Show how results of definitions move from campaign to campaign, once one is chosen."""
    definitions = sorted({campaign.definition for campaign in readable_campaigns(user)})
    # The tab of a DAG is there for every DAG, also for one that has no campaign yet or runs none.
    known = [name for name in chosen.names if name in definitions or name in chosen.name]
    context = {
        "definitions": definitions,
        "names": chosen.names,
        "by": chosen.by,
        "orders": get_args(Order),
        "query": chosen.query,
        "found": _trend(known, chosen.by, user).document if known else None,
        "words": words,
        "may": bool(known) and all(may_change(user, dag_id_of(name)) for name in known),
        "token": token_for(user),
        "longest": LONGEST_NOTE,
    }
    return render(request, "trend.html.j2", context)


@pages.get("/page")
def trend_page(user: User, chosen: Annotated[Chosen, Depends()]) -> Response:
    """Return the trend with its charts alone, as `plimsoll trend --html` writes it."""
    return content.document(_trend(chosen.names, chosen.by, user).page, headers.REPORT)


Why = Annotated[str, Form(max_length=2 * LONGEST_NOTE)]


@pages.post("/accept", dependencies=[Depends(action_logging("plimsoll.trend.accept"))])
def accept(
    request: Request,
    user: User,
    chosen: Annotated[Chosen, Depends()],
    change: Annotated[str, Form(max_length=_LONGEST_CHANGE)],
    why: Why = "",
) -> Response:
    """Handle *Accept* and *Take back* beside a change."""
    _marked(chosen.names, chosen.by, user, Mark(accept_change, change, why))
    return redirect(request, f"/trend?{chosen.query}")


@pages.post("/baseline", dependencies=[Depends(action_logging("plimsoll.trend.baseline"))])
def baseline(
    request: Request,
    user: User,
    chosen: Annotated[Chosen, Depends()],
    campaign_id: Annotated[str, Form(max_length=LONGEST_CAMPAIGN_ID)],
    why: Why = "",
) -> Response:
    """Handle *Start anew with it* and *Take back* beside a campaign."""
    _marked(chosen.names, chosen.by, user, Mark(mark_baseline, campaign_id, why))
    return redirect(request, f"/trend?{chosen.query}")


@dataclass(frozen=True)
class Mark:
    """How to set a mark, on which change or campaign, and why; an empty reason takes it back."""

    set: Callable[[ResultStore, TrendDocument, str, Remark], None]
    what: str
    why: str


def _marked(names: Sequence[str], by: Order, user: BaseUser, mark: Mark) -> TrendDocument:
    """Set a mark on the trend, and return it with that. Raises 403 for users who may not change its campaigns."""
    require_changeable(user, map(dag_id_of, names))
    remark = Remark(mark.why, str(user.get_name()), library().clock.now())
    mark.set(library().store, _trend(names, by, user).document, mark.what, remark)
    _made.cache_clear()
    return _trend(names, by, user).document


class _Trend:
    """A trend, and its page once somebody looks at it: charts of hundreds of series take seconds."""

    def __init__(self, document: TrendDocument) -> None:
        self.document = document

    @cached_property
    def page(self) -> bytes:
        return trend_html(self.document)


def _trend(names: Sequence[str], by: Order, user: BaseUser) -> _Trend:
    """Return the trend of definitions whose campaigns the user may see. Raises NotFound for others."""
    readable = readable_campaigns(user)
    if unknown := next((name for name in names if name not in {campaign.definition for campaign in readable}), None):
        mend = f"{meant(unknown, (campaign.definition for campaign in readable))} the list shows all campaigns".strip()
        raise NotFound(f"there is no campaign of a definition {unknown!r}", where="name", mend=mend)
    # Nothing in the list of campaigns tells that one was judged again: no trend is kept for longer than its lines are.
    state = (
        int(library().monotonic() / LISTED_S),
        *((own.campaign_id, own.valid, own.published) for own in readable if own.definition in names),
    )
    with _making:
        return _made(tuple(names), by, state)


@lru_cache(maxsize=8)
def _made(names: tuple[str, ...], by: Order, _state: tuple[object, ...]) -> _Trend:
    """Compute a trend once for all who ask while its campaigns stay the same."""
    return _Trend(stored_trend(library().store, names, by, library().clock.now()))
