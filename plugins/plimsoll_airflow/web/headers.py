"""Bounds of bodies, and response headers that forbid a browser everything that Plimsoll's pages do not need."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import HTTPException
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'"
)
DATA = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""The policy for everything that is not a page: shown by a browser, it can do nothing."""
DOCUMENT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox"
"""The policy for Data Docs: pages out of the store, without scripts."""
REPORT = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; sandbox allow-scripts allow-popups"
)
"""The policy for the report, whose charts need scripts. The sandbox gives it an origin of its own: no cookie, no
request of ours. Its links to Data Docs and to the reports of its parts open pages beside it, in the sandbox too: within
a frame, that origin would not be let in.
"""

_ALWAYS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": DATA,
}


LARGEST_BYTES = 256 << 10
"""The greatest size of a body: more than any form or document of the API can take."""


class Bounds:
    """The middleware that adds the headers to every response, and answers 413 to every body larger than LARGEST_BYTES.

    Headers that a route sets itself have precedence. FastAPI reads a body before it asks who sends it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = 0

        async def receive_little() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_BYTES:
                what = f"the request's body is larger than {LARGEST_BYTES >> 10} KiB"
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, what)
            return message

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive_little, send_with_headers)
