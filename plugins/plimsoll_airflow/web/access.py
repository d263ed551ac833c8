"""Who may do what: access rights by Airflow's auth manager, checked for whole apps and routers, so that no route can
be forgotten; requests with a browser's cookie, which must come from Plimsoll's pages and carry their token;
parameters, validated before anything is looked up with them.

The user of a request, by Airflow's rules: a token that a client sends, else a browser's cookie.
"""

from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Path, Query, Request
from fastapi.security import HTTPAuthorizationCredentials
from itsdangerous import BadSignature, URLSafeTimedSerializer

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import CAMPAIGN_ID, LONGEST_CAMPAIGN_ID
from plimsoll.domain.keys.definition_keys import LONGEST_NAME
from plimsoll.domain.keys.host_bounds import LONGEST_CELL_ID
from plimsoll.domain.keys.variant import SLUG
from plimsoll_airflow.internals import api_server
from plimsoll_airflow.internals.api_server import BaseUser, action_logging, is_allowed, signing_key
from plimsoll_airflow.runs.ownership import CELL_DAG, REAPER_DAG
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.problems import Forbidden

BearerToken = Annotated[HTTPAuthorizationCredentials | None, Depends(api_server.bearer_scheme)]
"""The bearer token by which Airflow knows the user; None where it goes by the cookie, or knows nobody.

Airflow's own reading of the header decides, so that nothing can look like a token here that is none there.
"""


async def require_user(
    request: Request, token: BearerToken, for_openapi: Annotated[str | None, Depends(api_server.oauth2_scheme)]
) -> BaseUser:
    """Return the user. 401 for a missing, expired or wrong token; for a wrong one Airflow itself answers 403."""
    try:
        return await api_server.get_user(request, for_openapi, token)
    except HTTPException as error:
        is_known = token is not None or api_server.COOKIE_NAME_JWT_TOKEN in request.cookies
        what = "the login or token has expired, or is not valid" if is_known else "nobody is logged in"
        challenge = 'Bearer error="invalid_token"' if token is not None else "Bearer"
        raise HTTPException(401, what, headers={"WWW-Authenticate": challenge}) from error


async def user_of(request: Request) -> BaseUser | None:
    """Return the user of a request outside of Plimsoll's app; None where Airflow would refuse it."""
    try:
        token = await api_server.bearer_scheme(request)
        return await api_server.get_user(request, await api_server.oauth2_scheme(request), token)
    except HTTPException:
        return None


User = Annotated[BaseUser, Depends(require_user)]

READING = frozenset({"GET", "HEAD"})
"""Methods that change nothing: for those who may see DAG runs. All others are for those who may trigger DAGs."""

HEADER = "X-Plimsoll-Token"
FIELD = "token"
LIFETIME_S = 12 * 3600
_PAIR = "[a-z0-9-]+=[a-z0-9-]+"

CampaignId = Annotated[
    str, Path(pattern=CAMPAIGN_ID, max_length=LONGEST_CAMPAIGN_ID, examples=["demo-20260131t120000"])
]

CellId = Annotated[str, Path(pattern=SLUG, max_length=LONGEST_CELL_ID, examples=["g1-040k-r3"])]
AttemptNumber = Annotated[int, Path(ge=1, le=100_000)]

# Ids of cells contain it.
PartName = Annotated[str, Path(pattern=SLUG, max_length=LONGEST_CELL_ID, examples=["key-value"])]

DefinitionName = Annotated[str, Path(pattern=SLUG, max_length=LONGEST_NAME, examples=["demo"])]
CampaignNamed = Annotated[
    str, Query(pattern=CAMPAIGN_ID, max_length=LONGEST_CAMPAIGN_ID, examples=["demo-20260131t120000"])
]

DefinitionNamed = Annotated[str, Query(pattern=SLUG, max_length=LONGEST_NAME, examples=["demo"])]
DefinitionChosen = Annotated[str, Query(pattern=f"^$|{SLUG}", max_length=LONGEST_NAME)]
CampaignChosen = Annotated[str, Query(pattern=f"^$|{CAMPAIGN_ID}", max_length=LONGEST_CAMPAIGN_ID)]
Pairs = Annotated[
    str,
    Query(
        pattern=f"^$|^{_PAIR}([ ,]+{_PAIR})*$",
        max_length=2_000,
        description="Variants that belong together although their ids differ: `id-in-a=id-in-b`; several with blanks",
        examples=["g1=g1-tuned"],
    ),
]

Force = Annotated[bool, Query(description="Compare what is not comparable all the same; the differences are named")]


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
    return all(is_allowed(user, affected, changes=True) for affected in (dag_id, CELL_DAG, REAPER_DAG))


def require_changeable(user: BaseUser, dag_ids: Iterable[str]) -> None:
    """Raise 403 unless the user may change the campaigns of all these DAGs."""
    _require(user, changes=True, dag_ids=(*dag_ids, CELL_DAG, REAPER_DAG))


def _require(user: BaseUser, *, changes: bool, dag_ids: tuple[str | None, ...] = (None,)) -> None:
    if not all(is_allowed(user, dag_id, changes=changes) for dag_id in dag_ids):
        what = "changing campaigns is for those who may trigger DAGs" if changes else "campaigns are not for your role"
        raise Forbidden(what, mend="ask an administrator of this Airflow for the role that it takes")


ResolvedCampaign = Annotated[Campaign, Depends(require_campaign)]


def require_change(campaign: ResolvedCampaign, user: User) -> None:
    """Raise 403 unless `may_change`. An action on a campaign also affects the DAGs `cell` and `reaper`."""
    require_changeable(user, [campaign.dag_id])


def action(name: str) -> list[Any]:
    """Return what every route of that action on a campaign depends on: Airflow's audit log, and the right to change."""
    return [Depends(action_logging(f"plimsoll.{name}")), Depends(require_change)]


def token_for(user: BaseUser) -> str:
    """Return the token for Plimsoll's pages. It proves that a request comes from a page that this user received."""
    return str(_serializer().dumps(str(user.get_id())))


async def require_own_page(request: Request, user: User, bearer: BearerToken) -> None:
    """Refuse with 403 a change by cookie that does not come from Plimsoll's own page, for the whole app.

    Requests with a bearer token are exempt, because no browser sends one by itself.
    """
    # Blanks pass for a token in FastAPI's older readings of the header.
    if request.method in READING or (bearer is not None and bearer.credentials.strip()):
        return
    if not _is_same_origin(request):
        mend = "do it on Plimsoll's own page, or send a bearer token"
        raise Forbidden("the request does not come from a page of Plimsoll's", mend=mend)
    token = request.headers.get(HEADER) or str((await request.form()).get(FIELD, ""))
    if not _is_token_of(user, token):
        mend = "go back, load the page again, and press once more"
        raise Forbidden("the page was loaded too long ago, or by another user", mend=mend)


def _is_same_origin(request: Request) -> bool:
    # Browsers send this header only over HTTPS and to their own machine; over plain HTTP there is only `Origin`
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == request.headers.get("host")


def _is_token_of(user: BaseUser, token: str) -> bool:
    try:
        return bool(_serializer().loads(token, max_age=LIFETIME_S) == str(user.get_id()))
    except BadSignature:
        return False


def _serializer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(signing_key(), salt="plimsoll-page")
