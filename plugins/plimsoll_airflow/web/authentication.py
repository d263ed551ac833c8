"""The user of a request, by Airflow's rules: a token that a client sends, else a browser's cookie."""

from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials

from plimsoll_airflow.internals import api_server
from plimsoll_airflow.internals.api_server import BaseUser

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
