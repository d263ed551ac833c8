"""Against forged requests: what a browser sends with its cookie must come from our own pages, and carry their token."""

from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from itsdangerous import BadSignature, URLSafeTimedSerializer

from plimsoll_airflow.web.access import READING, User
from plimsoll_airflow.web.internals import BaseUser, signing_key

HEADER = "X-Plimsoll-Token"
FIELD = "token"
LIFETIME_S = 12 * 3600


def token_for(user: BaseUser) -> str:
    """For our pages: shows that a request comes from a page that this user was given."""
    return str(_serializer().dumps(str(user.get_id())))


async def require_own_page(request: Request, user: User) -> None:
    """For the whole app: 403 for a change, unless by a bearer token (which no browser sends) or from our own page."""
    if request.method in READING or request.headers.get("authorization", "").lower().startswith("bearer "):
        return
    if not _is_same_origin(request):
        raise HTTPException(403, "the request comes from another site")
    token = request.headers.get(HEADER) or str((await request.form()).get(FIELD, ""))
    if not _is_token_of(user, token):
        raise HTTPException(403, "the page's token is missing or has expired: load the page again")


def _is_same_origin(request: Request) -> bool:
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
