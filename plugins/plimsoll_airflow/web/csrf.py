"""Protection against CSRF: requests with a browser's cookie must come from Plimsoll's pages, and carry their token."""

from urllib.parse import urlsplit

from fastapi import Request
from itsdangerous import BadSignature, URLSafeTimedSerializer

from plimsoll_airflow.internals.api_server import BaseUser, signing_key
from plimsoll_airflow.web.access import READING
from plimsoll_airflow.web.authentication import BearerToken, User
from plimsoll_airflow.web.problems import Forbidden

HEADER = "X-Plimsoll-Token"
FIELD = "token"
LIFETIME_S = 12 * 3600


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
